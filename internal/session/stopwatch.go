package session

import (
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// stopwatch tells the owner of a lease the time of its conversation. The owner starts it when it acquires the lease: from then on
// what passes by the monotonic clock is time of the conversation, and a clock that is set is not. Others may have counted the time
// once they have appended while the owner had no lease: then the stopwatch is stopped, and the next lease starts it anew.
//
// A stopwatch that does not run tells the time of its clock. Only the owner changes it; others may read it meanwhile.
type stopwatch struct {
	clock *clock
	since atomic.Pointer[moment] // when it was started; nil: it does not run
}

func (w *stopwatch) start() {
	now := time.Now()
	w.since.Store(&moment{here: now, there: w.clock.at(now)})
}

func (w *stopwatch) stop() { w.since.Store(nil) }

func (w *stopwatch) runs() bool { return w.since.Load() != nil }

// now returns the time by which the owner writes events.
func (w *stopwatch) now() time.Time {
	if since := w.since.Load(); since != nil {
		return since.later(time.Now())
	}
	return w.clock.now()
}

// input adds the time and the random bits to a signal for a core. If the core's log is ahead, the stopwatch goes on from there: a core
// with inputs behind its log remembers the difference, and would add it to a time that is right after the next start.
func (w *stopwatch) input(core *flow.Core, signal flow.Signal) flow.Input {
	at, last := w.now(), core.Record().LastAt
	if at.Before(last) {
		at = last
		if w.runs() {
			w.since.Store(&moment{here: time.Now(), there: last})
		}
	}
	return inputAt(at, signal)
}
