package overlay

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// query is what a filter line asks for: terms, every one of which must be found, whatever its case and width.
type query []string

func parseQuery(s string) query { return strings.Fields(fold(s)) }

// fold makes texts that differ only in case or width (Ａ and a, ｶ and カ) the same. It works cluster by cluster, so that
// places in the result can be told back to places in the text.
func fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	caser := cases.Fold()
	for s != "" {
		c := cluster(s)
		b.WriteString(foldCluster(caser, c))
		s = s[len(c):]
	}
	return b.String()
}

func foldCluster(caser cases.Caser, c string) string {
	if len(c) == 1 {
		return strings.ToLower(c)
	}
	return caser.String(norm.NFKC.String(c))
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// How well a term fits, the best first.
const (
	fitsStart  = iota // the label begins with it, or the command beside it does
	fitsWord          // a word of the label does
	fitsInside        // it is in the label
	fitsRest          // it is in what stands beside the label
	fitsSpread        // its characters are in the label, in this order
	fitsNot
)

// score tells how well a folded label, and what stands beside it, fit: 0 is best. ok is false when a term is not found.
func (q query) score(label, rest string) (score int, ok bool) {
	for _, term := range q {
		fit := fitOf(term, label, rest)
		if fit == fitsNot {
			return 0, false
		}
		score += fit
	}
	return score, true
}

func fitOf(term, label, rest string) int {
	switch i := strings.Index(label, term); {
	case i == 0, strings.HasPrefix(rest, "/"+strings.TrimPrefix(term, "/")):
		return fitsStart
	case i > 0:
		for ; i > 0; i = next(label, term, i) {
			if before, _ := utf8.DecodeLastRuneInString(label[:i]); !unicode.IsLetter(before) && !unicode.IsNumber(before) {
				return fitsWord
			}
		}
		return fitsInside
	case strings.Contains(rest, term):
		return fitsRest
	case spreadOver(label, term, nil):
		return fitsSpread
	}
	return fitsNot
}

// next is where term is found in s behind i, -1 when it is not.
func next(s, term string, i int) int {
	if j := strings.Index(s[i+1:], term); j >= 0 {
		return i + 1 + j
	}
	return -1
}

// spreadOver tells whether the characters of term are in s in this order, and calls at with the place of each.
func spreadOver(s, term string, at func(i int)) bool {
	i := 0
	for _, r := range term {
		j := strings.IndexRune(s[i:], r)
		if j < 0 {
			return false
		}
		i += j
		if at != nil {
			at(i)
		}
		i += utf8.RuneLen(r)
	}
	return true
}

// write adds a text to a row, what the query found in it in the style of a match. spread tells whether single characters in
// the order of a term count.
func (q query) write(r *rowBuilder, label string, spread bool, plain, match lipgloss.Style) {
	if len(q) == 0 {
		r.add(plain, label)
		return
	}
	var (
		folded strings.Builder
		owner  []int // of each byte of folded: the cluster that it is of
		starts []int // of each cluster, in label
		caser  = cases.Fold()
	)
	for i := 0; i < len(label); {
		c := cluster(label[i:])
		f := foldCluster(caser, c)
		folded.WriteString(f)
		for range len(f) {
			owner = append(owner, len(starts))
		}
		starts = append(starts, i)
		i += len(c)
	}
	found := make([]bool, len(starts))
	for _, term := range q {
		if i := strings.Index(folded.String(), term); i >= 0 {
			for j := i; j < i+len(term); j++ {
				found[owner[j]] = true
			}
			continue
		}
		var places []int
		if spread && spreadOver(folded.String(), term, func(i int) { places = append(places, owner[i]) }) {
			for _, p := range places {
				found[p] = true
			}
		}
	}
	for i := 0; i < len(starts); {
		j := i
		for j < len(starts) && found[j] == found[i] {
			j++
		}
		end := len(label)
		if j < len(starts) {
			end = starts[j]
		}
		st := plain
		if found[i] {
			st = match.Inherit(plain)
		}
		r.add(st, label[starts[i]:end])
		i = j
	}
}
