package tui_test

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/vt"

	"bureau/tui"
)

// screen is the real program on a terminal in memory. It lives in a synctest bubble: idle waits until nothing happens.
type screen struct {
	t       *testing.T
	stage   *stage
	term    *vt.Emulator
	in      *keyboard
	signals chan os.Signal
	exit    chan tui.Exit
	errs    chan error
	raw     *output
	sizes   chan [2]int
}

// output passes bytes on to the emulator, and keeps what a terminal would have been told.
type output struct {
	mu   sync.Mutex
	term *vt.Emulator
	raw  strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.raw.Write(p)
	return o.term.Write(p)
}

// keyboard is an input that a test types on.
type keyboard struct {
	keys   chan []byte
	rest   []byte
	closed chan struct{}
}

func (k *keyboard) Read(p []byte) (int, error) {
	if len(k.rest) == 0 {
		select {
		case k.rest = <-k.keys:
		case <-k.closed:
			return 0, io.EOF
		}
	}
	n := copy(p, k.rest)
	k.rest = k.rest[n:]
	return n, nil
}

// play runs a test on a screen of w × h cells in a bubble of its own.
func play(t *testing.T, w, h int, s *stage, id string, test func(*screen)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.feed = tui.NewFeed() // its channel must belong to the bubble
		sc := &screen{
			t: t, stage: s, term: vt.NewEmulator(w, h), in: &keyboard{keys: make(chan []byte), closed: make(chan struct{})},
			signals: make(chan os.Signal, 2), exit: make(chan tui.Exit, 1), errs: make(chan error, 1),
			sizes: make(chan [2]int),
		}
		sc.raw = &output{term: sc.term}
		_, _ = sc.term.Write([]byte("\x1b[20h")) // a line feed goes to the first column, as nothing is in raw mode here
		drained := make(chan struct{})
		go func() {
			defer close(drained)
			_, _ = io.Copy(io.Discard, sc.term) // what the emulator answers
		}()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			exit, err := tui.RunSized(ctx, tui.Options{
				Backend: s, Feed: s.feed, SessionID: id, Input: sc.in, Output: sc.raw, Theme: "dark", Signals: sc.signals,
				Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"},
			}, w, h, sc.sizes)
			sc.exit <- exit
			sc.errs <- err
		}()
		defer func() { // also when the test ends early
			close(sc.in.closed)
			sc.idle()
			cancel()
			time.Sleep(time.Minute) // what waits for a time ends with it
			_ = sc.term.InputPipe().(io.Closer).Close()
			<-drained
		}()
		sc.idle()
		test(sc)
	})
}

// idle waits until a frame is drawn and nothing more happens.
func (sc *screen) idle() {
	time.Sleep(150 * time.Millisecond) // an escape key is waited out twice where time stands still between two steps
	synctest.Wait()
}

// press types keys, each as a terminal sends it.
func (sc *screen) press(keys ...string) {
	for _, k := range keys {
		code, ok := codes[k]
		if !ok {
			code = k
		}
		sc.in.keys <- []byte(code)
		sc.idle()
	}
}

var codes = map[string]string{
	"enter": "\r", "tab": "\t", "esc": "\x1b", "up": "\x1b[A", "down": "\x1b[B", "pgup": "\x1b[5~", "pgdn": "\x1b[6~",
	"home": "\x1b[H", "end": "\x1b[F", "f1": "\x1bOP", "f2": "\x1bOQ", "ctrl+c": "\x03", "ctrl+d": "\x04", "ctrl+o": "\x0f",
	"ctrl+t": "\x14", "ctrl+p": "\x10", "ctrl+s": "\x13", "ctrl+n": "\x0e", "shift+tab": "\x1b[Z", "backspace": "\x7f",
}

// frame is what is on the screen, without the spaces at the ends of rows.
func (sc *screen) frame() string {
	sc.raw.mu.Lock()
	defer sc.raw.mu.Unlock()
	rows := strings.Split(sc.term.String(), "\n")
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " \r")
	}
	return strings.Join(rows, "\n") + "\n"
}

// written is what the terminal was told so far.
func (sc *screen) written() string {
	sc.raw.mu.Lock()
	defer sc.raw.mu.Unlock()
	return sc.raw.raw.String()
}

func (sc *screen) has(want ...string) {
	sc.t.Helper()
	frame := sc.frame()
	for _, w := range want {
		if !strings.Contains(frame, w) {
			sc.t.Errorf("%q is not on the screen:\n%s", w, frame)
		}
	}
}

func (sc *screen) hasNot(want ...string) {
	sc.t.Helper()
	frame := sc.frame()
	for _, w := range want {
		if strings.Contains(frame, w) {
			sc.t.Errorf("%q is on the screen:\n%s", w, frame)
		}
	}
}

// resize changes the size of the terminal.
func (sc *screen) resize(w, h int) {
	sc.raw.mu.Lock()
	sc.term.Resize(w, h)
	sc.raw.mu.Unlock()
	sc.sizes <- [2]int{w, h}
	sc.idle()
}
