package openai

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"bureau/engine/llm"
)

// fault makes the typed error of what a server told.
func (e *endpoint) fault(f fault, header http.Header) *llm.Error {
	f.status = f.effectiveStatus()
	out := &llm.Error{
		Kind: f.classify(), Ref: e.ref, Status: f.status, Code: safeText(f.code, 200), RetryAfter: retryAfter(f, header, time.Now),
	}
	if out.Code == "" {
		out.Code = safeText(f.kind, 200)
	}
	message := f.message
	if message == "" {
		message = "the server reported an error without saying which"
	}
	if f.param != "" && !strings.Contains(message, f.param) {
		message += " (" + f.param + ")"
	}
	if f.generation != "" {
		message += "; the model wrote: " + f.generation
	}
	out.Message = e.clean(message)
	out.Hint = e.hint(out.Kind, f)
	if out.Kind == llm.KindRateLimit && out.RetryAfter.Round(time.Second) > 0 {
		out.Hint = fmt.Sprintf("wait %s, as the server asks, or choose another model", out.RetryAfter.Round(time.Second))
	}
	return out
}

// effectiveStatus is the HTTP status, or the one that an error inside a stream stands for; 0 where it says nothing.
func (f fault) effectiveStatus() int {
	if f.status != 0 {
		return f.status
	}
	if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n < 600 {
		return n
	}
	words := strings.ToLower(f.code + " " + f.kind)
	for _, known := range []struct {
		word   string
		status int
	}{
		{"rate_limit", 429}, {"resource_exhausted", 429}, {"insufficient_quota", 429}, {"overloaded", 529}, {"unavailable", 503},
		{"timeout", 504}, {"deadline_exceeded", 504}, {"server_error", 500}, {"internal", 500}, {"authentication", 401},
		{"invalid_api_key", 401}, {"unauthenticated", 401}, {"permission", 403}, {"not_found", 404}, {"notfound", 404},
		{"context_size", 400}, {"context_length", 400}, {"invalid_request", 400}, {"invalid_argument", 400}, {"badrequest", 400},
		{"invalid_prompt", 400}, {"invalid_encrypted", 400},
	} {
		if strings.Contains(words, known.word) {
			return known.status
		}
	}
	return 0
}

var (
	limitedText = matcher(`rate.?limit`, `too many requests`, `throttl`, `too many tokens, please wait`, `resource_exhausted`)
	quotaText   = matcher(`insufficient_quota`, `billing`, `credit balance`, `insufficient (balance|credit|fund)`, `out of credits`,
		`payment required`, `spending limit`)
	// Too large for what the plan allows in a minute: waiting does not make it smaller.
	tooLargeText = matcher(`request too large`, `tokens per (min|day).*limit \d+.*requested \d+.*reduce`)

	// The output limit that was asked for is the trouble, not the prompt.
	outputText   = matcher(`max_(completion_|output_)?tokens['"` + "`" + `]?( or ['"` + "`" + `]?max_\w+['"` + "`" + `]?)? is too large`)
	overflowText = matcher(
		`context_length_exceeded`, `exceed_context_size`, `model_context_window_exceeded`, `context.length exceeded`,
		`maximum context length`, `exceeds? the (model'?s? )?context (window|length)`, `longer than the maximum model length`,
		`prompt contains at least \d+ input tokens`, `exceeds the available context size`, `greater than the context length`,
		`prompt too long`, `exceeded max context length`, `prompt is too long`, `exceed context limit`,
		`input token count.*exceeds the maximum`, `exceeds the maximum number of tokens`, `reduce the length of the messages`,
		`maximum prompt length is \d`, `longer than the model'?s? context length`, `maximum allowed input length of`,
		`exceeded model token limit`, `context window exceeds limit`, `request_too_large`, `request body too large`,
		`(prompt|input|tokens?|context)\b.*exceeds the limit of \d`, `no user query found in messages`,
	)
	noToolsText = matcher(`does not support (tools|tool|function)`, `(tools?|tool use|tool calling|function calling)\b.{0,20} (is|are) not supported`,
		`no endpoints found that support tool use`, `tool choice requires --enable-auto-tool-choice`, `tool_choice.*requires --enable`,
		`tools param requires --jinja`)
	modelFaultText = matcher(`tool_use_failed`, `error parsing tool call`, `failed to parse tool call`, `invalid diff: now finding less`,
		`malformed_function_call`, `failed to call a function`)
	filterText  = matcher(`content_filter`, `content management policy`, `content_policy`, `responsibleaipolicy`, `data_inspection_failed`)
	authText    = matcher(`api.?key (is )?(not valid|invalid|expired)`, `(invalid|incorrect|missing|no) (api.?key|credentials)`, `invalid_api_key`)
	noModelText = matcher(`model\b.{0,120}\b(not found|does not exist|not exist|is not available|is unknown)`, `model_not_found`,
		`no such model`, `unknown model`, `no models? loaded`)
)

// pattern is an expression that is compiled when it is first asked: a program that has no trouble starts without them.
type pattern struct {
	source   string
	compiled func() *regexp.Regexp
}

// matcher joins alternatives into one pattern that takes no notice of case.
func matcher(alternatives ...string) pattern {
	source := `(?is)` + strings.Join(alternatives, "|")
	return pattern{source, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })}
}

func (p pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

func (p pattern) String() string { return p.source }

// classify decides what the error means for the next step.
func (f fault) classify() llm.Kind {
	said := strings.Join([]string{f.message, f.code, f.kind}, " ")
	if len(said) > 8<<10 {
		said = said[:8<<10]
	}
	limited := f.status == http.StatusTooManyRequests || limitedText.MatchString(said)
	switch {
	case f.page:
		return f.pageKind()
	case f.status == http.StatusPaymentRequired, quotaText.MatchString(said):
		return llm.KindQuota
	case limited && tooLargeText.MatchString(said):
		return llm.KindQuota
	case limited && strings.Contains(strings.ToLower(said), "quota") && retryAfter(f, nil, time.Now) == 0 && f.kind != "RESOURCE_EXHAUSTED":
		return llm.KindQuota
	case limited:
		return llm.KindRateLimit
	case outputText.MatchString(said):
		return llm.KindRequest
	case overflowText.MatchString(said), f.status == http.StatusRequestEntityTooLarge:
		return llm.KindOverflow
	case noToolsText.MatchString(said):
		return llm.KindNoTools
	case modelFaultText.MatchString(said):
		return llm.KindModelFault
	case filterText.MatchString(said):
		return llm.KindFilter
	case f.status < 500 && authText.MatchString(said):
		return llm.KindAuth
	case f.status < 500 && noModelText.MatchString(said):
		return llm.KindNotFound
	}
	return kindOfStatus(f.status)
}

// pageKind is for a web page in place of an error: what it says is not the server's word.
func (f fault) pageKind() llm.Kind {
	if f.status == http.StatusTooManyRequests || f.status >= 500 {
		return kindOfStatus(f.status)
	}
	if f.status == http.StatusNotFound {
		return llm.KindNotFound
	}
	return llm.KindProtocol
}

func kindOfStatus(status int) llm.Kind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return llm.KindAuth
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return llm.KindNotFound
	case status == http.StatusRequestTimeout:
		return llm.KindTimeout
	case status == http.StatusTooManyRequests:
		return llm.KindRateLimit
	case status == http.StatusConflict, status == http.StatusTooEarly, status >= 500, status == 0:
		return llm.KindServer
	default:
		return llm.KindRequest
	}
}

// hint says what to do about an error.
func (e *endpoint) hint(kind llm.Kind, f fault) string {
	switch kind {
	case llm.KindAuth:
		return e.keyHint()
	case llm.KindQuota:
		if tooLargeText.MatchString(f.message) {
			return "the request is larger than the plan allows at once; shorten the session or choose another model"
		}
		return "check the plan and the balance of the account with this provider, or choose another model"
	case llm.KindRateLimit:
		return "wait a little, or choose another model"
	case llm.KindNotFound:
		if f.page || f.silent {
			return e.baseHint() + "; `bureau model list` shows what a server offers"
		}
		return "`bureau model list` shows what the server offers"
	case llm.KindOverflow:
		if e.provider.Name == "ollama" {
			return "start a new session, or give the model a larger window (num_ctx in its Modelfile)"
		}
		return "start a new session, or choose a model with a larger window"
	case llm.KindNoTools:
		if strings.Contains(f.message, "--") {
			return "start the server with the option that it names, or choose a model that calls tools"
		}
		return "choose a model that calls tools"
	case llm.KindModelFault:
		return "the model wrote a call that its server could not read; try again, or choose another model"
	case llm.KindFilter:
		return "put the request in other words, or choose another model"
	case llm.KindProtocol:
		return e.baseHint()
	case llm.KindRequest:
		if outputText.MatchString(f.message) {
			return "lower max_output_tokens in the agent's model_settings"
		}
	}
	return ""
}

var retryText = regexp.MustCompile(`(?i)(?:retry|try again|wait)\s+(?:after|in|for)?\s*(?:about\s+)?((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|minutes?|mins?|hours?|h|m|s)\b\s*|\d+(?:\.\d+)?(?:h|m|s|ms))+)`)

var retryUnits = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s*(milliseconds?|ms|hours?|h|minutes?|mins?|m|seconds?|secs?|s)`)

// retryAfter is the wait that the server names: in a header, else in the error, else in its text; 0 where it names none.
func retryAfter(f fault, header http.Header, now func() time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(header.Get("Retry-After-Ms")), 64); err == nil {
		return seconds(ms / 1000)
	}
	if value := strings.TrimSpace(header.Get("Retry-After")); value != "" {
		if s, err := strconv.ParseFloat(value, 64); err == nil {
			return seconds(s)
		}
		if at, err := http.ParseTime(value); err == nil {
			return max(at.Sub(now()), 0)
		}
	}
	if wait, err := time.ParseDuration(f.retry); err == nil {
		return max(wait, 0)
	}
	match := retryText.FindStringSubmatch(f.message)
	if match == nil {
		return 0
	}
	total := 0.0
	for _, part := range retryUnits.FindAllStringSubmatch(match[1], -1) {
		n, _ := strconv.ParseFloat(part[1], 64) // the expression takes numbers only
		switch unit := strings.ToLower(part[2]); {
		case strings.HasPrefix(unit, "ms"), strings.HasPrefix(unit, "milli"):
			total += n / 1000
		case strings.HasPrefix(unit, "h"):
			total += n * 3600
		case strings.HasPrefix(unit, "m"):
			total += n * 60
		default:
			total += n
		}
	}
	return seconds(total)
}

// seconds is a duration between nothing and a year.
func seconds(s float64) time.Duration {
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, 365*24*3600) * float64(time.Second))
}

var keyLike = regexp.MustCompile(`\b(?:sk|gsk|xai|pplx|AIza)[-_A-Za-z0-9*.]{12,}|(?i:bearer)\s+[-_A-Za-z0-9.=+/]{8,}`)

// clean makes a server's text fit to be shown: no key, no control characters, at most 2,000 bytes.
func (e *endpoint) clean(message string) string {
	if key := e.secret(); len(key) >= 4 {
		message = strings.ReplaceAll(message, key, "[key]")
	}
	if password, ok := e.base.User.Password(); ok && len(password) >= 4 {
		message = strings.ReplaceAll(message, password, "[password]")
	}
	return safeText(keyLike.ReplaceAllString(message, "[key]"), 2000)
}

// safeText is text on one line without control and format characters, cut to a number of bytes.
func safeText(text string, limit int) string {
	var b strings.Builder
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) || r < ' ' {
			space = b.Len() > 0
			continue
		}
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if b.Len()+utf8.RuneLen(r) > limit-len("…") {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
