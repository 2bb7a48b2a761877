package builtin

import (
	"fmt"
	"regexp"
	"strings"
)

// compileGlob turns a file pattern into a regular expression: * and ? within a name, ** across folders, [a-z], {a,b}. A pattern
// without a slash is matched with the last name of a path, any other with the whole path.
func compileGlob(glob string) (match func(path string) bool, err error) {
	glob = strings.TrimPrefix(strings.ReplaceAll(glob, `\`, "/"), "./")
	var b strings.Builder
	b.WriteString(`^(?s:`)
	depth := 0
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end < 1 {
				return nil, fmt.Errorf("the glob %s has a [ without a ] at character %d", quote(glob), i+1)
			}
			class := glob[i+1 : i+1+end]
			i += end + 1
			not := ""
			if class[0] == '!' || class[0] == '^' {
				not, class = "^", class[1:]
			}
			b.WriteString("[" + not + strings.NewReplacer("[", `\[`, "^", `\^`, "&", `\&`).Replace(class) + "]")
		case c == '{':
			depth++
			b.WriteString(`(?:`)
		case c == '}' && depth > 0:
			depth--
			b.WriteString(`)`)
		case c == ',' && depth > 0:
			b.WriteString(`|`)
		case c < 0x80:
			b.WriteString(regexp.QuoteMeta(string(rune(c))))
		default:
			b.WriteByte(c)
		}
	}
	if depth > 0 {
		return nil, fmt.Errorf("the glob %s has a { without a }", quote(glob))
	}
	b.WriteString(`)$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("the glob %s is not valid", quote(glob))
	}
	whole := strings.Contains(glob, "/")
	return func(path string) bool {
		if !whole {
			path = path[strings.LastIndexByte(path, '/')+1:]
		}
		return re.MatchString(path)
	}, nil
}
