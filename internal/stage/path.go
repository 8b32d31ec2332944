package stage

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/store"
)

// path is an engine's store: the company's store behind the engine's way.
type path struct{ m *Member }

// watching is a path that can be watched, announces work, keeps quarantines and alarms, and has a clock.
type watching struct{ path }

// Announce implements [store.Announcer].
func (w watching) Announce(ctx context.Context) <-chan struct{} {
	return w.m.Company.Store.Announce(ctx)
}

// Time implements [store.Clock].
func (w watching) Time(ctx context.Context) (at time.Time, err error) {
	err = w.do(ctx, "time", func() error {
		at, err = w.m.Company.Store.Time(ctx)
		return err
	})
	return at, err
}

// Quarantine implements [store.Quarantines].
func (w watching) Quarantine(ctx context.Context, id string) (q store.Quarantine, err error) {
	err = w.do(ctx, "quarantine", func() error {
		q, err = w.m.Company.Store.Quarantine(ctx, id)
		return err
	})
	return q, err
}

// SetQuarantine implements [store.Quarantines].
func (w watching) SetQuarantine(ctx context.Context, id string, q store.Quarantine) error {
	return w.do(ctx, "quarantine", func() error { return w.m.Company.Store.SetQuarantine(ctx, id, q) })
}

// SetAlarm implements [store.Alarms].
func (w watching) SetAlarm(ctx context.Context, id string, seq int64, d time.Duration) error {
	if w.m.dead.Load() {
		return ErrDead
	}
	return w.m.Company.Store.SetAlarm(ctx, id, seq, d)
}

// ErrBroken is the error of a store that a test has broken.
var ErrBroken = errors.New("the connection is lost")

// ErrDead is the error of a store whose process has died.
var ErrDead = errors.New("this process is gone")

func (p path) do(ctx context.Context, op string, do func() error) error {
	if p.m.dead.Load() {
		return ErrDead
	}
	if w := p.m.way.Load(); w != nil {
		return (*w)(ctx, op, do)
	}
	return do()
}

func (p path) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	if p.m.Company.Apart {
		events = ThroughJSON(p.m.Company.T, events)
	}
	return p.do(ctx, "append", func() error {
		err := p.m.Company.Store.Append(ctx, id, after, writer, events)
		if err == nil && p.m.Company.Saved != nil {
			p.m.Company.Saved(p.m, events)
		}
		return err
	})
}

func (p path) Read(ctx context.Context, id string, after int64) iter.Seq2[debate.Event, error] {
	return func(yield func(debate.Event, error) bool) {
		if err := p.do(ctx, "read", func() error { return nil }); err != nil {
			yield(debate.Event{}, err)
			return
		}
		left := -1
		if p.m.Half != nil {
			left = p.m.Half()
		}
		for event, err := range p.m.Company.Store.Read(ctx, id, after) {
			if left--; left == -1 {
				event, err = debate.Event{}, ErrBroken
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

func (p path) List(ctx context.Context, filter debate.Filter) iter.Seq2[debate.Info, error] {
	return p.m.Company.Store.List(ctx, filter)
}

func (p path) Delete(ctx context.Context, id string) error {
	return p.do(ctx, "delete", func() error { return p.m.Company.Store.Delete(ctx, id) })
}

func (p path) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	return p.do(ctx, "lease", func() error {
		err := p.m.Company.Store.Lease(ctx, id, owner, d)
		if err == nil {
			p.m.Company.mu.Lock()
			defer p.m.Company.mu.Unlock()
			p.m.Company.holder = p.m
		}
		return err
	})
}

func (p path) Release(ctx context.Context, id, owner string) error {
	return p.do(ctx, "release", func() error { return p.m.Company.Store.Release(ctx, id, owner) })
}

func (w watching) Watch(ctx context.Context, id string) <-chan struct{} {
	grown := w.m.Company.Store.Watch(ctx, id)
	if w.m.Heard == nil {
		return grown
	}
	return w.m.Heard(ctx, grown)
}
