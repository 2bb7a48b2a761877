package engine_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/llm/llmtest"
	"bureau/engine/tool"
	"bureau/store"
)

// memory is a log that is never on disk.
type memory struct {
	mu       sync.Mutex
	rows     []history.Message
	requests []history.Request
}

func (l *memory) AppendAll(_ context.Context, rows []*history.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range rows {
		row.ID = int64(len(l.rows) + 1)
		l.rows = append(l.rows, *row)
	}
	return nil
}

func (l *memory) Update(_ context.Context, row history.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[row.ID-1] = row
	return nil
}

func (l *memory) Rows(_ context.Context, session string, t history.Thread, before int64, limit int) (found []history.Message, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range slices.Backward(l.rows) {
		if row.SessionID == session && t.Holds(row) && (before == 0 || row.ID < before) && len(found) < limit {
			found = append(found, row)
		}
	}
	return found, nil
}

func (l *memory) CallTaken(_ context.Context, session, callID string) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.rows, func(m history.Message) bool { return m.SessionID == session && m.CallID == callID }), nil
}

func (l *memory) RecordRequest(_ context.Context, r *history.Request) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, *r)
	return nil
}

func (l *memory) SetRecipient(context.Context, string, string) error { return nil }

func (l *memory) Variables(context.Context, string) (map[string]string, error) { return nil, nil }

func (l *memory) SetVariable(context.Context, string, string, string) error { return nil }

func (l *memory) Spent(_ context.Context, session string) (tokens int64, dollars float64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.requests {
		if r.SessionID == session {
			tokens += r.Usage.Tokens()
			if r.Usage.Cost != nil {
				dollars += *r.Usage.Cost
			}
		}
	}
	return tokens, dollars, nil
}

// wild is an agent that does anything at all, the same for the same seed.
type wild struct {
	seed  uint64
	agent string
	below []string // whom it may ask

	mu    sync.Mutex
	calls uint64
}

func (w *wild) Ref() llm.Ref               { return llm.Ref{Provider: "memory", Model: w.agent} }
func (w *wild) Protocol() history.Protocol { return history.ProtocolChatCompletions }
func (w *wild) Window() int                { return 100_000 }

func (w *wild) Stream(ctx context.Context, _ llm.Request, on func(llm.Delta)) (reply llm.Reply, err error) {
	w.mu.Lock()
	w.calls++
	h := fnv.New64a()
	fmt.Fprint(h, w.agent, w.calls)
	w.mu.Unlock()
	r := rand.New(rand.NewPCG(w.seed, h.Sum64()))
	defer func() {
		reply.Usage = history.Usage{InputTokens: r.Int64N(500), CachedTokens: r.Int64N(100), OutputTokens: r.Int64N(90), ReasoningTokens: r.Int64N(9)}
	}()
	pause := func(d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := pause(time.Duration(r.IntN(20_000)) * time.Millisecond); err != nil {
		return llm.Reply{}, err
	}
	if r.IntN(3) == 0 {
		on(llm.Delta{Reasoning: "hm"})
		reply.Reasoning = "hm"
	}
	if r.IntN(2) == 0 {
		reply.Text = fmt.Sprintf("%s says %d", w.agent, r.IntN(3))
		on(llm.Delta{Text: reply.Text})
	}
	switch r.IntN(20) {
	case 0: // silence
		return reply, pause(time.Duration(r.IntN(3)) * time.Hour)
	case 1:
		kinds := []llm.Kind{llm.KindServer, llm.KindTruncated, llm.KindRequest, llm.KindOverflow, llm.KindAuth, llm.KindModelFault, llm.KindFilter}
		return reply, &llm.Error{Kind: kinds[r.IntN(len(kinds))], Ref: w.Ref(), Message: "a fault"}
	case 2:
		reply.Finish = llm.FinishLength
		return reply, nil
	case 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13:
		var list []llmtest.Call
		for range 1 + r.IntN(3) {
			switch kind := r.IntN(6); {
			case kind < 3 && len(w.below) > 0:
				list = append(list, send("", w.below[r.IntN(len(w.below))], fmt.Sprint("task ", r.IntN(3))))
			case kind == 3 && w.agent == "A":
				list = append(list, handoff("", "B"))
			case kind == 4:
				list = append(list, call("", []string{"stuck", "broken", "nothing"}[r.IntN(3)], "{}"))
			default:
				list = append(list, call("", "look", fmt.Sprintf(`{"x":%d}`, r.IntN(2))))
			}
		}
		made, err := invoke(on, list...)
		made.Text, made.Reasoning = reply.Text, reply.Reasoning
		return made, err
	}
	return reply, err
}

// Trees of agents in which models fail, fall silent and repeat themselves, limits are reached, and the user stops, cancels and
// interrupts: every run ends in exactly one final event, its usage is that of its requests and of those below it, and nothing is
// left behind.
func TestAnyTreeEnds(t *testing.T) {
	t.Parallel()
	const bubbles, trees = 20, 50
	ended := &endings{}
	t.Cleanup(func() {
		for _, code := range []history.Code{"", history.CodeModel, history.CodeLimit, history.CodeInterrupted} {
			if ended.counts[code] < bubbles*trees/20 {
				t.Errorf("%d trees have ended with %q: what they show is little", ended.counts[code], code)
			}
		}
	})
	for bubble := range bubbles {
		t.Run(fmt.Sprint(bubble), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // which fails when a goroutine is left
				log := &memory{}
				var seed uint64
				below := map[string][]string{"A": {"B", "C", "D"}, "B": {"C", "D"}, "C": {"D"}, "D": nil}
				models := map[string]*wild{}
				s := setup{
					tools: []tool.Tool{
						gives("look", "seen"), breaking("broken"),
						fake{"stuck", func(ctx context.Context, _ string) (string, error) { <-ctx.Done(); return "", ctx.Err() }},
					},
					model: func(agent string) llm.Model { return models[agent] },
					log:   func(*store.Store) engine.Log { return log },
					price: func(ref llm.Ref, u history.Usage) *float64 {
						if ref.Model == "D" && seed%4 == 0 {
							return nil
						}
						cost := float64(u.Tokens()) / 1e3
						return &cost
					},
				}
				b := s.bench(t, agentsOf("A"), nil)
				for tree := range trees {
					seed = uint64(bubble*trees + tree)
					r := rand.New(rand.NewPCG(seed, 0))
					for agent := range below {
						models[agent] = &wild{seed: seed, agent: agent, below: below[agent]}
					}
					ended.add(code(anyTree(b, log, fmt.Sprint("tree", seed), r)))
					*log, b.events = memory{}, nil
				}
			})
		})
	}
}

// endings counts how trees have ended.
type endings struct {
	mu     sync.Mutex
	counts map[history.Code]int
}

func (e *endings) add(code history.Code) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counts == nil {
		e.counts = map[history.Code]int{}
	}
	e.counts[code]++
}

func anyTree(b *bench, log *memory, session string, r *rand.Rand) error {
	b.t.Helper()
	b.setup.decide = nil
	if r.IntN(2) == 0 {
		verdict := engine.Verdict(r.IntN(3))
		b.setup.decide = func(context.Context, engine.Question) engine.Answer {
			time.Sleep(time.Minute)
			return engine.Answer{Verdict: verdict, By: 2000}
		}
	}
	yaml := "agents:\n"
	for _, agent := range []string{"A", "B", "C", "D"} {
		yaml += fmt.Sprintf("  %s: {instructions: x, tools: [look, broken, stuck]}\n", agent)
	}
	e := b.newEngine(b.parse(yaml + "communication_flows: [A > B > C > D, A > C, A > D, B > D, A > B: handoff]\n" + fmt.Sprintf(
		"limits: {max_depth: %d, max_runs: %d, max_turn_calls: %d, max_calls: %d, max_silence: 300, max_tokens: %d, max_cost: %d, max_seconds: %d}\n",
		1+r.IntN(3), 1+r.IntN(12), 5+r.IntN(40), 2+r.IntN(8), 500+r.IntN(20_000), 1+r.IntN(9), 100+r.IntN(5000))))
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Duration(1+r.IntN(60))*time.Minute)
	defer cancel()
	done := make(chan struct{})
	var meddling sync.WaitGroup
	meddling.Go(func() { // the user says something, or stops a run
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Duration(1+r.IntN(120)) * time.Second):
			}
			var running []string
			for _, event := range b.told() {
				if event.SessionID == session && event.Type == history.EventSubagentStarted {
					running = append(running, event.SubagentRunID)
				}
			}
			if r.IntN(2) == 0 {
				_ = e.Steer(session, "go on")
			}
			if len(running) > 0 {
				_ = e.SteerRun(running[r.IntN(len(running))], "look again")
				_ = e.CancelRun(running[r.IntN(len(running))])
			}
		}
	})
	result, err := e.Turn(ctx, engine.Input{SessionID: session, Recipient: "A", Text: "hi"})
	close(done)
	meddling.Wait()
	if !errors.Is(e.Steer(session, "x"), engine.ErrNotRunning) {
		b.t.Errorf("%s: the turn has ended and can be spoken to", session)
	}
	checkEnds(b, session, result, err)
	checkUsage(b, log, session, result)
	for _, fault := range slices.Concat(auditRows(b.told(), log.rows), auditRuns(b.told())) {
		b.t.Errorf("%s: %s", session, fault)
	}
	return err
}

// checkEnds looks for exactly one end of every run, that of the turn the last.
func checkEnds(b *bench, session string, result engine.Result, err error) {
	b.t.Helper()
	started, ended := map[string]int{}, map[string]int{}
	var last history.Event
	for _, e := range b.told() {
		if e.SessionID != session {
			continue
		}
		last = e
		switch e.Type {
		case history.EventRunStarted:
			started[e.RunID]++
		case history.EventSubagentStarted:
			started[e.SubagentRunID]++
		case history.EventRunFinished, history.EventRunError:
			ended[e.RunID]++
		case history.EventSubagentFinished, history.EventSubagentError:
			ended[e.SubagentRunID]++
		}
	}
	want := history.EventRunFinished
	if err != nil {
		want = history.EventRunError
	}
	if last.Type != want || last.RunID != result.RunID {
		b.t.Errorf("%s: the last event is %s", session, last.Type)
	}
	for run, n := range started {
		if n != 1 || ended[run] != 1 {
			b.t.Errorf("%s: a run has %d starts and %d ends", session, n, ended[run])
		}
	}
	if len(ended) != len(started) {
		b.t.Errorf("%s: %d runs have started, %d ended", session, len(started), len(ended))
	}
}

// checkUsage holds what each run is said to have taken against the requests on record.
func checkUsage(b *bench, log *memory, session string, result engine.Result) {
	b.t.Helper()
	parent, told := map[string]string{}, map[string]history.Usage{}
	for _, e := range b.told() {
		switch {
		case e.SessionID != session:
		case e.Type == history.EventSubagentStarted:
			parent[e.SubagentRunID] = e.RunID
			if e.ParentSubagentRunID != "" {
				parent[e.SubagentRunID] = e.ParentSubagentRunID
			}
		case e.Usage != nil && e.SubagentRunID != "":
			told[e.SubagentRunID] = *e.Usage
		case e.Usage != nil:
			told[e.RunID] = *e.Usage
		}
	}
	want := map[string]history.Usage{}
	log.mu.Lock()
	for _, request := range log.requests {
		if request.SessionID != session {
			continue
		}
		for run := request.RunID; run != ""; run = parent[run] {
			want[run] = want[run].Add(request.Usage)
		}
	}
	log.mu.Unlock()
	if !sameUsage(told[result.RunID], result.Usage) {
		b.t.Errorf("%s: the turn took %+v, told %+v", session, result.Usage, told[result.RunID])
	}
	for run, usage := range told {
		if !sameUsage(usage, want[run]) {
			b.t.Errorf("%s: a run took %+v, its requests %+v", session, usage, want[run])
		}
	}
}

func sameUsage(a, b history.Usage) bool {
	x, y := a.Cost, b.Cost
	a.Cost, b.Cost = nil, nil
	return a == b && (x == nil) == (y == nil) && (x == nil || math.Abs(*x-*y) < 1e-9)
}
