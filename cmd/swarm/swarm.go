// Package swarm reads and writes the chat files of Agency Swarm: a flat list of items of the Responses API with that
// framework's own labels, by itself or as the items of an object with metadata. It knows its shapes and ours, and neither the
// store nor the terminal. A Chat belongs to one goroutine.
package swarm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Program is what rows that come from a chat file are marked with.
const Program = "agency-swarm"

// Chat is a chat file that was read.
type Chat struct {
	// Title is the file's own summary; empty where it has none.
	Title string
	// CreatedAt and UpdatedAt are microseconds since 1970; 0 where the file does not say.
	CreatedAt, UpdatedAt int64
	// HasUsage tells that the file sums up what the chat took. That is of whole turns, and cannot be told of requests.
	HasUsage bool

	items []item
}

// Looks tells whether data could be a chat file, and nothing else that can be taken in: a list, or an object with items.
func Looks(data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) > 0 && data[0] == '[' {
		return true
	}
	var top struct {
		Items  json.RawMessage `json:"items"`
		Bureau json.RawMessage `json:"bureau"`
	}
	return json.Unmarshal(data, &top) == nil && top.Items != nil && top.Bureau == nil
}

// Read reads a chat file. An error names the item that it is about by its index: items[3].
func Read(data []byte) (*Chat, error) {
	var file struct {
		Items    []json.RawMessage `json:"items"`
		Metadata struct {
			Created  json.RawMessage `json:"created_at"`
			Modified json.RawMessage `json:"modified_at"`
			Summary  json.RawMessage `json:"summary"`
			Usage    json.RawMessage `json:"usage"`
		} `json:"metadata"`
	}
	var err error
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '[' {
		err = json.Unmarshal(data, &file.Items)
	} else {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("this is no chat file: %w", err)
	}
	chat := &Chat{
		CreatedAt: moment(file.Metadata.Created), UpdatedAt: moment(file.Metadata.Modified),
		HasUsage: len(file.Metadata.Usage) > 0 && string(file.Metadata.Usage) != "null",
	}
	if json.Unmarshal(file.Metadata.Summary, &chat.Title) != nil {
		chat.Title = ""
	}
	for i, raw := range file.Items {
		it, err := readItem(raw)
		if err != nil {
			return nil, fmt.Errorf("items[%d]: %w", i, err)
		}
		it.index = i
		chat.items = append(chat.items, it)
	}
	if len(chat.items) == 0 {
		return nil, errors.New("the chat is empty: it has no items")
	}
	return chat, nil
}

// Agents are the names of the agents in the chat, each once, in the order in which they come.
func (c *Chat) Agents() []string {
	var names []string
	for _, it := range c.items {
		for _, name := range []string{it.agent, it.caller} {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// moment is a time as the framework writes it: ISO 8601, with or without a zone.
func moment(raw json.RawMessage) int64 {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return 0
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05.999999"} {
		if at, err := time.Parse(layout, strings.TrimSpace(text)); err == nil && at.Year() >= 1970 {
			return at.UnixMicro()
		}
	}
	return 0
}
