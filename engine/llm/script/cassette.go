package script

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"
)

// cassetteVersion is the one form of a cassette's lines.
const cassetteVersion = 1

// The bounds of a cassette, in bytes: of one recorded body, of one line, of a file that is read.
const (
	maxBody     = 32 << 20
	maxLine     = 64 << 20
	maxCassette = 256 << 20
)

// exchange is one line of a cassette: a request, and what came back. Where nothing came, Response is nil and Error says why.
type exchange struct {
	Version  int               `json:"version"`
	Request  recordedRequest   `json:"request"`
	Response *recordedResponse `json:"response,omitempty"`
	Error    string            `json:"error,omitempty"`
}

type recordedRequest struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	// Body is the body as JSON, or as a JSON string where it was none.
	Body json.RawMessage `json:"body,omitempty"`
}

type recordedResponse struct {
	Status  int         `json:"status"`
	Headers http.Header `json:"headers,omitempty"`
	Chunks  []chunk     `json:"chunks"`
	// Error is what broke the body off, after its chunks; empty for one that ended, or that its reader left.
	Error string `json:"error,omitempty"`
}

// chunk is a piece of a body as it came. AtMS is in milliseconds since the request. Text is set where the piece is text, else Base64.
type chunk struct {
	AtMS   int64  `json:"at_ms"`
	Text   string `json:"text,omitempty"`
	Base64 []byte `json:"base64,omitempty"`
}

func newChunk(at int64, b []byte) chunk {
	if utf8.Valid(b) {
		return chunk{AtMS: at, Text: string(b)}
	}
	return chunk{AtMS: at, Base64: b}
}

func (c chunk) bytes() []byte {
	if len(c.Base64) > 0 {
		return c.Base64
	}
	return []byte(c.Text)
}

// keptHeader tells whether a response's header is worth keeping: it changes what a client does. Cookies never are.
func keptHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Content-Type", "Content-Encoding", "Retry-After", "Retry-After-Ms", "X-Should-Retry", "X-Request-Id", "Location":
		return true
	}
	return strings.HasPrefix(http.CanonicalHeaderKey(name), "X-Ratelimit-")
}

// bodyJSON is a body as it stands in a line: JSON as it is, all else as a string.
func bodyJSON(b []byte) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	var compact bytes.Buffer
	if json.Compact(&compact, b) == nil && utf8.Valid(b) {
		return compact.Bytes()
	}
	quoted, _ := json.Marshal(string(b)) // a string always marshals
	return quoted
}

// readCassette reads and checks a cassette.
func readCassette(file string) ([]exchange, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open the cassette: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open the cassette: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file; a cassette is a file of JSON lines", file)
	}
	if info.Size() > maxCassette {
		return nil, fmt.Errorf("the cassette %s has %d bytes; at most %d are read", file, info.Size(), maxCassette)
	}
	return decodeCassette(file, f)
}

// decodeCassette reads and checks a cassette that is called name, up to the bound of its size.
func decodeCassette(name string, r io.Reader) ([]exchange, error) {
	lines := bufio.NewScanner(io.LimitReader(r, maxCassette))
	lines.Buffer(nil, maxLine)
	var exchanges []exchange
	n := 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		e, err := readExchange(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		exchanges = append(exchanges, e)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s:%d: the line is longer than %d bytes", name, n+1, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("read the cassette: %w", err)
	}
	if len(exchanges) == 0 {
		return nil, fmt.Errorf("the cassette %s holds no exchange", name)
	}
	return exchanges, nil
}

func readExchange(line []byte) (exchange, error) {
	var e exchange
	if err := json.Unmarshal(line, &e); err != nil {
		return e, fmt.Errorf("not an exchange in JSON (cut off, or not a cassette): %w", err)
	}
	switch {
	case e.Version != cassetteVersion:
		return e, fmt.Errorf("version %d is unknown; this program reads version %d", e.Version, cassetteVersion)
	case e.Request.Method == "":
		return e, errors.New("the request has no method")
	case !strings.HasPrefix(e.Request.Path, "/"):
		return e, fmt.Errorf("the path %q of the request does not begin with /", clip(e.Request.Path))
	case e.Response == nil && e.Error == "":
		return e, errors.New("there is neither a response nor an error")
	case e.Response == nil:
		return e, nil
	case e.Error != "":
		return e, errors.New("there are both a response and an error")
	case e.Response.Status < 200 || e.Response.Status > 599:
		return e, fmt.Errorf("the status %d is not one that ends a request, 200 to 599", e.Response.Status)
	}
	at := int64(0)
	for i, c := range e.Response.Chunks {
		if c.AtMS < at {
			return e, fmt.Errorf("chunk %d comes at %d ms, before the one ahead of it", i, c.AtMS)
		}
		if c.Text != "" && len(c.Base64) > 0 {
			return e, fmt.Errorf("chunk %d has both text and base64", i)
		}
		at = c.AtMS
	}
	const day = 24 * 60 * 60 * 1000
	if at > day {
		return e, fmt.Errorf("the last chunk comes after %d ms, more than a day", at)
	}
	return e, nil
}
