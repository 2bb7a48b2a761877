package cmd_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layout says which of our own packages each part may import. A package below a part follows the part's rule, and may import
// what else is below its part. What is not named here may not exist.
var layout = []struct {
	part string
	may  []string
}{
	{"engine/history", nil},
	{"agencies", []string{"engine/history"}},
	{"store", []string{"engine/history", "engine/memory"}},
	{"engine/llm", []string{"engine/history"}},
	{"engine/tool", []string{"engine/history", "engine/llm"}},
	{"engine/memory", []string{"engine/history", "engine/llm", "engine/tool"}},
	{"engine/weave", []string{"engine/history", "engine/llm", "engine/tool", "engine/memory"}},
	{"engine", []string{"agencies", "engine/history", "engine/llm", "engine/tool", "engine/memory", "engine/weave"}},
	{"tui", []string{"engine/history"}},
	{"cmd", []string{"*"}},
	{"", []string{"cmd"}},
}

// alone says who may import a library that one part stands before.
var alone = map[string][]string{
	"github.com/sashabaranov/go-openai": {"engine/llm/openai"},
	"charm.land/bubbletea":              {"tui"},
	"charm.land/bubbles":                {"tui"},
	"charm.land/lipgloss":               {"tui"},
	"charm.land/glamour":                {"tui"},
	"modernc.org/sqlite":                {"store"},
	"database/sql":                      {"store"},
	"go.yaml.in/yaml":                   {"agencies", "engine/llm/script", "cmd"},
	"github.com/spf13/cobra":            {"cmd"},
}

const module = "bureau"

func TestImportsFollowTheLayout(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		dir, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}
		checkImports(t, path, filepath.ToSlash(dir))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Fatalf("only %d files were looked at", files)
	}
}

func checkImports(t *testing.T, path, dir string) {
	t.Helper()
	if dir == "." {
		dir = ""
	}
	part, may, ok := partOf(dir)
	if !ok {
		t.Errorf("%s: the folder %s has no place in the layout", path, dir)
		return
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if own, isOwn := strings.CutPrefix(name, module+"/"); isOwn {
			to, _, _ := partOf(own)
			if to != part && !slices.Contains(may, "*") && !slices.Contains(may, to) {
				t.Errorf("%s: %s may not import %s", path, part, own)
			}
			continue
		}
		if dir == "engine/history" && strings.Contains(name, ".") {
			t.Errorf("%s: engine/history stands on the standard library alone, not on %s", path, name)
		}
		for library, who := range alone {
			if name != library && !strings.HasPrefix(name, library+"/") {
				continue
			}
			if !slices.ContainsFunc(who, func(w string) bool { return dir == w || strings.HasPrefix(dir, w+"/") }) {
				t.Errorf("%s: only %s may import %s", path, strings.Join(who, ", "), library)
			}
		}
	}
}

// partOf finds the part with the longest name that a folder lies in.
func partOf(dir string) (string, []string, bool) {
	best, found := -1, false
	for i, l := range layout {
		if dir == l.part || l.part != "" && strings.HasPrefix(dir, l.part+"/") {
			if !found || len(l.part) > len(layout[best].part) {
				best, found = i, true
			}
		}
	}
	if !found {
		return "", nil, false
	}
	return layout[best].part, layout[best].may, true
}

func TestOnlyTheLayoutStandsAtTheTop(t *testing.T) {
	allowed := []string{
		"main.go", "go.mod", "go.sum", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "docs",
		"cmd", "agencies", "engine", "store", "tui",
	}
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && e.Name() != "bureau" && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s has no place at the top", e.Name())
		}
	}
}
