package agencies_test

import (
	"strings"
	"testing"
)

func TestFaultsOfEdgeToolsAndFiles(t *testing.T) {
	t.Parallel()
	checkFaults(t, []faultCase{
		{"edge without a tool", threeAgents + flows + "  - A > B: {description: d}\n", []string{"7:12: the edge has no tool; name the tool that stands instead of send_message"}},
		{"tool name with a space", threeAgents + flows + "  - A > B: {tool: ask me}\n", []string{"7:19: the tool name \"ask me\"; at most 64 of a-z, A-Z, 0-9, _ and -"}},
		{"tool name too long", threeAgents + flows + "  - A > B: {tool: " + strings.Repeat("a", 65) + "}\n", []string{"7:19: the tool name \"" + strings.Repeat("a", 65) + "\"; at most 64 of a-z, A-Z, 0-9, _ and -"}},
		{"tool name empty", threeAgents + flows + "  - A > B: {tool: \"\"}\n", []string{"7:19: the tool name \"\"; at most 64 of a-z, A-Z, 0-9, _ and -"}},
		{"tool name of the default", threeAgents + flows + "  - A > B: {tool: send_message}\n", []string{"7:19: \"send_message\" is the tool that every edge has; leave tool out, or choose another name"}},
		{"tool name of a handoff", threeAgents + flows + "  - A > B: {tool: transfer_to_B}\n", []string{"7:19: the tool name \"transfer_to_B\"; names that begin with transfer_to_ are those of handoffs"}},
		{"tool name that the agent has", oneAgent + "    tools: [read_file]\n  B: {instructions: x}\ncommunication_flows:\n  - A > B: {tool: read_file}\n", []string{"8:19: \"A\" has a tool \"read_file\" already"}},
		{"one tool in two forms", threeAgents + flows + "  - A > B: {tool: ask, parameters: {p: {type: string}}}\n  - A > C: {tool: ask, parameters: {p: {type: number}}}\n", []string{"8:19: the tool \"ask\" of \"A\" to \"C\" has another description or other parameters than to \"B\"; one tool has one form"}},
		{"one tool with two descriptions", threeAgents + flows + "  - A > B: {tool: ask, description: d}\n  - A > C: {tool: ask, description: e}\n", []string{"8:19: the tool \"ask\" of \"A\" to \"C\" has another description or other parameters than to \"B\"; one tool has one form"}},
		{"one tool, required in one place only", threeAgents + flows + "  - A > B: {tool: ask, parameters: {p: {type: string}}, required: [p]}\n  - A > C: {tool: ask, parameters: {p: {type: string}}}\n", []string{"8:19: the tool \"ask\" of \"A\" to \"C\" has another description or other parameters than to \"B\"; one tool has one form"}},
		{"parameter of send_message", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        message: {type: string}\n", []string{"10:9: the parameter \"message\" is one that every send tool has"}},
		{"parameter name with a space", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        a b: {type: string}\n", []string{"10:9: the parameter name \"a b\"; at most 64 of a-z, A-Z, 0-9, _ and -"}},
		{"parameter a text", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: string\n", []string{"10:12: the parameter \"p\" must be a JSON Schema such as {type: string}, not text"}},
		{"parameters a list", threeAgents + flows + "  - A > B: {tool: ask, parameters: [p]}\n", []string{"7:36: parameters must be a mapping (key: value), not a list"}},
		{"unknown type", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: strng}\n", []string{"10:19: unknown type: \"strng\"; did you mean \"string\"?"}},
		{"type null without quotes", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: [string, null]}\n", []string{"10:28: the type null is written in quotes: \"null\""}},
		{"unknown keyword", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: string, descripton: d}\n", []string{"10:27: unknown keyword of JSON Schema: \"descripton\"; did you mean \"description\"?"}},
		{"reference", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {$ref: \"#/$defs/p\"}\n", []string{"10:13: \"$ref\" in a schema; it cannot refer to other places: write the schema out"}},
		{"bound that is no number", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: number, minimum: low}\n", []string{"10:36: minimum must be a number, not text"}},
		{"bounds of the wrong kind", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {enum: low, uniqueItems: 1, title: [x], required: p}\n", []string{
			"10:19: enum must be a list, not text",
			"10:37: uniqueItems must be true or false, not a number",
			"10:47: title must be text, not a list",
			"10:62: required must be a list, not text",
		}},
		{"keyword with a wrong value", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: string, minLength: few}\n", []string{"10:38: minLength must be a whole number, not text"}},
		{"pattern that is none", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: string, pattern: \"(\"}\n", []string{"10:12: the parameter \"p\" is no JSON Schema: pattern: error parsing regexp: missing closing ): `(`"}},
		{"unknown type further down", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: array, items: {type: object, properties: {q: {type: txt}}}}\n", []string{"10:71: unknown type: \"txt\"; there is: string, number, integer, boolean, array, object, null"}},
		{"infinite number", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: number, default: .inf}\n", []string{"10:36: .inf is no number in JSON"}},
		{"default of a wrong type", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: number, default: x}\n", []string{"10:12: the parameter \"p\" is no JSON Schema: validating root: type: x has type \"string\", want \"number\""}},
		{"key twice in a schema", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: number, type: string}\n", []string{"10:27: \"type\" stands here twice; the first is in line 10"}},
		{"schema nested without end", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: " + strings.Repeat("{not: ", 70) + "{}" + strings.Repeat("}", 70) + "\n", []string{"10:402: this is nested more than 64 times"}},
		{"required unknown", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        priority: {type: string}\n      required: [prority]\n", []string{"11:18: unknown parameter in required: \"prority\"; did you mean \"priority\"?"}},
		{"required twice", threeAgents + flows + "  - A > B:\n      tool: ask\n      parameters:\n        p: {type: string}\n      required: [p, p]\n", []string{"11:21: \"p\" stands twice in required; the first is in line 11"}},
		{"required without parameters", threeAgents + flows + "  - A > B: {tool: ask, required: [p]}\n", []string{"7:35: unknown parameter in required: \"p\"; there is: none"}},
		{"file missing", oneAgent + "  B: {instructions: {file: none.md}}\n", []string{"5:28: the file \"none.md\" does not exist in the agency's folder"}},
		{"file outside", oneAgent + "  B: {instructions: {file: ../b.md}}\n", []string{"5:28: the file \"../b.md\" is outside the agency's folder"}},
		{"file outside by a detour", oneAgent + "  B: {instructions: {file: sub/../../b.md}}\n", []string{"5:28: the file \"sub/../../b.md\" is outside the agency's folder"}},
		{"file absolute", oneAgent + "  B: {instructions: {file: /etc/passwd}}\n", []string{"5:28: the file \"/etc/passwd\" must be relative to the agency's folder"}},
		{"file a folder", oneAgent + "  B: {instructions: {file: sub}}\n", []string{"5:28: the file \"sub\" is a folder"}},
		{"file too large", oneAgent + "  B: {instructions: {file: large.md}}\n", []string{"5:28: the file \"large.md\" has 1048577 bytes; at most 1048576 are read"}},
		{"file not UTF-8", oneAgent + "  B: {instructions: {file: latin.md}}\n", []string{"5:28: the file \"latin.md\" is not plain text: 2:4: byte 0xe9 is not UTF-8; save the file as UTF-8"}},
		{"file with control characters", oneAgent + "  B: {instructions: {file: escape.md}}\n", []string{"5:28: the file \"escape.md\" is not plain text: 1:2: control character U+001B; remove it"}},
		{"file empty", oneAgent + "  B: {instructions: {file: empty.md}}\n", []string{"5:28: the file \"empty.md\" is empty"}},
		{"file without a name", oneAgent + "  B: {instructions: {file: }}\n", []string{"5:28: file must be text, not nothing"}},
		{"shared file missing", threeAgents + "shared_instructions: {file: none.md}\n", []string{"6:29: the file \"none.md\" does not exist in the agency's folder"}},
		{"several at once", "nam: t\nagents:\n  A: {tools: [x]}\n  a: {instructions: y, model: z}\nentry_points: [Q]\n", []string{
			"1:1: unknown key of the agency: \"nam\"; did you mean \"name\"?",
			"1:1: the agency has no name; write name: my-agency",
			"3:3: agent \"A\" has no instructions",
			"3:15: unknown tool: \"x\"; there is: read_file, list_directory, search_files, current_time",
			"4:3: the names \"a\" and \"A\" (line 3) differ in case, quotes or Unicode form only",
			"4:31: a model is written provider/model, not \"z\"; the providers are: openai, ollama, anthropic, script, replay",
			"5:16: unknown agent: \"Q\"; there is: A, a",
		}},
	})
}
