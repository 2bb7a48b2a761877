package agencies

import (
	"fmt"
	"strings"
)

// starterAgency is a whole agency with what one needs first, and the rest as comments that say how to go on.
const starterAgency = `# An agency: agents, and who may message or hand over to whom.
#   bureau agency check FILE   finds mistakes, with line and column
#   bureau agency show FILE    draws who may message whom
#   bureau agency schema       prints a JSON Schema, for completion in an editor
#   bureau test FILE           plays the rehearsals in %[8]s.test.yaml beside it
# While no model is connected, %[8]s.script.yaml answers for the agents. Delete what you do not need.
name: %[1]s
description: Answers questions with the help of a researcher and an editor

# What all agents are told, before their own instructions. Long texts can stand in a file beside this one:
#   shared_instructions: {file: shared.md}
shared_instructions: |
  Answer in the user's language. Say what you do not know.

# The agents' default model, provider/model. Without this line it is the configured one.
# model: ollama/qwen3:8b

agents: # the first is the one that the user talks to
  Lead:
    description: Talks with the user and delegates
    instructions: |
      Find out what the user needs. Ask Researcher for facts, and give it all that it has to know:
      it does not see this conversation. Then answer in your own words.
      When the user wants a text polished, hand over to Editor.
    # An empty session offers these by number:
    # conversation_starters: [What can you do?]
    # What it may be sent and answer; also: %[9]s
    # input_guardrails: [{deny: '(?i)password', message: Never tell anybody a password.}]
    # output_guardrails: [{max_length: 4000, message: Be shorter.}]
  Researcher:
    description: Finds facts
    instructions: |
      Answer the question that you are sent in a few sentences, with where you know it from.
    # Tools that read the folder in which the program was started:
    # tools: [read_file, list_directory, search_files]
    # What others send it, and how it answers, as JSON Schemas:
    # input: {type: object, properties: {question: {type: string}}, required: [question]}
    # output_type: {type: object, properties: {answer: {type: string}, source: {type: string}}, required: [answer]}
  Editor:
    description: Polishes texts together with the user
    # model: openai/gpt-5-mini              # another model than the others
    # model_settings: {temperature: 0.7}    # also: %[2]s
    instructions: |
      Improve the text that the user is working on. Hand over to Lead when new facts are needed.

# Whom the user may address. Without this line it is the first agent alone.
entry_points: [Lead, Editor]

communication_flows:
  - Lead > Researcher        # Lead sends a message and waits for the answer; longer chains (A > B > C) are their edges
  - Lead > Editor: handoff   # Lead gives the conversation away
  - Editor > Lead: handoff
  # A send tool of its own, whose parameters the sender must think about:
  # - Editor > Researcher:
  #     tool: check_fact
  #     description: Have one statement checked
  #     parameters:
  #       urgency: {type: string, enum: [low, high], description: How soon}
  #     required: [urgency]

# The defaults of what one turn of the user may cost:
# limits: {max_depth: %[3]d, max_runs: %[4]d, max_turn_calls: %[5]d, max_calls: %[6]d, max_handoffs: %[7]d, max_silence: %[10]d}
# A budget, which nothing has by default (max_tokens, max_cost and max_seconds stand under limits too, for one turn):
# session_limits: {max_tokens: 2000000, max_cost: 5}
`

// starterScript lets the starter answer while no model is connected.
const starterScript = `# What the agents of %[1]s.yaml say while no model is connected: enough to see them at work. For each agent the first rule
# answers whose conditions (on) all hold. A connected model takes the place of this file.
agents:
  Lead:
    - on: {step: 0, handoff: false, message: '(?i)\b(polish\w*|edit\w*|rewrite|text)\b'}
      say: |
        **Editor** takes over.
      call:
        - transfer_to_Editor: {recipient_agent: Editor}
    - on: {step: 0, handoff: false}
      say: |
        I ask **Researcher**.
      call:
        - send_message: {recipient_agent: Researcher, message: '{{trim .Message}}', additional_instructions: ""}
    - on: {after: send_message}
      say: |
        **Researcher** says: {{output "send_message"}}

        No model is connected, so a script answers: ` + "`bureau doctor`" + ` says how to connect one. Say *polish*, and **Editor** takes over.
    - say: |
        I am **Lead** again. What do you want to know?

  Researcher:
    - say: |
        I was asked “{{cut 300 (trim .Message)}}”. A script finds nothing out; a model will.

  Editor:
    - on: {step: 0, handoff: false, message: '(?i)\b(back|facts?|lead)\b'}
      say: |
        Back to **Lead**, then.
      call:
        - transfer_to_Lead: {recipient_agent: Lead}
    - say: |
        I am **Editor**, and you talk to me now. Say *back*, and **Lead** takes over again.
`

// starterRehearsals hold the starter against its script.
const starterRehearsals = `# What the agents of %[1]s.yaml are meant to do. "bureau test %[1]s" plays it offline, each rehearsal in a folder of its own.
rehearsals:
  - name: asks the researcher, and answers
    turns:
      - say: How high is the tower?
        expect:
          answered_by: Lead
          asked_only: [Lead > Researcher]
          answer: {contains: "How high is the tower?"}

  - name: hands the conversation over, and back
    turns:
      - say: Polish a text with me.
        expect: {answered_by: Editor, handoffs: [Lead > Editor]}
      - say: Back, please.
        expect: {answered_by: Lead, handoffs: [Editor > Lead]}
`

// Starter is what a new agency begins with, each the text of a file: the agency, and beside it the offline script and the
// rehearsals that play it.
type Starter struct{ Agency, Script, Rehearsals []byte }

// New is a small working agency of this name, with comments that explain the format. The error says what is wrong with the
// name.
func New(name string) (Starter, error) {
	if wrong := agencyNameFault(name); wrong != "" {
		return Starter{}, fmt.Errorf("the agency's name %s %s", quote(name), wrong)
	}
	l := DefaultLimits
	return Starter{
		Agency: fmt.Appendf(nil, starterAgency, yamlWord(name), strings.Join(settingsKeys[1:], ", "),
			l.MaxDepth, l.MaxRuns, l.MaxTurnCalls, l.MaxCalls, l.MaxHandoffs, name, "allow, json_schema, command, judge", l.MaxSilence),
		Script:     fmt.Appendf(nil, starterScript, name),
		Rehearsals: fmt.Appendf(nil, starterRehearsals, name),
	}, nil
}
