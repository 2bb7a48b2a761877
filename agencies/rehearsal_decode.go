package agencies

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The bounds of a file of rehearsals.
const (
	maxRehearsals = 1000
	maxTurns      = 100
	maxTitle      = 200
	minLimit      = time.Second
	maxLimit      = 10 * time.Minute
)

// The keys of the format.
var (
	rehearsalsKeys = []string{"rehearsals"}
	rehearsalKeys  = []string{"name", "script", "cassette", "model", "folder", "files", "clock", "limit", "turns"}
	turnKeys       = []string{"say", "to", "expect"}
	expectKeys     = []string{"exit", "answered_by", "asked", "asked_only", "tools", "no_tools", "handoffs", "answer", "error", "rows", "at_most"}
	textRuleKeys   = []string{"contains", "matches", "excludes"}
	rowRuleKeys    = []string{"agent", "caller", "type", "role", "name", "origin", "status", "contains"}
	mostKeys       = []string{"calls", "tokens", "runs"}
)

// ParseRehearsals checks the text of a file of rehearsals of an agency. The name stands for it in errors; files is the
// folder that scripts and folders are named in. The error is a *FileError with every fault of the file.
func ParseRehearsals(name string, data []byte, agency *Agency, files fs.FS, known Known) ([]Rehearsal, error) {
	var rehearsals []Rehearsal
	err := decodeFile(name, data, files, known, rehearsalFile, func(d *decoder, root *yaml.Node) {
		r := &rehearsalReader{decoder: d, agency: agency, names: &names{agents: agency.Agents}}
		rehearsals = r.file(root)
	})
	if err != nil {
		return nil, err
	}
	return rehearsals, nil
}

// rehearsalReader reads a file of rehearsals against the agency that they are of.
type rehearsalReader struct {
	*decoder
	agency *Agency
	names  *names
}

func positionOf(n *yaml.Node) Position { return Position{n.Line, n.Column} }

func (r *rehearsalReader) file(n *yaml.Node) []Rehearsal {
	keys := r.object(n, "the file", rehearsalsKeys)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	e, ok := keys["rehearsals"]
	if !ok {
		r.fault(at(n), "there are no rehearsals; write rehearsals: and below it a list")
		return nil
	}
	items := r.items(e.value, "rehearsals")
	if e.value.Kind == yaml.SequenceNode && len(items) == 0 {
		r.fault(at(e.value), "there are no rehearsals; write a list of them")
	}
	if len(items) > maxRehearsals {
		r.fault(at(items[maxRehearsals]), "more than %d rehearsals", maxRehearsals)
		items = items[:maxRehearsals]
	}
	rehearsals := make([]Rehearsal, 0, len(items))
	lines := map[string]int{}
	for _, item := range items {
		rehearsal := r.rehearsal(item)
		if line, ok := lines[rehearsal.Name]; ok && rehearsal.Name != "" {
			r.fault(at(item), "a second rehearsal with the name %s; the first is in line %d", quote(rehearsal.Name), line)
		} else {
			lines[rehearsal.Name] = item.Line
		}
		rehearsals = append(rehearsals, rehearsal)
	}
	return rehearsals
}

func (r *rehearsalReader) rehearsal(n *yaml.Node) Rehearsal {
	one := Rehearsal{Position: positionOf(n), Clock: rehearsalClock}
	keys := r.object(n, "a rehearsal", rehearsalKeys)
	if n.Kind != yaml.MappingNode {
		return one
	}
	if e, ok := keys["name"]; !ok {
		r.fault(at(n), "the rehearsal has no name; write name: what it shows")
	} else if name, ok := r.word(e.value, "name"); ok {
		one.Name = name
		if characters(name) > maxTitle {
			r.fault(at(e.value), "the name has %d characters; at most %d", characters(name), maxTitle)
		}
	}
	if e, ok := keys["script"]; ok {
		one.Script = r.beside(e.value, "script", false)
	}
	if e, ok := keys["cassette"]; ok {
		one.Cassette = r.cassette(e.value)
	}
	r.sources(n, keys)
	if e, ok := keys["model"]; ok {
		one.Model = r.model(e.value)
	}
	if e, ok := keys["folder"]; ok {
		one.Folder = r.beside(e.value, "folder", true)
	}
	if e, ok := keys["files"]; ok {
		one.Files = r.inputs(e.value)
	}
	if e, ok := keys["clock"]; ok {
		one.Clock = r.clock(e.value)
	}
	if e, ok := keys["limit"]; ok {
		one.Limit = r.duration(e.value)
	}
	if e, ok := keys["turns"]; !ok {
		r.fault(at(n), "the rehearsal has no turns; write turns: and below it what the user says, as - say: Hello")
	} else {
		one.Turns = r.turns(e.value)
	}
	return one
}

// sources checks what a rehearsal says about where the models' answers come from.
func (r *rehearsalReader) sources(n *yaml.Node, keys map[string]entry) {
	_, script := keys["script"]
	cassette, recorded := keys["cassette"]
	model, asked := keys["model"]
	switch {
	case script && recorded:
		r.fault(at(cassette.key), "a script and a cassette; a rehearsal is answered by one of them")
	case asked && !recorded:
		r.fault(at(model.key), "model says what a cassette is recorded from, and there is none; write cassette: NAME.cassette.jsonl")
	case !script && !recorded && r.agency.Script == nil:
		r.fault(at(n), "nothing answers: the agency has no script beside it; write script: FILE, or cassette: FILE to record one")
	}
}

// beside reads the name of a file or of a folder that must be in the agency's folder.
func (r *rehearsalReader) beside(n *yaml.Node, what string, wantsFolder bool) string {
	name, ok := r.word(n, what)
	if !ok {
		return ""
	}
	clean, err := inside(name)
	var info fs.FileInfo
	if err == nil && r.files != nil {
		info, err = fs.Stat(r.files, clean)
		if err != nil {
			err = fmt.Errorf("is not in the agency's folder, or cannot be read there")
		}
	}
	switch {
	case err != nil:
		r.fault(at(n), "the %s %s %s", what, quote(name), err)
	case info == nil:
	case wantsFolder && !info.IsDir():
		r.fault(at(n), "the folder %s is a file; a single one can stand under files", quote(name))
	case !wantsFolder && !info.Mode().IsRegular():
		r.fault(at(n), "the %s %s is not a file", what, quote(name))
	}
	return clean
}

// cassette reads the name of a cassette, which need not be there yet.
func (r *rehearsalReader) cassette(n *yaml.Node) string {
	name, ok := r.word(n, "cassette")
	if !ok {
		return ""
	}
	clean, err := inside(name)
	switch {
	case err != nil:
		r.fault(at(n), "the cassette %s %s", quote(name), err)
	case clean == "." || !strings.HasSuffix(clean, ".jsonl"):
		r.fault(at(n), "the name of a cassette ends in .jsonl, as in first.cassette.jsonl, not %s", quote(name))
	}
	return clean
}

// inputs reads the files that a rehearsal runs with: their paths and their texts.
func (r *rehearsalReader) inputs(n *yaml.Node) map[string]string {
	files := map[string]string{}
	for _, e := range r.entries(n, "files") {
		name, err := inside(e.name)
		text, ok := r.text(e.value, "the text of a file")
		switch {
		case err != nil || name == ".":
			r.fault(at(e.key), "%s is no path of a file; write one relative to the folder of the rehearsal", quote(e.name))
		case !ok:
		case strings.ContainsAny(name, "\n\t") || utf8.RuneCountInString(name) > 1000:
			r.fault(at(e.key), "the path of a file must be short and stand on one line, without tabs")
		default:
			if _, twice := files[name]; twice {
				r.fault(at(e.key), "the file %s is there already under another spelling", quote(name))
			}
			files[name] = text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for above := path.Dir(name); above != "."; above = path.Dir(above) {
			if _, isFile := files[above]; isFile {
				r.fault(at(n), "%s is both a file and the folder of %s", quote(above), quote(name))
			}
		}
	}
	return files
}

func (r *rehearsalReader) clock(n *yaml.Node) time.Time {
	if n.Kind == yaml.ScalarNode {
		if t, err := time.Parse(time.RFC3339, n.Value); err == nil {
			return t
		}
	}
	r.fault(at(n), "clock must be a time with its zone, as in 2026-11-30T12:34:00Z")
	return rehearsalClock
}

func (r *rehearsalReader) duration(n *yaml.Node) time.Duration {
	if n.Kind == yaml.ScalarNode {
		if d, err := time.ParseDuration(n.Value); err == nil && d >= minLimit && d <= maxLimit {
			return d
		}
	}
	r.fault(at(n), "limit must be a time from 1s to 10m, as in 45s")
	return 0
}

func (r *rehearsalReader) turns(n *yaml.Node) []RehearsalTurn {
	items := r.items(n, "turns")
	if n.Kind == yaml.SequenceNode && len(items) == 0 {
		r.fault(at(n), "there are no turns; write what the user says, as - say: Hello")
	}
	if len(items) > maxTurns {
		r.fault(at(items[maxTurns]), "more than %d turns", maxTurns)
		items = items[:maxTurns]
	}
	turns := make([]RehearsalTurn, 0, len(items))
	for _, item := range items {
		turn := RehearsalTurn{Position: positionOf(item)}
		keys := r.object(item, "a turn", turnKeys)
		if item.Kind != yaml.MappingNode {
			continue
		}
		if e, ok := keys["say"]; !ok {
			r.fault(at(item), "the turn says nothing; write say: and the user's message")
		} else if say, ok := r.text(e.value, "say"); ok {
			turn.Say = say
			if strings.TrimSpace(say) == "" {
				r.fault(at(e.value), "say is empty")
			}
		}
		if e, ok := keys["to"]; ok {
			turn.To = r.agent(e.value, "to")
		}
		if e, ok := keys["expect"]; ok {
			turn.Expect = r.expect(e.value)
		}
		turns = append(turns, turn)
	}
	return turns
}

// agent reads the name of an agent.
func (r *rehearsalReader) agent(n *yaml.Node, what string) string {
	written, ok := r.word(n, what)
	if !ok {
		return ""
	}
	name, ok := r.names.find(written)
	if !ok {
		r.unknownAgent(at(n), written, r.names)
	}
	return name
}
