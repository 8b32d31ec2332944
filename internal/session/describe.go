package session

import (
	"context"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// describe returns what the store says of a conversation without its log. known is false if only the log says more: the store
// is no [store.Describer], or the conversation is damaged.
func (h *Host) describe(ctx context.Context, id string) (info store.Info, known bool, err error) {
	d, ok := h.Store.(store.Describer)
	if !ok {
		return store.Info{}, false, nil
	}
	if info, err = d.Describe(ctx, id); err != nil {
		return store.Info{}, false, StoreError("open", named(err, id))
	}
	return info, info.Err == nil, nil
}

// mayOpen returns an error if the log of a conversation need not be read: there is none, or the conversation needs a process and
// has one. It acquires no lease, because only the log tells whether the host has what the conversation needs.
func (h *Host) mayOpen(ctx context.Context, id string) error {
	info, known, err := h.describe(ctx, id)
	if err == nil && known && !info.State.Idle() && info.Owner != "" {
		err = StoreError("lease", flow.ErrLeased)
	}
	return err
}
