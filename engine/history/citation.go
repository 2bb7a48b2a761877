package history

import (
	"encoding/json"
	"strings"
)

// Citation is a source of a text. Start and End bound the part of the text that it stands for, as the server counts; both are 0
// where it does not say.
type Citation struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
}

// RawCitations is what a row keeps of sources; nil for none.
func RawCitations(sources []Citation) json.RawMessage {
	if len(sources) == 0 {
		return nil
	}
	raw, err := json.Marshal(sources)
	if err != nil {
		return nil // strings and numbers always marshal
	}
	return raw
}

// Sources are those of the row's citations that are pages of the web, whoever wrote them down; the others are passed over.
func (e Extra) Sources() []Citation {
	var list []json.RawMessage
	if len(e.Citations) == 0 || json.Unmarshal(e.Citations, &list) != nil {
		return nil
	}
	var sources []Citation
	for _, raw := range list {
		var c struct {
			Citation
			Inner Citation `json:"url_citation"`
		}
		if json.Unmarshal(raw, &c) != nil {
			continue
		}
		if c.URL == "" {
			c.Citation = c.Inner
		}
		if strings.HasPrefix(c.URL, "https://") || strings.HasPrefix(c.URL, "http://") {
			sources = append(sources, c.Citation)
		}
	}
	return sources
}
