package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
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
	param     string // the parameter of the request that it is about
	status    int    // an HTTP status given as the code
	moderated bool
	raw       string // the message of the vendor behind a router
	reason    string // Google's: which limit was hit, or what is wrong with the key
	context   string // llama.cpp's: the size of the window
	blocked   string // why it is no matter of the key, if the server says so outside of the error
	wait      time.Duration
	reset     int64 // OpenRouter's: when the limit ends, in milliseconds since 1970; 0: not said
}

// wireFault has the fields of all shapes in use: {"error":{…}} of OpenAI, {"error":"…"} of Ollama,
// {"code":…,"error":"…"} of xAI, the flat ones of Mistral and vLLM, {"detail":…} of FastAPI.
type wireFault struct {
	Error    json.RawMessage `json:"error"`
	Message  json.RawMessage `json:"message"`
	Detail   json.RawMessage `json:"detail"`
	Type     json.RawMessage `json:"type"`
	Status   json.RawMessage `json:"status"`
	Code     json.RawMessage `json:"code"`
	Param    json.RawMessage `json:"param"`
	Metadata json.RawMessage `json:"metadata"`
	Details  json.RawMessage `json:"details"` // Google's
	NCtx     json.RawMessage `json:"n_ctx"`   // llama.cpp's
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
		if !Present(w.Error) {
			return w.fault()
		}
		if text := bytes.TrimSpace(w.Error); text[0] == '"' && Present(w.Code) { // xAI: the code stands beside the text
			w.Message, w.Error = text, nil
			return w.fault()
		}
		data = w.Error
	}
	return fault{}, false
}

func (w *wireFault) fault() (fault, bool) {
	f := fault{
		message: Plain(w.Message), kind: Plain(w.Type), code: Plain(w.Code), param: Plain(w.Param), context: Plain(w.NCtx),
	}
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
		Headers struct {
			Reset json.RawMessage `json:"X-RateLimit-Reset"`
		} `json:"headers"`
	}
	if json.Unmarshal(w.Metadata, &meta) == nil {
		f.raw = Plain(meta.Raw)
		f.moderated = Present(meta.Reasons) || Present(meta.Flagged)
	}
	f.detail(w.Details)
	f.reset, _ = strconv.ParseInt(Plain(meta.Headers.Reset), 10, 64)
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

// Plain returns the text of a JSON string, as a [Text] has it, and any other value unchanged.
func Plain(raw json.RawMessage) string {
	if s, err := unquote(raw); err == nil {
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
	page := bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	if !ok && !page { // a proxy's page holds no error
		f.message = string(body)
	}
	if !ok && status == http.StatusForbidden {
		f.blocked = x.firewall(page, f.message)
	}
	if f.code == "" && f.kind == "" { // AWS names the type before a colon
		f.kind, _, _ = strings.Cut(x.Header("X-Amzn-Errortype"), ":")
	}
	x.terms.note(&f, status)
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
		Kind: provider.KindInvalidResponse, Status: x.status(), Code: x.secrets.clean(code),
		Message: x.secrets.clean(message), RequestID: x.requestID(),
	}
}

// capped returns a failure of kind invalid_response for a reply of no use that ended at the cap on its tokens.
func (x *Exchange) capped(calls bool) error {
	words := "thinking used up all output tokens; allow more"
	if calls {
		words = "the limit of output tokens has cut a tool call; allow more"
	}
	return &provider.Error{
		Kind: provider.KindInvalidResponse, Status: x.status(), Code: "blank", Message: words, RequestID: x.requestID(), Capped: true,
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
	if status == statusClosed && x.caller.Err() != nil {
		return x.fail(x.caller.Err()) // it was cut short because the caller has left
	}
	if status == http.StatusForbidden && f.blocked == "" {
		f.blocked = f.region()
	}
	e.Kind = f.classify(x.endpoint.Kinds, status, x.Header("Retry-After") != "" || e.RetryAfter > 0)
	if e.Kind == provider.KindContextOverflow {
		e.Window = f.window()
	}
	if e.Kind == provider.KindRateLimit && e.RetryAfter == 0 && f.reset > 0 {
		e.RetryAfter = max(0, time.UnixMilli(f.reset).Sub(x.now()))
	}
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
	if e.Kind == provider.KindValidation && f.blocked != "" {
		message = strings.TrimSpace(message + " (the key is not at fault: " + f.blocked + ")")
		e.Code = cmp.Or(e.Code, "blocked")
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
	"exceeded_current_quota_error":      provider.KindQuota, // Moonshot
	"blocked_api_access":                provider.KindQuota, // Groq: the month's spending limit, under 400
	"quota_exceeded":                    provider.KindQuota,
	"context_length_exceeded":           provider.KindContextOverflow,
	"model_context_window_exceeded":     provider.KindContextOverflow,
	"exceed_context_size_error":         provider.KindContextOverflow,
	"request_too_large":                 provider.KindContextOverflow,
	"too_many_prompt_tokens":            provider.KindContextOverflow, // Perplexity
	"content_filter":                    provider.KindContentFilter,
	"content_policy_violation":          provider.KindContentFilter,
	"bio_policy":                        provider.KindContentFilter, // OpenAI and Azure, in both APIs: this one and the next three
	"cyber_policy":                      provider.KindContentFilter,
	"misalignment_policy_violation":     provider.KindContentFilter,
	"image_content_policy_violation":    provider.KindContentFilter,
	"invalid_prompt":                    provider.KindContentFilter,   // OpenAI: against its usage policy
	"json_validate_failed":              provider.KindInvalidResponse, // Groq: the model's reply does not follow the schema
	"tool_use_failed":                   provider.KindInvalidResponse, // Groq: the model's call does not follow the tool's
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
	"capacity_exceeded":     provider.KindRateLimit, // Groq
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

// With these words vendors report that the money is used up.
//
//nolint:gochecknoglobals // read only
var quotaWords = []string{
	"reached your specified api usage limits", "credit balance is too low", // Anthropic
	"insufficient balance",                                                                                       // DeepSeek
	"used all available credits", "reached its monthly spending limit", "have any credits", "run out of credits", // xAI
	"free-models-per-day",                                // OpenRouter: a day's allowance, which a debate cannot wait for
	"key limit exceeded (", "key limit exceeded. manage", // OpenRouter: what the key may spend, under 403
	"prepayment credits are depleted", "monthly spending cap", "requires billing to be enabled", // Google
}

// spending begins the codes with which Groq reports that its account may spend no more.
const spending = "spend_"

// With these words vendors that have no code for it report that their filter has refused the prompt, or
// that the key is wrong.
//
//nolint:gochecknoglobals // read only
var (
	filterWords = []string{"violates usage guidelines", "content exists risk"}          // xAI, under 403; DeepSeek
	keyWords    = []string{"incorrect api key", "api key not valid", "invalid api key"} // xAI and Google, under 400
)

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
	if strings.HasPrefix(code, spending) {
		return provider.KindQuota
	}
	words := strings.ToLower(f.message + "\n" + f.raw)
	if strings.Contains(words, "request too large for ") || overdrawn(words) { // than a minute's tokens: OpenAI and Groq
		return provider.KindContextOverflow
	}
	says := func(list []string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(words, w) })
	}
	keyed := status == http.StatusUnauthorized
	switch {
	case !keyed && says(quotaWords):
		return provider.KindQuota
	case !keyed && status != http.StatusTooManyRequests && says(filterWords):
		return provider.KindContentFilter
	case !keyed && status != http.StatusForbidden && status != http.StatusTooManyRequests && says(overflowWords):
		return provider.KindContextOverflow
	case status == http.StatusBadRequest && says(keyWords), strings.Contains(f.reason, "api_key"):
		return provider.KindAuthentication // Google says it under a status of 400
	case strings.Contains(f.reason, "perday"), strings.Contains(f.reason, "billing_disabled"):
		return provider.KindQuota // Google's: a day's allowance, for which a debate cannot wait, and a project that nobody pays for
	}
	if status == http.StatusForbidden && !f.moderated && f.blocked != "" {
		return provider.KindValidation
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

// These statuses are in no standard. statusCapacity is Groq's, of requests for spare capacity. statusClosed says
// that the server's own call was cut short: Google's CANCELLED, and nginx.
const (
	statusCapacity = 498
	statusClosed   = 499
)

func statusKind(status int, retryAfter, moderated bool) provider.Kind {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return provider.KindTimeout
	case status == http.StatusTooManyRequests, status == statusCapacity:
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
	case status == http.StatusConflict, status == statusClosed, status >= 500:
		return provider.KindAPI
	default:
		return provider.KindValidation
	}
}
