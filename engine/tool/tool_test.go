package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bureau/engine/llm"
	"bureau/engine/tool"
)

type fake struct{ def llm.Tool }

func (f fake) Definition() llm.Tool { return f.def }

func (f fake) Run(context.Context, tool.Call) (string, error) { return "ran", nil }

func named(name string) tool.Tool {
	return fake{llm.Tool{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)}}
}

func TestNewSet(t *testing.T) {
	t.Parallel()
	set, err := tool.NewSet(named("read_file"), named("list_directory"), named("a-B9"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"read_file", "list_directory", "a-B9"}; !slices.Equal(set.Names(), want) {
		t.Errorf("Names() = %q, want %q", set.Names(), want)
	}
	if defs := set.Definitions(); len(defs) != 3 || defs[1].Name != "list_directory" {
		t.Errorf("Definitions() = %v, want them in order", defs)
	}
	if _, ok := set.Get("read_file"); !ok {
		t.Error("Get does not find read_file")
	}
	if _, ok := set.Get("READ_FILE"); ok {
		t.Error("Get finds a name in another case")
	}
	set.Names()[0] = "changed"
	if set.Names()[0] != "read_file" {
		t.Error("a caller can change the set's names")
	}
	empty, err := tool.NewSet()
	if err != nil || len(empty.Definitions()) != 0 || len(empty.Nearest("x", 3)) != 0 {
		t.Errorf("an empty set: %v", err)
	}
}

func TestNewSetRefuses(t *testing.T) {
	t.Parallel()
	schema := func(text string) tool.Tool { return fake{llm.Tool{Name: "odd", Parameters: json.RawMessage(text)}} }
	tests := map[string]struct {
		tools []tool.Tool
		want  []string
	}{
		"twice":            {[]tool.Tool{named("a"), named("b"), named("a")}, []string{`"a"`, "tool 1", "tool 3"}},
		"all at once":      {[]tool.Tool{named("a b"), named("規劃"), named("c"), named("c")}, []string{`"a b"`, `"規劃"`, `"c"`}},
		"empty name":       {[]tool.Tool{named("")}, []string{`""`, "not legal"}},
		"long name":        {[]tool.Tool{named(strings.Repeat("a", 65))}, []string{"not legal"}},
		"newline":          {[]tool.Tool{named("a\n")}, []string{`"a\n"`}},
		"nil":              {[]tool.Tool{nil}, []string{"tool 1", "nil"}},
		"no schema":        {[]tool.Tool{schema("")}, []string{`"odd"`, "JSON Schema"}},
		"not an object":    {[]tool.Tool{schema(`{"type":"array"}`)}, []string{`"odd"`, `must be "object"`}},
		"true":             {[]tool.Tool{schema(`true`)}, []string{`"odd"`}},
		"bad pattern":      {[]tool.Tool{schema(`{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`)}, []string{`"odd"`}},
		"no such $ref":     {[]tool.Tool{schema(`{"type":"object","properties":{"a":{"$ref":"#/$defs/nope"}}}`)}, []string{"leads nowhere"}},
		"remote $ref":      {[]tool.Tool{schema(`{"type":"object","properties":{"a":{"$ref":"http://example.com/s"}}}`)}, []string{"not supported"}},
		"endless":          {[]tool.Tool{schema(`{"type":"object","$ref":"#"}`)}, []string{"without end"}},
		"endless in a way": {[]tool.Tool{schema(`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/properties/a"}]}}}`)}, []string{"without end"}},
		"nested id":        {[]tool.Tool{schema(`{"type":"object","properties":{"a":{"$id":"http://x/","type":"string"}}}`)}, []string{"$id"}},
		"dynamic":          {[]tool.Tool{schema(`{"type":"object","properties":{"a":{"$dynamicRef":"#x"}}}`)}, []string{"$dynamicRef"}},
		"doubling": {[]tool.Tool{schema(`{"type":"object","allOf":[{"$ref":"#/$defs/a"}],"$defs":{` +
			`"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},` +
			`"b":{"allOf":[{"$ref":"#/$defs/c"},{"$ref":"#/$defs/c"},{"$ref":"#/$defs/c"},{"$ref":"#/$defs/c"},{"$ref":"#/$defs/c"}]},` +
			`"c":{"allOf":[{"$ref":"#/$defs/d"},{"$ref":"#/$defs/d"},{"$ref":"#/$defs/d"},{"$ref":"#/$defs/d"},{"$ref":"#/$defs/d"}]},` +
			`"d":{"allOf":[{},{},{},{},{},{},{},{},{},{}]}}}`)}, []string{"more than 1000"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tool.NewSet(tt.tools...)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	set, err := tool.NewSet(named("read_file"), named("list_directory"), named("search_files"), named("send_message"), named("transfer_to_Desk"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		n    int
		want []string
	}{
		"readFile":                {3, []string{"read_file"}},
		"READ-FILE":               {3, []string{"read_file"}},
		"read_fil":                {1, []string{"read_file"}},
		"read":                    {3, []string{"read_file"}},
		"raed_file":               {1, []string{"read_file"}},
		"list_dir":                {1, []string{"list_directory"}},
		"search_file":             {1, []string{"search_files"}},
		"desk":                    {2, []string{"transfer_to_Desk"}},
		"weather":                 {3, nil},
		"":                        {3, nil},
		"規劃":                      {3, nil},
		strings.Repeat("x", 9000): {3, nil},
		"functions.read_file":     {1, []string{"read_file"}},
	}
	for name, tt := range tests {
		if got := set.Nearest(name, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("Nearest(%.40q, %d) = %q, want %q", name, tt.n, got, tt.want)
		}
	}
	if got := set.Nearest("read_file", 0); len(got) != 0 {
		t.Errorf("Nearest(…, 0) = %q", got)
	}
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	var r tool.Registry
	if err := r.Register(named("read_file"), named("current_time")); err != nil {
		t.Fatal(err)
	}
	if err := r.Register(named("new"), named("read_file")); err == nil || !strings.Contains(err.Error(), `"read_file"`) {
		t.Errorf("a second read_file: %v", err)
	}
	if want := []string{"read_file", "current_time"}; !slices.Equal(r.Names(), want) {
		t.Errorf("Names() = %q, want %q: a refused registration changes nothing", r.Names(), want)
	}
	set, err := r.Pick([]string{"current_time", "read_file"})
	if err != nil || !slices.Equal(set.Names(), []string{"current_time", "read_file"}) {
		t.Errorf("Pick = %v, %v", set, err)
	}
	_, err = r.Pick([]string{"readfile", "weather", "read_file"})
	if err == nil || !strings.Contains(err.Error(), `"readfile": did you mean read_file?`) ||
		!strings.Contains(err.Error(), `"weather": there are read_file, current_time`) {
		t.Errorf("unknown tools: %v", err)
	}
	if _, err := r.Pick([]string{"read_file", "read_file"}); err == nil {
		t.Error("the same tool twice is accepted")
	}
}

var legal = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func TestLegalName(t *testing.T) {
	t.Parallel()
	hash := `_[0-9a-f]{8}$`
	tests := []struct{ prefix, name, want string }{
		{"transfer_to_", "Desk", `^transfer_to_Desk$`},
		{"transfer_to_", "My Agent", `^transfer_to_My_Agent$`},
		{"transfer_to_", "規划", `^transfer_to` + hash},
		{"transfer_to_", "規划 Agent", `^transfer_to_Agent` + hash},
		{"transfer_to_", "billing-agent", `^transfer_to_billing-agent$`},
		{"transfer_to_", "billing.agent", `^transfer_to_billing_agent` + hash},
		{"transfer_to_", "Rédaction", `^transfer_to_Redaction` + hash},
		{"transfer_to_", strings.Repeat("a", 100), `^transfer_to_a{43}` + hash},
		{"transfer_to_", strings.Repeat("規", 100), `^transfer_to` + hash},
		{"transfer_to_", "🙂", `^transfer_to` + hash},
		{"transfer_to_", "", `^transfer_to` + hash},
		{"", "", `^tool` + hash},
		{"", "   ", `^tool` + hash},
		{"", "read_file", `^read_file$`},
		{"", "functions.read_file", `^functions_read_file` + hash},
		{"", "read_file\x00<|channel|>json", `^read_file_channel_json` + hash},
		{"", "\xff\xfe", `^tool` + hash},
		{"", "../../etc/passwd", `^etc_passwd` + hash},
		{"", strings.Repeat("a", 64), `^a{64}$`},
		{"", strings.Repeat("a", 65), `^a{55}` + hash},
		{"", strings.Repeat("a ", 100000), `^(a_)+` + hash[1:]},
	}
	for _, tt := range tests {
		got := tool.LegalName(tt.prefix, tt.name, nil)
		if !regexp.MustCompile(tt.want).MatchString(got) || !legal.MatchString(got) || !tool.IsLegal(got) {
			t.Errorf("LegalName(%q, %.40q) = %q, want %s", tt.prefix, tt.name, got, tt.want)
		}
		if again := tool.LegalName(tt.prefix, tt.name, nil); again != got {
			t.Errorf("LegalName(%q, %.40q) gives %q, then %q", tt.prefix, tt.name, got, again)
		}
	}
}

// Names of agents that have been folded into one another elsewhere.
func TestLegalNamesStayApart(t *testing.T) {
	t.Parallel()
	names := []string{
		"風林火山 Agent", "疾風迅雷 Agent", "规划", "規劃", "Billing Agent", "billing-agent", "billing.agent", "billing/agent", "Billing_Agent",
		"Billing-Agent", strings.Repeat("x", 100), strings.Repeat("x", 101), "Ünit", "Unit", "U.nit", " Unit", "Unit ", "🙂", "🙃", "é", "e\u0301",
	}
	taken := map[string]bool{}
	first := map[string]string{}
	for _, name := range names {
		got := tool.LegalName("transfer_to_", name, func(n string) bool { return taken[n] })
		if taken[got] || !legal.MatchString(got) {
			t.Errorf("LegalName of %q is %q: taken or not legal", name, got)
		}
		taken[got], first[name] = true, got
	}
	again := map[string]bool{}
	for _, name := range names {
		got := tool.LegalName("transfer_to_", name, func(n string) bool { return again[n] })
		again[got] = true
		if got != first[name] {
			t.Errorf("the name of %q is %q, then %q", name, first[name], got)
		}
	}
	// A name that is taken even with its hash gets another one.
	all := map[string]bool{}
	for range 5 {
		got := tool.Legal("a", func(n string) bool { return all[n] })
		if all[got] || !legal.MatchString(got) {
			t.Fatalf("%q is taken", got)
		}
		all[got] = true
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	accepted := map[string]string{
		"":                                    `{}`,
		" \n\t":                               `{}`,
		"null":                                `{}`,
		" null ":                              `{}`,
		"{}":                                  `{}`,
		" { \"a\" : [ 1 , 2 ] } \n":           `{"a":[1,2]}`,
		`{"a":"<b>&\u00e9\ud83d\ude00"}`:      `{"a":"<b>&\u00e9\ud83d\ude00"}`,
		`{"a":"\\ud800"}`:                     `{"a":"\\ud800"}`,
		`{"a":{"a":1},"b":[{"a":1},{"a":2}]}`: `{"a":{"a":1},"b":[{"a":1},{"a":2}]}`,
		`"{\"a\":1}"`:                         `{"a":1}`,
		`" {\"a\":1}\n"`:                      `{"a":1}`,
		`{"a":12345678901234567890}`:          `{"a":12345678901234567890}`,
		`{"a":"{\"b\":1}"}`:                   `{"a":"{\"b\":1}"}`,
		deep(100):                             deep(100),
		`{"規劃":"ok"}`:                         `{"規劃":"ok"}`,
	}
	for raw, want := range accepted {
		got, err := tool.Arguments(raw)
		if err != nil || string(got) != want {
			t.Errorf("Arguments(%.60q) = %.60q, %v, want %.60q", raw, got, err, want)
		}
	}
	refused := map[string]struct {
		offset int
		words  string
	}{
		`{"a":1`:                                 {6, "ends before the value does"},
		`{"path":"/tmp/a`:                        {15, "ends before the value does"},
		`{"a":1}{"a":2}`:                         {7, "exactly one JSON object"},
		`{"a":1} {"a":2}`:                        {8, "exactly one JSON object"},
		`{"a":1,}`:                               {7, "invalid character"},
		`  {"a" 1}`:                              {7, "invalid character"},
		`{'a':1}`:                                {1, "invalid character"},
		`{"a":NaN}`:                              {5, "invalid character"},
		`{"a":Infinity}`:                         {5, "invalid character"},
		`{"a":1,"a":2}`:                          {7, `"a" is written twice`},
		`{"a":1,"\u0061":2}`:                     {7, `"a" is written twice`},
		`{"b":[{"a":1,"a":2}]}`:                  {13, `"a" is written twice`},
		`[1]`:                                    {0, "found an array"},
		`"text"`:                                 {0, "found a string"},
		`"[1]"`:                                  {0, "found a string"},
		`"\"{}\""`:                               {0, "found a string"},
		"\"{\\\"a\\\":\\\"\xff\\\"}\"":           {10, "0xff is not valid UTF-8"},
		`"{\"a\":\"\ud800\"}"`:                   {0, "found a string"},
		`"{\"a\":"`:                              {5, "ends before"},
		`5`:                                      {0, "found a number"},
		`true`:                                   {0, "found a boolean"},
		"{\"a\":\"\xff\"}":                       {6, "0xff is not valid UTF-8"},
		`{"a":"\ud800"}`:                         {6, `\ud800 is half`},
		`{"a":"\ud800\u0041"}`:                   {6, "half"},
		`{"a":"\udc00"}`:                         {6, "half"},
		deep(101):                                {500, "deeper than 100"},
		deep(20000):                              {0, ""},
		`{"a":1e999}`:                            {5, "out of range"},
		`{"a":1e999999999}`:                      {5, "out of range"},
		`{"a":1e-999999999}`:                     {5, "out of range"},
		`{"a":` + strings.Repeat("9", 500) + `}`: {5, "500 characters"},
		`{"a":"` + strings.Repeat("x", 4<<20) + `"}`: {4 << 20, "4194304"},
		"```json\n{}\n```":                           {0, "invalid character"},
		"\x00":                                       {0, "invalid character"},
	}
	for raw, want := range refused {
		got, err := tool.Arguments(raw)
		var bad *tool.ArgumentsError
		if !errors.As(err, &bad) || got != nil {
			t.Errorf("Arguments(%.60q) = %.60q, %v, want an ArgumentsError", raw, got, err)
			continue
		}
		if want.words != "" && (bad.Offset != want.offset || !strings.Contains(bad.Error(), want.words)) {
			t.Errorf("Arguments(%.60q): %q at %d, want %q at %d", raw, bad, bad.Offset, want.words, want.offset)
		}
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "null", `{"a":1}`, `"{\"a\":1}"`, `{"a":1}{"b":2}`, `{"a":"\ud83d\ude00"}`, `{"a":1,"a":2}`, `[[[`, "{\"\xff\":1}", `{"a":1e400}`, "\"{\\\"", `"{}`, `{"a":-0}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		object, err := tool.Arguments(raw)
		if err != nil {
			var bad *tool.ArgumentsError
			if !errors.As(err, &bad) || bad.Offset < 0 || bad.Offset > len(raw) || bad.Text == "" {
				t.Fatalf("Arguments(%q): %#v", raw, err)
			}
			return
		}
		var fields map[string]any
		if err := json.Unmarshal(object, &fields); err != nil || fields == nil {
			t.Fatalf("Arguments(%q) = %q, no JSON object: %v", raw, object, err)
		}
		again, err := tool.Arguments(string(object))
		if err != nil || string(again) != string(object) {
			t.Fatalf("Arguments(%q) = %q, and of that %q, %v", raw, object, again, err)
		}
		if json.Valid([]byte(raw)) && strings.HasPrefix(strings.TrimSpace(raw), "{") {
			var same map[string]any
			if err := json.Unmarshal([]byte(raw), &same); err != nil || !reflect.DeepEqual(same, fields) {
				t.Fatalf("Arguments(%q) = %q, another object", raw, object)
			}
		}
	})
}
