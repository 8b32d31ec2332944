package provider

import (
	"strconv"
	"strings"
	"time"
)

// Kind classifies a failure. It decides whether the engine retries, falls back to another model or gives
// up.
type Kind string

// These are the kinds of failure. The engine retries the retryable ones; an adapter never does ([Provider]).
const (
	KindNetwork         Kind = "network"          // no connection, reset, a stream cut before its end
	KindRateLimit       Kind = "rate_limit"       // too many requests; a later attempt may succeed
	KindQuota           Kind = "quota"            // the account's money or allowance is used up
	KindAPI             Kind = "api_error"        // the vendor's own failure
	KindTimeout         Kind = "timeout"          // no reply in time
	KindContextOverflow Kind = "context_overflow" // more input than the model's window holds
	KindAuthentication  Kind = "authentication"   // the key is missing, wrong or not allowed
	KindContentFilter   Kind = "content_filter"   // the vendor's filter refused prompt or reply
	KindRefusal         Kind = "refusal"          // the model declined
	KindInvalidResponse Kind = "invalid_response" // a reply that is malformed or incomplete
	KindValidation      Kind = "validation"       // an invalid request or config
	KindCanceled        Kind = "canceled"         // the host program canceled the call
	KindCostLimit       Kind = "cost_limit"       // a hard limit of the budget
	KindToolLimit       Kind = "tool_limit"       // the model still asks for tools in its last reply
	KindState           Kind = "state"            // not possible in the debate's present state
	KindConflict        Kind = "conflict"         // another writer has appended to the debate, or holds its lease
	KindStore           Kind = "store"            // the store of debates failed
	KindUnknown         Kind = "unknown"          // an error without a kind of the library, or with an unknown one; it is not retried
)

// Kinds returns all kinds. The slice belongs to the caller.
func Kinds() []Kind {
	return []Kind{
		KindNetwork, KindRateLimit, KindQuota, KindAPI, KindTimeout, KindContextOverflow, KindAuthentication, KindContentFilter,
		KindRefusal, KindInvalidResponse, KindValidation, KindCanceled, KindCostLimit, KindToolLimit, KindState, KindConflict, KindStore,
		KindUnknown,
	}
}

// Error describes a provider's failure. It holds no request, no header and no key: an adapter copies what
// a person needs to know and redacts the rest. The zero Error can be printed.
type Error struct {
	Kind Kind `json:"kind,omitempty"`
	// Status is the status code of the HTTP response; 0: there was none. It is never a status code from
	// the body. A status of 400 and above tells the engine that the vendor answered with an error instead
	// of a reply, and the engine charges nothing. A failure in the middle of a reply has the status code of
	// that reply, which is 200.
	Status     int           `json:"status,omitempty"`
	Code       string        `json:"code,omitempty"`       // the vendor's own code or type
	Message    string        `json:"message,omitempty"`    // the vendor's words or the adapter's, without keys
	RequestID  string        `json:"requestId,omitempty"`  // the vendor's id of the request, for its support
	RetryAfter time.Duration `json:"retryAfter,omitempty"` // how long the vendor asked to wait; 0: it did not ask
	// Window is, of a context_overflow, the size of the window that the vendor names, in tokens; 0: it names none.
	Window int `json:"window,omitempty"`
	// Capped means that the reply ended at the cap on its output tokens before there was anything to use, neither text nor a
	// whole tool call. The engine asks again with a larger cap.
	Capped  bool  `json:"capped,omitempty"`
	NotSent bool  `json:"notSent,omitempty"` // the request was never sent, so it cost nothing
	Err     error `json:"-"`                 // the cause, if it holds no secret
}

// Error returns one line: kind, status, code and message.
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

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}
