package builtin_test

import (
	"os"
	"slices"
	"testing"

	"bureau/engine/tool/builtin"
)

func TestNamesAreThoseOfTheTools(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var names []string
	for _, tool := range builtin.New(root, builtin.Options{}) {
		names = append(names, tool.Definition().Name)
	}
	if !slices.Equal(names, builtin.Names()) {
		t.Errorf("Names are %q, the tools are called %q", builtin.Names(), names)
	}
}
