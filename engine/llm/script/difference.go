package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// difference is where two JSON values first differ, and how; empty when they are alike.
func difference(at string, recorded, asked any) string {
	switch r := recorded.(type) {
	case map[string]any:
		a, ok := asked.(map[string]any)
		if !ok {
			break
		}
		return differentEntries(at, r, a)
	case []any:
		a, ok := asked.([]any)
		if !ok {
			break
		}
		for i := range min(len(r), len(a)) {
			if d := difference(fmt.Sprintf("%s[%d]", at, i), r[i], a[i]); d != "" {
				return d
			}
		}
		if len(r) != len(a) {
			return fmt.Sprintf("%s[%d]: %d entries were recorded, %d are asked for", at, min(len(r), len(a)), len(r), len(a))
		}
		return ""
	default:
		if recorded == asked && !composite(asked) {
			return ""
		}
	}
	return fmt.Sprintf("%s: %s was recorded, %s is asked for", at, brief(recorded), brief(asked))
}

func differentEntries(at string, recorded, asked map[string]any) string {
	dot := at
	if dot != "" {
		dot += "."
	}
	keys := slices.Sorted(maps.Keys(recorded))
	for _, key := range keys {
		a, ok := asked[key]
		if !ok {
			return fmt.Sprintf("%s%s, which is missing", dot, clip(key))
		}
		if d := difference(dot+clip(key), recorded[key], a); d != "" {
			return d
		}
	}
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		if _, ok := recorded[key]; !ok {
			return fmt.Sprintf("%s%s, which was not recorded", dot, clip(key))
		}
	}
	return ""
}

func composite(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// brief is a value, short enough for an error.
func brief(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return clip(string(b))
}

// closer tells whether a difference comes later in a conversation than another: the later, the more was alike.
func closer(a, b string) bool {
	if rank(a) != rank(b) {
		return rank(a) > rank(b)
	}
	return index(a) > index(b)
}

// rank orders the parts of a request by how much they tell about which request it is.
func rank(at string) int {
	switch {
	case strings.HasPrefix(at, "tools"):
		return 3
	case strings.HasPrefix(at, "model"):
		return 2
	case strings.HasPrefix(at, "messages["), strings.HasPrefix(at, "input["):
		return 1
	default:
		return 0
	}
}

func index(at string) int {
	_, rest, _ := strings.Cut(at, "[")
	digits, _, _ := strings.Cut(rest, "]")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}
