package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"bureau/agencies"
	"bureau/engine"
	"bureau/engine/history"
	"bureau/engine/llm"
	"bureau/engine/tool"
)

// quick is an engine in memory whose models answer at once.
func quick(b *testing.B, yaml string, model llm.Model, tools ...tool.Tool) *engine.Engine {
	b.Helper()
	registry := &tool.Registry{}
	if err := registry.Register(tools...); err != nil {
		b.Fatal(err)
	}
	agency, err := agencies.Parse("bench.yaml", []byte("name: bench\n"+yaml), nil, agencies.Known{Tools: registry.Names()})
	if err != nil {
		b.Fatal(err)
	}
	logs := sync.Map{} // each session has a log of its own, so that none waits for another
	e, err := engine.New(engine.Options{
		Agency: agency, Log: perSession{&logs}, Tools: registry.Pick,
		Model: func(context.Context, agencies.Agent) (llm.Model, error) { return model, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

type perSession struct{ logs *sync.Map }

func (p perSession) of(session string) *memory {
	log, _ := p.logs.LoadOrStore(session, &memory{})
	return log.(*memory)
}

func (p perSession) AppendAll(ctx context.Context, rows []*history.Message) error {
	return p.of(rows[0].SessionID).AppendAll(ctx, rows)
}

func (p perSession) Update(ctx context.Context, row history.Message) error {
	return p.of(row.SessionID).Update(ctx, row)
}

func (p perSession) Rows(ctx context.Context, session string, t history.Thread, before int64, limit int) ([]history.Message, error) {
	return p.of(session).Rows(ctx, session, t, before, limit)
}

func (p perSession) CallTaken(ctx context.Context, session, id string) (bool, error) {
	return p.of(session).CallTaken(ctx, session, id)
}

func (p perSession) RecordRequest(ctx context.Context, r *history.Request) error {
	return p.of(r.SessionID).RecordRequest(ctx, r)
}

func (p perSession) SetRecipient(context.Context, string, string) error { return nil }

func (p perSession) Variables(context.Context, string) (map[string]string, error) { return nil, nil }

func (p perSession) SetVariable(context.Context, string, string, string) error { return nil }

func (p perSession) Spent(ctx context.Context, session string) (int64, float64, error) {
	return p.of(session).Spent(ctx, session)
}

// counting is a model that calls a tool, each time with other arguments, until it has been asked calls times in a turn.
type counting struct{ calls int }

func (counting) Ref() llm.Ref               { return llm.Ref{Provider: "memory", Model: "m"} }
func (counting) Protocol() history.Protocol { return history.ProtocolChatCompletions }
func (counting) Window() int                { return 1_000_000 }

func (c counting) Stream(_ context.Context, req llm.Request, on func(llm.Delta)) (llm.Reply, error) {
	n := 0
	for _, m := range req.Messages {
		if m.Role == llm.RoleTool {
			n++
		}
	}
	if n == c.calls-1 {
		return utter(on, "done")
	}
	return invoke(on, call(fmt.Sprint("c", n), "look", fmt.Sprintf(`{"x":%d}`, n)))
}

// What the engine itself takes for a model call, tool call and rows included, with 1, 10 and 100 agents at work at the same
// time; of the last two also as a multiple of one, on all processors and thus a share of them each.
func BenchmarkModelCall(b *testing.B) {
	const calls = 20
	e := quick(b, "agents:\n  A: {instructions: x, tools: [look]}\n", counting{calls}, gives("look", "seen"))
	session := 0
	run := func(agents int) time.Duration {
		began := time.Now()
		var turns sync.WaitGroup
		for range agents {
			session++
			input := engine.Input{SessionID: fmt.Sprint("s", session), Recipient: "A", Text: "hi"}
			turns.Go(func() {
				if _, err := e.Turn(b.Context(), input); err != nil {
					b.Error(err)
				}
			})
		}
		turns.Wait()
		return time.Since(began) / time.Duration(agents*calls)
	}
	sums := map[int]time.Duration{}
	rounds := 0
	for b.Loop() {
		for _, agents := range []int{1, 10, 100} {
			sums[agents] += run(agents)
		}
		rounds++
	}
	one := sums[1]
	for agents, sum := range sums {
		b.ReportMetric(float64(sum.Microseconds())/float64(rounds), fmt.Sprintf("µs/call-of-%d", agents))
		if agents > 1 {
			b.ReportMetric(float64(sum)/float64(one), fmt.Sprintf("x-of-one-at-%d", agents))
		}
	}
	b.ReportMetric(0, "ns/op")
}

// waiting is a model that asks everybody whom it may ask, and whose recipients wait.
type waiting struct {
	arrived *sync.WaitGroup
	release chan struct{}
	ask     int
}

func (waiting) Ref() llm.Ref               { return llm.Ref{Provider: "memory", Model: "m"} }
func (waiting) Protocol() history.Protocol { return history.ProtocolChatCompletions }
func (waiting) Window() int                { return 1_000_000 }

func (w waiting) Stream(_ context.Context, req llm.Request, on func(llm.Delta)) (llm.Reply, error) {
	if len(req.Tools) == 0 {
		w.arrived.Done()
		<-w.release
		return utter(on, "done")
	}
	if req.Messages[len(req.Messages)-1].Role == llm.RoleTool {
		return utter(on, "done")
	}
	reply := llm.Reply{}
	for i := range w.ask {
		c := send("", fmt.Sprint("B", i), "m")
		on(llm.Delta{Call: &llm.CallDelta{Index: i, Name: c.Name}})
		on(llm.Delta{Call: &llm.CallDelta{Index: i, Arguments: c.Arguments}})
		reply.Calls = append(reply.Calls, llm.Call{Name: c.Name, Arguments: c.Arguments})
	}
	return reply, nil
}

// What a nested run holds in memory while it waits for its model, stacks included and its rows not counted out; as a multiple
// of a goroutine that does nothing, which is measured in the same run.
func BenchmarkWaitingRun(b *testing.B) {
	const turns, each = 40, 16
	yaml := "agents:\n  A: {instructions: x}\n"
	var flows []string
	for i := range each {
		yaml += fmt.Sprintf("  B%d: {instructions: x}\n", i)
		flows = append(flows, fmt.Sprintf("A > B%d", i))
	}
	yaml += "communication_flows: [" + strings.Join(flows, ", ") + "]\n"
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	var run, bare float64
	for b.Loop() {
		release := make(chan struct{})
		before := held()
		var idle sync.WaitGroup
		for range turns * each {
			idle.Go(func() { <-release })
		}
		bare = float64(held()-before) / (turns * each)
		close(release)
		idle.Wait()

		w := waiting{arrived: &sync.WaitGroup{}, release: make(chan struct{}), ask: each}
		w.arrived.Add(turns * each)
		e := quick(b, yaml, w)
		before = held()
		var all sync.WaitGroup
		for i := range turns {
			all.Go(func() {
				if _, err := e.Turn(b.Context(), engine.Input{SessionID: fmt.Sprint(i), Recipient: "A", Text: "hi"}); err != nil {
					b.Error(err)
				}
			})
		}
		w.arrived.Wait()
		run = float64(held()-before) / (turns * each)
		close(w.release)
		all.Wait()
	}
	b.ReportMetric(run/1024, "KiB/run")
	b.ReportMetric(run/max(bare, 1), "x-of-a-goroutine")
	b.ReportMetric(0, "ns/op")
}
