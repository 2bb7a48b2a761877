package openai

import (
	"net/http"
	"regexp"
	"strings"

	"bureau/engine/history"
	"bureau/engine/llm"
)

// habits is what a server turned out to want otherwise than its dialect says.
type habits struct {
	otherLimitName  bool // max_tokens in place of max_completion_tokens, or the reverse
	noTemperature   bool
	noTopP          bool
	noStreamOptions bool
	otherReasoning  bool // reasoning goes back where the dialect keeps it, or the reverse
	oneSystemFirst  bool
	formatInWords   bool
	content         contentForm
	// whole: the next answer comes in one piece, because the server lost track of a call that it streamed.
	whole bool

	// Of the Responses API.
	noStore     bool
	noEncrypted bool // reasoning is not asked for in the form that can go back
	noSummary   bool
	noStrict    bool
	noItems     bool // nothing goes back as it came: reasoning is left out, words and calls go without their ids
}

// habitSet notes which habits a request has been adapted in, so that none is changed back and forth.
type habitSet uint

const (
	triedLimit habitSet = 1 << iota
	triedTemperature
	triedTopP
	triedStreamOptions
	triedReasoning
	triedOrder
	triedContentOnce
	triedContentTwice
	triedFormat
	triedWhole
	triedStore
	triedEncrypted
	triedSummary
	triedStrict
	triedItems
)

var (
	unsupported = matcher(`unsupported`, `not supported`, `does not support`, `unrecognized`, `unknown`, `unexpected`, `not permitted`,
		`not allowed`, `invalid`, `not compatible`, `extra (inputs|fields)`, `is deprecated`, `only (the default|1 is)`, `forbidden`,
		`cannot be used`, `no such (field|param)`)
	// A value that is out of range is the user's to mend.
	outOfRange     = matcher(`maximum`, `minimum`, `between`, `range`, `[<>≤≥]=?`, `(less|greater|more|higher|lower) than`, `at (most|least)`)
	contentRefused = matcher(`content.{0,80}(type: <nil>|null|none|empty|missing|required|must (be|have|not)|should be|non-empty)`,
		`(missing|required|empty|null|invalid).{0,60}\bcontent\b`)
	orderRefused = matcher(`roles must alternate`, `system message must be (at|in) the beginning`, `system message must be first`,
		`only the first message can (be|have) .{0,10}system`, `after the optional system message`, `multiple system messages`)
	reasoningWanted = matcher(`reasoning\w*\b.{0,80}must be passed back`, `missing .{0,20}reasoning_content`, `reasoning_content is (missing|required)`)
	formatRefused   = matcher(`response_?format`, `text\.format`, `response.{0,3}mime.?type`, `json.?schema`, `json.?mode`, `structured.?output`, `\bgrammar\b`)
	temperatureName = regexp.MustCompile(`(?i)\btemperature\b`)
	topPName        = regexp.MustCompile(`(?i)\btop_p\b`)
	lostTrack       = matcher(`invalid diff: now finding less tool calls`)
	reasoningName   = regexp.MustCompile(`(?i)\breasoning(_content|_details)?\b`)

	// Names that the Responses API alone has.
	encryptedName  = matcher(`encrypted.content`, `\binclude\b`)
	summaryName    = matcher(`reasoning.summar`, `\bsummary\b`)
	summaryRefused = matcher(unsupported.String(), `must be verified`)
	strictName     = matcher(`\bstrict\b`)
	storeName      = matcher(`\bstore\b`)
	// Items that came from the server, and that it does not take back: of another model or account, or no longer known.
	itemsRefused = matcher(`encrypted.content`, `\bitems?\b`, `\binput\W{0,3}\d`)
)

// adapt changes the one habit that the server's refusal names; it reports false when the refusal is about something else.
func (h *habits) adapt(protocol history.Protocol, e *llm.Error, req llm.Request, tried *habitSet) bool {
	// Strict templates fail with 500; all other refusals of a habit are the client's fault.
	said := e.Message + " " + e.Code
	try := func(habit habitSet) bool {
		fresh := *tried&habit == 0
		*tried |= habit
		return fresh
	}
	if orderRefused.MatchString(said) && e.Status >= 400 && !h.oneSystemFirst && try(triedOrder) {
		h.oneSystemFirst = true
		return true
	}
	responses := protocol == history.ProtocolResponses
	isRefusal := e.Kind == llm.KindRequest || e.Kind == llm.KindNotFound
	if responses && isRefusal && e.Status != 0 && itemsRefused.MatchString(said) && sendsItems(req) && try(triedItems) {
		h.noItems = true
		return true
	}
	if !responses && e.Kind == llm.KindModelFault && lostTrack.MatchString(said) && try(triedWhole) {
		h.whole = true
		return true
	}
	if e.Kind != llm.KindRequest || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return false
	}
	s := req.Settings
	namesLimit := strings.Contains(said, "max_tokens") || strings.Contains(said, "max_completion_tokens")
	refusesSetting := unsupported.MatchString(said) && !outOfRange.MatchString(said)
	if s.Format != nil && !h.formatInWords && formatRefused.MatchString(said) && try(triedFormat) {
		h.formatInWords = true
		return true
	}
	if responses {
		return h.adaptResponses(said, refusesSetting, req.Settings, try)
	}
	switch {
	case reasoningWanted.MatchString(said):
		if !try(triedReasoning) {
			return false
		}
		h.otherReasoning = !h.otherReasoning
	case s.MaxOutputTokens > 0 && namesLimit && refusesSetting && !outputText.MatchString(said):
		if !try(triedLimit) {
			return false
		}
		h.otherLimitName = !h.otherLimitName
	case strings.Contains(said, "stream_options") && try(triedStreamOptions):
		h.noStreamOptions = true
	case s.Temperature != nil && temperatureName.MatchString(said) && refusesSetting && try(triedTemperature):
		h.noTemperature = true
	case s.TopP != nil && topPName.MatchString(said) && refusesSetting && try(triedTopP):
		h.noTopP = true
	case sendsReasoning(req) && reasoningName.MatchString(said) && unsupported.MatchString(said) && try(triedReasoning):
		h.otherReasoning = !h.otherReasoning
	case hasBareCalls(req) && contentRefused.MatchString(said) && (try(triedContentOnce) || try(triedContentTwice)):
		h.content = (h.content + 1) % 3
	default:
		return false
	}
	return true
}

// adaptResponses is adapt for what the Responses API alone has, and for what both have.
func (h *habits) adaptResponses(said string, refusesSetting bool, s llm.Settings, try func(habitSet) bool) bool {
	switch {
	case !h.noEncrypted && encryptedName.MatchString(said) && unsupported.MatchString(said) && try(triedEncrypted):
		h.noEncrypted = true
	case !h.noSummary && summaryName.MatchString(said) && summaryRefused.MatchString(said) && try(triedSummary):
		h.noSummary = true
	case !h.noStrict && strictName.MatchString(said) && unsupported.MatchString(said) && try(triedStrict):
		h.noStrict = true
	case !h.noStore && storeName.MatchString(said) && unsupported.MatchString(said) && try(triedStore):
		h.noStore = true
	case s.Temperature != nil && temperatureName.MatchString(said) && refusesSetting && try(triedTemperature):
		h.noTemperature = true
	case s.TopP != nil && topPName.MatchString(said) && refusesSetting && try(triedTopP):
		h.noTopP = true
	default:
		return false
	}
	return true
}

// hasBareCalls tells whether an assistant message has calls and no text.
func hasBareCalls(req llm.Request) bool {
	for _, m := range req.Messages {
		if m.Role == llm.RoleAssistant && len(m.Calls) > 0 && m.Content == "" {
			return true
		}
	}
	return false
}

// sendsReasoning tells whether a message has reasoning that may go back.
func sendsReasoning(req llm.Request) bool {
	for _, m := range req.Messages {
		if m.Role == llm.RoleAssistant && len(m.Calls) > 0 && (m.Reasoning != "" || len(m.Wire) > 0) {
			return true
		}
	}
	return false
}

// sendsItems tells whether something goes back as it came over the Responses API.
func sendsItems(req llm.Request) bool {
	for _, m := range req.Messages {
		if len(m.Wire[itemsField]) > 0 {
			return true
		}
		for _, call := range m.Calls {
			if len(call.Wire[itemsField]) > 0 {
				return true
			}
		}
	}
	return false
}

// learned says what the user should know of the habits that have come since: settings that are left out from now on.
func (h habits) learned(since habits, ref llm.Ref) []string {
	var said []string
	for _, setting := range []struct {
		name        string
		then, since bool
	}{{"temperature", since.noTemperature, h.noTemperature}, {"top_p", since.noTopP, h.noTopP}} {
		if setting.since && !setting.then {
			said = append(said, ref.String()+" refuses the setting "+setting.name+": it is left out from now on, and the model uses its own default.")
		}
	}
	return said
}
