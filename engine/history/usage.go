package history

// Usage is what model requests took. The zero value is nothing. Token counts are the servers' own; where a server gave
// none they are 0 and the request still counts.
type Usage struct {
	InputTokens     int64 `json:"inputTokens"`
	OutputTokens    int64 `json:"outputTokens"`
	CachedTokens    int64 `json:"cachedTokens"`
	ReasoningTokens int64 `json:"reasoningTokens"`
	Requests        int64 `json:"requests"`
	// Cost is in US dollars; nil when a price is unknown.
	Cost *float64 `json:"cost"`
}

// Add returns the sum of both. A cost that is unknown on one side with requests makes the sum's unknown.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		InputTokens:     u.InputTokens + v.InputTokens,
		OutputTokens:    u.OutputTokens + v.OutputTokens,
		CachedTokens:    u.CachedTokens + v.CachedTokens,
		ReasoningTokens: u.ReasoningTokens + v.ReasoningTokens,
		Requests:        u.Requests + v.Requests,
	}
	switch {
	case u.Requests == 0:
		sum.Cost = v.Cost
	case v.Requests == 0:
		sum.Cost = u.Cost
	case u.Cost != nil && v.Cost != nil:
		cost := *u.Cost + *v.Cost
		sum.Cost = &cost
	}
	return sum
}

// Tokens is input and output together.
func (u Usage) Tokens() int64 { return u.InputTokens + u.OutputTokens }

// Outcome says how a model request ended.
type Outcome string

// The outcomes of a request.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeFailed    Outcome = "failed"
	OutcomeCancelled Outcome = "cancelled"
)

// Request is one row of the requests table: one per model request, failed ones too.
type Request struct {
	ID        int64  `json:"id"`
	SessionID string `json:"session_id"`
	RunID     string `json:"run_id"`
	TraceID   string `json:"trace_id"`
	Agent     string `json:"agent"`
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	// Usage.Requests is 1.
	Usage Usage `json:"usage"`
	// StartedAt and EndedAt are microseconds since 1970.
	StartedAt int64   `json:"started_at"`
	EndedAt   int64   `json:"ended_at"`
	Outcome   Outcome `json:"outcome"`
}
