package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Retention says which conversations [Prune] deletes: those that are over, that have the labels, and whose last event is older
// than a time. A redaction, and the cost of a call that comes late, are such events.
type Retention struct {
	// Before is that time. It is required.
	Before time.Time
	// Labels are labels that a conversation must have, all of them, with these values.
	Labels map[string]string
	// Unfinished also deletes conversations that are not over: those that are paused, wait for a person, are in the error state, or
	// need a process.
	Unfinished bool
	// Batch is how many conversations are deleted before a pause; 0: 100. Pause is the length of the pause, in which others can use
	// the store.
	Batch int
	Pause time.Duration
	// Limit bounds how many conversations are deleted; 0: no limit.
	Limit int
	// DryRun deletes nothing, and yields what would be deleted.
	DryRun bool
	// Open reports whether the caller itself has a conversation open. An open conversation is not deleted. nil: none is open.
	Open func(id string) bool
}

// Pruned is a conversation that [Prune] has deleted or, if Err is set, has not. Err says why: somebody has its lease
// ([flow.ErrLeased]), it has grown meanwhile ([flow.ErrConflict]), or it cannot be read.
type Pruned struct {
	Info

	Err error
}

// ErrOpen means that the caller has the conversation open itself.
var ErrOpen = fmt.Errorf("%w here", flow.ErrLeased)

// leaseToPrune is the time of the lease under which a conversation is deleted. It is long enough for a busy store.
const leaseToPrune = time.Minute

// Prune deletes conversations with their files, in the order of their ids, and yields each with its result. It first acquires
// the lease of each, and checks whether the log has grown. So no process loses a conversation on which it works, and one that
// is continued meanwhile stays. An answer from another process that arrives at the moment of the deletion is deleted too.
//
// ctx bounds the time. A loop that ends early, for whatever reason, has deleted what it has yielded, and a later call continues. An
// error of the loop means that the store has failed, and comes last; ErrOpen and the like are in Pruned.Err.
func Prune(ctx context.Context, s Store, r Retention) iter.Seq2[Pruned, error] {
	return func(yield func(Pruned, error) bool) {
		p := &pruner{Retention: r, store: s, owner: "prune/" + rand.Text(), yield: yield}
		if err := p.run(ctx); err != nil && !errors.Is(err, errLeft) {
			yield(Pruned{}, err)
		}
	}
}

// errLeft means that the loop was left.
var errLeft = errors.New("the loop was left")

// pruner is one loop over Prune.
type pruner struct {
	Retention

	store Store
	owner string
	yield func(Pruned, error) bool
	count int
}

const defaultBatch = 100

func (p *pruner) run(ctx context.Context) error {
	if p.Before.IsZero() {
		return &flow.Error{Kind: provider.KindValidation, Op: "prune", Field: "before", Err: errors.New("is missing")}
	}
	if p.Batch <= 0 {
		p.Batch = defaultBatch
	}
	// Who is older than a time has begun before it.
	filter := Filter{Labels: p.Labels, Until: p.Before, Limit: p.Batch}
	if !p.Unfinished {
		filter.States = []flow.State{flow.StateCompleted, flow.StateCanceled}
	}
	for {
		page, err := p.page(ctx, filter)
		if err != nil {
			return err
		}
		deleted, err := p.batch(ctx, page)
		if err != nil || len(page) < p.Batch {
			return err
		}
		filter.After = page[len(page)-1].ID
		if deleted && p.Pause > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(p.Pause):
			}
		}
	}
}

// batch deletes those of a page that are old enough, and reports whether there were any.
func (p *pruner) batch(ctx context.Context, page []Info) (some bool, err error) {
	for _, info := range page {
		if info.Err == nil && !info.LastAt.Before(p.Before) {
			continue
		}
		if p.Limit > 0 && p.count == p.Limit {
			return some, errLeft
		}
		if err := p.prune(ctx, info); err != nil {
			return some, err
		}
		some = true
	}
	return some, nil
}

// page lists the next conversations.
func (p *pruner) page(ctx context.Context, filter Filter) (page []Info, err error) {
	for info, err := range p.store.List(ctx, filter) {
		if err != nil {
			return nil, err
		}
		page = append(page, info)
	}
	return page, nil
}

// prune deletes one conversation, and yields it. The error ends the loop.
func (p *pruner) prune(ctx context.Context, info Info) error {
	err := p.remove(ctx, info)
	switch {
	case err == nil:
		p.count++
	case errors.Is(err, flow.ErrLeased), errors.Is(err, flow.ErrConflict), info.Err != nil:
	default:
		return err
	}
	if !p.yield(Pruned{info, err}, nil) {
		return errLeft
	}
	return nil
}

func (p *pruner) remove(ctx context.Context, info Info) (err error) {
	switch {
	case info.Err != nil:
		return info.Err
	case p.Open != nil && p.Open(info.ID):
		return ErrOpen
	case p.DryRun && info.Owner != "":
		return flow.ErrLeased
	case p.DryRun:
		return nil
	}
	if err := p.store.Lease(ctx, info.ID, p.owner, leaseToPrune); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = p.store.Release(context.WithoutCancel(ctx), info.ID, p.owner) // otherwise it ends by itself
		}
	}()
	for _, err := range p.store.Read(ctx, info.ID, info.Seq) {
		switch {
		case errors.Is(err, flow.ErrNotFound):
			return p.store.Delete(ctx, info.ID) // somebody else has deleted it: this leaves no lease
		case err != nil:
			return err
		default:
			return flow.ErrConflict
		}
	}
	return p.store.Delete(ctx, info.ID)
}
