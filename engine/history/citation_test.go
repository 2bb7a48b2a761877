package history_test

import (
	"encoding/json"
	"slices"
	"testing"

	"bureau/engine/history"
)

func TestSourcesOfARow(t *testing.T) {
	t.Parallel()
	page := history.Citation{URL: "https://a.example", Title: "A", Start: 1, End: 4}
	for raw, want := range map[string][]history.Citation{
		"":     nil,
		"null": nil,
		`"x"`:  nil,
		`[{"url":"https://a.example","title":"A","start":1,"end":4}]`:                          {page},
		`[{"type":"url_citation","url_citation":{"url":"http://b.example"}},{"file_id":"f1"}]`: {{URL: "http://b.example"}},
		`[{"url":"javascript:x"},{"url":5},7,{"url":"file:///etc/passwd"}]`:                    nil,
	} {
		if got := (history.Extra{Citations: json.RawMessage(raw)}).Sources(); !slices.Equal(got, want) {
			t.Errorf("%s gives %+v", raw, got)
		}
	}
	kept := history.Extra{Citations: history.RawCitations([]history.Citation{page})}
	if got := kept.Sources(); len(got) != 1 || got[0] != page || kept.IsZero() {
		t.Errorf("kept %+v", got)
	}
	if history.RawCitations(nil) != nil {
		t.Error("nothing is kept as something")
	}
}
