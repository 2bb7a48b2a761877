package openai_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// quirk is a habit of servers that a client has to live with, and the cases that hold it: names of raw cases, tests of this
// package ("TestX", "TestX/case"), or tests of another folder ("../..:TestX").
type quirk struct {
	number int
	what   string
	cases  []string
}

var quirks = []quirk{
	{1, "comments as keep-alive", []string{"keep-alive comments", "TestSilence/keep-alives are no token", "TestSilence/keep-alives are no silence"}},
	{2, "comments and blank lines while queued", []string{"400 keep-alives", "leading blank lines", "JSON with calls in place of a stream"}},
	{3, "a comment inside a data line", []string{"comment inside a data line"}},
	{4, "comments between finish and done", []string{"comments behind the finish"}},
	{5, "fields that are no comments", []string{"unknown fields"}},
	{6, "an error as a field of its own", []string{"in-stream: a field of its own"}},
	{7, "silence with the socket open", []string{"TestSilence/silence after a token", "TestSilence/headers and no body"}},
	{8, "a clean end in the middle", []string{"truncated text", "truncated call", "half a frame at the end"}},
	{9, "done without a finish", []string{"done without a finish", "done without a finish after calls"}},
	{10, "done with the connection open", []string{"TestSilence/done and the connection stays open"}},
	{11, "done twice, data behind it", []string{"done twice and data behind it"}},
	{12, "frames glued together", []string{"frames glued on one line", "done glued to a cut frame", "two values in one event"}},
	{13, "line ends and events over lines", []string{"CRLF", "CR alone", "mixed line ends", "event over several data lines"}},
	{14, "characters cut anywhere", []string{"FuzzStream", "invalid UTF-8 of the server's own", "halves of a character in two events"}},
	{15, "wrong Content-Type", []string{"stream labelled as JSON", "stream labelled as text", "stream labelled as a web page"}},
	{16, "no stream at all", []string{"JSON in place of a stream", "JSON without a finish in place of a stream"}},
	{17, "web pages", []string{"web page", "404 page", "404 empty"}},
	{18, "very long lines", []string{"line of 1 MiB", "line of 17 MiB", "TestAnswerWithoutEnd"}},
	{19, "an error labelled as bytes", []string{"JSON error in a 200, other label"}},

	{20, "calls without an index", []string{"no index", "no index, arguments in pieces"}},
	{21, "one index for all calls", []string{"index always 0"}},
	{22, "a wrong index later", []string{"wrong later index"}},
	{23, "calls without an id", []string{"neither index nor id", "index always 0 and no ids", "neither index nor id nor arguments"}},
	{24, "an empty id later", []string{"empty id later"}},
	{25, "the id with every piece", []string{"id and name in every chunk"}},
	{26, "the id with the first piece alone", []string{"calls as the protocol has them"}},
	{27, "the name again, empty, or in pieces", []string{"id and name in every chunk", "empty name later", "name in pieces"}},
	{28, "the name on a closing piece", []string{"name on a closing piece"}},
	{29, "a whole call at once", []string{"whole call in one chunk", "name and first arguments together"}},
	{30, "arguments as an object", []string{"arguments as an object"}},
	{31, "no arguments", []string{"no arguments: empty", "no arguments: null", "no arguments: absent"}},
	{32, "everything so far with every piece", []string{"everything so far in every chunk"}},
	{33, "a summary at the end", []string{"everything summed up at the end", "summed up as a text in a text"}},
	{34, "broken arguments", []string{"missing last brace is passed on as it is", "../..:TestMalformedArgumentsAreNeverCarriedOut"}},
	{35, "calls interleaved", []string{"calls interleaved"}},
	{36, "several pieces of one index at once", []string{"index always 0 in one chunk"}},
	{37, "one id for several calls", []string{"one id for two calls"}},
	{38, "empty lists and null parts", []string{"empty and null lists of calls", "entries with null parts"}},
	{39, "finish stop with calls", []string{"finish stop though there are calls"}},
	{40, "a finish with every chunk", []string{"finish with every chunk", "finish twice"}},
	{41, "a call cut by the output limit", []string{"output limit in the middle of a call", "../..:TestReplyThatIsCutOffIsNotCarriedOut"}},
	{42, "finishes of their own", []string{"finish malformed call", "finish lack of resources", "finish error", "finish end_turn", "finish window exceeded", "finish unknown and nothing else"}},
	{43, "a call as text", []string{"call written as text", "../..:TestCallThatIsWrittenAsText", "../..:TestTextThatIsNoCall", "../..:TestWrittenCallBesideARealOne"}},
	{44, "nothing at all, and stop", []string{"stop and nothing", "done only"}},
	{45, "signatures that must come back", []string{"TestCallsGoBackAsTheyCame", "../..:TestSignaturesGoBackAfterARestart"}},
	{46, "a call that its own server cannot read", []string{"500 call not parsed", "in-stream: key that begins with error"}},
	{47, "a server that loses track of its calls", []string{"500 fewer calls", "TestServerThatLosesTrackOfItsCalls"}},

	{50, "names of reasoning", []string{"reasoning_content", "reasoning", "reasoning under two names", "reasoning_details alone", "reasoning as an object"}},
	{51, "reasoning that must come back", []string{"TestReasoningHabits/wants it", "TestReasoningGoesBackWhereItIsWanted", "../..:TestReasoningGoesBackAfterARestart"}},
	{52, "thinking between tags", []string{"think tags cut anywhere", "closing tag alone", "closing tag quoted in thinking", "tags between backticks", "think tag later in the text"}},
	{53, "content in parts", []string{"content in parts with thinking", "content as one part"}},
	{54, "null content", []string{"null content and role"}},
	{55, "chunks without a choice or a delta", []string{"Azure's first chunk", "choice without a delta", "null delta"}},
	{56, "usage anywhere", []string{"usage at the end", "usage with every chunk", "usage in the choice", "null usage, then zeros"}},
	{57, "the role null or repeated", []string{"null content and role"}},
	{58, "odd types", []string{"odd types of fields that do not matter", "usage as floats and texts"}},
	{59, "ids that change", []string{"ids change"}},
	{60, "the choice's index as a counter", []string{"index of the choice counts up"}},
	{61, "calls as an object, without a finish", []string{"calls as one object in place of a list", "done without a finish after calls"}},

	{70, "errors inside a 200", []string{"in-stream: error first", "in-stream: after text", "in-stream: after a keep-alive", "in-stream: event error", "JSON error in a 200"}},
	{71, "failure as an empty success", []string{"done only", "stop and nothing", "empty body", "204"}},
	{72, "an error as text", []string{"400 text", "in-stream: key that begins with error"}},
	{73, "an object that is the error", []string{"400 object error"}},
	{74, "errors in a list", []string{"400 list", "in-stream: list"}},
	{75, "the code as a number, a text or null", []string{"in-stream: error first", "in-stream: with a blank", "in-stream: rate limit by name"}},
	{76, "what the model wrote in the error", []string{"in-stream: malformed call of Groq"}},
	{77, "models without tools", []string{"no tools", "no tools at OpenRouter", "no tools at vLLM"}},
	{78, "overflow in many words", []string{"TestOverflow"}},
	{79, "prompts that are cut silently", []string{"500 nothing of the user left", "../..:TestPromptThatIsCutSilently"}},
	{80, "waits that are named", []string{"TestRetryAfter/seconds", "TestRetryAfter/date", "TestRetryAfter/milliseconds win", "TestRetryAfter/in the text", "../..:TestTries"}},
	{81, "a 429 that stays", []string{"429 too large", "429 quota"}},
	{82, "413 as overflow", []string{"413"}},

	{90, "the name of the output limit", []string{"TestHabits/max_tokens", "TestHabits/max_completion_tokens"}},
	{91, "no temperature", []string{"TestHabits/temperature", "TestHabits/temperature of Kimi", "TestWhatIsNeverSentUnasked", "../..:TestSettingThatIsLeftOutIsTold"}},
	{92, "no developer role", []string{"TestWhatIsNeverSentUnasked"}},
	{93, "no stream_options", []string{"TestHabits/stream_options", "TestServerThatLosesTrackOfItsCalls"}},
	{94, "parallel_tool_calls only with tools", []string{"TestSettings", "TestWhatIsNeverSentUnasked"}},
	{95, "ids of nine characters", []string{"TestEveryDialectIsAcceptedByItsServers"}},
	{96, "no user right after a tool", []string{"TestEveryDialectIsAcceptedByItsServers"}},
	{97, "content of a message of calls", []string{"TestHabits/content null", "TestHabits/content empty"}},
	{98, "empty lists and messages", []string{"TestWhatIsNeverSentUnasked", "TestEveryDialectIsAcceptedByItsServers"}},
	{99, "names of tools", []string{"illegal name of a tool", "../..:TestAgentsOfAnyNameAreReached"}},
	{100, "dialects of schemas", []string{"TestTools", "TestChoiceAtTheTopOfASchema"}},
	{101, "reasoning_effort refused", []string{"TestWhatIsNeverSentUnasked"}},
	{102, "results without their call", []string{"TestStrictTemplateOfCutHistories", "../..:TestKilledProcessLeavesASessionThatGoesOn"}},
	{103, "a bare list of models", []string{"TestListModels"}},
	{104, "what Anthropic ignores or needs", []string{"TestWhatIsNeverSentUnasked", "TestHeadersAndAddresses"}},
	{105, "content as text, not parts", []string{"TestWhatIsNeverSentUnasked"}},
}

// overflows are the vendors whose words for a prompt that is too long are known, with the case of each.
var overflows = map[string]string{
	"OpenAI": "TestOverflow/OpenAI", "vLLM": "TestOverflow/vLLM", "llama.cpp": "TestOverflow/llama.cpp", "LM Studio": "TestOverflow/LM Studio",
	"Ollama": "TestOverflow/Ollama", "Anthropic": "TestOverflow/Anthropic", "Gemini": "TestOverflow/Gemini", "Groq": "TestOverflow/Groq",
	"Mistral": "TestOverflow/Mistral", "xAI": "TestOverflow/xAI", "Together": "TestOverflow/Together", "OpenRouter": "TestOverflow/OpenRouter",
	"GitHub": "TestOverflow/GitHub", "Copilot": "TestOverflow/Copilot", "Kimi": "TestOverflow/Kimi", "MiniMax": "TestOverflow/MiniMax",
	"Cerebras": "413 empty", "z.ai": "finish window exceeded", "MiMo": "limit and nothing at all", "llama.cpp in the stream": "in-stream: a field of its own",
}

// TestQuirksAreCovered: each known quirk has its cases, and each case is there.
func TestQuirksAreCovered(t *testing.T) {
	t.Parallel()
	var raw []string
	for _, c := range slices.Concat(framingCases(), callCases(), contentCases(), errorCases()) {
		raw = append(raw, c.name)
	}
	sources := map[string]string{}
	source := func(folder string) string {
		if text, ok := sources[folder]; ok {
			return text
		}
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, file := range files {
			if folder == "." && filepath.Base(file) == "quirks_test.go" {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		sources[folder] = all.String()
		return sources[folder]
	}
	check := func(what, name string) {
		folder, test, elsewhere := strings.Cut(name, ":")
		if !elsewhere || !strings.HasPrefix(test, "Test") {
			folder, test = ".", name
		}
		if !strings.HasPrefix(test, "Test") && !strings.HasPrefix(test, "Fuzz") {
			if !slices.Contains(raw, name) {
				t.Errorf("%s: there is no case %q", what, name)
			}
			return
		}
		function, sub, _ := strings.Cut(test, "/")
		if !strings.Contains(source(folder), "func "+function+"(") || sub != "" && !strings.Contains(source(folder), strconv.Quote(sub)) {
			t.Errorf("%s: there is no test %q", what, name)
		}
	}
	known := map[int]bool{}
	for _, q := range quirks {
		if known[q.number] {
			t.Errorf("Q%d stands twice", q.number)
		}
		known[q.number] = true
		if len(q.cases) == 0 {
			t.Errorf("Q%d, %s, has no case", q.number, q.what)
		}
		for _, name := range q.cases {
			check(fmt.Sprintf("Q%d", q.number), name)
		}
	}
	for _, span := range [][2]int{{1, 19}, {20, 47}, {50, 61}, {70, 82}, {90, 105}} {
		for n := span[0]; n <= span[1]; n++ {
			if !known[n] {
				t.Errorf("Q%d is missing", n)
			}
			delete(known, n)
		}
	}
	for n := range known {
		t.Errorf("Q%d is no known quirk", n)
	}
	for vendor, name := range overflows {
		check(vendor, name)
	}
}
