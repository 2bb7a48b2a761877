package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxLine bounds a line, an event and a JSON body; maxAnswer all that comes in one answer.
const (
	maxLine   = 16 << 20
	maxAnswer = 256 << 20
)

// Errors of what came where an event stream was expected; the exchange puts them into words.
var (
	errTooLong   = errors.New("a line of the stream is longer than 16 MiB")
	errTooMuch   = errors.New("the answer is larger than 256 MiB")
	errWebPage   = errors.New("a web page")
	errNotStream = errors.New("no event stream")
	errBroken    = errors.New("broken JSON")
	errNoBody    = errors.New("an empty body")
	errNoFrames  = errors.New("a stream without an event")
)

// frames reads what a server sent as an event stream, or as one JSON body, and gives it out as lines of "data: {…}" with
// one JSON value each, or "data: [DONE]". Whatever else servers put between is left out. It belongs to one goroutine.
type frames struct {
	src     lines
	out     []byte // lines to give out; up to pos they have been read
	pos     int
	data    []byte // of the event under way
	parts   int    // data lines of the event under way
	event   []byte // its name
	err     error
	sniffed bool
	json    *json.Decoder // of a plain JSON body

	// count of events given out; whole when they came as a plain JSON body; done after [DONE].
	count int
	whole bool
	done  bool
	// sample is the beginning of what was not understood.
	sample []byte
}

func newFrames(body io.Reader) *frames { return &frames{src: lines{r: body}} }

// Read gives out the lines. Its error is io.EOF at a proper end, one of the above, or that of the body.
func (f *frames) Read(p []byte) (int, error) {
	for f.pos == len(f.out) {
		if f.err != nil {
			return 0, f.err
		}
		f.out, f.pos = f.out[:0], 0
		f.advance()
	}
	n := copy(p, f.out[f.pos:])
	f.pos += n
	return n, nil
}

// advance reads one line, or one value of a JSON body, and sets out or err.
func (f *frames) advance() {
	if !f.sniffed {
		f.sniff()
		return
	}
	if f.json != nil {
		f.body()
		return
	}
	line, err := f.src.next()
	if err != nil {
		f.finish(err)
		return
	}
	f.line(line)
}

// sniff looks at the first byte that is no white space, whatever the header says.
func (f *frames) sniff() {
	f.sniffed = true
	c, err := f.src.peek()
	switch {
	case errors.Is(err, io.EOF):
		f.err = errNoBody
	case err != nil:
		f.err = err
	case c == '<':
		f.err = errWebPage
		f.sample = f.src.sample()
	case c == '{' || c == '[':
		f.whole = true
		f.sample = f.src.buffered()
		f.json = json.NewDecoder(io.LimitReader(&f.src, maxLine))
	}
}

// body takes a value of a plain JSON body: an answer of a server that does not stream, an error, or one of several in a row.
func (f *frames) body() {
	var value json.RawMessage
	err := f.json.Decode(&value)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		f.emit(value)
	case errors.As(err, &syntax):
		f.err = errBroken
	default:
		f.err = err
	}
}

// line takes one line of an event stream.
func (f *frames) line(line []byte) {
	if len(line) == 0 {
		f.dispatch()
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		f.addData(value)
	case "event":
		f.event = append(f.event[:0], value...)
	case "error":
		f.emitError(value)
	case "", "id", "retry":
	default:
		if line[0] == '{' && json.Valid(line) {
			f.emitEvent(line)
			return
		}
		if f.count == 0 && len(f.sample) < 512 {
			f.sample = append(append(f.sample, line[:min(len(line), 512)]...), ' ')
		}
	}
}

// addData takes a data line. One that is a whole JSON value is an event by itself: servers forget the blank line, or
// leave the connection open without it.
func (f *frames) addData(value []byte) {
	f.parts++
	if f.parts == 1 {
		trimmed := bytes.TrimSpace(value)
		if bytes.Equal(trimmed, []byte("[DONE]")) {
			f.parts = 0
			f.emit(trimmed)
			f.done, f.err = true, io.EOF
			return
		}
		if n := len(trimmed); n > 1 && trimmed[0] == '{' && trimmed[n-1] == '}' && json.Valid(trimmed) {
			f.parts = 0
			f.emitEvent(trimmed)
			return
		}
		if len(trimmed) == 0 || trimmed[0] == ':' {
			f.parts = 0
			return
		}
	}
	if len(f.data)+len(value) > maxLine {
		f.err = errTooLong
		return
	}
	if f.parts > 1 {
		f.data = append(f.data, '\n')
	}
	f.data = append(f.data, value...)
}

// dispatch ends the event under way.
func (f *frames) dispatch() {
	data := bytes.TrimSpace(f.data)
	f.data, f.parts = f.data[:0], 0
	if len(data) > 0 {
		f.value(data)
	}
	f.event = f.event[:0]
}

// value gives out the data of an event: a JSON value, several in a row, or one behind the beginning of another that a
// server cut off.
func (f *frames) value(data []byte) {
	if json.Valid(data) {
		f.emitEvent(data)
		return
	}
	if at := bytes.LastIndex(data, []byte("data:")); at > 0 {
		if rest := bytes.TrimSpace(data[at+len("data:"):]); bytes.Equal(rest, []byte("[DONE]")) || json.Valid(rest) {
			f.line(append([]byte("data:"), rest...))
			return
		}
	}
	var values []json.RawMessage
	for decoder := json.NewDecoder(bytes.NewReader(data)); ; {
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if string(f.event) == "error" {
				f.emitError(data)
				return
			}
			f.err = errBroken
			f.sample = append([]byte(nil), data[:min(len(data), 512)]...)
			return
		}
		values = append(values, value)
	}
	for _, value := range values {
		f.emitEvent(value)
	}
}

// emitEvent gives out the value of an event by its name.
func (f *frames) emitEvent(value []byte) {
	if string(f.event) == "error" && !bytes.Contains(value, []byte(`"error"`)) {
		f.emitError(value)
		return
	}
	if bytes.HasPrefix(f.event, []byte("response.")) && !bytes.Contains(value, f.event) {
		// The type of an event of the Responses API stands in its data too, but for a few servers.
		if typed := append([]byte(`{"type":"`+string(f.event)+`",`), bytes.TrimPrefix(value, []byte("{"))...); json.Valid(typed) {
			value = typed
		}
	}
	f.emit(value)
}

// emitError gives out what is known to be an error, in the shape that all have.
func (f *frames) emitError(value []byte) {
	if !json.Valid(value) {
		value, _ = json.Marshal(string(value)) // a string always marshals
	}
	f.emit(append(append([]byte(`{"error":`), value...), '}'))
}

// emit gives out one value on one line.
func (f *frames) emit(value []byte) {
	f.count++
	f.out = append(f.out, "data: "...)
	start := len(f.out)
	f.out = append(f.out, value...)
	for i := start; i < len(f.out); i++ { // a line break in JSON is white space
		if c := f.out[i]; c == '\n' || c == '\r' {
			f.out[i] = ' '
		}
	}
	// go-openai takes apart by itself, and badly, what begins with exactly {"error":
	if bytes.HasPrefix(value, []byte(`{"error"`)) {
		f.out = append(f.out, ' ')
		copy(f.out[start+2:], f.out[start+1:])
		f.out[start+1] = ' '
	}
	f.out = append(f.out, '\n')
}

// finish deals with the end of the body.
func (f *frames) finish(err error) {
	if errors.Is(err, io.EOF) {
		f.dispatch()
	}
	switch {
	case f.err != nil:
	case !errors.Is(err, io.EOF):
		f.err = err
	case f.count == 0 && len(f.sample) > 0:
		f.err = errNotStream
	case f.count == 0:
		f.err = errNoFrames
	default:
		f.err = io.EOF
	}
}
