package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/provider"
)

const (
	maxRefusing = 256 // kinds of requests whose refusals are remembered
	maxAsks     = 6   // requests of one call, the refused ones included
)

// Option is a part of a request that a model may refuse, and that the request can do without.
type Option struct {
	// Name is its path in the JSON of the request: "temperature", "generationConfig.temperature".
	Name string
	// Instead is the field that carries the same value where Name is refused: "max_completion_tokens" for
	// "max_tokens". "": there is none, and Name is left out.
	Instead string
	// Words are further words by which servers name it in a refusal, in lower case. They count wherever they
	// stand in the message. The message or its code has to say too that something is refused, in words that this package knows, such as
	// "not supported". For a server with words of its own, [Endpoint.Explain] sets [Fault.Param].
	Words []string
	// Own means that the adapter itself writes the request without it ([Terms.Leaves]). Otherwise the Exchange
	// removes it from the body.
	Own bool
	// Quiet means that the caller did not ask for it, so that [provider.Response.Left] does not name it.
	Quiet bool
	// Where is the path of the field whose presence in the JSON of the request shows that the request has the option. "": Name.
	Where string
	// Lasting means that a model which refuses it does so whatever else a request asks. What was refused once is then left out of
	// all requests to the model.
	Lasting bool
}

// These options are not parts of a request, but ways to write the conversation. No server has a parameter of such a name.
const (
	OptionSystem = "system role" // a system prompt of its own
	OptionRoles  = "role twice"  // neighbouring messages of one role
)

// SystemOption returns the option of a system prompt. where is the path of the prompt in the request, or that of the messages if it is one
// of them. A model that refuses a system role gets the prompt before the first message ([Form.NoSystem]), from its first refusal on. List
// [RolesOption] before it: a refusal that does not say what is wrong with the roles then joins messages first.
func SystemOption(where string) Option {
	return Option{Name: OptionSystem, Where: where, Own: true, Quiet: true, Lasting: true, Words: slices.Concat(systemWords, turnWords)}
}

// RolesOption returns the option of messages whose roles do not alternate. where is the path of the messages.
func RolesOption(where string) Option {
	return Option{Name: OptionRoles, Where: where, Own: true, Quiet: true, Lasting: true, Words: slices.Concat(turnWords, tooManyWords)}
}

// These words say that a model has no system role, in lower case. The chat templates of Gemma and of Mistral's first models say so, OpenAI
// of o1-mini, Google of Gemma, Bedrock of Titan; TestRefusedRoles has their words.
//
//nolint:gochecknoglobals // read only
var systemWords = []string{
	"system role", "role 'system'", "role \"system\"", "role: system", "support 'system'", "system messages", "system message is",
	"system prompts", "system prompt is", "system instruction", "system_instruction", "developer instruction", "developer role",
	"only user and assistant roles", "only user, assistant and tool roles", "only user, model and",
}

// These words say that roles do not alternate, in lower case. A template without a system role says the same of one.
//
//nolint:gochecknoglobals // read only
var turnWords = []string{"must alternate", "should alternate", "to alternate", "alternating", "must be in turn"}

// These words name a role behind another that a template does not take there, in lower case.
//
//nolint:gochecknoglobals // read only
var tooManyWords = slices.Concat(otherRole, []string{"after role", "consecutive", "multiple user", "in a row"})

// otherRole are those of them that say by themselves that the request is refused.
//
//nolint:gochecknoglobals // read only
var otherRole = []string{"expected role", "unexpected role"}

// templateWords are words of a chat template that refuses a conversation. Some servers, such as llama.cpp and Ollama, report that with
// status 500.
//
//nolint:gochecknoglobals // read only
var templateWords = []string{"jinja", "template", "must alternate", "role not supported", "roles are supported", "after role"}

// Refusals remembers which options the models of a server refuse. The zero value knows nothing. It belongs to
// one provider value, is safe for concurrent use, and must not be copied. It remembers the refusals of at most
// 256 kinds of requests; then it forgets the oldest. A kind is a model with what a request asks of it: tools, a
// schema, effort with its value. For some models refuse one option only beside another, as a temperature beside effort.
type Refusals struct {
	mu    sync.Mutex
	known map[string][]string // names of options, by the kind of request
	order []string            // the keys of known, oldest first
}

// Ask makes a request by calling ask, which opens an Exchange and passes the terms to [Exchange.Keep]. If the
// server refuses an option, with a status of 400 and above and before it has counted any token, Ask calls ask
// again without that option, as often as the server names another one, and six times at most. An option whose
// refusal has led to an answer is left out from then on, so that later requests of the same kind do not pay for
// it. The Response names what was left out ([provider.Response.Left]).
//
// The options are those that the adapter may write. Which of them a request has is read from its body. If a
// refusal fits several options, the first of them is left out; if it says that two cannot stand together, the
// last one is.
func (r *Refusals) Ask(
	req *provider.Request, options []Option, ask func(t *Terms) (*provider.Response, error),
) (*provider.Response, error) {
	kind := kindOf(req)
	left := r.recall(req.Model+anyKind, kind)
	for n := 1; ; n++ {
		t := &Terms{options: options, left: left}
		response, err := ask(t)
		if name := t.refused(err); name != "" && n < maxAsks {
			left = append(slices.Clip(left), name)
			continue
		}
		if n > 1 && answered(err) {
			lasting, other := apart(left, options)
			r.remember(req.Model+anyKind, lasting)
			r.remember(kind, other)
		}
		if response != nil {
			response.Left = t.names()
		}
		return response, err
	}
}

// answered reports whether the result of a request shows that the server has accepted it.
func answered(err error) bool {
	e, ok := errors.AsType[*provider.Error](err)
	return err == nil || ok && e.Status/100 == 2
}

// kindOf returns the key of a kind of requests.
func kindOf(req *provider.Request) string {
	parts := []string{req.Model}
	if len(req.Tools) > 0 {
		parts = append(parts, "tools")
	}
	if req.Schema != nil {
		parts = append(parts, "schema")
	}
	for _, ability := range req.Options.Asks() {
		parts = append(parts, string(ability)+" "+stepOf(req.Options, ability))
	}
	return strings.Join(parts, "\n")
}

// stepOf returns the word that an option has on a scale of words: a model may refuse one and take another. "": it has none.
func stepOf(o *provider.Options, ability provider.Ability) string {
	switch ability {
	case provider.AbilityEffort:
		return string(o.Effort)
	case provider.AbilityServiceTier:
		return o.ServiceTier
	case provider.AbilityVerbosity:
		return string(o.Verbosity)
	default:
		return ""
	}
}

// anyKind stands in the key of what a model refuses whatever else a request asks.
const anyKind = "\n*"

// apart returns the names of lasting options, and those of the others.
func apart(names []string, options []Option) (lasting, other []string) {
	for _, name := range names {
		if i := slices.IndexFunc(options, func(o Option) bool { return o.Name == name }); i >= 0 && options[i].Lasting {
			lasting = append(lasting, name)
		} else {
			other = append(other, name)
		}
	}
	return lasting, other
}

func (r *Refusals) recall(kinds ...string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var left []string
	for _, kind := range kinds {
		left = append(left, r.known[kind]...)
	}
	return left
}

func (r *Refusals) remember(kind string, names []string) {
	if len(names) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string][]string{}
	}
	if _, found := r.known[kind]; !found {
		if len(r.order) == maxRefusing {
			delete(r.known, r.order[0])
			r.order = slices.Delete(r.order, 0, 1)
		}
		r.order = append(r.order, kind)
	}
	for _, name := range names {
		if !slices.Contains(r.known[kind], name) {
			r.known[kind] = append(r.known[kind], name)
		}
	}
}

// Terms say what one request leaves out because its model refuses it. A nil *Terms leaves out nothing. Terms
// belong to one call of the function that [Refusals.Ask] calls.
type Terms struct {
	options []Option
	left    []string // names of options
	cut     []string // of them: those that the request would have had

	body        func() []byte // the body that was sent
	own         string        // the field that the server refuses, if Endpoint.Explain says so
	code, param string        // of the server's refusal
	message     string
	status      int
}

// Leaves reports whether the request is to be written without an option of the adapter's own
// ([Option.Own]). The adapter asks only if the request would have it.
func (t *Terms) Leaves(name string) bool {
	if t == nil || !slices.Contains(t.left, name) {
		return false
	}
	if !slices.Contains(t.cut, name) {
		t.cut = append(t.cut, name)
	}
	return true
}

// names returns what was left out of the request, for the caller.
func (t *Terms) names() []string {
	var names []string
	for i := range t.options {
		if o := &t.options[i]; !o.Quiet && o.Instead == "" && slices.Contains(t.cut, o.Name) {
			names = append(names, o.Name)
		}
	}
	return names
}

// cuts returns the options that the Exchange removes from the body.
func (t *Terms) cuts() []Option {
	var list []Option
	for _, o := range t.options {
		if !o.Own && slices.Contains(t.left, o.Name) {
			list = append(list, o)
		}
	}
	return list
}

// Keep makes the exchange keep to t: options that t leaves out are removed from the body of the request, and a
// refusal is noted in t. Call it before the request is made.
func (x *Exchange) Keep(t *Terms) { x.terms = t }

// apply removes what is left out from the body of a request, and keeps a way to read the body.
func (t *Terms) apply(req *http.Request) error {
	if t == nil || req.Body == nil {
		return nil
	}
	if cuts := t.cuts(); len(cuts) > 0 {
		data, err := io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return err
		}
		data, cut := without(data, cuts)
		t.cut = append(t.cut, cut...)
		req.ContentLength = int64(len(data))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		req.Body, _ = req.GetBody()
	}
	again := req.GetBody
	t.body = func() []byte {
		if again == nil {
			return nil
		}
		body, err := again()
		if err != nil {
			return nil
		}
		defer func() { _ = body.Close() }()
		data, _ := io.ReadAll(body)
		return data
	}
	return nil
}

// note notes a failure of the server in the terms.
func (t *Terms) note(f *fault, status int) {
	if t == nil {
		return
	}
	t.status, t.code, t.param = status, strings.ToLower(f.code), f.param
	t.own, t.message = f.own.Param, f.message+"\n"+f.raw
}

// refused returns the name of the option that the server refused; "" if it refused none that the request has.
func (t *Terms) refused(err error) string {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || t.status < http.StatusBadRequest || e.Status != t.status || t.body == nil {
		return ""
	}
	body, words := t.body(), strings.ToLower(t.message)
	param := t.param
	if !mentions(body, param) { // a gateway's "None", or what stands nowhere in the request
		param = ""
	}
	if t.own == "" && !t.says(e.Kind, words) {
		return ""
	}
	var fits []*Option
	for i := range t.options {
		o := &t.options[i]
		if named := t.own == "" && o.named(param, t.message, words) || t.own != "" && o.called(t.own); named && !slices.Contains(t.left, o.Name) {
			fits = append(fits, o)
		}
	}
	if strings.Contains(words, "cannot both") {
		slices.Reverse(fits)
	}
	for _, o := range fits {
		if holds(body, strings.Split(cmp.Or(o.Where, o.Name), ".")) {
			return o.Name
		}
	}
	return ""
}

// says reports whether a failure says that something of the request is refused that it can do without.
func (t *Terms) says(kind provider.Kind, words string) bool {
	template := t.status == http.StatusInternalServerError && containsAny(words, templateWords)
	if kind != provider.KindValidation && t.status != http.StatusNotImplemented && !template {
		return false
	}
	return (slices.Contains(refusalCodes, t.code) || containsAny(words, refusalWords)) && !containsAny(words, otherMatters)
}

// mentions reports whether a request has the field with which a path begins.
func mentions(body []byte, path string) bool {
	first, _, _ := strings.Cut(strings.NewReplacer("/", ".", "[", ".").Replace(strings.TrimLeft(path, "/.")), ".")
	found := false
	_ = members(body, func(name string, _ json.RawMessage) { found = found || plainName(name) == plainName(first) })
	return found
}

// These codes say that a server does not take a parameter, or not with this value.
//
//nolint:gochecknoglobals // read only
var refusalCodes = []string{
	"unsupported_parameter", "unsupported_value", "unknown_parameter", "unrecognized_parameter", "invalid_json_schema",
}

// These words say the same, in lower case. The tests of this file name the servers.
//
//nolint:gochecknoglobals // read only
var refusalWords = slices.Concat(turnWords, otherRole, []string{
	"not supported", "unsupported", "not support", "doesn't support", "cannot both", "not permitted", "not allowed",
	"deprecated", "unavailable", "not available", "not enabled", "unrecognized", "unknown name", "unknown parameter",
	"unknown field", "unexpected keyword", "extra_forbidden", "is allowed for this model", "may only be set to",
	"or unset", "allowed values", "supported values are", "input should be '", "expected one of", "invalid service_tier argument",
	"must be 'json_schema'", "invalid schema for response", "invalid json schema", "grammar",
	"too many states", "too complex", "only enabled when", "only works in", "must be one of", "invalid reasoning effort",
	"incompatible request argument", "roles are supported",
})

// BoundWords returns words by which servers refuse a bound in a schema, for [Option.Words].
func BoundWords() []string {
	return []string{
		"'minimum'", "`minimum`", "'maximum'", "`maximum`", "exclusiveminimum", "exclusivemaximum", "multipleof", "minitems", "maxitems",
		"'pattern'", "`pattern`", "'format'", "`format`", "lookahead", "lookbehind", "features not supported", "minimum is not supported",
		"maximum is not supported", "pattern is not supported", "format is not supported",
	}
}

// These words say that the refusal is about something that the request cannot do without.
//
//nolint:gochecknoglobals // read only
var otherMatters = []string{"invalid schema for function", "does not support tools", "tool calling is not supported"}

// called reports whether a name that Endpoint.Explain gives is that of the option, or of the field by which the request is seen to have it.
func (o *Option) called(param string) bool {
	return param == o.Name || param == o.Where || within(strings.Split(o.Name, "."), param, !o.Own)
}

// named reports whether a refusal is about the option.
func (o *Option) named(param, message, words string) bool {
	path := strings.Split(o.Name, ".")
	if containsAny(words, o.Words) {
		return true
	}
	if param != "" {
		return within(path, param, !o.Own)
	}
	for token := range tokens(message) {
		if within(path, token, !o.Own) {
			return true
		}
	}
	return false
}

// within reports whether a name that a server uses is that of a path or of something in it: "temperature" and
// "generation_config.temperature" for generationConfig.temperature, "response_format/json_schema/score" for
// response_format. alone says whether the path's last part counts by itself.
func within(path []string, name string, alone bool) bool {
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("./[]", r) })
	for i := range parts {
		parts[i] = plainName(parts[i])
	}
	own := make([]string, len(path))
	for i := range path {
		own[i] = plainName(path[i])
	}
	last := own[len(own)-1]
	if alone && len(parts) == 1 && parts[0] == last || strings.Join(parts, "") == strings.Join(own, "") {
		return true
	}
	for i := 0; i+len(own) <= len(parts); i++ {
		if slices.Equal(parts[i:i+len(own)], own) {
			return true
		}
	}
	return false
}

// plainName returns a name as all servers' spellings have it: "reasoning_effort" and "reasoningEffort" are one.
func plainName(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

// tokens yields what may be names of parameters in a message. A plain word counts only where a name is
// expected: in quotes, at the beginning, before a colon, after a word such as "parameter".
func tokens(message string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		before := ""
		for start := 0; start < len(message); {
			if !nameByte(message[start]) {
				start++
				continue
			}
			end := start
			for end < len(message) && nameByte(message[end]) {
				end++
			}
			token := strings.TrimRight(message[start:end], "./")
			next := start + len(token)
			quoted := start > 0 && strings.IndexByte("'\"`", message[start-1]) >= 0
			colon := next < len(message) && message[next] == ':' || start > 1 && message[start-2] == ':'
			if token != "" && (quoted || colon || before == "" || strings.ContainsAny(token, "_./") || camel(token) ||
				slices.Contains(introductions, strings.ToLower(before))) && !yield(token) {
				return
			}
			before, start = token, end
		}
	}
}

//nolint:gochecknoglobals // read only
var introductions = []string{"parameter", "argument", "field", "property", "option", "invalid", "unsupported", "name", "support"}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '/' || c == '[' || c == ']'
}

// camel reports whether a capital letter follows a small one.
func camel(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			return true
		}
	}
	return false
}
