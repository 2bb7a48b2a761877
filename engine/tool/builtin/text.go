package builtin

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	utf16 "golang.org/x/text/encoding/unicode"
)

// sniffed is how much of a file decides whether it is text.
const sniffed = 8 << 10

// decode looks at the beginning of a file and returns a reader of its text, with the name of an encoding that is not UTF-8. A byte
// order mark is taken away. Binary files give kind, their media type, and no reader.
func decode(r io.Reader) (text io.Reader, encoding, kind string, err error) {
	head := make([]byte, sniffed)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, "", "", err
	}
	head = head[:n]
	all := io.MultiReader(bytes.NewReader(head), r)
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return io.MultiReader(bytes.NewReader(head[3:]), r), "", "", nil
	case bytes.HasPrefix(head, []byte("\xff\xfe")) && !bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return utf16.UTF16(utf16.LittleEndian, utf16.UseBOM).NewDecoder().Reader(all), "UTF-16", "", nil
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return utf16.UTF16(utf16.BigEndian, utf16.UseBOM).NewDecoder().Reader(all), "UTF-16", "", nil
	case bytes.IndexByte(head, 0) >= 0:
		return nil, "", mediaType(head), nil
	}
	return all, "", "", nil
}

// mediaType names what a binary file is, as far as its first bytes tell.
func mediaType(head []byte) string {
	for _, known := range []struct{ magic, kind string }{
		{"\x7fELF", "ELF program"}, {"MZ", "Windows program"}, {"SQLite format 3\x00", "SQLite database"}, {"\xff\xfe\x00\x00", "UTF-32 text"}, {"\x00\x00\xfe\xff", "UTF-32 text"},
	} {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return known.kind
		}
	}
	if kind, _, _ := strings.Cut(http.DetectContentType(head), ";"); kind != "application/octet-stream" && kind != "text/plain" {
		return kind
	}
	return "unknown kind"
}

// toUTF8 reads a line that is not UTF-8 as Latin-1, which gives every byte a character.
func toUTF8(line []byte) (text string, wasLatin1 bool) {
	if utf8.Valid(line) {
		return string(line), false
	}
	var b strings.Builder
	for _, c := range line {
		b.WriteRune(rune(c))
	}
	return b.String(), true
}

// cut takes at most n bytes of the text, and never a part of a character. In what is no UTF-8 every byte counts as one.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n = max(n, 0)
	for start := n; start > 0 && start > n-utf8.UTFMax; start-- {
		if utf8.RuneStart(text[start]) {
			return text[:start]
		}
	}
	return text[:n]
}

func needsQuotes(name string) bool {
	return !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '"' || r == '\u2028' || r == '\u2029' }) ||
		strings.TrimSpace(name) != name
}

// size words a number of bytes.
func size(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
}

// count words a number of things: "1 file", "3 files".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
