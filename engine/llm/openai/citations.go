package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"bureau/engine/history"
)

// sources are what an answer names as its sources, each once, in the order in which they came.
type sources []history.Citation

// The bounds of what a server may name: sources, and bytes of an address or a title.
const (
	maxSources    = 100
	maxSourceText = 2048
)

// add takes annotations of a message, those of other kinds left out.
func (s *sources) add(raw json.RawMessage) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	type place struct {
		URL   text `json:"url"`
		Title text `json:"title"`
		Start int  `json:"start_index"`
		End   int  `json:"end_index"`
	}
	var annotations []struct {
		Type     text  `json:"type"`
		Citation place `json:"url_citation"`
		place          // some servers leave out the object around it
	}
	if lenient(json.Unmarshal(raw, &annotations)) != nil {
		return
	}
	for _, a := range annotations {
		if a.Type != "" && a.Type != "url_citation" {
			continue
		}
		p := a.Citation
		if p.URL == "" {
			p = a.place
		}
		s.name(history.Citation{URL: string(p.URL), Title: string(p.Title), Start: p.Start, End: p.End})
	}
}

// addURLs takes a list of addresses.
func (s *sources) addURLs(raw json.RawMessage) {
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	var urls []text
	if json.Unmarshal(raw, &urls) != nil {
		return
	}
	for _, url := range urls {
		s.name(history.Citation{URL: string(url)})
	}
}

// name adds a source that is an address of the web.
func (s *sources) name(c history.Citation) {
	isWeb := strings.HasPrefix(c.URL, "https://") || strings.HasPrefix(c.URL, "http://")
	if !isWeb || len(c.URL) > maxSourceText || len(*s) >= maxSources {
		return
	}
	if len(c.Title) > maxSourceText {
		c.Title = strings.ToValidUTF8(c.Title[:maxSourceText], "")
	}
	if c.Start < 0 || c.End < c.Start {
		c.Start, c.End = 0, 0
	}
	if !slices.Contains(*s, c) {
		*s = append(*s, c)
	}
}
