package agencies

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed shipped
var embedded embed.FS

// Places are the folders that agencies are looked for in by name. An empty one is not looked at.
type Places struct {
	// Work is the working folder: its agencies are in .bureau/agencies, and relative paths start from it.
	Work string
	// Config is the user's configuration folder of the program: the user's agencies are in agencies.
	Config string
}

// Origin says where an agency was found.
type Origin string

// The origins, in the order in which they are looked at.
const (
	OriginProject Origin = "project"
	OriginUser    Origin = "user"
	OriginShipped Origin = "shipped"
)

// Listed is one agency that can be found by name.
type Listed struct {
	// Name is what Find takes: the name of the file without its ending.
	Name string
	// Description of the agency; empty with an Err.
	Description string
	// Path of the file; empty for an agency that ships.
	Path   string
	Origin Origin
	// Shadowed tells that Find gives another agency of this name, which is looked at first.
	Shadowed bool
	// Err is what Load has against the file; nil when it is sound.
	Err error
}

// NotFoundError says that no agency has the name that was asked for.
type NotFoundError struct {
	Name string
	// Names of the agencies that there are.
	Names []string
	// Suggestion is one of Names, or empty.
	Suggestion string
}

func (e *NotFoundError) Error() string {
	meant := ""
	if e.Suggestion != "" {
		meant = fmt.Sprintf("; did you mean %s?", quote(e.Suggestion))
	}
	return fmt.Sprintf("no agency is called %s%s (there is: %s)", quote(e.Name), meant, listing(e.Names))
}

// endings of agency files; the first wins where a folder has one name twice.
var endings = []string{".yaml", ".yml", ".json"}

// Find loads the agency that ref means: a file when ref holds a path separator or ends as an agency file does, else the
// first of this name in .bureau/agencies of the working folder, in agencies of the user's folder, and among those that
// ship. The error is a *FileError for a file with faults and a *NotFoundError for an unknown name.
func Find(ref string, places Places, known Known) (*Agency, error) {
	if strings.ContainsAny(ref, "/"+string(filepath.Separator)) || slices.Contains(endings, strings.ToLower(filepath.Ext(ref))) {
		path := ref
		if places.Work != "" && !filepath.IsAbs(path) {
			// Where the process stands in that folder, errors show the path as it was typed.
			if here, err := os.Getwd(); err != nil || here != filepath.Clean(places.Work) {
				path = filepath.Join(places.Work, path)
			}
		}
		return Load(path, known)
	}
	var names []string
	for _, shelf := range places.shelves() {
		listed, err := shelf.list()
		if err != nil {
			return nil, err
		}
		for _, l := range listed {
			if l.Name == ref {
				return l.load(known)
			}
			if !slices.Contains(names, l.Name) {
				names = append(names, l.Name)
			}
		}
	}
	return nil, &NotFoundError{ref, names, closest(ref, names)}
}

// List loads every agency that can be found by name: those of the project, the user's, and those that ship, each in the
// order of their names. What is wrong with one of them is in its Err and touches no other. A folder that cannot be read is
// an entry without a name.
func List(places Places, known Known) []Listed {
	var all []Listed
	seen := map[string]bool{}
	for _, shelf := range places.shelves() {
		listed, err := shelf.list()
		if err != nil {
			all = append(all, Listed{Path: shelf.folder, Origin: shelf.origin, Err: err})
		}
		for _, l := range listed {
			l.Shadowed = seen[l.Name]
			seen[l.Name] = true
			agency, err := l.load(known)
			if err != nil {
				l.Err = err
			} else {
				l.Description = agency.Description
			}
			all = append(all, l)
		}
	}
	return all
}

// shelf is one folder of agencies; that of the program itself has no name.
type shelf struct {
	origin Origin
	folder string
}

func (p Places) shelves() []shelf {
	var shelves []shelf
	if p.Work != "" {
		shelves = append(shelves, shelf{OriginProject, filepath.Join(p.Work, ".bureau", "agencies")})
	}
	if p.Config != "" {
		shelves = append(shelves, shelf{OriginUser, filepath.Join(p.Config, "agencies")})
	}
	return append(shelves, shelf{OriginShipped, ""})
}

// list names the agency files of a shelf without reading them. A folder that does not exist is an empty one.
func (s shelf) list() ([]Listed, error) {
	entries, err := os.ReadDir(s.folder)
	if s.origin == OriginShipped {
		entries, err = embedded.ReadDir("shipped")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for agencies: %w", err)
	}
	var listed []Listed
	for _, entry := range entries {
		file := entry.Name()
		name := strings.TrimSuffix(file, filepath.Ext(file))
		if entry.IsDir() || !slices.Contains(endings, filepath.Ext(file)) || name == "" || strings.HasSuffix(file, scriptSuffix) ||
			strings.HasSuffix(file, rehearsalSuffix) {
			continue
		}
		l := Listed{Name: name, Origin: s.origin}
		if s.origin != OriginShipped {
			l.Path = filepath.Join(s.folder, file)
		}
		listed = append(listed, l)
	}
	slices.SortStableFunc(listed, func(a, b Listed) int {
		if a.Name != b.Name {
			return strings.Compare(a.Name, b.Name)
		}
		return slices.Index(endings, filepath.Ext(a.Path)) - slices.Index(endings, filepath.Ext(b.Path))
	})
	return listed, nil
}

func (l Listed) load(known Known) (*Agency, error) {
	if l.Origin != OriginShipped {
		return Load(l.Path, known)
	}
	files, err := shippedFiles()
	if err != nil {
		return nil, err
	}
	file := l.Name + ".yaml"
	data, err := readInside(files, file)
	if err != nil {
		return nil, fmt.Errorf("the agency %s that ships %w", l.Name, err)
	}
	agency, err := Parse(file, data, files, known)
	if err != nil {
		return nil, err
	}
	script := scriptName(file)
	if agency.Script, err = readScript(files, script); err != nil {
		return nil, fmt.Errorf("the script %s that ships %w", script, err)
	}
	if agency.Script != nil {
		agency.ScriptPath = script
	}
	return agency, nil
}

func shippedFiles() (fs.FS, error) {
	files, err := fs.Sub(embedded, "shipped")
	if err != nil {
		return nil, fmt.Errorf("open the agencies that ship: %w", err)
	}
	return files, nil
}
