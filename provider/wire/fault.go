package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// fault is a failure that a server reports, read from any of the shapes below.
type fault struct {
	message   string
	kind      string // "type", or Google's "status"
	code      string
	status    int // an HTTP status given as the code
	moderated bool
	raw       string // the message of the vendor behind a router
	reason    string // Google's: which limit was hit, or what is wrong with the key
	wait      time.Duration
}

// wireFault has the fields of all shapes in use: {"error":{…}} of OpenAI, {"error":"…"} of Ollama, the
// flat ones of Mistral and vLLM, {"detail":…} of FastAPI.
type wireFault struct {
	Error    json.RawMessage `json:"error"`
	Message  json.RawMessage `json:"message"`
	Detail   json.RawMessage `json:"detail"`
	Type     json.RawMessage `json:"type"`
	Status   json.RawMessage `json:"status"`
	Code     json.RawMessage `json:"code"`
	Metadata json.RawMessage `json:"metadata"`
	Details  json.RawMessage `json:"details"` // Google's
}

// parseFault reads a failure from a JSON value. ok is false if it holds none.
func parseFault(data []byte) (f fault, ok bool) {
	for range 3 { // an error within an error, within Google's array
		data = bytes.TrimSpace(data)
		var list []json.RawMessage
		if len(data) > 0 && data[0] == '[' && !Longer(data, maxList) && json.Unmarshal(data, &list) == nil && len(list) > 0 {
			data = list[0]
			continue
		}
		if s := Plain(data); len(data) > 0 && data[0] == '"' {
			return fault{message: s}, s != ""
		}
		var w wireFault
		if json.Unmarshal(data, &w) != nil {
			return fault{}, false
		}
		if Present(w.Error) {
			data = w.Error
			continue
		}
		return w.fault()
	}
	return fault{}, false
}

func (w *wireFault) fault() (fault, bool) {
	f := fault{message: Plain(w.Message), kind: Plain(w.Type), code: Plain(w.Code)}
	if f.message == "" {
		f.message = Plain(w.Detail)
	}
	if f.kind == "" {
		f.kind = Plain(w.Status)
	}
	if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n < 600 {
		f.status = n
	}
	var meta struct {
		Raw     json.RawMessage `json:"raw"`
		Reasons json.RawMessage `json:"reasons"`
		Flagged json.RawMessage `json:"flagged_input"`
	}
	if json.Unmarshal(w.Metadata, &meta) == nil {
		f.raw = Plain(meta.Raw)
		f.moderated = Present(meta.Reasons) || Present(meta.Flagged)
	}
	f.detail(w.Details)
	return f, f.message != "" || f.kind != "" || f.code != ""
}

// detail reads what Google reports with an error: how long to wait, which quota is used up, what is wrong
// with the key.
func (f *fault) detail(data json.RawMessage) {
	var details List[struct {
		RetryDelay json.RawMessage `json:"retryDelay"`
		Reason     json.RawMessage `json:"reason"`
		Violations List[struct {
			QuotaID json.RawMessage `json:"quotaId"`
		}] `json:"violations"`
	}]
	if json.Unmarshal(data, &details) != nil {
		return
	}
	for _, d := range details {
		if wait, ok := units(strings.TrimSuffix(Plain(d.RetryDelay), "s"), time.Second); ok {
			f.wait = max(f.wait, wait)
		}
		f.reason += " " + Plain(d.Reason)
		for _, v := range d.Violations {
			f.reason += " " + Plain(v.QuotaID)
		}
	}
	f.reason = strings.ToLower(strings.TrimSpace(f.reason))
}

// Present reports whether a field holds anything: some servers send an error of null with each chunk.
func Present(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}

// Plain returns the text of a JSON string, and any other value unchanged.
func Plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if !Present(raw) {
		return ""
	}
	return string(raw)
}

// refused returns the failure for an answer whose status is not 2xx.
func (x *Exchange) refused() *provider.Error {
	status := x.response.StatusCode
	if status/100 == 3 {
		return &provider.Error{
			Kind: provider.KindValidation, Status: status, Code: "redirect", RequestID: x.requestID(),
			Message: "the server redirects elsewhere, where neither prompt nor key are sent; correct BaseURL",
		}
	}
	body, err := io.ReadAll(io.LimitReader(x, maxFault))
	if err != nil && x.caller.Err() != nil {
		return x.fail(err)
	}
	f, ok := parseFault(body)
	if !ok && !bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) { // a proxy's page holds no error
		f.message = string(body)
	}
	return x.fault(f, status)
}

// Fault returns the failure for a vendor's JSON: an error in mid-stream, or one under a status of 200.
// JSON that is no known error has kind api_error.
func (x *Exchange) Fault(data []byte) error {
	f, _ := parseFault(data)
	return x.fault(f, 0)
}

// IsFault reports whether a JSON value is an error in one of the vendors' shapes.
func IsFault(data []byte) bool {
	_, ok := parseFault(data)
	return ok
}

// Broken returns the failure for a vendor's code that comes without an error object, such as a reason for
// the reply's end.
func (x *Exchange) Broken(code, message string) error {
	return x.fault(fault{code: code, message: message}, 0)
}

// Invalid returns the failure of an answer that cannot be used, of kind invalid_response.
func (x *Exchange) Invalid(code, message string) error {
	return &provider.Error{
		Kind: provider.KindInvalidResponse, Status: x.status(), Code: code,
		Message: x.secrets.clean(message), RequestID: x.requestID(),
	}
}

func (x *Exchange) status() int {
	if x.response == nil {
		return 0
	}
	return x.response.StatusCode
}

// fault classifies a failure that the server reported. status is 0 if it was reported in a reply that
// began well.
func (x *Exchange) fault(f fault, status int) *provider.Error {
	e := &provider.Error{RequestID: x.requestID(), RetryAfter: cmp.Or(x.retryAfter(), f.wait)}
	if status == 0 {
		status = f.status
	}
	e.Kind = f.classify(x.endpoint.Kinds, status, x.Header("Retry-After") != "" || e.RetryAfter > 0)
	e.Status = x.status() // an error in mid-stream has cost what came before it
	code := f.code
	if code == "" || (f.status != 0 && f.kind != "") {
		code = f.kind
	}
	e.Code = x.secrets.clean(code)
	message := f.message
	if f.raw != "" && f.raw != message {
		message += ": " + f.raw
	}
	e.Message = x.secrets.clean(message)
	switch {
	case e.Message != "":
	case status == 0:
		e.Message = "the server broke the reply off without saying why"
	default:
		e.Message = http.StatusText(status)
	}
	return e
}

// These codes and types mean one thing wherever they appear. They take precedence over the status: a
// vendor's 429 may stand for an empty account, and its 400 for a full window.
//
//nolint:gochecknoglobals // read only
var exactKinds = map[string]provider.Kind{
	"insufficient_quota":                provider.KindQuota,
	"credit_balance_exhausted":          provider.KindQuota,
	"organization_spend_limit_exceeded": provider.KindQuota,
	"project_spend_limit_exceeded":      provider.KindQuota,
	"organization_usage_limit_exceeded": provider.KindQuota,
	"billing_hard_limit_reached":        provider.KindQuota,
	"billing_not_active":                provider.KindQuota,
	"billing_error":                     provider.KindQuota,
	"quota_exceeded":                    provider.KindQuota,
	"context_length_exceeded":           provider.KindContextOverflow,
	"model_context_window_exceeded":     provider.KindContextOverflow,
	"exceed_context_size_error":         provider.KindContextOverflow,
	"request_too_large":                 provider.KindContextOverflow,
	"content_filter":                    provider.KindContentFilter,
	"content_policy_violation":          provider.KindContentFilter,
	"invalid_prompt":                    provider.KindContentFilter, // OpenAI: against its usage policy
	"slow_down":                         provider.KindRateLimit,
	"timeout_error":                     provider.KindTimeout,
	"deadline_exceeded":                 provider.KindTimeout,
	"overloaded_error":                  provider.KindAPI,
}

// These codes and types are less precise than a status. Without one, in a stream, they decide.
//
//nolint:gochecknoglobals // read only
var broadKinds = map[string]provider.Kind{
	"rate_limit_exceeded":   provider.KindRateLimit,
	"rate_limit_error":      provider.KindRateLimit,
	"resource_exhausted":    provider.KindRateLimit,
	"too_many_requests":     provider.KindRateLimit,
	"timeout":               provider.KindTimeout,
	"invalid_api_key":       provider.KindAuthentication,
	"authentication_error":  provider.KindAuthentication,
	"permission_error":      provider.KindAuthentication,
	"permission_denied":     provider.KindAuthentication,
	"unauthenticated":       provider.KindAuthentication,
	"invalid_request_error": provider.KindValidation,
	"invalid_argument":      provider.KindValidation,
	"badrequesterror":       provider.KindValidation,
	"not_found_error":       provider.KindValidation,
	"model_not_found":       provider.KindValidation,
}

// These words report a full window, from servers without a code for it: vLLM and OpenRouter, llama.cpp
// and Ollama, and others.
//
//nolint:gochecknoglobals // read only
var overflowWords = []string{
	"maximum context length", "exceeds the available context", "context_length_exceeded", "context length exceeded",
	"prompt is too long", "exceed context limit", // Anthropic
	"exceeds the maximum number of tokens", "payload size exceeds the limit", // Google
	"longer than the context length", "exceeds the context length", "exceeds maximum context length", // Ollama
	"context size has been exceeded", "context shift is disabled",
}

// With these words vendors report that the money is used up.
//
//nolint:gochecknoglobals // read only
var quotaWords = []string{"reached your specified api usage limits", "credit balance is too low", "insufficient balance"}

func (f *fault) classify(own map[string]provider.Kind, status int, retryAfter bool) provider.Kind {
	code, kind := strings.ToLower(f.code), strings.ToLower(f.kind)
	if k, ok := own[code]; ok {
		return k
	}
	if k, ok := own[kind]; ok {
		return k
	}
	if k, ok := exactKinds[code]; ok {
		return k
	}
	if k, ok := exactKinds[kind]; ok {
		return k
	}
	words := strings.ToLower(f.message + "\n" + f.raw)
	if strings.Contains(words, "request too large for ") { // than a minute's tokens: OpenAI and Groq
		return provider.KindContextOverflow
	}
	switch status {
	case 401, 403, 429:
	default:
		for _, w := range overflowWords {
			if strings.Contains(words, w) {
				return provider.KindContextOverflow
			}
		}
		for _, w := range quotaWords {
			if strings.Contains(words, w) {
				return provider.KindQuota
			}
		}
	}
	switch {
	case strings.Contains(f.reason, "api_key"):
		return provider.KindAuthentication // Google says it under a status of 400
	case strings.Contains(f.reason, "perday"):
		return provider.KindQuota // a day's allowance: a debate cannot wait that long
	}
	if status != 0 {
		return statusKind(status, retryAfter, f.moderated)
	}
	if f.moderated {
		return provider.KindContentFilter
	}
	if k, ok := broadKinds[code]; ok {
		return k
	}
	if k, ok := broadKinds[kind]; ok {
		return k
	}
	return provider.KindAPI
}

func statusKind(status int, retryAfter, moderated bool) provider.Kind {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return provider.KindTimeout
	case status == http.StatusTooManyRequests:
		return provider.KindRateLimit
	case status == http.StatusPaymentRequired && retryAfter:
		return provider.KindRateLimit
	case status == http.StatusPaymentRequired:
		return provider.KindQuota
	case status == http.StatusForbidden && moderated:
		return provider.KindContentFilter
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return provider.KindAuthentication
	case status == http.StatusRequestEntityTooLarge:
		return provider.KindContextOverflow
	case status == http.StatusConflict, status >= 500:
		return provider.KindAPI
	default:
		return provider.KindValidation
	}
}

// retryAfter reads how long the server asks to wait: Retry-After-Ms, then Retry-After, in seconds or as a
// date. A date is taken relative to the server's own clock if the server reports that.
func (x *Exchange) retryAfter() time.Duration {
	if d, ok := units(x.Header("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := x.Header("Retry-After")
	if d, ok := units(value, time.Second); ok {
		return d
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(x.Header("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, date.Sub(now))
}

// units reads a number of units. It caps the result at a year, which keeps the product in range.
func units(s string, unit time.Duration) (time.Duration, bool) {
	const year = 365 * 24 * time.Hour
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || n != n || n < 0 {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(year))), true
}
