package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Fault is what an adapter or a host program reads from a vendor's own shape of an error, for [Endpoint.Explain]. The zero Fault means that
// the answer is none. A field that is zero is left to this package. Secrets are removed from the texts afterwards.
type Fault struct {
	Kind    provider.Kind // what to do about it; "": classified by status, code and message
	Code    string        // the vendor's name of the failure; [Endpoint.Kinds] may have it
	Message string        // the vendor's words
	// Param is the field of the request, or the part of it, that the server refuses: the Name or the Where of an [Option]. [Refusals] then
	// leaves the option out, whatever the words say. Leave it empty for a field whose value is wrong.
	Param string
	// RetryAfter is how long the vendor asks to wait, a year at most. It makes a rate limit of a status 402, unless the words say that the
	// account is empty.
	RetryAfter time.Duration
	Window     int // of a context_overflow: the size of the window, in tokens
}

// fault is a failure that a server reports, read from any of the shapes below.
type fault struct {
	message   string
	kind      string // "type", or Google's "status"
	code      string
	param     string   // the parameter of the request that it is about
	inner     []string // codes and types of errors within it: of the vendor behind a router, and more precise ones
	status    int      // an HTTP status given in the body
	moderated bool
	raw       string // the message of the vendor behind a router
	reason    string // Google's: which limit was hit, or what is wrong with the key
	context   string // llama.cpp's: the size of the window
	blocked   string // why it is no matter of the key, if the server says so outside of the error
	lost      string // what is wrong with the path, if the server does not have it
	wait      time.Duration
	reset     int64 // OpenRouter's: when the limit ends, in milliseconds since 1970; 0: not said
	own       Fault // what Endpoint.Explain has read
}

// wireFault has the usual names of fields in all shapes in use. Some servers put the error into a field of its own: {"error":{…}} of
// OpenAI, {"error":"…"} of Ollama, {"errors":[…]} of Cloudflare. Others do not: Mistral, vLLM, {"detail":…} of FastAPI. Case is
// ignored.
type wireFault struct {
	Error  json.RawMessage `json:"error"`
	Errors json.RawMessage `json:"errors"`
	Fault  json.RawMessage `json:"fault"`            // Apigee
	Base   json.RawMessage `json:"base_resp"`        // MiniMax
	Volc   json.RawMessage `json:"ResponseMetadata"` // Volcengine
	Inner  json.RawMessage `json:"innererror"`       // Azure

	Message          json.RawMessage `json:"message"`
	Msg              json.RawMessage `json:"msg"`
	ErrorMessage     json.RawMessage `json:"error_message"`
	CamelMessage     json.RawMessage `json:"errorMessage"`
	ErrorMsg         json.RawMessage `json:"error_msg"`
	CamelMsg         json.RawMessage `json:"errorMsg"`
	ErrMsg           json.RawMessage `json:"errmsg"`
	StatusMsg        json.RawMessage `json:"status_msg"`
	FaultString      json.RawMessage `json:"faultstring"`
	ErrorDescription json.RawMessage `json:"error_description"`
	Detail           json.RawMessage `json:"detail"`
	Title            json.RawMessage `json:"title"`

	Code       json.RawMessage `json:"code"`
	ErrorCode  json.RawMessage `json:"error_code"`
	CamelCode  json.RawMessage `json:"errorCode"`
	ErrCode    json.RawMessage `json:"errcode"`
	StatusCode json.RawMessage `json:"status_code"`

	Type      json.RawMessage `json:"type"`
	ErrorType json.RawMessage `json:"error_type"`
	AWSType   json.RawMessage `json:"__type"`
	ErrorName json.RawMessage `json:"error_name"` // Cloudflare
	Status    json.RawMessage `json:"status"`

	HTTPStatus json.RawMessage `json:"statusCode"`
	HTTPCode   json.RawMessage `json:"http_code"`
	Param      json.RawMessage `json:"param"`
	Metadata   json.RawMessage `json:"metadata"`
	Details    json.RawMessage `json:"details"` // Google's, a list; Anthropic's, an object
	NCtx       json.RawMessage `json:"n_ctx"`   // llama.cpp's
	Wait       json.RawMessage `json:"retryAfterSeconds"`
}

// CodeEndpoint is the code of a failure that is about the path of the request: BaseURL is wrong. The vendor's own code for that is
// dropped.
const CodeEndpoint = "endpoint"

// maxNested is how many errors within errors are opened.
const maxNested = 4

// parseFault reads a failure from a JSON value. ok is false if it holds none.
func parseFault(data []byte) (f fault, ok bool) {
	f, ok = shaped(data)
	for range maxNested {
		if !f.unpack() {
			break
		}
	}
	return f, ok
}

// shaped reads a failure from a JSON value whose message may hold another one.
func shaped(data []byte) (f fault, ok bool) {
	var outer fault
	for n := range maxNested {
		data = bytes.TrimSpace(data)
		var list []json.RawMessage
		if len(data) > 0 && data[0] == '[' && !Longer(data, maxList) && json.Unmarshal(data, &list) == nil && len(list) > 0 {
			data = list[0]
			continue
		}
		if s := Plain(data); len(data) > 0 && data[0] == '"' {
			outer.message = s
			return outer, s != ""
		}
		var w wireFault
		if json.Unmarshal(data, &w) != nil {
			return fault{}, false
		}
		inside := w.inside()
		if inside == nil {
			f, ok = w.fault()
			if n == 0 && f.message == "" && f.code == "" && !Present(w.AWSType) { // {"type":"ping"} is an event
				ok = false
			}
			f.within(outer)
			return f, ok
		}
		outer, _ = w.fault()
		if inside[0] == '"' {
			return w.titled(Plain(inside))
		}
		data = inside
	}
	return fault{}, false
}

// inside returns the field that holds the error itself; nil: this is it.
func (w *wireFault) inside() json.RawMessage {
	var volc struct {
		Error json.RawMessage `json:"Error"`
	}
	_ = json.Unmarshal(w.Volc, &volc)
	fields := []json.RawMessage{w.Error, w.Fault, w.Base, volc.Error}
	if w.text() == "" { // Google lists the parts of an error within it
		fields = append(fields, w.Errors)
	}
	for _, field := range fields {
		if Present(field) && strings.IndexByte(`"{[`, bytes.TrimSpace(field)[0]) >= 0 {
			return bytes.TrimSpace(field)
		}
	}
	if detail := bytes.TrimSpace(w.Detail); len(detail) > 0 && detail[0] == '{' && w.text() == Plain(detail) {
		return detail
	}
	return nil
}

// titled returns the failure whose error is a text: its message, or its title beside a message.
func (w *wireFault) titled(text string) (fault, bool) {
	f, _ := w.fault()
	switch {
	case f.message == "":
		f.message = text
	case f.kind == "" && f.code == "" && !strings.Contains(text, " "):
		f.kind = text
	}
	return f, f.message != ""
}

// within completes a failure by what stands around it.
func (f *fault) within(outer fault) {
	if f.code == "" && f.kind == "" {
		f.code, f.kind = outer.code, outer.kind
	}
	f.status, f.param, f.raw = cmp.Or(f.status, outer.status), cmp.Or(f.param, outer.param), cmp.Or(f.raw, outer.raw)
	f.reason, f.context = cmp.Or(f.reason, outer.reason), cmp.Or(f.context, outer.context)
	f.wait, f.reset, f.moderated = max(f.wait, outer.wait), cmp.Or(f.reset, outer.reset), f.moderated || outer.moderated
	f.inner = append(f.inner, outer.inner...)
}

// unpack replaces a failure whose message is the JSON of another one, as a server passes it on. It reports whether it is one. The
// status of the outer one counts, and its names do so too.
func (f *fault) unpack() bool {
	if !strings.HasPrefix(strings.TrimSpace(f.message), "{") {
		return false
	}
	inner, ok := shaped([]byte(f.message))
	if !ok || inner.message == "" {
		return false
	}
	inner.status = cmp.Or(f.status, inner.status)
	inner.inner = append(inner.inner, f.code, f.kind)
	inner.within(*f)
	*f = inner
	return true
}

// text returns the message.
func (w *wireFault) text() string {
	for _, field := range []json.RawMessage{
		w.Message, w.Msg, w.ErrorMessage, w.CamelMessage, w.ErrorMsg, w.CamelMsg, w.ErrMsg, w.StatusMsg, w.FaultString, w.ErrorDescription,
		w.Detail, w.Title,
	} {
		if s := Plain(field); s != "" && (s[0] != '{' || speaks(field)) {
			return s
		}
	}
	return ""
}

// speaks reports whether a field that should be a text has one, or has an error in it. A reply has a message too.
func speaks(field json.RawMessage) bool {
	var w wireFault
	return json.Unmarshal(field, &w) != nil || Present(w.Error) || Present(w.Message) || Present(w.Msg) || Present(w.Detail)
}

// label returns the first field that names something. What stands for nothing in some servers' languages, or for a success, is no name.
func label(fields ...json.RawMessage) string {
	for _, field := range fields {
		s := Plain(field)
		switch strings.ToLower(s) {
		case "", "0", "200", "none", "null", "nil", "undefined", "error":
			continue
		}
		if !succeeds(s) {
			return s
		}
	}
	return ""
}

// succeeds reports whether a text says that nothing failed: some servers send one with each answer.
func succeeds(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "ok", "success", "succeeded", "successful":
		return true
	}
	return false
}

// httpStatus returns the first field that is the status of a failure; 0: there is none.
func httpStatus(fields ...json.RawMessage) int {
	for _, field := range fields {
		if n, err := strconv.Atoi(Plain(field)); err == nil && n >= 400 && n < 600 {
			return n
		}
	}
	return 0
}

func (w *wireFault) fault() (fault, bool) {
	f := fault{
		message: w.text(), kind: label(w.Type, w.ErrorType, w.AWSType, w.ErrorName), param: label(w.Param), context: Plain(w.NCtx),
		code:   label(w.Code, w.ErrorCode, w.CamelCode, w.ErrCode, w.StatusCode),
		status: httpStatus(w.Code, w.Status, w.StatusCode, w.HTTPStatus, w.HTTPCode),
	}
	if status := label(w.Status); f.kind == "" && status != "" && (status[0] < '0' || status[0] > '9') {
		f.kind = status
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
	f.wait, _ = units(Plain(w.Wait), time.Second)
	f.detail(w.Details)
	f.reset, _ = strconv.ParseInt(Plain(meta.Headers.Reset), 10, 64)
	for _, packed := range []string{f.raw, string(w.Inner), string(w.Details)} {
		f.called(packed)
	}
	return f, f.message != "" && !succeeds(f.message) || f.kind != "" || f.code != ""
}

// called notes the names of an error that stands in a field for the details of another one, or of the vendor behind a router.
func (f *fault) called(packed string) {
	if packed = strings.TrimSpace(packed); !strings.HasPrefix(packed, "{") {
		return
	}
	var w wireFault
	if json.Unmarshal([]byte(packed), &w) == nil && Present(w.Error) {
		packed, w = string(w.Error), wireFault{}
		_ = json.Unmarshal([]byte(packed), &w)
	}
	for _, name := range []string{label(w.Code, w.ErrorCode, w.CamelCode), label(w.Type, w.ErrorType)} {
		if name != "" {
			f.inner = append(f.inner, name)
		}
	}
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
	var reason strings.Builder
	add := func(part string) {
		if reason.Len() < maxFault {
			reason.WriteString(" " + head(part))
		}
	}
	for _, d := range details {
		if wait, ok := units(strings.TrimSuffix(Plain(d.RetryDelay), "s"), time.Second); ok {
			f.wait = max(f.wait, wait)
		}
		add(Plain(d.Reason))
		for _, v := range d.Violations {
			add(Plain(v.QuotaID))
		}
	}
	f.reason = strings.ToLower(strings.TrimSpace(reason.String()))
}

// head returns the beginning of a text, as far as it is read: a stream may have longer ones than the body of a refusal.
func head[T string | []byte](text T) T { return text[:min(len(text), maxFault)] }

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

// refused returns the failure for an answer whose status is not 2xx. The status counts, however much of the body comes.
func (x *Exchange) refused() *provider.Error {
	status := x.response.StatusCode
	if status/100 == 3 {
		return &provider.Error{
			Kind: provider.KindValidation, Status: status, Code: "redirect", RequestID: x.requestID(),
			Message: "the server redirects elsewhere, where neither prompt nor key are sent; correct BaseURL",
		}
	}
	body, err := x.reason()
	if err != nil && errors.Is(x.caller.Err(), context.Canceled) { // a call whose time is over has its answer: the status
		return x.fail(err)
	}
	f, ok := x.read(body, status)
	if !ok && status == http.StatusForbidden {
		f.blocked = x.firewall(isPage(body), f.message)
	}
	if noSuchPath(status) {
		f.lost = x.astray(&f, !ok)
	}
	if f.code == "" && f.kind == "" { // AWS names the type before a colon
		f.kind, _, _ = strings.Cut(x.Header("X-Amzn-Errortype"), ":")
	}
	x.terms.note(&f, status)
	return x.fault(f, status)
}

// reason reads the body of a failure: to the end of its JSON, and no longer than a moment. A server may leave the connection
// open behind a refusal, and send nothing or blanks. What has come until then is the body.
func (x *Exchange) reason() ([]byte, error) {
	x.ended, x.rest = true, parting
	var came bytes.Buffer
	body := bufio.NewReader(io.TeeReader(io.LimitReader(x, maxFault), &came))
	first, err := FirstByte(body)
	if err == nil && (first == '{' || first == '[') {
		var whole json.RawMessage
		if json.NewDecoder(body).Decode(&whole) == nil {
			return whole, nil
		}
	}
	_, err = io.Copy(io.Discard, body)
	return came.Bytes(), err
}

// read reads a failure, with the help of the adapter or the host program. ok is false if neither knows its shape: what is no page is
// then the message itself.
func (x *Exchange) read(data []byte, status int) (f fault, ok bool) {
	f, ok = parseFault(data)
	if !ok && f.message == "" && Present(data) && !isPage(data) {
		f.message = string(head(data))
	}
	f.own = x.explained(data, status)
	f.code, f.message, f.param = cmp.Or(f.own.Code, f.code), cmp.Or(f.own.Message, f.message), cmp.Or(f.own.Param, f.param)
	f.message, f.raw = head(f.message), head(f.raw)
	return f, ok || f.own.Code != "" || f.own.Message != ""
}

// explained asks Endpoint.Explain.
func (x *Exchange) explained(data []byte, status int) Fault {
	if x.endpoint.Explain == nil {
		return Fault{}
	}
	header := http.Header{}
	if x.response != nil {
		header = x.response.Header.Clone()
	}
	return x.endpoint.Explain(status, header, bytes.Clone(head(data)))
}

// Fault returns the failure for a vendor's error: one in mid-stream, or one under a status of 200. data is JSON, or a text, which is
// then its message. What is no known error has kind api_error.
func (x *Exchange) Fault(data []byte) error {
	f, _ := x.read(data, x.status())
	if nameless := f.code == "" && f.kind == "" && f.status == 0; nameless || noSuchPath(f.status) {
		f.lost = x.astray(&f, false)
	}
	return x.fault(f, 0)
}

// IsFault reports whether a JSON value is an error: in one of the shapes that vendors use, or in one that [Endpoint.Explain] reads. An
// adapter asks for what has none of the fields of its protocol, under status 200 and in a stream. A type or a status alone is no error.
func (x *Exchange) IsFault(data []byte) bool {
	_, ok := parseFault(data)
	return ok || x.explained(data, x.status()) != (Fault{})
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
	e := &provider.Error{RequestID: x.requestID(), RetryAfter: cmp.Or(min(max(0, f.own.RetryAfter), year), x.retryAfter(), f.wait)}
	if status == 0 {
		status = f.status
	}
	if status == statusClosed && x.caller.Err() != nil {
		return x.fail(x.caller.Err()) // it was cut short because the caller has left
	}
	if status == http.StatusForbidden && f.blocked == "" {
		f.blocked = f.refusal()
	}
	if e.Kind = f.own.Kind; e.Kind == "" {
		e.Kind = f.classify(x.endpoint.Kinds, status, x.Header("Retry-After") != "" || e.RetryAfter > 0)
	}
	if e.Kind == provider.KindContextOverflow {
		e.Window = cmp.Or(max(0, f.own.Window), f.window())
	}
	if e.Kind == provider.KindRateLimit && e.RetryAfter == 0 {
		if f.reset > 0 {
			e.RetryAfter = max(0, time.UnixMilli(f.reset).Sub(x.now()))
		} else {
			_, words := f.said()
			e.RetryAfter = saidWait(words)
		}
	}
	e.Status = x.status() // an error in mid-stream has cost what came before it
	code := f.code
	if n, _ := strconv.Atoi(code); code == "" || n >= 400 && n < 600 && f.kind != "" {
		code = f.kind
	}
	e.Code = x.secrets.clean(code)
	message := strings.TrimSpace(f.message)
	if f.raw != "" && f.raw != message {
		message += ": " + f.raw
	}
	if message == "" {
		message = http.StatusText(status)
	}
	if e.Kind == provider.KindValidation {
		switch {
		case f.blocked != "":
			message, e.Code = message+" (the key is not at fault: "+f.blocked+")", cmp.Or(e.Code, "blocked")
		case f.lost != "":
			message, e.Code = message+" ("+f.lost+")", CodeEndpoint
		}
	}
	e.Message = x.secrets.clean(strings.TrimSpace(message))
	if e.Message == "" {
		e.Message = "the server broke the reply off without saying why"
	}
	return e
}
