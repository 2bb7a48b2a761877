package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxName is the length of a tool's name that every server takes.
	maxName = 64
	// hashDigits tell apart names whose readable parts are the same.
	hashDigits = 8
)

// IsLegal tells whether every server takes the name for a tool: ^[a-zA-Z0-9_-]{1,64}$.
func IsLegal(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		if !isNameRune(rune(name[i])) {
			return false
		}
	}
	return true
}

// Legal turns any text into a legal tool name that is not taken. It is LegalName without a prefix.
func Legal(name string, taken func(string) bool) string { return LegalName("", name, taken) }

// LegalName turns any text into a legal tool name that begins with the prefix and is not taken. Spaces become underscores;
// a name that is legal then stays as it is. Where more is lost, the name is too long, or it is taken, what is readable of it is
// followed by a short hash of the whole: the same text and the same taken names always give the same result. The prefix must
// itself consist of legal characters and be at most 32 long. A nil taken takes nothing; it must not take every name.
func LegalName(prefix, name string, taken func(string) bool) string {
	readable, whole := readablePart(name)
	if legal := prefix + readable; whole && IsLegal(legal) && (taken == nil || !taken(legal)) {
		return legal
	}
	if readable == "" && prefix == "" {
		readable = "tool"
	}
	readable = strings.TrimRight(clip(readable, max(0, maxName-len(prefix)-hashDigits-1)), "_-")
	if readable != "" {
		readable += "_"
	}
	for attempt := 0; ; attempt++ {
		legal := prefix + readable + shortHash(name, attempt)
		if taken == nil || !taken(legal) {
			return legal
		}
	}
}

// readablePart keeps what a tool's name can hold: letters lose their accents, a space is an underscore, a run of anything else is
// one. whole tells that the name differs from the text in its spaces at most.
func readablePart(name string) (readable string, whole bool) {
	var b strings.Builder
	whole = true
	gap := false
	for _, r := range norm.NFD.String(clip(name, 4*maxName)) {
		switch {
		case isNameRune(r):
			if gap && b.Len() > 0 {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
		case r == ' ':
			if !gap {
				b.WriteByte('_')
			}
		case unicode.Is(unicode.Mn, r):
			whole = false
		default:
			whole, gap = false, true
		}
	}
	readable = b.String()
	if !whole {
		readable = strings.Trim(readable, "_")
	}
	if strings.Trim(readable, "_-") == "" {
		return "", false
	}
	return readable, whole && len(name) <= 4*maxName
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// shortHash is made of the whole name; further attempts give others, for a name whose hash is taken too.
func shortHash(name string, attempt int) string {
	if attempt > 0 {
		name += "\x00" + strconv.Itoa(attempt)
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

// clip cuts text to at most n bytes, never inside a character.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n]
}
