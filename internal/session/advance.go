package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/piece"
	"github.com/agonist-dev/debate/provider"
)

// Advance steps a stored conversation that no session of this host has open, saves what follows, and returns what is left to
// the runtime. owner has the lease of the conversation from then on, until no process needs to work on it.
//
// Without a signal, nothing is stepped: it renews the lease, and returns what the log says, without a Wait. A flow.Opened takes over:
// all calls in flight are lost.
//
// If the host lacks what the conversation needs, the error wraps flow.ErrMissing, and only outcomes of calls are recorded, or
// what has begun before the lack showed: the Next is valid then too.
func (h *Host) Advance(ctx context.Context, id, owner string, signal flow.Signal) (next flow.Next, err error) {
	err = h.inFolded(ctx, id, owner, func(a *advance) error {
		if signal == nil {
			next = a.found()
			return nil
		}
		next, err = a.signal(signal)
		return err
	})
	return next, err
}

// Call makes a call in flight, and steps its outcome as Advance does. If the call is not in flight any more, it only finds what is
// due. If the host lacks what the conversation needs, it makes no call.
func (h *Host) Call(ctx context.Context, id, owner string, call flow.Lost, emit func(provider.Chunk)) (next flow.Next, err error) {
	made, inFlight := &attempt{}, false
	var key *piece.Key
	var after int64
	leased := time.Now() // before the lease is renewed
	err = h.inFolded(ctx, id, owner, func(a *advance) error {
		outcome := flow.Signal(flow.Tick{}) // it is not in flight any more
		switch {
		case a.core.InFlightAs(call.Call, call.Attempt):
			if missing := a.core.Missing(); missing != nil {
				return missing // another host makes it
			}
			if a.core.Prepare(call.Call, &made.command, &made.request) == nil {
				key, after, inFlight = pieceKey(a.core), a.core.Record().Seq, true
				return nil
			}
			outcome = call // the flow no longer needs it, so that no process makes it
		case slices.Contains(a.core.InFlight(), call): // a control has aborted it before it was made
			outcome = flow.Failed{Call: call.Call, Attempt: call.Attempt, Error: flow.Classify(context.Canceled), Free: true}
		}
		next, err = a.signal(outcome)
		return err
	})
	if err != nil || !inFlight {
		return next, err
	}
	emit, end := h.published(&made.command, after, key, emit)
	defer end()
	mayLaunch := func() error { // the process may have been stopped since it was asked to make the call
		if h.leaseLasts(leased) {
			return nil
		}
		return h.inFolded(&made.ctx, id, owner, func(a *advance) error {
			if !a.core.InFlightAs(call.Call, call.Attempt) {
				return context.Canceled // another process has given up the call
			}
			return nil
		})
	}
	return h.Advance(context.WithoutCancel(ctx), id, owner, h.await(ctx, made, mayLaunch, emit))
}

// advance is one use of a folded core by the owner of the lease.
type advance struct {
	*folded
	host  *Host
	ctx   context.Context //nolint:containedctx // it lasts as long as this value
	lease string
	wait  time.Duration // of the last step; 0: none is due
}

// inFolded calls do with the core of a conversation as its log is now, under the lease of owner.
func (h *Host) inFolded(ctx context.Context, id, owner string, do func(a *advance) error) error {
	if err := h.Refusal(); err != nil {
		return err
	}
	if owner == "" {
		return &flow.Error{Kind: provider.KindValidation, Op: "advance", Field: "owner", Err: errors.New("is missing")}
	}
	f, err := h.cores.enter(ctx, id, h.newFolded)
	if err != nil {
		return err
	}
	defer h.cores.exit(f)
	a := &advance{folded: f, host: h, ctx: ctx, lease: owner}
	anew, held := f.core == nil, f.held != ""
	if err = a.begin(); err == nil {
		err = do(a)
	}
	if anew || err != nil {
		h.Counts.opened(err)
	}
	switch {
	case err == nil && (anew || f.refused):
		h.letOut(ctx, id)
		f.refused = false
	case f.core == nil || errors.Is(err, flow.ErrMissing):
		f.refused = h.refused(ctx, id, err, 0) || f.refused // before the lease ends, so that no worker comes in between
	}
	if a.rests(err) {
		if err == nil && (anew || held) {
			h.Counts.Rested.Add(1)
		}
		f.held = ""
		_ = h.Store.Release(context.WithoutCancel(ctx), id, owner) // without it the lease ends by itself
	}
	return err
}

// begin acquires the lease and then folds what the log has grown by: nobody else writes the work of the conversation from then on.
// A conversation that is over needs no lease, whoever has it. If another owner has the lease, a log that was not folded yet is read
// only to find out whether the conversation is over.
func (a *advance) begin() error {
	if a.core != nil && a.core.Over() {
		_, err := a.catchUp()
		return err
	}
	held, anew := a.held, a.core == nil
	working := false // as far as is known without the log
	if a.core == nil {
		info, known, err := a.host.describe(a.ctx, a.id)
		if err != nil {
			return err
		}
		working = known && !info.State.Final()
	}
	a.held = ""
	leased := a.host.retryStore(a.ctx.Done(), func() error { return a.host.Store.Lease(a.ctx, a.id, a.lease, a.host.Lease) })
	if leased != nil && (working || !errors.Is(leased, flow.ErrLeased)) {
		return StoreError("lease", leased)
	}
	if _, err := a.host.Now(a.ctx, "lease"); err != nil {
		return err
	}
	grew, err := a.catchUp()
	if anew || grew && (leased != nil || held != a.lease) { // somebody else may have counted the time
		a.stopwatch.stop()
	}
	if leased == nil {
		a.held = a.lease
		if !a.stopwatch.runs() {
			a.stopwatch.start()
		}
	}
	if err != nil || leased == nil || a.core.Over() {
		return err
	}
	return StoreError("lease", leased)
}

// rests reports whether no process needs the lease after err: nothing is to be done, or there is no log to work on. An engine that
// lacks something leaves the lease to the other engines of the runtime.
func (a *advance) rests(err error) bool {
	if a.core != nil {
		return !errors.Is(err, flow.ErrLeased) && (a.core.Over() || !a.core.HasWork())
	}
	return errors.Is(err, flow.ErrNotFound) || !blameless(err) && !errors.Is(err, flow.ErrMissing)
}

// catchUp folds what the log has grown by. The core survives a store that fails.
func (a *advance) catchUp() (grew bool, err error) {
	if a.core != nil {
		more, err := a.host.foldOn(a.ctx, a.id, a.core)
		if err == nil {
			return len(more) > 0, nil
		}
		if a.core.Err() != nil || errors.Is(err, flow.ErrNotFound) {
			a.core = nil
		}
		if !errors.Is(err, flow.ErrRewritten) {
			return len(more) > 0, err
		}
	}
	log, err := a.host.Read(a.ctx, a.id)
	if err != nil {
		return true, err
	}
	a.core, err = a.host.NewCore(a.id, log)
	return true, err
}

// signal steps a signal of the runtime, and what belongs to it.
func (a *advance) signal(signal flow.Signal) (flow.Next, error) {
	drain, missing := false, a.core.Missing()
	switch s := signal.(type) {
	case flow.Opened:
		s.By = a.lease
		if signal = s; a.core.OpenedAs(s) { // the runtime has not learned that it was taken: it has made none of the calls
			signal = flow.Tick{}
		}
	case flow.Result, flow.Failed, flow.Outcomes, flow.Lost, flow.GivenUp:
		drain = missing != nil
	case flow.Edit, flow.Validate, flow.Validated, flow.Start:
		return flow.Next{}, &flow.Error{Kind: provider.KindState, Op: "advance", Err: errors.New("the conversation has begun")}
	}
	if missing != nil && !drain {
		return flow.Next{}, missing
	}
	signals := []flow.Signal{signal}
	if _, takesOver := signal.(flow.Opened); takesOver {
		for _, lost := range a.core.InFlight() {
			signals = append(signals, lost)
		}
		signals = append(signals, flow.Tick{})
	}
	for _, one := range signals {
		out, err := a.step(one, drain)
		if err != nil {
			return flow.Next{}, err
		}
		if missing = cmp.Or(missing, out.Missing); missing != nil {
			break
		}
	}
	next := a.found()
	next.Wait = a.wait
	return next, missing
}

// found returns what the log says, without a Wait.
func (a *advance) found() flow.Next {
	r := a.core.Record()
	next := flow.Next{
		Calls: a.core.InFlight(), Idle: !a.core.HasWork(), Over: a.core.Over(), State: r.State, Round: r.Round, Seq: r.Seq,
	}
	for _, call := range next.Calls {
		if !a.core.InFlightAs(call.Call, call.Attempt) {
			next.Abort = append(next.Abort, call.Call)
		}
	}
	return next
}

// step steps one signal, and saves the events.
func (a *advance) step(signal flow.Signal, drain bool) (flow.Output, error) {
	writer := a.lease + "/" + a.writer // stores know by it that the lease's owner writes
	by := &advanced{outsider: outsider{host: a.host, id: a.id, writer: writer, op: "advance"}, stopwatch: &a.stopwatch, drain: drain}
	log := ledger{way: by, core: a.core}
	out, _, err := log.advance(a.ctx, signal)
	if a.core = log.core; a.core != nil && a.core.Err() != nil {
		a.core = nil
	}
	if err != nil {
		return flow.Output{}, err
	}
	if a.wait = 0; !out.Wait.IsZero() {
		a.wait = max(out.Wait.Sub(by.at), 1)
	}
	return out, nil
}

// advanced is the way of the owner of a lease without a session.
type advanced struct {
	outsider

	stopwatch *stopwatch
	drain     bool
	at        time.Time // of the last step
}

func (o *advanced) input(core *flow.Core, signal flow.Signal) flow.Input {
	return o.stopwatch.input(core, signal)
}

func (o *advanced) feed(core *flow.Core, in flow.Input) (out flow.Output, err error) {
	tick, _ := in.Signal.(flow.Tick)
	due := tick.Seq == core.Record().Seq
	if o.drain {
		out, err = core.StepDrain(in)
	} else {
		out, err = core.Step(in)
	}
	if due && err == nil && len(out.Events) == 0 && out.Wait.After(in.At) { // the clock of the runtime is ahead of this one
		in.At = out.Wait
		out, err = core.Step(in)
	}
	o.at = in.At
	return out, err
}
