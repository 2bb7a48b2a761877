package tool

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns up to n of the candidates that a model may have meant by a name that is not there, the likeliest first; none
// when nothing is close. Another case or other separators come first, then a name that begins like the other, then typing
// errors, then a name within the other.
func Nearest(name string, candidates []string, n int) []string {
	wanted := fold(clip(name, maxName))
	if wanted == "" || n <= 0 {
		return nil
	}
	type scored struct {
		name  string
		score int
	}
	var found []scored
	for _, candidate := range candidates {
		have := fold(candidate)
		distance := levenshtein.ComputeDistance(wanted, have)
		shorter := min(len(wanted), len(have))
		switch {
		case wanted == have:
			found = append(found, scored{candidate, 0})
		case shorter >= 3 && (strings.HasPrefix(have, wanted) || strings.HasPrefix(wanted, have)):
			found = append(found, scored{candidate, 1})
		case distance <= max(1, max(len(wanted), len(have))/3):
			found = append(found, scored{candidate, 1 + distance})
		case shorter >= 4 && (strings.Contains(have, wanted) || strings.Contains(wanted, have)):
			found = append(found, scored{candidate, 100 + distance})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return a.score - b.score })
	names := make([]string, 0, min(n, len(found)))
	for _, c := range found[:min(n, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// fold takes away what does not tell names apart to a reader: case and separators.
func fold(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(name))
}
