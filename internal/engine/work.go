package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/session"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

const (
	workSlots = 100
	workDrain = time.Minute
	// workFar is how far off the next call of a conversation may be that has a slot.
	workFar = time.Minute
	// workLooks is how often a worker looks for ended leases in the time of a lease, and workMost the longest time between two looks.
	workLooks = 6
	workMost  = 5 * time.Second
)

// Work says which conversations a worker runs; see debate.Work.
type Work struct {
	Slots  int
	Filter store.Filter
	Fair   string
	Drain  time.Duration
	With   func(ctx context.Context, s *Session)
}

// check reports the fields that are wrong.
func (w *Work) check() (problems []error) {
	const page = "is set: a worker runs all that match, in an order of its own"
	for _, field := range []struct {
		name  string
		wrong bool
		says  string
	}{
		{"Slots", w.Slots < 0, "is negative"},
		{"Drain", w.Drain < 0, "is negative"},
		{"Fair", w.Fair != "", "is not supported yet: leave it empty"},
		{"Filter.After", w.Filter.After != "", page},
		{"Filter.Limit", w.Filter.Limit != 0, page},
		{"Filter.Newest", w.Filter.Newest, page},
		{"Filter.Text", w.Filter.Text != "", "is set: a worker cannot search texts at each look"},
		{"Filter.Per", w.Filter.Per != "", page},
		{"Filter.Each", w.Filter.Each != 0, page},
	} {
		if field.wrong {
			err := errors.New(field.says)
			problems = append(problems, &flow.Error{Kind: provider.KindValidation, Op: "work", Field: field.name, Err: err})
		}
	}
	return problems
}

// Work runs stored conversations until ctx is done; see debate.Engine.
func (l *Engine) Work(ctx context.Context, work Work) error {
	if err := errors.Join(work.check()...); err != nil {
		return err
	}
	if work.Slots == 0 {
		work.Slots = workSlots
	}
	if work.Drain == 0 {
		work.Drain = workDrain
	}
	w := &worker{
		engine: l, drain: work.Drain, with: work.With, far: math.MaxInt64, free: make(chan struct{}, work.Slots), taken: make(map[string]bool),
	}
	if _, ok := l.host.Store.(store.Alarms); ok {
		w.far = workFar
	}
	ctx, stop := context.WithCancel(ctx)
	err := w.run(ctx, work.Filter)
	stop()
	w.group.Wait()
	if err == nil && w.aborted.Load() > 0 {
		err = fmt.Errorf("debate: work: the calls of %d of %d open conversations were aborted: %w", w.aborted.Load(), w.drained.Load(),
			context.DeadlineExceeded)
	}
	return err
}

// worker is one call of Work.
type worker struct {
	engine *Engine
	drain  time.Duration
	with   func(ctx context.Context, s *Session)
	far    time.Duration // how far off the next call of a conversation may be that has a slot
	free   chan struct{} // one for each slot
	group  sync.WaitGroup

	drained atomic.Int64 // conversations that were open when ctx was done
	aborted atomic.Int64 // those of them whose calls were aborted

	mu    sync.Mutex
	taken map[string]bool // the conversations that have a slot
}

// run gives slots to conversations as they become due, until ctx is done. The error says that the engine or the store is closed.
func (w *worker) run(ctx context.Context, filter store.Filter) error {
	every, down := max(dueRest, min(w.engine.host.Lease/workLooks, workMost)), false
	for info, err := range w.engine.due(ctx, filter, every, w.engine.host.Refusal) {
		switch {
		case errors.Is(err, flow.ErrClosed):
			return err
		case errors.Is(err, fs.ErrClosed):
			return session.StoreError("work", err)
		case err != nil:
			if !down {
				w.engine.logger.Warn("worker waits for the store", name("error", err.Error()))
			}
			down = true
			continue
		}
		down = false
		if !w.take(info.ID) {
			continue
		}
		select {
		case w.free <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		w.group.Go(func() {
			w.play(ctx, info.ID)
			w.leave(info.ID)
			<-w.free
		})
	}
	return nil
}

// take reports whether a conversation had no slot, and notes that it has one now. A list may be older than the slot.
func (w *worker) take(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken[id] {
		return false
	}
	w.taken[id] = true
	return true
}

func (w *worker) leave(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.taken, id)
}

// play opens a conversation, and returns when its session is closed. Once ctx is done, it drains the session.
func (w *worker) play(ctx context.Context, id string) {
	s, shared, err := w.engine.host.Open(ctx, id, nil)
	if err != nil || shared { // another process was faster, it is in quarantine now, or the host program has it open
		return
	}
	reading, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if w.with != nil {
		w.group.Go(func() { w.with(reading, of(s)) })
	}
	if _, err := s.Rest(ctx, w.far); err == nil || ctx.Err() == nil {
		s.Close()
		return
	}
	w.drained.Add(1)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.drain)
	defer cancel()
	if s.Drain(drain) {
		w.aborted.Add(1)
	}
}
