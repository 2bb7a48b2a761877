package openai

import (
	"bytes"
	"io"
)

// lines cuts a stream into lines that end in LF, CRLF or CR, without waiting for more than a line needs.
type lines struct {
	r io.Reader
	// buf[start:end] is read but not given out; up to scanned there is no line end in it.
	buf                 []byte
	start, end, scanned int
	// skipLF: the last line ended in CR, so a LF right after it belongs to it.
	skipLF bool
	began  bool
	err    error
}

// next returns the next line without its end, valid until the next call; at the end of the stream the rest, if any, is a line.
func (l *lines) next() ([]byte, error) {
	for {
		if l.skipLF && l.start < l.end {
			if l.buf[l.start] == '\n' {
				l.start++
			}
			l.skipLF = false
		}
		l.scanned = max(l.scanned, l.start)
		rest := l.buf[l.scanned:l.end]
		at := bytes.IndexByte(rest, '\n')
		if at < 0 {
			at = len(rest)
		}
		if cr := bytes.IndexByte(rest[:at], '\r'); cr >= 0 {
			at, l.skipLF = cr, true
		}
		if at < len(rest) {
			line := l.buf[l.start : l.scanned+at]
			if len(line) > maxLine {
				return nil, errTooLong
			}
			l.start = l.scanned + at + 1
			l.scanned = l.start
			return line, nil
		}
		l.scanned = l.end
		if l.err != nil {
			if l.start < l.end {
				line := l.buf[l.start:l.end]
				l.start = l.end
				return line, nil
			}
			return nil, l.err
		}
		if l.end-l.start > maxLine {
			return nil, errTooLong
		}
		l.fill()
	}
}

// peek returns the first byte of the stream that is neither white space nor a byte order mark, and leaves it there.
func (l *lines) peek() (byte, error) {
	bom := []byte("\xef\xbb\xbf")
	for {
		have := l.buf[l.start:l.end]
		if !l.began && len(have) > 0 && !(len(have) < len(bom) && bytes.HasPrefix(bom, have) && l.err == nil) {
			l.began = true
			if bytes.HasPrefix(have, bom) {
				l.start += len(bom)
				continue
			}
		}
		if l.began {
			for l.start < l.end && isSpace(l.buf[l.start]) {
				l.start++
			}
			if l.start < l.end {
				return l.buf[l.start], nil
			}
		}
		if l.err != nil {
			return 0, l.err
		}
		l.fill()
	}
}

// Read gives out the rest of the stream as it is.
func (l *lines) Read(p []byte) (int, error) {
	if l.start < l.end {
		n := copy(p, l.buf[l.start:l.end])
		l.start += n
		return n, nil
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.r.Read(p)
}

// sample returns the beginning of what is there, reading a little more if that is little.
func (l *lines) sample() []byte {
	for l.err == nil && l.end-l.start < 512 {
		l.fill()
	}
	return l.buffered()
}

// buffered returns the beginning of what is there.
func (l *lines) buffered() []byte {
	return append([]byte(nil), l.buf[l.start:min(l.end, l.start+512)]...)
}

// fill reads once.
func (l *lines) fill() {
	if l.start > 0 && l.end == len(l.buf) {
		copy(l.buf, l.buf[l.start:l.end])
		l.end -= l.start
		l.scanned = max(l.scanned-l.start, 0)
		l.start = 0
	}
	if l.end == len(l.buf) {
		l.buf = append(l.buf, make([]byte, max(len(l.buf), 16<<10))...)
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	l.err = err
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
