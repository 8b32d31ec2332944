package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// control is the body of a control.
type control struct {
	Reason string `json:"reason,omitempty"` // why, in one line
}

// controls makes the work of an operation of a control.
func controls(signal func(c *control, who string) flow.Signal) func(*exchange, *control) error {
	return func(x *exchange, c *control) error { return x.control(signal(c, x.caller.Who)) }
}

// control gives a control to the conversation, and answers where that stands.
func (x *exchange) control(signal flow.Signal) error {
	if err := x.handler.engine.Control(x.request.Context(), x.info.ID, signal); err != nil {
		return err
	}
	return x.stands()
}

// stands answers where the conversation stands after a control.
func (x *exchange) stands() error {
	stands, err := x.controlled()
	if err != nil {
		return err
	}
	return x.reply(x.operation.status, stands)
}

// controlled sees to it that a conversation goes on that a control has put back to work, and returns where it stands.
func (x *exchange) controlled() (standing, error) {
	h, ctx := x.handler, x.request.Context()
	info, err := h.find(ctx, x.info.ID, x.caller.Labels)
	if err == nil && !info.StartedAt.Equal(x.info.StartedAt) {
		err = notFound()
	}
	if err == nil {
		h.goOn(ctx, &info)
	}
	return standing{ID: x.info.ID, State: info.State, Seq: info.Seq}, err
}

// goOn opens a conversation that has work and no process, unless that is for workers elsewhere.
func (h *Handler) goOn(ctx context.Context, info *store.Info) {
	if h.options.Start != nil || info.State.Idle() || info.Owner != "" {
		return
	}
	_, err := h.engine.Open(context.WithoutCancel(ctx), info.ID)
	if err != nil && !errors.Is(err, flow.ErrLeased) { // another process is faster
		h.logger().LogAttrs(ctx, slog.LevelWarn, "a conversation was not continued", slog.String("id", info.ID),
			slog.String("error", text.OneLine(redact.Foreign(err.Error()), mostDetail)))
	}
}

// drain is the body of a pause.
type drain struct {
	Reason string `json:"reason,omitempty"` // why, in one line
	Drain  bool   `json:"drain,omitempty"`  // the calls in flight finish
}

// pause starts no further call.
func (x *exchange) pause(in *drain) error {
	return x.control(flow.Pause{Drain: in.Drain, Reason: in.Reason, Person: x.caller.Who})
}

// input is the body of an input of the flow's own.
type input struct {
	Trigger flow.Trigger    `json:"trigger"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Reason  string          `json:"reason,omitempty"` // why, in one line
}

// send sends an input of the flow's own.
func (x *exchange) send(in *input) error {
	return x.control(flow.Sent{Trigger: in.Trigger, Payload: in.Payload, Reason: in.Reason, Person: x.caller.Who})
}

// amend changes settings.
func (x *exchange) amend(in *flow.Amendment) error {
	for field, given := range map[string]bool{"person": in.Person != "", "rows": len(in.Rows) > 0} {
		if given {
			err := flow.WithMend(errors.New("is set by the server"), "leave it out")
			return &flow.Error{Kind: provider.KindValidation, Op: "amend", Field: field, Err: err}
		}
	}
	in.Person = x.caller.Who
	if err := x.changed(*in); err != nil {
		return err
	}
	h, ctx := x.handler, x.request.Context()
	give := func(ctx context.Context) error { return h.engine.Control(ctx, x.info.ID, *in) }
	var err error
	if in.Budget == nil {
		err = give(ctx)
	} else {
		err = h.reserve(ctx, x.caller.Labels, func(ctx context.Context) error {
			if err := x.raises(ctx, in.Budget.Hard); err != nil {
				return err
			}
			return give(ctx)
		})
	}
	if err != nil {
		return err
	}
	stands, err := x.controlled()
	if err != nil {
		return err
	}
	return x.reply(x.operation.status, stands)
}

// raises returns an error unless the conversation may have another hard limit. Whatever bounds one without a limit is allowed, and so is
// what lowers a limit.
func (x *exchange) raises(ctx context.Context, hard flow.Money) error {
	if !x.handler.bounded(x.caller.Labels) {
		return nil
	}
	info, err := x.handler.find(ctx, x.info.ID, x.caller.Labels)
	if err != nil || info.Limit <= 0 || 0 < hard && hard <= info.Limit {
		return err
	}
	return x.handler.fits(ctx, x.caller.Labels, hard, max(info.Limit, info.Spent.Plus(info.AtMost)))
}

// changed asks the policy about a change of the conversation.
func (x *exchange) changed(a flow.Amendment) error {
	f, err := x.record()
	if err != nil {
		return err
	}
	return x.handler.accept(x.request, x.caller, &Amended{Config: f.Config(), Change: a, now: *f.Settings()})
}

// note is the body of something that is said in between.
type note struct {
	ID   string   `json:"id,omitempty"` // the same note again changes nothing
	As   string   `json:"as,omitempty"` // the name under which it is read
	To   []string `json:"to,omitempty"` // the participants who read it; none: all
	Text string   `json:"text"`
	Ask  string   `json:"ask,omitempty"` // the participant who answers it out of turn
}

// said is where a conversation stands in which something was said.
type said struct {
	standing

	Note string `json:"note"` // its ID
}

// say says something in between.
func (x *exchange) say(in *note) error {
	if in.ID == "" {
		in.ID = rand.Text()
	}
	signal := flow.Note{ID: in.ID, Person: x.caller.Who, As: in.As, To: in.To, Text: in.Text, Ask: in.Ask}
	if err := x.handler.engine.Control(x.request.Context(), x.info.ID, signal); err != nil {
		return err
	}
	stands, err := x.controlled()
	if err != nil {
		return err
	}
	return x.reply(x.operation.status, said{stands, in.ID})
}

// answer is the body of an answer to a question: a text with its files, or one of the options.
type answer struct {
	Text   string       `json:"text,omitempty"`
	Files  []attachment `json:"files,omitempty"`
	Option flow.Option  `json:"option,omitempty"`
	Model  string       `json:"model,omitempty"` // of the option "model"
	By     string       `json:"by,omitempty"`    // for whom the option is chosen
}

// attachment is a file that belongs to an answer.
type attachment struct {
	Name string `json:"name,omitempty"`
	Type string `json:"type,omitempty"` // "": what the bytes show
	Data []byte `json:"data"`
}

// wanted is what the right to answer a question depends on.
type wanted struct {
	open   bool
	action Action
	to     string   // see Access.To
	actors []string // whose calls have failed: another model may be chosen for them
}

// wantedFor returns what the right to answer a question depends on, by this record.
func wantedFor(r *flow.Record, question string) wanted {
	for i := range r.Inquiries {
		if q := &r.Inquiries[i]; q.ID == question {
			w := wanted{open: true, action: answers(q), to: q.To}
			for _, call := range q.About {
				w.actors = append(w.actors, call.By)
			}
			return w
		}
	}
	return wanted{action: Answer, to: askedBefore(r, question)}
}

// errMoved says that a question is no longer as it was when the right to answer it was asked for.
var errMoved = errors.New("the question has changed meanwhile")

// mostAsked is how often the right to answer is asked for while the question changes.
const mostAsked = 5

// answer answers a question. The right depends on whom it is put to, and on whether it is about the use of a tool: the engine decides on a
// record in which that is as it was when the right was asked for.
func (x *exchange) answer(in *answer) error {
	err := errMoved
	for tries := 0; errors.Is(err, errMoved) && tries < mostAsked; tries++ {
		if tries > 0 { // otherwise those without the right would have each of their requests fold the log
			x.handler.cache.forget(x.info.ID)
		}
		err = x.answerNow(in)
	}
	if errors.Is(err, errMoved) {
		err = flow.WithMend(errMoved, "load the conversation again")
		err = &flow.Error{Kind: provider.KindState, Op: opAnswer, Err: err}
	}
	if err != nil {
		return err
	}
	return x.stands()
}

// answerNow asks for the right to answer a question as it is in a record, and answers it. If it has changed since, the error is errMoved.
func (x *exchange) answerNow(in *answer) error {
	info, err := x.handler.find(x.request.Context(), x.info.ID, x.caller.Labels)
	switch {
	case err != nil:
		return err
	case !info.StartedAt.Equal(x.info.StartedAt):
		return notFound()
	}
	x.info = info // what is open is no older than the answer: a new question is a new event
	f, err := x.record()
	if err != nil {
		return err
	}
	id := x.request.PathValue("question")
	wants := wantedFor(f.Record, id)
	if x.caller.Who, err = x.handler.who(x.request, Access{Action: wants.action, ID: x.info.ID, To: wants.to}); err != nil {
		return err
	}
	if wants.open && in.Model != "" {
		change := flow.Amendment{Models: make(map[string]flow.ModelChoice)}
		for _, by := range wants.actors {
			change.Models[by] = flow.ModelChoice{Model: in.Model}
		}
		if err := x.changed(change); err != nil {
			return err
		}
	}
	a := flow.Answer{Inquiry: id, Text: in.Text, Option: in.Option, Model: in.Model, By: in.By, Person: x.caller.Who}
	for _, one := range in.Files {
		a.Attachments = append(a.Attachments, flow.File{Name: one.Name, Type: one.Type, Data: one.Data})
	}
	ctx := flow.Expecting(x.request.Context(), x.info.ID, flow.Expected{StartedAt: x.info.StartedAt, Holds: func(r *flow.Record) error {
		if !reflect.DeepEqual(wantedFor(r, id), wants) {
			return errMoved
		}
		return nil
	}})
	err = x.handler.engine.Control(ctx, x.info.ID, a)
	if _, lists := errors.AsType[*text.UnknownNameError](err); lists && !wants.open { // it names the questions that are open
		err = flow.WithMend(errors.New("no such question is open"), "load the conversation again")
		err = &flow.Error{Kind: provider.KindState, Op: opAnswer, Err: err}
	}
	return err
}

// askedBefore returns the actor whom a question was put to that is no longer open. "": nobody knows.
func askedBefore(r *flow.Record, question string) string {
	call := strings.TrimPrefix(question, "ask.")
	attempt := strings.LastIndexByte(call, '.')
	for _, id := range []string{question, call, call[:max(0, attempt)]} {
		if usage, ok := r.CallUsage(id); ok {
			return usage.By
		}
	}
	return ""
}

// remove removes the conversation.
func (x *exchange) remove() error {
	h, ctx := x.handler, x.request.Context()
	holds := func(r *flow.Record) error {
		if x.version > 0 && r.Seq != x.version {
			return unmatched()
		}
		if h.bounded(x.caller.Labels) {
			return uncounted(r)
		}
		return nil
	}
	if x.version > 0 || h.bounded(x.caller.Labels) { // otherwise nothing has to be read
		ctx = flow.Expecting(ctx, x.info.ID, flow.Expected{StartedAt: x.info.StartedAt, Holds: holds})
	}
	err := h.reserve(ctx, x.caller.Labels, func(ctx context.Context) error { return h.engine.Delete(ctx, x.info.ID) })
	if errors.Is(err, flow.ErrLeased) {
		why := errors.New("a process works on the conversation, or has it open")
		if errors.Is(err, store.ErrOpen) {
			why = errors.New("the conversation is open in this process")
		}
		err = &flow.Error{Kind: provider.KindConflict, Op: "delete", Err: flow.WithMend(why, "cancel it first, or wait until it has ended")}
	}
	if err != nil {
		return err
	}
	h.cache.forget(x.info.ID)
	x.response.WriteHeader(http.StatusNoContent)
	return nil
}
