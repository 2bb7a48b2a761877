package openai

import (
	"encoding/json"
	"strings"
)

// details gathers reasoning_details, which come in pieces and go back as whole items.
type details struct{ items []map[string]json.RawMessage }

// add takes the items of a chunk and returns the text in them.
func (d *details) add(pieces []json.RawMessage) string {
	var said strings.Builder
	for _, piece := range pieces {
		var item map[string]json.RawMessage
		if json.Unmarshal(piece, &item) != nil || item == nil {
			continue
		}
		said.WriteString(rawText(item["text"]))
		said.WriteString(rawText(item["summary"]))
		if n := len(d.items); n > 0 && continues(d.items[n-1], item) {
			merge(d.items[n-1], item)
		} else {
			d.items = append(d.items, item)
		}
	}
	return said.String()
}

// continues tells whether b is a further piece of a.
func continues(a, b map[string]json.RawMessage) bool {
	id := rawText(b["id"])
	return string(a["type"]) == string(b["type"]) && string(a["index"]) == string(b["index"]) &&
		(id == "" || id == rawText(a["id"]))
}

func merge(a, b map[string]json.RawMessage) {
	for name, value := range b {
		switch name {
		case "text", "summary", "data":
			if joined, err := json.Marshal(rawText(a[name]) + rawText(value)); err == nil {
				a[name] = joined
			}
		default:
			if string(value) != "null" {
				a[name] = value
			}
		}
	}
}

// into adds the items to what a server wants back.
func (d *details) into(wire map[string]json.RawMessage) map[string]json.RawMessage {
	if len(d.items) == 0 {
		return wire
	}
	raw, err := json.Marshal(d.items)
	if err != nil {
		return wire
	}
	if wire == nil {
		wire = map[string]json.RawMessage{}
	}
	wire["reasoning_details"] = raw
	return wire
}
