package engine

import (
	"fmt"
	"sync"
)

// sequence knows which tools of an agent work at this moment, so that one that must run alone does. Nested runs of the same agent in
// the same session count too.
type sequence struct {
	mu      sync.Mutex
	working map[sequenceKey]*working
}

type sequenceKey struct{ session, agent string }

// working counts an agent's tools at work; alone names the one that lets no other in.
type working struct {
	tools int
	alone string
}

// begin admits a call, or says what is in its way; the returned function ends the call.
func (s *sequence) begin(k sequenceKey, tool string, alone bool) (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.working[k]
	if w == nil {
		w = &working{}
		s.working[k] = w
	}
	switch {
	case w.alone != "":
		return nil, fmt.Errorf("%s is still running, and it runs alone: no other tool may be called until it has ended. Wait for its result, then call %s",
			w.alone, tool)
	case alone && w.tools > 0:
		return nil, fmt.Errorf("%s runs alone, and another tool is still running. Call it again by itself, when the others have ended", tool)
	}
	w.tools++
	if alone {
		w.alone = tool
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.tools--; w.tools == 0 {
			delete(s.working, k)
		}
		if alone {
			w.alone = ""
		}
	}, nil
}

// aloneNotice follows the description of a tool that runs alone.
const aloneNotice = " This tool runs alone: do not call any other tool in the same step."
