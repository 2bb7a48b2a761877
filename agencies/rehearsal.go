package agencies

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"bureau/engine/history"
)

// Rehearsal is one conversation with an agency whose course is known beforehand, and what must happen in it.
type Rehearsal struct {
	Position
	Name string
	// Script and Cassette are files of the agency's folder that the models answer from; at most one is set. With neither it
	// is the script beside the agency.
	Script, Cassette string
	// Model is the one that the cassette is recorded from, and in whose dialect it is asked; empty for none.
	Model string
	// Folder is copied to where the rehearsal runs; empty for none. Files, by their paths in there, are written over it.
	Folder string
	Files  map[string]string
	// Clock is the time that tools tell.
	Clock time.Time
	// Limit is how long it may take as a whole; 0 where the file does not say.
	Limit time.Duration
	// Turns are the messages of the user, in one session. Never empty.
	Turns []RehearsalTurn
}

// RehearsalTurn is one message of the user.
type RehearsalTurn struct {
	Position
	Say string
	// To is the agent that is addressed; empty for the one that has control.
	To     string
	Expect Expect
}

// Expect is what must happen in a turn. What is nil expects nothing.
type Expect struct {
	// Outcome is the code of the error that the turn must end in; empty for an answer.
	Outcome    Wanted[history.Code]
	AnsweredBy *Wanted[string]
	// Asked are messages between agents that must be sent, each as often as it stands here; AskedOnly are all of them.
	Asked     []Wanted[Pair]
	AskedOnly *Wanted[[]Pair]
	// Tools must be called, each as often as it stands here; NoTools by nobody.
	Tools   []Wanted[AgentTool]
	NoTools []Wanted[string]
	// Handoffs are all that happen, in this order.
	Handoffs *Wanted[[]Pair]
	// Answer is what the text of the answer must be like, Error that of the error.
	Answer, Error TextRule
	// Rows must be written in this order; others may stand between them.
	Rows   []Wanted[RowRule]
	AtMost []Wanted[Most]
}

// Wanted is one expectation, and where it stands.
type Wanted[T any] struct {
	Position
	Value T
}

// Position in the file, counted from 1, columns in characters.
type Position struct{ Line, Column int }

// Pair is an agent that asks another, or hands over to it.
type Pair struct{ From, To string }

func (p Pair) String() string { return p.From + " > " + p.To }

// AgentTool is a tool in the hands of an agent.
type AgentTool struct{ Agent, Tool string }

func (t AgentTool) String() string { return t.Agent + ": " + t.Tool }

// TextRule is what a text must be like.
type TextRule struct {
	Contains, Excludes []Wanted[string]
	Matches            []Wanted[*regexp.Regexp]
}

// RowRule describes a row of the message table; what is empty may be anything.
type RowRule struct {
	Agent string
	// Caller is the agent that started the row's run; nil for any, empty for the user.
	Caller   *string
	Type     history.Type
	Role     history.Role
	Name     string
	Origin   history.Origin
	Status   history.Status
	Contains string
}

// Most is a bound on what a turn takes: calls of models, tokens, or runs.
type Most struct {
	Of   string
	Most int
}

const rehearsalSuffix = ".test.yaml"

// rehearsalClock is the time of rehearsals that set none.
var rehearsalClock = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

var rehearsalFile = kind{"it needs the key rehearsals", "a file of rehearsals is one"}

// RehearsalsPath is the file of the agency's rehearsals, whether or not it is there: NAME.test.yaml beside NAME.yaml.
func (a *Agency) RehearsalsPath() string {
	if a.Path == "" {
		return a.Name + rehearsalSuffix
	}
	base := filepath.Base(a.Path)
	return filepath.Join(filepath.Dir(a.Path), strings.TrimSuffix(base, filepath.Ext(base))+rehearsalSuffix)
}

// Rehearsals reads and checks the rehearsals that stand beside the agency; nil without an error where there are none. The
// error is a *FileError when the file is there and something in it is wrong.
func (a *Agency) Rehearsals(known Known) ([]Rehearsal, error) {
	files, closeFolder, err := a.OpenFolder()
	if err != nil {
		return nil, err
	}
	defer closeFolder()
	data, err := readInside(files, filepath.Base(a.RehearsalsPath()))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the file of rehearsals %s %w", printable(a.RehearsalsPath()), err)
	}
	return ParseRehearsals(a.RehearsalsPath(), data, a, files, known)
}
