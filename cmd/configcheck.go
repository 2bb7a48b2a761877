package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"bureau/engine/history"
	"bureau/engine/llm/openai"
)

// configChecker collects what is wrong with a configuration, each fault as file:line:column.
type configChecker struct {
	path   string
	faults []string
}

// checkConfig reads a configuration into c and returns all that is wrong with it.
func checkConfig(path string, data []byte, c *config) []string {
	check := &configChecker{path: path}
	documents, err := readYAML(data)
	switch {
	case err != nil:
		check.syntax(err)
	case len(documents) == 0 || len(documents[0].Content) == 0:
	case len(documents) > 1:
		check.fault(documents[1], "the configuration is one YAML document; this is a second")
	default:
		check.file(documents[0].Content[0])
		if len(check.faults) > 0 {
			break
		}
		if err := documents[0].Decode(c); err != nil {
			check.syntax(err)
		}
	}
	return check.faults
}

// readYAML reads up to two documents.
func readYAML(data []byte) (documents []*yaml.Node, err error) {
	defer func() {
		if recover() != nil { // the parser panics on some input that it should refuse
			err = errors.New("this cannot be read")
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for len(documents) < 2 {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		documents = append(documents, &document)
	}
	return documents, nil
}

func (c *configChecker) fault(n *yaml.Node, format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf("%s:%d:%d: %s", c.path, max(1, n.Line), max(1, n.Column), fmt.Sprintf(format, args...)))
}

var yamlFault = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(?s:(.*))$`)

func (c *configChecker) syntax(err error) {
	m := yamlFault.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(m[1]) // 0 where there is none
	c.fault(&yaml.Node{Line: line}, "not YAML: %s", m[2])
}

// field is a key of a mapping, and the check of its value.
type field struct {
	name  string
	check func(*yaml.Node)
}

func (c *configChecker) file(n *yaml.Node) {
	c.fields(n, field{"agency", c.text}, field{"model", c.model}, field{"theme", c.theme}, field{"mouse", c.truth},
		field{"trusted_folders", c.folders}, field{"providers", c.providers})
}

func (c *configChecker) folders(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		c.fault(n, "a list of folders is expected")
		return
	}
	for _, item := range n.Content {
		c.text(item)
		if item.Kind == yaml.ScalarNode && !filepath.IsAbs(atHome(item.Value)) {
			c.fault(item, "a trusted folder is written from the root, or from ~/, not %q", item.Value)
		}
	}
}

func (c *configChecker) providers(n *yaml.Node) {
	c.pairs(n, func(key, value *yaml.Node) {
		name := key.Value
		if strings.ContainsAny(name, "/ ") || name == "" || name == "script" || name == "replay" {
			c.fault(key, "a provider cannot be called %q", name)
			return
		}
		addressed := false
		address := func(n *yaml.Node) { addressed = true; c.address(n) }
		c.fields(value, field{"base_url", address}, field{"api_key_env", c.variable}, field{"api", c.api}, field{"api_version", c.text},
			field{"timeouts", c.timeouts}, field{"models", c.models})
		if _, known := openai.Lookup(name); !known && !addressed {
			var names []string
			for _, p := range openai.Providers() {
				names = append(names, p.Name)
			}
			c.fault(key, "%q is not known by name and needs a base_url%s", name, suggest(name, names))
		}
	})
}

// shortName is how long a variable's name may be that has small letters in it: keys have them, and are longer.
const shortName = 30

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// variable checks the name of a variable. What is none may be a key, so it is not repeated.
func (c *configChecker) variable(n *yaml.Node) {
	c.text(n)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" {
		return
	}
	if !variableName.MatchString(n.Value) || len(n.Value) > shortName && n.Value != strings.ToUpper(n.Value) {
		c.fault(n, "this is no name of an environment variable, such as WORKSHOP_KEY; a key itself is never written here")
	}
}

func (c *configChecker) timeouts(n *yaml.Node) {
	c.fields(n, field{"connect", c.duration}, field{"first_byte", c.duration}, field{"idle", c.duration})
}

func (c *configChecker) models(n *yaml.Node) {
	c.pairs(n, func(_, value *yaml.Node) {
		c.fields(value, field{"api", c.api}, field{"window", c.count}, field{"price", c.price})
	})
}

// price checks what a model costs, and what is different where the input is long.
func (c *configChecker) price(n *yaml.Node) {
	amounts := []field{{"input", c.number}, {"output", c.number}, {"cached", c.number}, {"reasoning", c.number}}
	c.fields(n, append(amounts, field{"above", func(n *yaml.Node) {
		c.pairs(n, func(tokens, tier *yaml.Node) {
			c.count(tokens)
			c.fields(tier, amounts...)
		})
	}})...)
}

// pairs calls visit for each key of a mapping, once each.
func (c *configChecker) pairs(n *yaml.Node, visit func(key, value *yaml.Node)) {
	if n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		c.fault(n, "a mapping (key: value) is expected")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			c.fault(key, "a key is one word")
		case seen[key.Value]:
			c.fault(key, "the key %q is there twice", key.Value)
		default:
			seen[key.Value] = true
			visit(key, value)
		}
	}
}

// fields checks the values of the keys that a mapping may have, and refuses others.
func (c *configChecker) fields(n *yaml.Node, known ...field) {
	c.pairs(n, func(key, value *yaml.Node) {
		i := slices.IndexFunc(known, func(f field) bool { return f.name == key.Value })
		if i < 0 {
			var names []string
			for _, f := range known {
				names = append(names, f.name)
			}
			c.fault(key, "unknown key %q%s", key.Value, suggest(key.Value, names))
		} else if value.Tag != "!!null" {
			known[i].check(value)
		}
	})
}

func (c *configChecker) text(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" && n.Tag != "!!timestamp" { // an API version is a date
		c.fault(n, "a text is expected")
	}
}

func (c *configChecker) truth(n *yaml.Node) {
	if n.Tag != "!!bool" {
		c.fault(n, "true or false is expected")
	}
}

func (c *configChecker) theme(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || !slices.Contains([]string{"auto", "light", "dark"}, n.Value) {
		c.fault(n, "theme is auto, light or dark, not %q", n.Value)
	}
}

// api checks the name of a protocol.
func (c *configChecker) api(n *yaml.Node) {
	known := []string{string(history.ProtocolChatCompletions), string(history.ProtocolResponses)}
	if n.Kind != yaml.ScalarNode {
		c.text(n)
	} else if !slices.Contains(known, n.Value) {
		c.fault(n, "there is no api %q%s", n.Value, suggest(n.Value, known))
	}
}

func (c *configChecker) model(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		c.text(n)
	} else if _, err := parseRef(n.Value); err != nil {
		c.fault(n, "%v", err)
	}
}

func (c *configChecker) address(n *yaml.Node) {
	u, err := url.Parse(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		c.fault(n, "base_url is not a web address: %q", n.Value)
	}
}

func (c *configChecker) duration(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Value == "off" {
		return
	}
	if d, err := time.ParseDuration(n.Value); n.Kind != yaml.ScalarNode || err != nil || d <= 0 {
		c.fault(n, "a time like 90s or 5m is expected, or off, not %q", n.Value)
	}
}

// count checks a whole number of tokens.
func (c *configChecker) count(n *yaml.Node) {
	var v int
	if n.Tag != "!!int" || n.Decode(&v) != nil {
		c.fault(n, "a whole number is expected, not %q", n.Value)
	} else if v <= 0 {
		c.fault(n, "a number above 0 is expected, not %d", v)
	}
}

// number checks a price.
func (c *configChecker) number(n *yaml.Node) {
	var v float64
	if n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil {
		c.fault(n, "a number is expected, not %q", n.Value)
	} else if !(v >= 0 && v <= math.MaxFloat32) { // neither infinite nor no number at all
		c.fault(n, "a price of 0 or more is expected, not %s", n.Value)
	}
}
