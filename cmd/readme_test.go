package cmd_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bureau/tui/keymap"
)

func readReadme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// documents are the README and all that it leads to, by path as seen from here.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../docs/*.md")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	texts := map[string]string{}
	for _, path := range append(paths, "../README.md", "../CONTRIBUTING.md") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(data)
	}
	return texts
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func yamlBlocks(text string) []string {
	var blocks []string
	for _, match := range yamlBlock.FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}

// Every block of YAML in the documents is a file that the program takes: an agency, a configuration, the rehearsals or the
// script of an agency.
func TestDocumentedFilesAreSound(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for path, text := range documents(t) {
		for _, block := range yamlBlocks(text) {
			kind, files, command := "configuration", map[string]string{}, []string{"agency", "list"}
			switch {
			case strings.HasPrefix(block, "rehearsals:"):
				// Held against their agency, in tests of their own; here as far as they can be read.
				kind, files["desk.test.yaml"], command = "rehearsals", block, nil
			case strings.HasPrefix(block, "agents:") || strings.HasPrefix(block, "pace:"):
				kind, files[".bureau/agencies/desk.script.yaml"], command = "script", block, []string{"agency", "check", "desk"}
				files[".bureau/agencies/desk.yaml"] = "name: desk\nagents:\n  Lead: {instructions: Talk.}\n  Researcher: {instructions: Look.}\n"
			case strings.Contains(block, "\nagents:"):
				kind, files["agency.yaml"], command = "agency", block, []string{"agency", "check", "agency.yaml"}
				files["rules/one.md"] = "Be kind."
			}
			kinds[kind]++
			if command == nil {
				continue
			}
			u := newUser(t, files)
			if kind == "configuration" {
				if err := os.WriteFile(filepath.Join(u.folder, "config.yaml"), []byte(block), 0o600); err != nil {
					t.Fatal(err)
				}
				u.env = append(u.env, "BUREAU_CONFIG="+filepath.Join(u.folder, "config.yaml"))
			}
			if _, errOut, code := u.run(command...); code != 0 {
				t.Errorf("a file of kind %s in %s has faults:\n%s", kind, path, errOut)
			}
		}
	}
	for kind, least := range map[string]int{"agency": 3, "configuration": 2, "rehearsals": 2, "script": 1} {
		if kinds[kind] < least {
			t.Errorf("the documents have %d files of kind %s", kinds[kind], kind)
		}
	}
}

// The examples of the agency file show every key that the schema knows.
func TestEveryKeyOfTheAgencyFileIsDocumented(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(newUser(t, nil).must("agency", "schema")), &schema); err != nil {
		t.Fatal(err)
	}
	keys := slices.Collect(maps.Keys(schema.Properties))
	for _, def := range schema.Defs {
		keys = slices.AppendSeq(keys, maps.Keys(def.Properties))
	}
	if len(keys) < 50 {
		t.Fatalf("the schema has %d keys", len(keys))
	}
	examples := strings.Join(yamlBlocks(documents(t)["../docs/agency-file.md"]), "\n")
	for _, key := range keys {
		if !regexp.MustCompile(`(?m)(^|[ {])` + key + `:`).MatchString(examples) {
			t.Errorf("no example shows the key %s", key)
		}
	}
}

func TestReadmeKeys(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- keys: made from the key map -->\n", "<!-- /keys -->"
	readme := readReadme(t)
	before, rest, ok := strings.Cut(readme, begin)
	table, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("the README has no place for the keys")
	}
	want := "\n" + keymap.Default().Markdown() + "\n"
	if table == want {
		return
	}
	if !*update {
		t.Fatal("the keys of the README are not those of the key map; go test ./cmd -run Readme -update writes them")
	}
	if err := os.WriteFile("../README.md", []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

var localLink = regexp.MustCompile(`!?\[[^\]]*\]\(([^)#:]+)\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	pictures := 0
	for path, text := range documents(t) {
		for _, link := range localLink.FindAllStringSubmatch(text, -1) {
			if strings.HasPrefix(link[0], "!") {
				pictures++
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(link[1]))); err != nil {
				t.Errorf("%s: %s leads nowhere: %v", path, link[0], err)
			}
		}
	}
	if pictures == 0 {
		t.Error("the README shows no picture")
	}
}

var filesOfTable = regexp.MustCompile("`([a-z][a-z_/]*[*]?\\.go|(?:cmd|engine|tui|store|agencies)(?:/[a-z]+)*)`")

// The files and folders that CONTRIBUTING names are there; a bare name is in the folder of the one before it.
func TestContributingNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	named := 0
	for line := range strings.Lines(documents(t)["../CONTRIBUTING.md"]) {
		folder := ""
		for _, match := range filesOfTable.FindAllStringSubmatch(line, -1) {
			path := match[1]
			if strings.HasSuffix(path, ".go") {
				if strings.Contains(path, "/") {
					folder = filepath.Dir(path)
				}
				path = filepath.Join(folder, filepath.Base(path))
			}
			named++
			if found, err := filepath.Glob(filepath.Join("..", path)); err != nil || len(found) == 0 {
				t.Errorf("CONTRIBUTING names %s, which is not there", path)
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d files and folders were found", named)
	}
}

// manual is the help of the program's commands, read from the program itself.
type manual struct {
	u      *user
	readme string
	pages  map[string]string
}

var helpCommand = regexp.MustCompile(`(?m)^  ([a-z]+) `)

// page returns the help of a command, "" where there is none of that name, and the commands below it.
func (m *manual) page(path ...string) (string, []string) {
	name := strings.Join(path, " ")
	page, ok := m.pages[name]
	if !ok {
		page = m.u.must(append(slices.Clone(path), "--help")...)
		usage := regexp.MustCompile(`(?m)^  bureau ?` + regexp.QuoteMeta(name) + `($| )`)
		if !usage.MatchString(page) {
			page = ""
		}
		m.pages[name] = page
	}
	var below []string
	if _, list, ok := strings.Cut(page, "Available Commands:\n"); ok {
		list, _, _ = strings.Cut(list, "\n\n")
		for _, match := range helpCommand.FindAllStringSubmatch(list, -1) {
			below = append(below, match[1])
		}
	}
	return page, below
}

// agency tells whether the README makes an agency of that name, or one ships.
func (m *manual) agency(name string) bool {
	return slices.Contains([]string{"tour", "newsroom"}, name) || strings.Contains(m.readme, "bureau agency new "+name) || strings.Contains(m.readme, "\nname: "+name+"\n")
}

// check holds words as they stand behind "bureau" against the help. A list such as "list, show" names several commands.
func (m *manual) check(t *testing.T, path []string, words []string) {
	t.Helper()
	_, below := m.page(path...)
	var lists []string
	for more := true; more && len(words) > 0 && !strings.HasPrefix(words[0], "-") && words[0] != strings.ToUpper(words[0]); words = words[1:] {
		name := strings.TrimSuffix(words[0], ",")
		if !slices.Contains(below, name) {
			if len(below) > 0 && (len(path) > 0 || !m.agency(name)) {
				t.Errorf("there is no command %q below bureau %s", name, strings.Join(path, " "))
			}
			break
		}
		lists = append(lists, name)
		more = strings.HasSuffix(words[0], ",")
	}
	if len(lists) > 0 {
		for _, name := range lists {
			m.check(t, append(slices.Clone(path), name), words)
		}
		return
	}
	page, _ := m.page(path...)
	for _, word := range words {
		flag := strings.Trim(word, ".,:;)")
		if strings.HasPrefix(flag, "-") && strings.Trim(flag, "-") != "" && !regexp.MustCompile(`(?m)^ .*`+regexp.QuoteMeta(flag)+`[ ,]`).MatchString(page) {
			t.Errorf("bureau %s has no flag %s", strings.Join(path, " "), flag)
		}
	}
}

var (
	codeSpan  = regexp.MustCompile("`([^`]+)`")
	shBlock   = regexp.MustCompile("(?s)```sh\n(.*?)```")
	inCommand = regexp.MustCompile(`\bbureau( [^|#\n]*)?`)
)

func TestReadmeCommandsExist(t *testing.T) {
	t.Parallel()
	readme := readReadme(t)
	m := &manual{u: newUser(t, nil), readme: readme, pages: map[string]string{}}
	checked := 0
	var blocks [][]string
	for _, text := range documents(t) {
		blocks = append(blocks, shBlock.FindAllStringSubmatch(text, -1)...)
	}
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			if command := inCommand.FindStringSubmatch(line); command != nil && !strings.HasPrefix(line, "go ") && !strings.HasPrefix(line, "sqlite3 ") && !strings.Contains(line, ".db") {
				m.check(t, nil, strings.Fields(command[1]))
				checked++
			}
		}
	}
	_, commands := m.page()
	for line := range strings.Lines(regexp.MustCompile("(?s)```.*?```").ReplaceAllString(readme, "")) {
		var path []string // of the command that a row of a table is about
		for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
			words := strings.Fields(span[1])
			if words[0] == "bureau" {
				m.check(t, nil, words[1:])
				checked++
				if path = nil; len(words) > 1 && slices.Contains(commands, words[1]) {
					path = words[1:2]
				}
				continue
			}
			_, below := m.page(path...)
			if strings.HasPrefix(line, "| `bureau") && (strings.HasPrefix(words[0], "-") || path != nil && slices.Contains(below, words[0])) {
				m.check(t, path, words)
				checked++
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d commands were found in the README", checked)
	}
	for _, name := range commands {
		if name != "help" && !strings.Contains(readme, "`bureau "+name) {
			t.Errorf("the README does not tell of bureau %s", name)
		}
	}
}
