package script

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// masked stands where a secret was.
const masked = "[masked]"

// minSecret is the length from which a credential of a request is looked for in bodies: what is shorter is a placeholder
// such as "ollama", and a common word.
const minSecret = 8

var (
	// credentialName tells of headers and query parameters whose values are secret.
	credentialName = regexp.MustCompile(`(?i)auth|cookie|key|token|secret|password|signature|^sig$|^code$|credential`)

	// keyShapes are secrets known by their looks; the first group stays.
	keyShapes = []*regexp.Regexp{
		shape(`)(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,}`),
		shape(`)(?:gsk_|xai-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AIza|AKIA|pplx-|r8_|nvapi-)[A-Za-z0-9_-]{12,}`),
		shape(`)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
		shape(`(?i:bearer|basic)\s+)(?:[A-Za-z._~+/=-]*[0-9][A-Za-z0-9._~+/=-]{6,}|[A-Za-z0-9._~+/=-]{20,})`),
		shape(`(?i:(?:[a-z0-9]+[-_])*(?:api[-_]?key|key|token|sig|signature|secret|code))=)[^&\s"'<>\\]+`),
		shape(`(?i:(?:[a-z0-9]+[-_])*(?:api[-_]?key|access[-_]?token|auth[-_]?token|client[-_]?secret|secret|password))` +
			`\\*["']?\s*[:=]\s*\\*["']?)[A-Za-z0-9._~+/=-]{8,}`),
	}
)

// shape is a pattern that begins with a word, also where an escape of JSON stands right before it: the n of \n is no part of
// the word. The first group is open at the pattern's start.
func shape(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`((?:\b|\\[bfnrt]|\\u[0-9a-fA-F]{4})` + pattern)
}

// span is a stretch of a text that is secret.
type span struct{ from, to int }

// secretSpans finds what is secret in a text: the credentials of its request, and what has the shape of a key. The spans
// come in order and do not overlap.
func secretSpans(text []byte, credentials [][]byte) []span {
	var found []span
	for _, c := range credentials {
		for from := 0; ; {
			i := bytes.Index(text[from:], c)
			if i < 0 {
				break
			}
			found = append(found, span{from + i, from + i + len(c)})
			from += i + len(c)
		}
	}
	for _, shape := range keyShapes {
		for _, m := range shape.FindAllSubmatchIndex(text, -1) {
			found = append(found, span{m[3], m[1]})
		}
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var joined []span
	for _, s := range found {
		if n := len(joined); n > 0 && s.from < joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// mask takes the secrets out of a text.
func mask(text []byte, credentials [][]byte) []byte {
	return maskChunks([][]byte{text}, credentials)[0]
}

// maskChunks takes the secrets out of a text that came in pieces, those across a border too; there are as many pieces after.
func maskChunks(chunks [][]byte, credentials [][]byte) [][]byte {
	spans := secretSpans(bytes.Join(chunks, nil), credentials)
	out := make([][]byte, len(chunks))
	start := 0
	for i, chunk := range chunks {
		end := start + len(chunk)
		at := start
		for _, s := range spans {
			if s.to <= at || s.from >= end {
				continue
			}
			if s.from >= at {
				out[i] = append(out[i], chunk[at-start:s.from-start]...)
				out[i] = append(out[i], masked...)
			}
			at = min(s.to, end)
		}
		out[i] = append(out[i], chunk[at-start:]...)
		start = end
	}
	return out
}

// credentials are the secrets that a request carries, in every spelling in which a body may repeat them.
func credentials(req *http.Request) [][]byte {
	var secrets []string
	for name, values := range req.Header {
		if !credentialName.MatchString(name) {
			continue
		}
		for _, value := range values {
			secrets = append(secrets, value)
			if scheme, rest, ok := strings.Cut(value, " "); ok {
				secrets = append(secrets, rest)
				if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
					_, password, _ := strings.Cut(string(pair), ":")
					secrets = append(secrets, password)
				}
			}
		}
	}
	for name, values := range req.URL.Query() {
		if credentialName.MatchString(name) {
			secrets = append(secrets, values...)
		}
	}
	if req.URL.User != nil {
		password, _ := req.URL.User.Password()
		secrets = append(secrets, password)
	}
	var spellings [][]byte
	for _, secret := range secrets {
		if len(secret) < minSecret {
			continue
		}
		quoted, _ := json.Marshal(secret)
		for _, s := range []string{secret, string(quoted[1 : len(quoted)-1]), url.QueryEscape(secret), url.PathEscape(secret)} {
			if b := []byte(s); !slices.ContainsFunc(spellings, func(have []byte) bool { return bytes.Equal(have, b) }) {
				spellings = append(spellings, b)
			}
		}
	}
	return spellings
}
