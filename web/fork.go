package web

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/provider"
)

// fork is the body of a fork.
type fork struct {
	Seq    int64           `json:"seq"`              // the last event that is copied; 0: it begins from the start
	ID     string          `json:"id,omitempty"`     // of the new conversation; "": the server draws one
	Config json.RawMessage `json:"config,omitempty"` // a merge patch on the config (RFC 7396)
}

// fork starts a conversation that continues from an event of this one.
func (x *exchange) fork(in *fork) error {
	h, ctx := x.handler, x.request.Context()
	f, err := x.record()
	if err != nil {
		return err
	}
	known, err := h.free(ctx, in.ID, x.caller.Labels)
	if err != nil {
		return err
	}
	config, err := x.patched(f.Record, in)
	if err != nil {
		return err
	}
	asks := x.request.WithContext(context.WithValue(ctx, parentKey{}, f.Config()))
	if config, err = h.admit(asks, x.caller, config); err != nil {
		return err
	}
	limit, used, err := x.limitOf(f.Record, in.Seq, config)
	if err != nil {
		return err
	}
	edit := func(flow.Config) flow.Config { return config }
	return x.continued(in.ID, known, limit, used, func(ctx context.Context) (string, error) {
		if h.options.Start != nil {
			return h.engine.SubmitFork(ctx, x.info.ID, in.Seq, edit)
		}
		return idOf(h.engine.Fork(ctx, x.info.ID, in.Seq, edit))
	})
}

// continued continues the conversation in a new one, and answers where that stands. One that was made before, with the same id, is not made
// again. known: there is one of this id in the scope.
func (x *exchange) continued(id string, known bool, limit, used flow.Money, begin func(context.Context) (string, error)) error {
	h, ctx := x.handler, x.request.Context()
	var made string
	var err error
	do := func(ctx context.Context) error {
		made, err = begin(ctx)
		return err
	}
	if known { // nothing is stored, since it is there: the two are compared
		err = do(ctx)
	} else {
		err = h.reserve(ctx, x.caller.Labels, limit, used, do)
	}
	switch {
	case errors.Is(err, flow.ErrForked):
		info, err := h.find(ctx, id, x.caller.Labels)
		if err != nil {
			return err
		}
		h.goOn(ctx, &info) // a process may have ended between storing and opening it
		return x.begun(id, "../", false)
	case err != nil:
		return whyTaken(err)
	default:
		return x.begun(made, "../", true)
	}
}

// idOf returns the id of a conversation that was started.
func idOf(s *debate.Session, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return s.ID(), nil
}

// patched returns the config of a conversation with the patch of a fork.
func (x *exchange) patched(r *flow.Record, in *fork) (flow.Config, error) {
	var patch any
	if len(in.Config) > 0 {
		var err error
		patch, err = strictjson.Decode(string(in.Config), strictjson.Limits{Bytes: len(in.Config), Depth: 100, Exact: true})
		if _, ok := patch.(map[string]any); err == nil && !ok && patch != nil {
			err = errors.New("is no object: it is a merge patch of the config")
		}
		if err != nil {
			return nil, &flow.Error{Kind: provider.KindValidation, Op: "fork", Field: "config", Err: err}
		}
	}
	changes, _ := patch.(map[string]any)
	return edited(x.handler.engine, flow.Named(r.Flow(), r.Config()), func(fields map[string]any) {
		kind := fields["flow"]
		merge(fields, changes)
		fields["flow"] = kind // whatever the patch says: what is copied is of this flow
		delete(fields, "id")
		if in.ID != "" {
			fields["id"] = in.ID
		}
	})
}

// merge changes an object by a merge patch (RFC 7396).
func merge(target, patch map[string]any) {
	for key, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(target, key)
		case isObject:
			before, ok := target[key].(map[string]any)
			if !ok {
				before = make(map[string]any)
			}
			merge(before, inner)
			target[key] = before
		default:
			target[key] = value
		}
	}
}

// limitOf returns the hard limit that a fork will have, and the part of it that the copied events have used at least. The amendments that
// are copied hold in the fork too, unless the patch changes what they set.
func (x *exchange) limitOf(r *flow.Record, seq int64, config flow.Config) (limit, used flow.Money, err error) {
	settings, before := config.Settings(), r.Config().Settings()
	if x.handler.options.Quota == nil {
		return 0, 0, nil
	}
	limit = hardLimit(&settings)
	kept := limit == hardLimit(&before)
	for e, err := range x.handler.engine.Events(x.request.Context(), x.info.ID, 0) {
		if err != nil {
			return 0, 0, err
		}
		if e.Seq > seq {
			break
		}
		switch body := e.Body.(type) {
		case *flow.Transition:
			used = body.Spent
		case *flow.Amendment:
			if body.Budget != nil && kept {
				limit = body.Budget.Hard
			}
		}
		if e.Seq >= min(seq, r.Seq) {
			break
		}
	}
	return limit, min(used, max(0, limit)), nil
}

// further is the body of a reopening.
type further struct {
	ID     string       `json:"id,omitempty"`     // of the conversation that goes on; "": the server draws one
	Rounds int          `json:"rounds,omitempty"` // how many more
	Ask    string       `json:"ask,omitempty"`
	To     string       `json:"to,omitempty"`     // who answers
	Budget *flow.Budget `json:"budget,omitempty"` // in place of the present one
}

// reopen goes on after the conclusion.
func (x *exchange) reopen(in *further) error {
	h, ctx := x.handler, x.request.Context()
	known, err := h.free(ctx, in.ID, x.caller.Labels)
	if err != nil {
		return err
	}
	f, err := x.record()
	if err != nil {
		return err
	}
	change := flow.Amendment{Budget: in.Budget}
	if in.Rounds > 0 {
		change.Rounds = new(f.Round + in.Rounds)
	}
	if _, err := x.changed(change); err != nil {
		return err
	}
	settings := change.Settings(*f.Settings())
	limit := hardLimit(&settings)
	o := flow.Reopening{ID: in.ID, Rounds: in.Rounds, Ask: in.Ask, To: in.To, Person: x.caller.Who, Budget: in.Budget}
	return x.continued(in.ID, known, limit, min(f.Spent().Cost, limit), func(ctx context.Context) (string, error) {
		if h.options.Start != nil {
			return h.engine.SubmitReopening(ctx, x.info.ID, o)
		}
		return idOf(h.engine.Reopen(ctx, x.info.ID, o))
	})
}
