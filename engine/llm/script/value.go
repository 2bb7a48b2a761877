package script

import (
	"bytes"
	"encoding/json"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// value is a JSON value of a call's arguments whose texts are templates. Exactly one of its forms is set.
type value struct {
	literal string
	text    *text
	keys    []string
	entries []*value
	isMap   bool
	isList  bool
}

// value reads a node as JSON, keys in the order of the file.
func (p *parser) value(n *yaml.Node) *value {
	switch n.Kind {
	case yaml.MappingNode:
		v := &value{isMap: true}
		p.pairs(n, "the arguments", func(key, entry *yaml.Node) {
			v.keys = append(v.keys, key.Value)
			v.entries = append(v.entries, p.value(entry))
		})
		return v
	case yaml.SequenceNode:
		v := &value{isList: true}
		for _, entry := range n.Content {
			v.entries = append(v.entries, p.value(entry))
		}
		return v
	}
	switch n.ShortTag() {
	case "!!null":
		return &value{literal: "null"}
	case "!!bool", "!!int", "!!float":
		return p.literal(n)
	default:
		return &value{text: p.text(n, "an argument")}
	}
}

// literal writes a boolean or a number as JSON has it.
func (p *parser) literal(n *yaml.Node) *value {
	if json.Valid([]byte(n.Value)) {
		return &value{literal: n.Value}
	}
	var v any
	if err := n.Decode(&v); err != nil {
		p.fault(n, "%q cannot be read as a value: %s", clip(n.Value), err)
		return &value{literal: "null"}
	}
	b, err := json.Marshal(v)
	if err != nil {
		p.fault(n, "%q has no form in JSON; put it in quotes to send it as text", clip(n.Value))
		return &value{literal: "null"}
	}
	return &value{literal: string(b)}
}

// json writes the value, its texts filled in.
func (v *value) json(s scene) string {
	var b bytes.Buffer
	v.write(&b, s)
	return b.String()
}

func (v *value) write(b *bytes.Buffer, s scene) {
	switch {
	case v.isMap:
		b.WriteByte('{')
		for i, entry := range v.entries {
			if i > 0 {
				b.WriteByte(',')
			}
			writeString(b, v.keys[i])
			b.WriteByte(':')
			entry.write(b, s)
		}
		b.WriteByte('}')
	case v.isList:
		b.WriteByte('[')
		for i, entry := range v.entries {
			if i > 0 {
				b.WriteByte(',')
			}
			entry.write(b, s)
		}
		b.WriteByte(']')
	case v.text != nil:
		writeString(b, v.text.render(s))
	default:
		b.WriteString(v.literal)
	}
}

// writeString writes a JSON string that keeps <, > and & as they are: a person reads it too.
func writeString(b *bytes.Buffer, s string) {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		b.WriteString(strconv.Quote(""))
		return
	}
	b.Truncate(b.Len() - 1)
}
