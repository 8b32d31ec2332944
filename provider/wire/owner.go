package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

const maxSealed = 1 << 20 // bytes; the record keeps no more

// Owner says to whom goes back what an adapter keeps with a tool call ([provider.ToolCall.Opaque]): thoughts that led to
// the call, signatures, the model's own ids. [Reply.Seal] writes the owner down, and [Unseal] returns nothing of
// another one.
type Owner struct {
	Host  string // see [Endpoint.Owner]
	Model string // "": any model there
}

// sealed is the Opaque of a tool call.
type sealed struct {
	Host  string          `json:"host"`
	Model string          `json:"model,omitempty"`
	Kept  json.RawMessage `json:"kept"`
}

// Owner returns the server as the owner of what is kept for a model; model "" means any of its models. The domains are
// those of the vendor: all their hosts are one owner, named by the first domain. Any other host, such as a gateway or a
// server with the same protocol, is an owner of its own, together with its port. It owns nothing if BaseURL has no host.
func (e *Endpoint) Owner(model string, domains ...string) Owner {
	base, err := url.Parse(e.BaseURL)
	switch {
	case err != nil:
		return Owner{}
	case e.Within(domains...):
		return Owner{Host: domains[0], Model: model}
	}
	return Owner{Host: strings.ToLower(base.Host), Model: model}
}

// Within reports whether the host of BaseURL is one of the domains, or lies within one.
func (e *Endpoint) Within(domains ...string) bool {
	base, err := url.Parse(e.BaseURL)
	if err != nil {
		return false
	}
	host := "." + strings.ToLower(base.Hostname())
	for _, domain := range domains {
		if strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

// seal writes what is kept for the owner; nil if there is no owner, or if it cannot be written or recorded.
func (o Owner) seal(kept any) json.RawMessage {
	data, err := json.Marshal(kept)
	if err != nil || o.Host == "" {
		return nil
	}
	opaque, err := json.Marshal(sealed{Host: o.Host, Model: o.Model, Kept: data})
	if err != nil || len(opaque) >= maxSealed {
		return nil
	}
	return bytes.ToValidUTF8(opaque, []byte("\uFFFD"))
}

// Unseal returns what [Reply.Seal] has kept for an owner: for the same host, and for the same model or any. It is the zero
// value if the Opaque is none of this owner's, or not of this form.
func Unseal[T any](opaque json.RawMessage, owner Owner) T {
	var s sealed
	var kept, none T
	if len(opaque) == 0 || json.Unmarshal(opaque, &s) != nil || owner.Host == "" || s.Host != owner.Host ||
		s.Model != "" && s.Model != owner.Model || json.Unmarshal(s.Kept, &kept) != nil {
		return none
	}
	return kept
}
