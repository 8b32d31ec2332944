package session

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate/flow"
)

// maxConflicts bounds how often in a row others may append first. Each of them has made progress.
const maxConflicts = 100

// way is how one writer steps a core, and gets into a log. A session whose lock is held is one.
type way interface {
	// load makes a core of the log as it is now, and returns the log.
	load(ctx context.Context) (*flow.Core, []flow.Event, error)
	// input adds to a signal what a step of this core needs beside it.
	input(core *flow.Core, signal flow.Signal) flow.Input
	feed(core *flow.Core, in flow.Input) (flow.Output, error)
	// save appends the events of a step. If others have appended, it returns flow.ErrConflict. doubt says that an earlier try of
	// this append may have succeeded all the same.
	save(ctx context.Context, events []flow.Event) (doubt bool, err error)
}

// ledger is a log and the way of one writer into it.
type ledger struct {
	way

	core *flow.Core // the log as the writer knows it. nil: load makes it
}

// advance steps the core and saves the events. If others have appended meanwhile, the core is dropped, because it holds what nobody
// has saved, and the signal is stepped again by a core of the log that has grown. If that log holds the events of an append in
// doubt, the signal was stepped, and a Tick finds what is due. grown says that others have appended.
//
// Beside an error that is not the core's, the core may be nil.
func (l *ledger) advance(ctx context.Context, signal flow.Signal) (out flow.Output, grown bool, err error) {
	var tried []flow.Event // in doubt
	for range maxConflicts {
		if l.core == nil {
			var log []flow.Event
			if l.core, log, err = l.load(ctx); err != nil {
				return flow.Output{}, grown, err
			}
			if contains(log, tried) {
				signal = flow.Tick{}
			}
		}
		if err = unexpected(ctx, signal, l.core.Record()); err != nil {
			return flow.Output{}, grown, err
		}
		out, err = l.feed(l.core, l.input(l.core, signal))
		if err != nil || len(out.Events) == 0 {
			return out, grown, err
		}
		var doubt bool
		doubt, err = l.save(ctx, out.Events)
		if err == nil {
			return out, grown, nil
		}
		l.core = nil
		if !errors.Is(err, flow.ErrConflict) {
			return flow.Output{}, grown, err
		}
		grown = true
		if tried = nil; doubt {
			tried = out.Events
		}
	}
	return flow.Output{}, grown, err
}

// outsider is the way of a writer without a session, for a control of a process without the lease.
type outsider struct {
	host       *Host
	id, writer string
	op         string // what errors say that it does
}

func (o *outsider) load(ctx context.Context) (*flow.Core, []flow.Event, error) {
	return o.host.loadLate(ctx, o.id)
}

func (o *outsider) input(_ *flow.Core, signal flow.Signal) flow.Input { return o.host.Input(signal) }

func (o *outsider) feed(core *flow.Core, in flow.Input) (flow.Output, error) { return remote(core, in) }

func (o *outsider) save(ctx context.Context, events []flow.Event) (doubt bool, err error) {
	tries := 0
	err = o.host.retryStore(ctx.Done(), func() error {
		tries++
		return o.host.Store.Append(ctx, o.id, events[0].Seq-1, o.writer, events)
	})
	if err != nil {
		return tries > 1, StoreError(o.op, err)
	}
	o.host.Log(o.id, events)
	return false, nil
}

// remote feeds a control of a process without the lease. What is due is left to the one that has it.
func remote(core *flow.Core, in flow.Input) (flow.Output, error) {
	if _, ok := in.Signal.(flow.Tick); ok {
		return flow.Output{}, nil
	}
	return core.StepRemote(in)
}

// contains reports whether a log holds events that were to be appended. Then the append has succeeded, whatever the
// store said.
func contains(log, tried []flow.Event) bool {
	for i := range tried {
		if tried[i].Seq > int64(len(log)) || !flow.SameEvent(&log[tried[i].Seq-1], &tried[i]) {
			return false
		}
	}
	return len(tried) > 0
}
