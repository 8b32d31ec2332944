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
	config, err := x.patched(f.Record, in)
	if err != nil {
		return err
	}
	asks := x.request.WithContext(context.WithValue(ctx, parentKey{}, f.Config()))
	if config, err = h.admit(asks, x.caller, config); err != nil {
		return err
	}
	edit := func(flow.Config) flow.Config { return config }
	return x.continued(in.ID, nil, func(ctx context.Context) (string, error) {
		if h.options.Start != nil {
			return h.engine.SubmitFork(ctx, x.info.ID, in.Seq, edit)
		}
		return idOf(h.engine.Fork(ctx, x.info.ID, in.Seq, edit))
	})
}

// continued continues the conversation in a new one, and answers where that stands. One that was made before, with the same id, is not made
// again. may is asked about the new one before it is stored, beside the quota; nil: nothing more is asked.
func (x *exchange) continued(id string, may func(*flow.Record) error, begin func(context.Context) (string, error)) error {
	h, ctx, labels := x.handler, x.request.Context(), x.caller.Labels
	var made string
	err := h.reserve(ctx, labels, func(ctx context.Context) error {
		known, err := h.free(ctx, id, labels)
		if err != nil {
			return err
		}
		holds := func(r *flow.Record) error {
			if id != "" && r.ID != id { // the engine has drawn another, since this one is the parent's
				return taken()
			}
			if may != nil {
				if err := may(r); err != nil {
					return err
				}
			}
			if known { // nothing is stored, since it is there: the two are compared
				return nil
			}
			copied := r.Copied()
			return h.fits(ctx, labels, hardLimit(r.Settings()), copied.Cost.Plus(copied.AtMost))
		}
		made, err = begin(flow.Expecting(ctx, "", flow.Expected{Holds: holds}))
		return err
	})
	switch {
	case errors.Is(err, flow.ErrForked):
		if err := h.found(ctx, id, labels); err != nil {
			return err
		}
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
	h := x.handler
	may := func(r *flow.Record) error { // asked of what the flow has made of the request
		change := flow.Amendment{Budget: in.Budget}
		if in.Rounds > 0 {
			change.Rounds = &r.Settings().Rounds
		}
		return h.accept(x.request, x.caller, &Amended{Config: r.Config(), Change: change, now: *r.Settings()})
	}
	o := flow.Reopening{ID: in.ID, Rounds: in.Rounds, Ask: in.Ask, To: in.To, Person: x.caller.Who, Budget: in.Budget}
	return x.continued(in.ID, may, func(ctx context.Context) (string, error) {
		if h.options.Start != nil {
			return h.engine.SubmitReopening(ctx, x.info.ID, o)
		}
		return idOf(h.engine.Reopen(ctx, x.info.ID, o))
	})
}
