package openai

import (
	"bytes"
	"encoding/json"

	"bureau/engine/llm"
)

// itemsField is the key in a Wire under which the items of an answer stand as they came: at a reply those of its words, at
// a call the call's own. Reasoning stands with the item that followed it, for no server takes the one without the other;
// what is left out of a later request takes its reasoning with it.
const itemsField = "items"

// keep gives the calls the items that they came as, and returns those of the words. Reasoning that the server cannot take
// back is left out, and then every id too, for the id of an item stands for the reasoning before it.
func (r *response) keep(calls []llm.Call) map[string]json.RawMessage {
	plain := false
	for _, it := range r.items {
		plain = plain || !it.canReturn()
	}
	claimed := make([]bool, len(calls))
	var words, before []json.RawMessage
	for _, it := range r.items {
		switch {
		case it.raw == nil, plain && it.kind == itemReasoning:
		case it.kind == itemReasoning:
			before = append(before, it.asItCame(false))
		case it.kind == itemMessage:
			words = append(append(words, before...), it.asItCame(plain))
			before = nil
		case it.kind == itemCall:
			for i := range calls {
				if !claimed[i] && calls[i].ID == it.callID && calls[i].Name == it.name {
					claimed[i] = true
					calls[i].Wire = asWire(append(before, it.asItCame(plain)))
					break
				}
			}
			before = nil
		}
	}
	return asWire(words)
}

// canReturn tells whether an item may go back together with its neighbours. Nothing is stored at the server, so reasoning
// must hold itself: encrypted, or in plain words, of which a summary is none.
func (it *incomingItem) canReturn() bool {
	switch it.kind {
	case itemMessage, itemCall:
		return it.raw != nil
	case itemReasoning:
		var o outputItem
		if it.raw == nil || decodeLeniently(it.raw, &o) != nil {
			return false
		}
		return o.Encrypted != "" || saidIn(o.Content) != ""
	default:
		return false
	}
}

// asItCame is the item without white space between its values, and where that is asked for without its id.
func (it *incomingItem) asItCame(plain bool) json.RawMessage {
	if plain {
		return withFields(it.raw, map[string]any{"id": nil})
	}
	var out bytes.Buffer
	if json.Compact(&out, it.raw) != nil {
		return it.raw
	}
	return out.Bytes()
}

func asWire(items []json.RawMessage) map[string]json.RawMessage {
	if len(items) == 0 {
		return nil
	}
	raw, err := marshal(items)
	if err != nil {
		return nil
	}
	return map[string]json.RawMessage{itemsField: raw}
}

// keptItems are the items in a Wire, the last of which must be of the kind; none where there are no such.
func keptItems(wire map[string]json.RawMessage, kind string) ([]json.RawMessage, []outputItem) {
	var raw []json.RawMessage
	if len(wire[itemsField]) == 0 || json.Unmarshal(wire[itemsField], &raw) != nil || len(raw) == 0 {
		return nil, nil
	}
	items := make([]outputItem, len(raw))
	for i := range raw {
		if decodeLeniently(raw[i], &items[i]) != nil {
			return nil, nil
		}
		// What is on record may come from anywhere: nobody else's words are taken for the assistant's.
		isOther := string(items[i].Type) != itemReasoning && string(items[i].Type) != kind
		if isOther || items[i].Type == itemMessage && items[i].Role != text(llm.RoleAssistant) {
			return nil, nil
		}
	}
	if string(items[len(items)-1].Type) != kind {
		return nil, nil
	}
	return raw, items
}

// withFields is a JSON object with some fields set otherwise; nil leaves one out.
func withFields(raw json.RawMessage, fields map[string]any) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return raw
	}
	for name, value := range fields {
		if value == nil {
			delete(object, name)
			continue
		}
		set, err := marshal(value)
		if err != nil {
			return raw
		}
		object[name] = set
	}
	out, err := marshal(object)
	if err != nil {
		return raw
	}
	return out
}
