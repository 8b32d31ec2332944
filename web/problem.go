package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// problem is the document that answers a request that is refused (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	finding

	RetryAfter float64    `json:"retryAfter,omitempty"` // seconds
	State      flow.State `json:"state,omitempty"`      // of the conversation, where that refuses
	Seq        int64      `json:"seq,omitempty"`
	Legal      []string   `json:"legal,omitempty"` // the operations that are possible in place of this one
	Answered   *answered  `json:"answered,omitempty"`
	Problems   []finding  `json:"problems,omitempty"` // all of them, if there are several
}

// finding is one thing that is wrong.
type finding struct {
	Kind      flow.Kind `json:"kind,omitempty"`
	Op        string    `json:"op,omitempty"`
	Field     string    `json:"field,omitempty"`
	Detail    string    `json:"detail,omitempty"`
	Hint      string    `json:"hint,omitempty"`
	Retryable bool      `json:"retryable,omitempty"`
}

// answered says how a question was answered before.
type answered struct {
	Person string      `json:"person,omitempty"`
	At     time.Time   `json:"at"`
	Option flow.Option `json:"option,omitempty"`
	Model  string      `json:"model,omitempty"`
	By     string      `json:"by,omitempty"`
	Rule   bool        `json:"rule,omitempty"`
}

// refusal is an error with a status of its own.
type refusal struct {
	status int
	after  time.Duration // how long the client should wait; 0: nobody knows
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }

func (r *refusal) Unwrap() error { return r.err }

// malformed refuses a request that cannot be read.
func malformed(field string, err error) error {
	return &refusal{status: http.StatusBadRequest, err: &flow.Error{Kind: provider.KindValidation, Op: "request", Field: field, Err: err}}
}

// mostDetail bounds what a document says of an error, in bytes.
const mostDetail = 2000

// What a refusal says was wanted, where several places say it.
const (
	opStart  = "start"
	opImport = "import"
	opQuota  = "quota"
	opAnswer = "answer"
)

// statuses are those of errors by their kind. All others are faults of the server, of which no cause is told.
//
//nolint:gochecknoglobals // read only
var statuses = map[flow.Kind]int{
	provider.KindValidation: http.StatusUnprocessableEntity,
	provider.KindState:      http.StatusConflict,
	provider.KindConflict:   http.StatusConflict,
	provider.KindCostLimit:  http.StatusPaymentRequired,
	provider.KindQuota:      http.StatusPaymentRequired,
	provider.KindRateLimit:  http.StatusServiceUnavailable,
	provider.KindStore:      http.StatusServiceUnavailable,
	provider.KindNetwork:    http.StatusServiceUnavailable,
	provider.KindTimeout:    http.StatusServiceUnavailable,
	provider.KindAPI:        http.StatusServiceUnavailable,
}

// Refuse answers a request with a problem document (RFC 9457), for a handler of the host program's own that calls Allow or Start.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil {
		err = errors.New("no reason was given")
	}
	h.refuse(w, r, err, problemOf(err))
}

// refuse writes a document.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error, p problem) {
	if denied, ok := errors.AsType[*DeniedError](err); ok && denied.Challenge != "" {
		w.Header().Set("WWW-Authenticate", denied.Challenge)
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.RetryAfter))))
	}
	if p.Status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		h.logger().LogAttrs(r.Context(), slog.LevelWarn, "a request has failed", slog.String("method", r.Method),
			slog.String("path", text.OneLine(r.URL.Path, 200)), slog.Int("status", p.Status),
			slog.String("error", text.OneLine(redact.Foreign(err.Error()), mostDetail)))
	}
	data, err := json.Marshal(p)
	if err != nil { // its fields are texts and numbers
		data = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	(&exchange{response: w}).write(p.Status, data, writeTime)
}

// problemOf describes an error. Nothing of it depends on what a caller may not see: an id of another scope gives the same document as an
// unknown one.
func problemOf(err error) problem {
	all := split(err)
	p := problem{Type: "about:blank", finding: findingOf(all[0])}
	var after time.Duration
	p.Status, after = statusOf(err, p.Kind)
	p.RetryAfter = after.Seconds()
	p.Title = titleOf(p.Status)
	hidden := true
	switch {
	case p.Status == http.StatusInternalServerError:
		p.Detail, p.Field, p.Hint = "the server has failed", "", ""
	case p.Kind == provider.KindStore:
		p.Detail = "the store cannot be read or written now"
	default:
		hidden = false
	}
	if first, ok := errors.AsType[*flow.AnsweredError](err); ok {
		a := &first.Answer
		p.Answered = &answered{Person: a.Person, At: first.At, Option: a.Option, Model: a.Model, By: a.By, Rule: a.Rule}
	}
	if len(all) > 1 && !hidden {
		for _, one := range all[:min(len(all), flow.MaxProblems)] {
			p.Problems = append(p.Problems, findingOf(one))
		}
	}
	return p
}

// titleOf returns the phrase of a status as RFC 9110 has it, where net/http has an older one.
func titleOf(status int) string {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return "Content Too Large"
	case http.StatusUnprocessableEntity:
		return "Unprocessable Content"
	default:
		return http.StatusText(status)
	}
}

// split returns the errors that were joined; at least one.
func split(err error) []error {
	if own, ok := err.(*refusal); ok { //nolint:errorlint // the one around the others
		return split(own.err)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, one := range joined.Unwrap() {
		if _, ok := err.(*flow.AwaitingInputError); !ok && one != nil { //nolint:errorlint // it is reported as a whole
			out = append(out, split(one)...)
		}
	}
	if len(out) == 0 {
		return []error{err}
	}
	return out
}

// findingOf describes one error.
func findingOf(err error) finding {
	e, ok := errors.AsType[*flow.Error](err)
	if !ok {
		return finding{Detail: text.OneLine(redact.Foreign(err.Error()), mostDetail)}
	}
	f := finding{Kind: e.Kind, Op: text.OneLine(e.Op, 200), Field: text.OneLine(e.Field, 200), Hint: e.Hint(), Retryable: e.Retryable()}
	cause := cmp.Or(e.Err, error(e))
	if f.Detail = text.OneLine(redact.Foreign(cause.Error()), mostDetail); f.Field != "" {
		f.Detail = f.Field + ": " + f.Detail
	}
	return f
}

// statusOf returns the status of an error of a kind, and how long the client should wait.
func statusOf(err error, kind flow.Kind) (status int, after time.Duration) {
	const soon = 5 * time.Second
	if own, ok := errors.AsType[*refusal](err); ok {
		return own.status, own.after
	}
	if denied, ok := errors.AsType[*DeniedError](err); ok {
		if denied.Challenge != "" {
			return http.StatusUnauthorized, 0
		}
		return http.StatusForbidden, 0
	}
	broken, unread := errors.AsType[*strictjson.Error](err)
	reasons := []strictjson.Reason{strictjson.Syntax, strictjson.TrailingData, strictjson.InvalidUTF8}
	switch {
	case errors.Is(err, flow.ErrNotFound), errors.Is(err, flow.ErrNoFile):
		return http.StatusNotFound, 0
	case errors.Is(err, flow.ErrLeased), errors.Is(err, flow.ErrMissing), errors.Is(err, flow.ErrClosed), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, soon
	case unread && slices.Contains(reasons, broken.Reason): // it is no JSON
		return http.StatusBadRequest, 0
	}
	if status = statuses[kind]; status == 0 {
		return http.StatusInternalServerError, 0
	}
	if status == http.StatusServiceUnavailable {
		after = soon
	}
	return status, after
}
