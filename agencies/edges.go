package agencies

import (
	"cmp"
	"slices"
)

// SendMessage is the name of the tool that an edge has without one of its own.
const SendMessage = "send_message"

// SendTool is the name of the tool that an edge of this agency has without one of its own.
func (a *Agency) SendTool() string { return cmp.Or(a.SendName, SendMessage) }

// SendTool is one tool by which an agent sends messages, with all whom it reaches.
type SendTool struct {
	// Name is SendMessage or the name of the edges' own tool.
	Name string
	// Description of an own tool; may be empty.
	Description string
	// Recipients in the order of the flows. Never empty.
	Recipients []string
	// Parameters beside those of send_message, and which of them must be given.
	Parameters []Parameter
	Required   []string
}

// SendTools are the tools by which sender may message others, in the order of the flows: one for each name.
func (a *Agency) SendTools(sender string) []SendTool {
	var tools []SendTool
	for _, flow := range a.Flows {
		if flow.From != sender || flow.Handoff {
			continue
		}
		name, description := flow.Tool, flow.Description
		if name == "" {
			name, description = a.SendTool(), a.SendDescription
		}
		i := slices.IndexFunc(tools, func(tool SendTool) bool { return tool.Name == name })
		if i < 0 {
			i = len(tools)
			tools = append(tools, SendTool{Name: name, Description: description,
				Parameters: flow.Parameters, Required: flow.Required})
		}
		tools[i].Recipients = append(tools[i].Recipients, flow.To)
	}
	return tools
}

// Handoffs are the agents that sender may hand over to, in the order of the flows.
func (a *Agency) Handoffs(sender string) []string {
	var recipients []string
	for _, flow := range a.Flows {
		if flow.From == sender && flow.Handoff {
			recipients = append(recipients, flow.To)
		}
	}
	return recipients
}
