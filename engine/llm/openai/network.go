package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"

	"bureau/engine/llm"
)

// connectError is the error of a request that got no response.
func (e *endpoint) connectError(err error) error {
	var own *llm.Error
	if errors.As(err, &own) {
		return own
	}
	// The wrapper repeats the address, which may hold a password.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	out := &llm.Error{Kind: llm.KindConnect, Ref: e.ref, Err: err}
	reason, hint := e.tlsReason(err)
	if reason != "" {
		// A certificate does not get better by itself.
		out.Kind = llm.KindProtocol
	} else {
		reason, hint = e.networkReason(err)
	}
	out.Message = e.clean(fmt.Sprintf("cannot reach %s: %s", shown(e.base), reason))
	out.Hint = hint
	return out
}

func (e *endpoint) networkReason(err error) (reason, hint string) {
	hint = "check the base URL and the network"
	if e.provider.Start != "" && e.provider.IsLocal() {
		hint = "start the server with " + e.provider.Start + ", or choose another model"
	} else if e.provider.IsLocal() {
		hint = "start the server, or choose another model"
	}
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return "the proxy cannot be reached: " + op.Err.Error(), "check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
	case errors.As(err, &dns):
		return "no address is known for " + dns.Name, hint
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection is refused", hint
	case errors.As(err, &op) && op.Timeout():
		return "it does not answer", hint
	}
	if e.base.Scheme == "https" && strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return "it does not speak https", "set a base URL that begins with http://"
	}
	return err.Error(), hint
}

// tlsReason explains a refused certificate; it is empty for other errors.
func (e *endpoint) tlsReason(err error) (reason, hint string) {
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	issuer := "an issuer that it does not name"
	if errors.As(err, &verify) && len(verify.UnverifiedCertificates) > 0 {
		if name := verify.UnverifiedCertificates[0].Issuer.String(); name != "" {
			issuer = name
		}
	}
	switch {
	case errors.As(err, &authority):
		return "its certificate was issued by " + issuer + ", which is not trusted here",
			"if that is your company's or your own authority, set SSL_CERT_FILE to a file with its root certificate"
	case errors.As(err, &host):
		return "its certificate (issued by " + issuer + ") is for another name: " + host.Error(), "check the base URL"
	case errors.As(err, &invalid):
		return "its certificate (issued by " + issuer + ") is not valid: " + invalid.Error(), "check the clock, and ask who runs the server"
	case verify != nil:
		return "its certificate (issued by " + issuer + ") is not trusted: " + verify.Err.Error(),
			"set SSL_CERT_FILE to a file with the root certificate"
	}
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return "it does not speak https", "set a base URL that begins with http://"
	}
	return "", ""
}
