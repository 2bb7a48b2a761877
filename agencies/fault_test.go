package agencies_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bureau/agencies"
)

// faultFiles is the folder of the files with faults.
var faultFiles = fstest.MapFS{
	"sub/b.md":  {Data: []byte("Answer.\r\n")},
	"large.md":  {Data: []byte(strings.Repeat("x", 1<<20+1))},
	"latin.md":  {Data: []byte("one\ncaf\xe9\n")},
	"escape.md": {Data: []byte("a\x1b[2J")},
	"empty.md":  {Data: []byte(" \n")},
}

// The beginnings that most files with faults have in common: five lines, four lines, and the line of the flows.
const (
	threeAgents = "name: t\nagents:\n  A: {instructions: x}\n  B: {instructions: x}\n  C: {instructions: x}\n"
	oneAgent    = "name: t\nagents:\n  A:\n    instructions: x\n"
	flows       = "communication_flows:\n"
)

// faultCase is a file and all that is reported about it, each as line:column: message.
type faultCase struct {
	name, file string
	want       []string
}

func checkFaults(t *testing.T, cases []faultCase) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := agencies.Parse("f", []byte(test.file), faultFiles, everything)
			var fileError *agencies.FileError
			if !errors.As(err, &fileError) {
				t.Fatalf("the error is %v", err)
			}
			got := strings.Split(strings.ReplaceAll("\n"+err.Error(), "\nf:", "\n"), "\n")[1:]
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(test.want, "\n\t"))
			}
		})
	}
}

func TestTooManyFaultsAreCut(t *testing.T) {
	t.Parallel()
	_, err := agencies.Parse("f", []byte("name: t\n"+strings.Repeat("? [x]\n", 2000)), nil, everything)
	var fileError *agencies.FileError
	if !errors.As(err, &fileError) || len(fileError.Faults) != 501 {
		t.Fatalf("%d faults", len(fileError.Faults))
	}
	if !strings.Contains(err.Error(), "more than 500 mistakes") {
		t.Error("nothing says that there are more")
	}
}

func TestErrorsAreSafeToPrint(t *testing.T) {
	t.Parallel()
	_, err := agencies.Parse("a\x1b[2J\n.yaml", []byte("name: \"\\e[2J\"\n\"k\\e\\n\\u202e\": 1\n"), nil, everything)
	for _, r := range err.Error() {
		if r < ' ' && r != '\n' || r == 0x202e {
			t.Fatalf("%q", err)
		}
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != 5 {
		t.Errorf("%d lines: %s", lines, err)
	}
}

func TestFileOfTooManyBytes(t *testing.T) {
	t.Parallel()
	file := "name: t\nagents: {A: {instructions: x}}\n#"
	fits := file + strings.Repeat("x", 1<<20-len(file))
	if _, err := agencies.Parse("f", []byte(fits), nil, everything); err != nil {
		t.Errorf("1 MiB: %v", err)
	}
	if _, err := agencies.Parse("f", []byte(fits+"x"), nil, everything); err == nil ||
		!strings.HasPrefix(err.Error(), "f:1:1: the file has more than 1048576 bytes") {
		t.Errorf("more: %v", err)
	}
}
