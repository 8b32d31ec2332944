package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// start starts a conversation.
func (x *exchange) start() error {
	config, err := x.config()
	if err != nil {
		return err
	}
	id, isNew, err := x.handler.begin(x.request, x.caller, config)
	if err != nil {
		return err
	}
	return x.begun(id, "conversations/", isNew)
}

// begin starts a conversation for a caller, or finds the one that was started before with the same config and ID.
func (h *Handler) begin(r *http.Request, c Caller, config flow.Config) (id string, isNew bool, err error) {
	if config, err = h.admit(r, c, config); err != nil {
		return "", false, err
	}
	settings := config.Settings()
	err = h.reserve(r.Context(), c.Labels, func(ctx context.Context) error {
		known, err := h.free(ctx, settings.ID, c.Labels)
		switch {
		case err != nil:
			return err
		case known: // nothing is stored, since it is there: the configs are compared
			id, err = h.engine.Submit(ctx, config)
			return err
		}
		if err := h.fits(ctx, c.Labels, hardLimit(&settings), 0); err != nil {
			return err
		}
		isNew = true
		id, err = h.launch(ctx, config)
		return err
	})
	if err == nil && !isNew {
		err = h.found(r.Context(), id, c.Labels)
	}
	return id, isNew, whyTaken(err)
}

// found sees to it that a conversation goes on that was stored by an earlier request: a process may have ended between storing and opening
// it.
func (h *Handler) found(ctx context.Context, id string, labels map[string]string) error {
	info, err := h.find(ctx, id, labels)
	if err == nil {
		h.goOn(ctx, &info)
	}
	return err
}

// launch starts a config that was admitted.
func (h *Handler) launch(ctx context.Context, config flow.Config) (id string, err error) {
	if h.options.Start != nil {
		return h.options.Start(ctx, config)
	}
	session, err := h.engine.Start(ctx, config)
	if err != nil {
		return "", err
	}
	return session.ID(), nil
}

// whyTaken hides with what another conversation has an id: it may be one that the caller may not see.
func whyTaken(err error) error {
	own, ok := errors.AsType[*flow.Error](err)
	if ok && own.Kind == provider.KindConflict && !errors.Is(err, flow.ErrLeased) {
		return taken()
	}
	return err
}

// checked is a config in which nothing is wrong.
type checked struct {
	Config json.RawMessage `json:"config"` // as it would be started
}

// admitted reads a config from the body, as it would be started.
func (x *exchange) admitted() (flow.Config, json.RawMessage, error) {
	config, err := x.config()
	if err != nil {
		return nil, nil, err
	}
	if config, err = x.handler.admit(x.request, x.caller, config); err != nil {
		return nil, nil, err
	}
	data, err := flow.EncodeConfig(config)
	return config, data, err
}

// validate checks a config.
func (x *exchange) validate() error {
	config, data, err := x.admitted()
	if err != nil {
		return err
	}
	if err := x.handler.engine.Validate(x.request.Context(), config); err != nil {
		return err
	}
	return x.reply(x.operation.status, checked{data})
}

// priced is what a config may cost.
type priced struct {
	Config   json.RawMessage `json:"config"` // as it would be started
	Estimate flow.Estimate   `json:"estimate"`
	Remains  *flow.Money     `json:"remains,omitempty"` // of the quota; nil: there is none
}

// estimate says what a config may cost.
func (x *exchange) estimate() error {
	config, data, err := x.admitted()
	if err != nil {
		return err
	}
	out := priced{Config: data}
	if out.Estimate, err = x.handler.engine.Estimate(x.request.Context(), config); err != nil {
		return err
	}
	if out.Estimate.Models == nil { // nobody but people takes part
		out.Estimate.Models = []flow.Account{}
	}
	if out.Remains, _, err = x.remains(); err != nil {
		return err
	}
	return x.reply(x.operation.status, out)
}
