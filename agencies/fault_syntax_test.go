package agencies_test

import "testing"

func TestFaultsOfSyntaxAndKeys(t *testing.T) {
	t.Parallel()
	checkFaults(t, []faultCase{
		{"empty file", "", []string{"1:1: the file is empty; `bureau agency new` writes one to start from"}},
		{"only a comment", "# nothing\n", []string{"1:1: the file is empty; `bureau agency new` writes one to start from"}},
		{"a list at the root", "- a\n", []string{"1:1: the agency must be a mapping (key: value), not a list"}},
		{"a text at the root", "hello\n", []string{"1:1: the agency must be a mapping (key: value), not text"}},
		{"two documents", threeAgents + "---\nname: u\n", []string{"6:1: a second YAML document; an agency file is one"}},
		{"not UTF-8", "name: t\ndescription: \xff\n", []string{"2:14: byte 0xff is not UTF-8; save the file as UTF-8"}},
		{"raw control character", "name: t\ndescription: a\x1b[31m\n", []string{"2:15: control character U+001B; remove it"}},
		{"escaped control character", threeAgents + "description: \"a\\e[31m\"\n", []string{"6:14: this text holds the control character U+001B"}},
		{"direction override in the text", "name: t\ndescription: a\u202eb\n", []string{"2:15: control character U+202E; remove it"}},
		{"tab in the indentation", "name: t\nagents:\n\tA:\n", []string{"3:1: a tab in the indentation; YAML wants spaces"}},
		{"indentation that fits nothing", oneAgent + "   tools: []\n", []string{"5:4: not YAML: this does not continue what stands above; check the indentation and the quotes"}},
		{"colon inside plain text", "name: t\ndescription: one: two\n", []string{"2:17: not YAML: a \": \" where no key can stand; put text that holds one in quotes, or correct the indentation"}},
		{"quote not closed", "name: t\ndescription: \"one\nagents: {}\n", []string{"2:14: not YAML: a quote is opened here and not closed"}},
		{"bracket not closed", "name: t\nagents:\n  A:\n    tools: [a, b\n    instructions: x\n", []string{"4:12: not YAML: this [ is not closed, or a comma is missing in it"}},
		{"character that begins nothing", "name: t\ndescription: @all\n", []string{"2:14: not YAML: a value cannot begin with this character; put it in quotes"}},
		{"unknown anchor", "name: *x\n", []string{"1:7: not YAML: unknown anchor 'x' referenced"}},
		{"anchor and alias", "name: t\nagents:\n  A: &a {instructions: x}\n  B: *a\n", []string{
			"3:6: an anchor (&a); write the value out where it is needed",
			"4:6: an alias (*a); write the value out",
		}},
		{"unknown anchor further down", threeAgents + "description: x\nentry_points: [A, *b]\n", []string{"7:19: not YAML: unknown anchor 'b' referenced"}},
		{"list that does not go on", threeAgents + "entry_points:\n  - A\n  B\n", []string{"8:3: not YAML: a key without ':' after it, or a text that is indented too little"}},
		{"text beyond the end of the agency", "  name: t\nagents: {}\n", []string{"2:1: not YAML: this belongs to nothing; check the indentation"}},
		{"alias bomb", "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nname: t\nagents: {A: {instructions: x}}\n", []string{
			"1:1: unknown key of the agency: \"a\"; there is: name, description, shared_instructions, model, variables, send_message, agents, entry_points, communication_flows, limits, session_limits",
			"1:4: an anchor (&a); write the value out where it is needed",
			"2:1: unknown key of the agency: \"b\"; there is: name, description, shared_instructions, model, variables, send_message, agents, entry_points, communication_flows, limits, session_limits",
			"2:4: an anchor (&b); write the value out where it is needed",
			"2:8: an alias (*a); write the value out",
			"2:11: an alias (*a); write the value out",
			"3:1: unknown key of the agency: \"c\"; there is: name, description, shared_instructions, model, variables, send_message, agents, entry_points, communication_flows, limits, session_limits",
			"3:4: an anchor (&c); write the value out where it is needed",
			"3:8: an alias (*b); write the value out",
			"3:11: an alias (*b); write the value out",
		}},
		{"merge key", oneAgent + "  B:\n    <<: {instructions: x}\n", []string{
			"5:3: agent \"B\" has no instructions",
			"6:5: a merge key (<<); write the values out",
		}},
		{"tag", threeAgents + "description: !!str 5\n", []string{"6:14: a tag (!!str); values are written without, and in quotes where text looks like something else"}},
		{"unknown top key", threeAgents + "agent: {}\n", []string{"6:1: unknown key of the agency: \"agent\"; did you mean \"agents\"?"}},
		{"key of another program", threeAgents + "handoffs: []\n", []string{"6:1: unknown key of the agency: \"handoffs\"; did you mean \"communication_flows\"?"}},
		{"unknown agent key", oneAgent + "    instructons: y\n", []string{"5:5: unknown key of agent \"A\": \"instructons\"; did you mean \"instructions\"?"}},
		{"unknown key that resembles nothing", oneAgent + "    zzzzzzzz: y\n", []string{"5:5: unknown key of agent \"A\": \"zzzzzzzz\"; there is: description, instructions, model, model_settings, tools, handoff_reminder, input_guardrails, output_guardrails, validation_attempts, output_type, system_reminders, tool_use_behavior and 8 more"}},
		{"unknown settings key", oneAgent + "    model_settings: {temprature: 1}\n", []string{"5:22: unknown key of model_settings: \"temprature\"; did you mean \"temperature\"?"}},
		{"unknown limit", threeAgents + "limits: {max_dept: 3}\n", []string{"6:10: unknown key of limits: \"max_dept\"; did you mean \"max_depth\"?"}},
		{"unknown edge key", threeAgents + flows + "  - A > B:\n      tool: ask\n      desciption: d\n", []string{"9:7: unknown key of an edge: \"desciption\"; did you mean \"description\"?"}},
		{"unknown key beside file", oneAgent + "  B:\n    instructions: {file: sub/b.md, filez: c}\n", []string{"6:36: unknown key of instructions: \"filez\"; did you mean \"file\"?"}},
		{"key twice", threeAgents + "name: u\n", []string{"6:1: \"name\" stands here twice; the first is in line 1"}},
		{"agent twice", oneAgent + "  A:\n    instructions: y\n", []string{"5:3: \"A\" stands here twice; the first is in line 3"}},
		{"key that is a number", oneAgent + "  1:\n    instructions: y\n", []string{"5:3: a key must be text (put it in quotes), not a number"}},
		{"key that is a list", oneAgent + "  [x]: {instructions: y}\n", []string{"5:3: a key must be text (put it in quotes), not a list"}},
	})
}
