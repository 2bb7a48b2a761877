package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"
)

// Record returns a transport that passes requests to next and writes every exchange to w when it ends, one JSON line in one
// call of Write. Neither the headers nor the host of a request are written. The credentials that it carries, and all that
// has the shape of a key, are masked in paths, headers and bodies; a key that a model spells out over several events of a
// stream is not recognised. Should w fail, the exchange goes on, and the next request is refused with the reason.
func Record(w io.Writer, next http.RoundTripper) http.RoundTripper {
	return &recorder{w: w, next: next}
}

type recorder struct {
	next http.RoundTripper

	mu  sync.Mutex
	w   io.Writer
	err error
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := r.failed(); err != nil {
		closeBody(req)
		return nil, fmt.Errorf("the recording cannot be written: %w", err)
	}
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	secrets := credentials(req)
	e := exchange{Version: cassetteVersion, Request: recordedRequest{
		Method: req.Method,
		Path:   string(mask([]byte(req.URL.Path), secrets)),
		Query:  maskedQuery(req, secrets),
		Body:   bodyJSON(mask(body, secrets)),
	}}

	// Without this header the transport unpacks by itself: what is recorded can be read, and searched for secrets.
	passed := req.Clone(req.Context())
	passed.Header.Del("Accept-Encoding")
	if body != nil {
		passed.Body = io.NopCloser(bytes.NewReader(body))
		passed.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		passed.ContentLength = int64(len(body))
	}
	resp, err := r.next.RoundTrip(passed)
	if err != nil {
		if req.Context().Err() == nil {
			e.Error = string(mask([]byte(err.Error()), secrets))
			r.write(e)
		}
		return nil, err
	}
	e.Response = &recordedResponse{Status: resp.StatusCode, Headers: http.Header{}}
	for name, values := range resp.Header {
		if keptHeader(name) {
			for _, value := range values {
				e.Response.Headers.Add(name, string(mask([]byte(value), secrets)))
			}
		}
	}
	resp.Body = &tape{
		ReadCloser: resp.Body, start: start,
		done: func(chunks [][]byte, at []int64, broken error) {
			for i, b := range maskChunks(chunks, secrets) {
				if len(b) > 0 {
					e.Response.Chunks = append(e.Response.Chunks, newChunk(at[i], b))
				}
			}
			if broken != nil && req.Context().Err() == nil {
				e.Response.Error = string(mask([]byte(broken.Error()), secrets))
			}
			r.write(e)
		},
	}
	return resp, nil
}

func (r *recorder) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *recorder) write(e exchange) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if r.err = encoder.Encode(e); r.err == nil {
		_, r.err = r.w.Write(line.Bytes())
	}
}

// tape keeps what is read through it, piece by piece, and hands it over once: at the end, at an error, or when it is closed.
type tape struct {
	io.ReadCloser
	start time.Time
	done  func(chunks [][]byte, at []int64, broken error)

	mu     sync.Mutex
	chunks [][]byte
	at     []int64
	size   int
	once   sync.Once
}

// Read implements io.Reader.
func (t *tape) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.keep(p[:n])
	if err == io.EOF {
		t.end(nil)
	} else if err != nil {
		t.end(err)
	}
	return n, err
}

// Close implements io.Closer.
func (t *tape) Close() error {
	err := t.ReadCloser.Close()
	t.end(nil)
	return err
}

// keep adds a piece. A character that its border cuts moves to the piece as a whole, so that the pieces stay text.
func (t *tape) keep(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(b) == 0 || t.size+len(b) > maxBody {
		return
	}
	t.size += len(b)
	piece := bytes.Clone(b)
	if last := len(t.chunks) - 1; last >= 0 {
		if cut := cutRune(t.chunks[last]); cut > 0 {
			whole := t.chunks[last]
			t.chunks[last] = whole[:len(whole)-cut]
			piece = append(bytes.Clone(whole[len(whole)-cut:]), piece...)
		}
	}
	t.chunks = append(t.chunks, piece)
	t.at = append(t.at, time.Since(t.start).Milliseconds())
}

// cutRune is how many bytes at the end begin a character that is not whole.
func cutRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func (t *tape) end(broken error) {
	t.once.Do(func() {
		t.mu.Lock()
		chunks, at := t.chunks, t.at
		t.mu.Unlock()
		t.done(chunks, at, broken)
	})
}

// maskedQuery is the query with every credential's value masked, whatever it looks like.
func maskedQuery(req *http.Request, secrets [][]byte) string {
	query := req.URL.Query()
	for name := range query {
		if credentialName.MatchString(name) {
			query[name] = []string{"masked"}
		}
	}
	return string(mask([]byte(query.Encode()), secrets))
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer closeBody(req)
	b, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	return b, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}
