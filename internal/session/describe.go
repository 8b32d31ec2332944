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
//
// rested is where the log ends if the conversation waits for a call elsewhere until an alarm, or has done so until just now: that no
// process had it was planned. 0: it does not, or nobody knows. One that waits for a person is idle, and none that rests.
func (h *Host) mayOpen(ctx context.Context, id string) (rested int64, err error) {
	info, known, err := h.describe(ctx, id)
	switch {
	case err != nil || !known || info.State.Idle():
		return 0, err
	case info.Owner != "":
		return 0, StoreError("lease", flow.ErrLeased)
	case info.Alarm != 0 && info.Alarm > -flow.Duration(h.Lease):
		return info.Seq, nil
	default:
		return 0, nil
	}
}
