package web

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Policy returns the config that is used in place of the one that was sent, or why that is refused. who is that of the [Caller]. It sees
// every config: those of starts, checks and forks as the flow's own type, what changes a conversation that has begun as an [*Amended], and
// that of a log from elsewhere as an [*Imported]. It accepts the latter two as they are, or refuses them.
//
// A config can name files of the server, words that models obey as instructions, tools and addresses. [Strict] refuses these.
type Policy func(r *http.Request, who string, c flow.Config) (flow.Config, error)

// Amended is the config of a conversation that has begun, with a change: an amendment, the choice of a model, a reopening. Settings and
// Seats return what would be in force.
type Amended struct {
	flow.Config // with which the conversation began

	Change flow.Amendment // it is read only
	now    flow.Settings  // before the change
}

// Settings returns the settings that would be in force.
func (a *Amended) Settings() flow.Settings { return a.Change.Settings(a.now) }

// Seats yields the seats with the models that would take them.
func (a *Amended) Seats() flow.Seats {
	return func(yield func(flow.Seat) bool) {
		for s := range a.Config.Seats() {
			if choice, ok := a.Change.Models[s.By]; ok {
				s.Model, s.Fallbacks = &choice.Model, &choice.Fallbacks
			}
			if !yield(s) {
				return
			}
		}
	}
}

// MarshalJSON writes the config with which the conversation began.
func (a *Amended) MarshalJSON() ([]byte, error) { return json.Marshal(a.Config) }

// Imported is the config of a log that was written elsewhere. Beside it, a log has prices of models and formats of its own, and words that
// models obey, by which it is continued and forked here. Nothing compares them with those of the engine: refuse an import of somebody who
// is not trusted to write them. Tools have no more rights than those of the engine, each use of one that the engine lacks needs approval,
// and the log's approvals of uses do not count.
type Imported struct{ flow.Config }

// MarshalJSON writes the config.
func (i *Imported) MarshalJSON() ([]byte, error) { return json.Marshal(i.Config) }

// admit returns the config that is started in place of the one that was sent: with the labels of the scope, as the policy has it.
func (h *Handler) admit(r *http.Request, c Caller, config flow.Config) (flow.Config, error) {
	if flow.Unnamed(config) == nil {
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "config", Err: errors.New("there is none")}
	}
	given, err := h.labelled(config, c.Labels)
	if err != nil {
		return nil, err
	}
	if h.policy == nil {
		return given, nil
	}
	admitted, err := h.policy(r, c.Who, given)
	if err != nil {
		return nil, err
	}
	if flow.Unnamed(admitted) == nil {
		return nil, errors.New("the policy has returned neither a config nor an error")
	}
	settings := admitted.Settings()
	if settings.ID != given.Settings().ID || !within(settings.Labels, c.Labels) {
		return nil, errors.New("the policy has changed the id or the labels of the scope")
	}
	return admitted, nil
}

// accept asks the policy about a config that cannot be changed: an [*Amended] or an [*Imported].
func (h *Handler) accept(r *http.Request, c Caller, fixed flow.Config) error {
	if h.policy == nil {
		return nil
	}
	admitted, err := h.policy(r, c.Who, fixed)
	if err == nil && admitted != fixed {
		err = errors.New("the policy has changed what it can only accept or refuse")
	}
	return err
}
