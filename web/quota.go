package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// The sum that a scope may cost is one number over many processes. So what adds to it happens under a lease of the store, on an id that
// no conversation has: whoever holds it reads the sum, and stores what adds to it. What is stored counts in the next sum, so that nothing
// else has to be reserved, and a crash leaves nothing that is wrong.
const (
	quotaPrefix = "quota-" // of the ids on which these leases are
	quotaLease  = 15 * time.Second
	quotaRetry  = 50 * time.Millisecond // between two tries to acquire it
	quotaWait   = 10 * time.Second
)

// account is what a scope costs.
type account struct {
	store.Sum
	quota flow.Money // 0: no limit
}

// remains returns what the conversations of the scope may cost beyond those that there are.
func (a *account) remains() flow.Money { return max(0, a.quota-a.Most()) }

// accountOf sums up a scope.
func (h *Handler) accountOf(ctx context.Context, scope map[string]string) (account, error) {
	sum, err := store.SumOf(ctx, h.engine.Store, store.Filter{Labels: scope})
	if err != nil {
		return account{}, &flow.Error{Kind: provider.KindStore, Op: "sum", Err: err}
	}
	out := account{Sum: sum}
	if h.options.Quota != nil {
		out.quota = h.options.Quota(scope)
	}
	return out, nil
}

// bounded reports whether a scope has a quota.
func (h *Handler) bounded(scope map[string]string) bool {
	return h.options.Quota != nil && h.options.Quota(scope) > 0
}

// reserve calls do, which changes what the conversations of a scope may cost, while nobody else does. What do has to know, it finds out
// itself, and it asks fits before it adds anything. Of a scope without a quota do is called at once.
func (h *Handler) reserve(ctx context.Context, scope map[string]string, do func(context.Context) error) error {
	if !h.bounded(scope) {
		return do(ctx)
	}
	return h.alone(ctx, scope, do)
}

// fits returns an error unless the conversations of a scope may cost together what a conversation with a hard limit adds. used is the part
// of the limit that counts already.
func (h *Handler) fits(ctx context.Context, scope map[string]string, limit, used flow.Money) error {
	if !h.bounded(scope) {
		return nil
	}
	if limit <= 0 {
		err := flow.WithMend(errors.New("is missing: what all conversations cost together is limited here"), "set budget.hard")
		return &flow.Error{Kind: provider.KindValidation, Op: opQuota, Field: "budget.hard", Err: err}
	}
	sum, err := h.accountOf(ctx, scope)
	if err != nil {
		return err
	}
	if sum.Unlimited > 0 {
		return h.unlimited(ctx, scope)
	}
	if left := sum.quota - sum.Most(); max(0, limit-used) > max(0, left) {
		err := fmt.Errorf("%s of %s are left for all conversations together, and %s are needed",
			max(0, left).Rounded(), sum.quota.Rounded(), (limit - used).Rounded())
		err = flow.WithMend(err, "lower budget.hard, or end conversations that are not over")
		return &flow.Error{Kind: provider.KindCostLimit, Op: opQuota, Field: "budget.hard", Err: err}
	}
	return nil
}

// uncounted refuses to delete a conversation that has cost something: what is not stored does not count in the sum.
func uncounted(r *flow.Record) error {
	spent, copied, abandoned := r.Spent(), r.Copied(), r.Abandoned()
	cost := spent.Cost.Plus(spent.AtMost).Plus(abandoned.AtMost)
	if beyond := cost - copied.Cost.Plus(copied.AtMost); beyond > 0 {
		err := fmt.Errorf("the conversation has cost up to %s, which count in what all conversations may cost together", beyond.Rounded())
		err = flow.WithMend(err, "keep it, or let who runs the server delete it")
		return &flow.Error{Kind: provider.KindConflict, Op: opQuota, Err: err}
	}
	return nil
}

// unlimited refuses to add to a scope in which a conversation that is not over has no hard limit. It names the first.
func (h *Handler) unlimited(ctx context.Context, scope map[string]string) error {
	id := ""
	for info, err := range h.engine.Store.List(ctx, store.Filter{Labels: scope, Unfinished: true}) {
		if err != nil {
			return &flow.Error{Kind: provider.KindStore, Op: opQuota, Err: err}
		}
		if info.Limit == 0 {
			id = info.ID
			break
		}
	}
	err := fmt.Errorf("nothing bounds what the conversation %s may still cost", id)
	err = flow.WithMend(err, "amend budget.hard of the conversation "+id+", or end it")
	return &flow.Error{Kind: provider.KindCostLimit, Op: opQuota, Field: "budget.hard", Err: err}
}

// alone calls do while no other process does the same for the scope. The context of do ends if the lease cannot be renewed.
func (h *Handler) alone(ctx context.Context, scope map[string]string, do func(context.Context) error) error {
	labels, err := json.Marshal(scope) // in the order of the keys
	if err != nil {
		return err
	}
	hash := sha256.Sum256(labels)
	id, owner := quotaPrefix+hex.EncodeToString(hash[:])[:32], "web/"+rand.Text()
	if err := h.acquire(ctx, id, owner); err != nil {
		return err
	}
	held, end := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		h.renew(held, id, owner, end)
	}()
	defer func() {
		end(nil)
		<-renewed
		_ = h.engine.Store.Release(context.WithoutCancel(ctx), id, owner) // otherwise it ends by itself
	}()
	return do(held)
}

// acquire waits for the lease of a scope.
func (h *Handler) acquire(ctx context.Context, id, owner string) error {
	patience := time.NewTimer(quotaWait)
	defer patience.Stop()
	for {
		err := h.engine.Store.Lease(ctx, id, owner, quotaLease)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, flow.ErrLeased):
			return &flow.Error{Kind: provider.KindStore, Op: opQuota, Err: err}
		}
		again := time.NewTimer(quotaRetry)
		select {
		case <-again.C:
		case <-patience.C:
			again.Stop()
			err := errors.New("others are starting conversations on the same account: try again")
			return &refusal{status: http.StatusServiceUnavailable, after: time.Second, err: err}
		case <-ctx.Done():
			again.Stop()
			return ctx.Err()
		}
	}
}

// renew renews the lease of a scope until ctx is done. If that fails, it ends ctx.
func (h *Handler) renew(ctx context.Context, id, owner string, end context.CancelCauseFunc) {
	tick := time.NewTicker(quotaLease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := h.engine.Store.Lease(ctx, id, owner, quotaLease); err != nil && ctx.Err() == nil {
				end(&flow.Error{Kind: provider.KindStore, Op: opQuota, Err: err})
				return
			}
		}
	}
}
