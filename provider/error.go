package provider

import (
	"strconv"
	"strings"
	"time"
)

// Kind classifies a failure: it decides whether the engine retries, falls back or gives up.
type Kind string

// The kinds of failure. Retryable ones are tried again by the engine, never by an adapter.
const (
	KindNetwork         Kind = "network"          // no connection, reset, a stream cut before its end
	KindRateLimit       Kind = "rate_limit"       // too many requests; passes with time
	KindQuota           Kind = "quota"            // the account's money or allowance is used up
	KindAPI             Kind = "api_error"        // the vendor's own failure
	KindTimeout         Kind = "timeout"          // no reply in time
	KindContextOverflow Kind = "context_overflow" // more input than the model's window holds
	KindAuthentication  Kind = "authentication"   // the key is missing, wrong or not allowed
	KindContentFilter   Kind = "content_filter"   // the vendor's filter refused prompt or reply
	KindRefusal         Kind = "refusal"          // the model declined
	KindInvalidResponse Kind = "invalid_response" // a reply that cannot be used
	KindValidation      Kind = "validation"       // a request or a config that is wrong as it stands
	KindCanceled        Kind = "canceled"         // the host no longer wants it
	KindCostLimit       Kind = "cost_limit"       // a hard limit of the budget
	KindState           Kind = "state"            // not possible in the debate's present state
	KindConflict        Kind = "conflict"         // somebody else has written or holds the debate
	KindStore           Kind = "store"            // the store of debates has failed
)

// Error is a provider's failure. It holds no request, no header and no key: adapters copy what a
// person needs and redact the rest. The zero Error prints.
type Error struct {
	Kind Kind
	// Status is the status of the HTTP answer itself, 0 if there was none, and never a status that the
	// answer's body names. 400 and above tells the engine that the vendor answered with an error in place
	// of a reply, and that nothing was paid. A failure after a reply has begun has the status under which
	// it began, which is 200.
	Status     int
	Code       string        // the vendor's own code or type
	Message    string        // the vendor's words or the adapter's, without keys
	RequestID  string        // the vendor's id of the request, for its support
	RetryAfter time.Duration // what the vendor asked to wait; 0: it did not say
	NotSent    bool          // the request did not leave: nothing was paid
	Err        error         // the cause, if it is safe to show
}

// Error yields one line: kind, status, code and message.
func (e *Error) Error() string {
	if e == nil {
		return "provider: no error"
	}
	var b strings.Builder
	b.WriteString("provider: ")
	if e.Kind == "" {
		b.WriteString("unclassified")
	} else {
		b.WriteString(string(e.Kind))
	}
	if e.Status != 0 {
		b.WriteString(", status ")
		b.WriteString(strconv.Itoa(e.Status))
	}
	if e.Code != "" {
		b.WriteString(", ")
		b.WriteString(e.Code)
	}
	switch {
	case e.Message != "":
		b.WriteString(": ")
		b.WriteString(e.Message)
	case e.Err != nil:
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap yields the cause.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
