package swarm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// words is a content or an output as text: a text, or a list of parts, of which those that are no text are named in words.
// Any other JSON is its own text. notes are the annotations that the parts have.
func words(raw json.RawMessage) (text string, notes []json.RawMessage) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var parts []json.RawMessage
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text, nil
	case json.Unmarshal(raw, &parts) != nil:
		return compact(raw), nil
	}
	var b strings.Builder
	wasNamed := false
	for _, part := range parts {
		text, isText, annotations := partWords(part)
		if b.Len() > 0 && (!isText || wasNamed) {
			b.WriteByte('\n')
		}
		b.WriteString(text)
		wasNamed = !isText
		notes = append(notes, annotations...)
	}
	return b.String(), notes
}

// partWords is one part as text; isText is false where it is only named.
func partWords(raw json.RawMessage) (text string, isText bool, notes []json.RawMessage) {
	if json.Unmarshal(raw, &text) == nil {
		return text, true, nil
	}
	var part struct {
		Type        string            `json:"type"`
		Text        *string           `json:"text"`
		Refusal     *string           `json:"refusal"`
		Annotations []json.RawMessage `json:"annotations"`
		Filename    string            `json:"filename"`
		FileID      string            `json:"file_id"`
		FileURL     string            `json:"file_url"`
		ImageURL    json.RawMessage   `json:"image_url"`
	}
	if json.Unmarshal(raw, &part) != nil {
		return compact(raw), true, nil
	}
	switch {
	case part.Text != nil:
		return *part.Text, true, part.Annotations
	case part.Refusal != nil:
		return *part.Refusal, true, nil
	case strings.Contains(part.Type, "image"):
		var address string
		if json.Unmarshal(part.ImageURL, &address) != nil {
			var inner struct {
				URL string `json:"url"`
			}
			if json.Unmarshal(part.ImageURL, &inner) == nil {
				address = inner.URL
			}
		}
		return named("image", address, part.FileID), false, nil
	case strings.Contains(part.Type, "file"):
		return named("file", part.Filename, part.FileURL, part.FileID), false, nil
	case part.Type != "":
		return named(part.Type), false, nil
	default:
		return compact(raw), true, nil
	}
}

// named puts what a part is into words, with the first name that it has. Of data in place of an address only the kind is told.
func named(what string, names ...string) string {
	const limit = 200
	for _, name := range names {
		if name == "" {
			continue
		}
		if kind, data, ok := strings.Cut(name, ","); ok && strings.HasPrefix(name, "data:") {
			kind, _, _ = strings.Cut(strings.TrimPrefix(kind, "data:"), ";")
			return fmt.Sprintf("[%s: %s, %d bytes as text]", what, kind, len(data))
		}
		if len(name) > limit {
			name = strings.ToValidUTF8(name[:limit], "") + "…"
		}
		return fmt.Sprintf("[%s: %s]", what, name)
	}
	return "[" + what + "]"
}

// compact is JSON on one line.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// reasoning is what a reasoning item says in the open: its summary, else its text.
func reasoning(it *item) string {
	for _, name := range []string{"summary", "content"} {
		var parts []json.RawMessage
		if json.Unmarshal(it.fields[name], &parts) != nil {
			continue
		}
		var said []string
		for _, part := range parts {
			if text, _, _ := partWords(part); strings.TrimSpace(text) != "" {
				said = append(said, text)
			}
		}
		if len(said) > 0 {
			return strings.Join(said, "\n\n")
		}
	}
	return ""
}
