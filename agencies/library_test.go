package agencies_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"bureau/agencies"
)

// everything that the files of these tests refer to.
var everything = agencies.Known{
	Tools:     []string{"read_file", "list_directory", "search_files", "current_time"},
	Providers: []string{"openai", "ollama", "anthropic"},
}

// write puts a file into a folder, with the folders above it, and gives its path.
func write(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func named(name string) string {
	return "name: " + name + "\ndescription: Is " + name + "\nagents: {A: {instructions: x}}\n"
}

func TestShippedAgenciesLoad(t *testing.T) {
	t.Parallel()
	var names []string
	for _, l := range agencies.List(agencies.Places{}, everything) {
		names = append(names, l.Name)
		if l.Err != nil || l.Description == "" || l.Origin != agencies.OriginShipped || l.Path != "" {
			t.Errorf("listed as %+v", l)
		}
		agency, err := agencies.Find(l.Name, agencies.Places{}, everything)
		if err != nil {
			t.Fatal(err)
		}
		if agency.Name != l.Name || agency.Path != "" || (agency.Script == nil) != (agency.ScriptPath == "") {
			t.Errorf("%s: name %s, path %q, script %q", l.Name, agency.Name, agency.Path, agency.ScriptPath)
		}
		script, err := os.ReadFile(filepath.Join("shipped", l.Name+".script.yaml"))
		if err == nil && string(agency.Script) != string(script) {
			t.Errorf("%s has another script than the one beside it", l.Name)
		}
	}
	if !slices.Equal(names, []string{"newsroom", "tour"}) {
		t.Errorf("there ship %v", names)
	}
}

func TestTourShowsWhatAnAgencyCanDo(t *testing.T) {
	t.Parallel()
	tour, err := agencies.Find("tour", agencies.Places{}, everything)
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]string{
		"Guide": "send_message(Scout,Scribe) handoff(Concierge)", "Scout": "send_message(Reader)", "Concierge": "handoff(Guide)",
	} {
		if got := wired(tour, agent); got != want {
			t.Errorf("%s can reach %s", agent, got)
		}
	}
	if tour.EntryPoints[0] != "Guide" {
		t.Errorf("the default recipient is %s", tour.EntryPoints[0])
	}
}

func TestFindLooksInOrder(t *testing.T) {
	t.Parallel()
	places := agencies.Places{Work: t.TempDir(), Config: t.TempDir()}
	project, user := filepath.Join(places.Work, ".bureau", "agencies"), filepath.Join(places.Config, "agencies")
	write(t, project, "both.yaml", named("project-both"))
	write(t, project, "both.json", named("project-json"))
	write(t, project, "both.script.yaml", "rules: []\n")
	write(t, user, "both.yml", named("user-both"))
	write(t, user, "mine.yml", named("mine"))
	write(t, user, "tour.yaml", named("my-tour"))
	write(t, user, "broken.yaml", "nam: x\n")
	write(t, user, "notes.txt", "")
	path := write(t, places.Work, "here.yaml", named("here"))

	for ref, want := range map[string]string{
		"both": "project-both", "mine": "mine", "tour": "my-tour", "newsroom": "newsroom",
		"here.yaml": "here", "./here.yaml": "here", path: "here",
	} {
		agency, err := agencies.Find(ref, places, everything)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
		} else if agency.Name != want {
			t.Errorf("%s is %s, not %s", ref, agency.Name, want)
		}
	}
	agency, _ := agencies.Find("both", places, everything)
	if string(agency.Script) != "rules: []\n" || agency.ScriptPath != filepath.Join(project, "both.script.yaml") ||
		agency.Path != filepath.Join(project, "both.yaml") {
		t.Errorf("path %s, script %q from %s", agency.Path, agency.Script, agency.ScriptPath)
	}

	var got []string
	for _, l := range agencies.List(places, everything) {
		line := string(l.Origin) + " " + l.Name
		if l.Shadowed {
			line += " shadowed"
		}
		if (l.Err != nil) != (l.Name == "broken") || (l.Err == nil) != (l.Description != "") {
			t.Errorf("%+v", l)
		}
		got = append(got, line)
	}
	if want := []string{"project both", "project both shadowed", "user both shadowed", "user broken", "user mine", "user tour",
		"shipped newsroom", "shipped tour shadowed"}; !slices.Equal(got, want) {
		t.Errorf("listed %q", got)
	}
}

func TestUnknownNames(t *testing.T) {
	t.Parallel()
	var notFound *agencies.NotFoundError
	_, err := agencies.Find("newsrom", agencies.Places{Work: t.TempDir(), Config: t.TempDir()}, everything)
	if !errors.As(err, &notFound) || notFound.Suggestion != "newsroom" || !slices.Equal(notFound.Names, []string{"newsroom", "tour"}) {
		t.Errorf("%v", err)
	}
	if want := `no agency is called "newsrom"; did you mean "newsroom"? (there is: newsroom, tour)`; err.Error() != want {
		t.Errorf("%v", err)
	}
	for _, ref := range []string{"", "..", "\x1b[2J"} {
		if _, err = agencies.Find(ref, agencies.Places{}, everything); !errors.As(err, &notFound) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if _, err = agencies.Find("./none.yaml", agencies.Places{Work: t.TempDir()}, everything); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err = agencies.Load(t.TempDir(), everything); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
}

func TestFolderThatCannotBeRead(t *testing.T) {
	t.Parallel()
	places := agencies.Places{Work: t.TempDir()}
	write(t, places.Work, ".bureau/agencies", "a file where a folder belongs")
	if _, err := agencies.Find("tour", places, everything); err == nil {
		t.Error("the agency that ships stands in for one that could not be looked for")
	}
	listed := agencies.List(places, everything)
	if len(listed) != 3 || listed[0].Err == nil || listed[2].Name != "tour" {
		t.Errorf("%+v", listed)
	}
}

func TestFilesStayInTheFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	outside := t.TempDir()
	secret := write(t, outside, "secret.md", "secret")
	folder := t.TempDir()
	write(t, folder, "texts/inside.md", "inside")
	for link, target := range map[string]string{
		"absolute.md": secret, "texts/near.md": "inside.md", "out": outside,
		"a.script.yaml": secret,
	} {
		if err := os.Symlink(target, filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	load := func(name, file string) (*agencies.Agency, error) {
		path := write(t, folder, name, "name: t\nagents:\n  A: {instructions: {file: "+file+"}}\n")
		return agencies.Load(path, everything)
	}
	if agency, err := load("b.yaml", "texts/near.md"); err != nil || agency.Agents[0].Instructions != "inside" {
		t.Errorf("a link inside: %v", err)
	}
	for _, file := range []string{"absolute.md", "out/secret.md", "../secret.md"} {
		agency, err := load("b.yaml", file)
		var fileError *agencies.FileError
		if !errors.As(err, &fileError) || fileError.Faults[0].Line != 3 || fileError.Faults[0].Column != 28 {
			t.Errorf("%s: %v %+v", file, err, agency)
		}
	}
	if _, err := load("a.yaml", "texts/inside.md"); err == nil || !strings.Contains(err.Error(), "a.script.yaml") {
		t.Errorf("a script outside: %v", err)
	}
}

func TestErrorsShowThePathAsTyped(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	write(t, folder, "broken.yaml", "name: t\n")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	_, err = agencies.Find("broken.yaml", agencies.Places{Work: here}, everything)
	if err == nil || !strings.HasPrefix(err.Error(), "broken.yaml:1:1: the agency has no agents") {
		t.Errorf("%v", err)
	}
}
