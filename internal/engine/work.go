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
)

// When a worker looks for work.
const (
	// looksPerLease is how often a worker looks for leases that have ended, in the time of one; lookEvery is the longest time between
	// two looks.
	looksPerLease = 6
	lookEvery     = 5 * time.Second
	// lookBlind is the longest time if the store announces nothing.
	lookBlind = time.Second
	// lookRest is the shortest time between two looks. So values that come one after the other cost no more than ten a second.
	lookRest = 100 * time.Millisecond
	// lookShare bounds the time that looking takes, to one part in lookShare and one.
	lookShare = 3
	// lookFresh is how long what was read is taken for true.
	lookFresh = time.Second
	// lookPatience and openPatience are how long a worker waits for a page of the list, and for a conversation to be opened: the server of
	// a store may have gone without a word. Then it tries again, by another connection.
	lookPatience = time.Minute
	openPatience = 5 * time.Minute
	// lookLeast and lookMost bound how many conversations a look reads at once.
	lookLeast = 64
	lookMost  = 4096
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
		{"Filter.After", w.Filter.After != "", page},
		{"Filter.Limit", w.Filter.Limit != 0, page},
		{"Filter.Newest", w.Filter.Newest, page},
		{"Filter.Text", w.Filter.Text != "", "is set: a worker cannot search texts at each look"},
		{"Filter.Per", w.Filter.Per != "", "is set: set Fair"},
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
	w := newWorker(l, work)
	working, stop := context.WithCancel(ctx) // it also ends announcing
	if a, ok := l.host.Store.(store.Announcer); ok {
		w.announced = a.Announce(working)
	} else {
		w.every = min(w.every, lookBlind)
	}
	err := w.run(working)
	stop()
	w.group.Wait()
	if err == nil && w.aborted.Load() > 0 {
		err = fmt.Errorf("debate: work: the calls of %d of %d open conversations were aborted: %w", w.aborted.Load(), w.drained.Load(),
			context.DeadlineExceeded)
	}
	return err
}

// worker is one call of Work. Its own goroutine looks for work and deals it, and each conversation that has a slot has another one.
type worker struct {
	engine    *Engine
	drain     time.Duration
	with      func(ctx context.Context, s *Session)
	far       time.Duration   // how far off the next call of a conversation may be that has a slot
	every     time.Duration   // between two looks, if nothing is announced
	announced <-chan struct{} // nil: the store announces nothing
	group     sync.WaitGroup

	slots  int
	freed  chan seat
	taken  map[string]bool // the conversations that have one
	dealer *dealer

	filter store.Filter
	looked time.Time     // when the last look has ended
	last   string        // the last conversation that it has read, if there may be more behind it
	dealt  int           // conversations that got slots since
	failed int           // those of them that could not be opened
	took   time.Duration // to read the list
	more   bool          // there may be more to do than it has found
	down   bool          // it has failed

	drained atomic.Int64 // conversations that were open when ctx was done
	aborted atomic.Int64 // those of them whose calls were aborted
}

// seat is a slot that a conversation has.
type seat struct {
	id, value string
	failed    bool // it could not be opened
}

func newWorker(l *Engine, work Work) *worker {
	w := &worker{
		engine: l, slots: work.Slots, drain: work.Drain, with: work.With, filter: work.Filter, far: math.MaxInt64,
		every: max(lookRest, min(l.host.Lease/looksPerLease, lookEvery)), dealer: newDealer(work.Fair), taken: make(map[string]bool),
		freed: make(chan seat),
	}
	if w.slots == 0 {
		w.slots = workSlots
	}
	if w.drain == 0 {
		w.drain = workDrain
	}
	if _, ok := l.host.Store.(store.Alarms); ok {
		w.far = workFar
	}
	w.filter.Due, w.filter.Limit = true, min(max(lookLeast, 4*min(w.slots, lookMost)), lookMost)
	if work.Fair != "" {
		w.filter.Per, w.filter.Each, w.filter.Limit = work.Fair, w.filter.Limit, lookMost
	}
	return w
}

// run gives slots to conversations as they come to need a process, until ctx is done. The error says that the engine or the store is
// closed.
func (w *worker) run(ctx context.Context) error {
	for ctx.Err() == nil {
		switch err := w.look(ctx); {
		case err == nil:
			w.down = false
		case ctx.Err() != nil: // this was the last look
		case errors.Is(err, flow.ErrClosed):
			return err
		case errors.Is(err, fs.ErrClosed):
			return session.StoreError("work", err)
		default:
			if !w.down {
				w.engine.logger.Warn("worker waits for the store", name("error", err.Error()))
			}
			w.down = true
		}
		w.await(ctx)
	}
	return nil
}

// look reads what is due, page by page until it has enough for the free slots.
func (w *worker) look(ctx context.Context) (err error) {
	began := time.Now()
	defer func() {
		w.looked, w.took = time.Now(), 0
		if err == nil {
			w.took = w.looked.Sub(began)
		}
	}()
	w.dealer.clear()
	w.more = false
	if err := w.engine.host.Refusal(); err != nil {
		return err
	}
	filter, each, reached := w.filter, make(map[string]int), false // each: how many a value has
	if w.failed > 0 && w.failed >= w.dealt {                       // what the store cannot read now hides nothing behind it
		filter.After = w.last
	}
	behind := filter.After != ""
	w.last, w.dealt, w.failed = "", 0, 0
	for free := w.slots - len(w.taken); ; {
		page, err := w.page(ctx, filter)
		if err != nil {
			return err
		}
		for i := range page {
			value := w.dealer.value(&page[i])
			each[value]++
			reached = reached || each[value] == filter.Each
			if id := page[i].ID; !w.taken[id] && !w.engine.host.Shuns(id) {
				w.dealer.add(&page[i])
			}
		}
		full, enough := len(page) == filter.Limit, w.dealer.left >= free
		switch {
		case full && !enough:
			filter.After = page[len(page)-1].ID
			continue
		case full && filter.Each > 1: // so that there is room for all values
			w.filter.Each /= 2
		case reached && !enough: // this engine leaves alone what it has read
			w.filter.Each = min(2*filter.Each, lookMost)
		}
		w.more = (full || reached) && w.dealer.left > 0 || behind
		if full {
			w.last = page[len(page)-1].ID
		}
		return nil
	}
}

func (w *worker) page(ctx context.Context, filter store.Filter) (page []store.Info, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	for info, err := range w.engine.host.Store.List(ctx, filter) {
		if err != nil {
			return nil, err
		}
		page = append(page, info)
	}
	return page, nil
}

// await deals what the last look has found to the slots that are free and become free, until it is time for another look, or ctx is
// done. While all slots are taken, no look has a use.
func (w *worker) await(ctx context.Context) {
	rest, late := time.NewTimer(max(lookRest, lookShare*w.took)), time.NewTimer(w.every)
	defer rest.Stop()
	defer late.Stop()
	for rested := false; ctx.Err() == nil; {
		w.deal(ctx)
		var announced <-chan struct{}
		var over <-chan time.Time
		if rested && len(w.taken) < w.slots {
			if w.more {
				return
			}
			announced, over = w.announced, late.C
		}
		select {
		case <-rest.C:
			rested = true
		case s := <-w.freed:
			delete(w.taken, s.id)
			w.dealer.free(s.value)
			if s.failed {
				w.failed++
			}
		case <-announced:
			return
		case <-over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// deal gives free slots to what waits, unless that is old: other workers have taken it up by now.
func (w *worker) deal(ctx context.Context) {
	if w.dealer.left > 0 && time.Since(w.looked) > lookFresh {
		w.dealer.clear()
		w.more = true
	}
	for len(w.taken) < w.slots {
		id, value, ok := w.dealer.next()
		if !ok {
			return
		}
		w.taken[id] = true
		w.dealt++
		w.group.Go(func() {
			failed := w.play(ctx, id)
			select {
			case w.freed <- seat{id, value, failed}:
			case <-ctx.Done(): // no slot is given any more
			}
		})
	}
}

// play opens a conversation, and returns when its session is closed. Once ctx is done, it drains the session. It reports whether the
// conversation could not be opened, though nobody else has it.
func (w *worker) play(ctx context.Context, id string) (failed bool) {
	opening, cancel := context.WithTimeout(ctx, openPatience)
	s, shared, err := w.engine.host.Open(opening, id, nil)
	cancel()
	if err != nil || shared { // another process was faster, it is in quarantine now, or the host program has it open
		return err != nil && !errors.Is(err, flow.ErrLeased)
	}
	if w.with != nil {
		reading, end := context.WithCancel(context.WithoutCancel(ctx))
		w.group.Go(func() {
			defer end()
			w.with(reading, of(s))
		})
		defer func() { time.AfterFunc(w.engine.host.Grace, end) }() // a reader may be behind
	}
	if _, err := s.Rest(ctx, w.far); err == nil || ctx.Err() == nil {
		s.Close()
		return false
	}
	w.drained.Add(1)
	drain, end := context.WithTimeout(context.WithoutCancel(ctx), w.drain)
	defer end()
	if s.Drain(drain) {
		w.aborted.Add(1)
	}
	return false
}
