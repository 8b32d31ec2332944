package flows

import (
	"fmt"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// Audit counts what went wrong in conversations that were disturbed, by comparing their logs with what the providers were asked.
type Audit struct {
	Asked   int // requests
	Broken  int // attempts that were lost or have failed
	Lost    int // results that an undisturbed conversation has, and this one has not
	Doubles int // calls with two results, or with an attempt that has none
	Again   int // requests for a call whose result is that of an earlier attempt
	Twice   int // attempts that were made more than once
}

// Add counts a conversation. want are the Results of an undisturbed one.
func (a *Audit) Add(log []flow.Event, asked []Asked, want map[string]string) {
	settled := make(map[string]int) // the attempt that a call's result is of
	for _, e := range log {
		if _, failed := e.Body.(*flow.Failure); failed {
			a.Broken++
		} else if spend := flow.SpendOf(e.Body); spend != nil {
			settled[spend.Call] = spend.Attempt
		}
	}
	a.Asked += len(asked)
	for i, one := range asked {
		if by, ok := settled[one.Call]; ok && one.Attempt > by {
			a.Again++
		}
		if slices.ContainsFunc(asked[:i], func(o Asked) bool { return o.Call == one.Call && o.Attempt == one.Attempt }) {
			a.Twice++
		}
	}
	a.Doubles += len(stage.Doubles(log))
	got := Results(log)
	for call, text := range want {
		if found, ok := got[call]; !ok || found != text {
			a.Lost++
		}
	}
}

// Unsettled reports whether a log ends with the beginning of a call, alone or among others, that its conversation's last request is
// for, and the request is of that worker. If the worker is gone, the call is broken off, and somebody makes it again.
func Unsettled(log []flow.Event, asked []Asked, worker string) bool {
	for _, e := range slices.Backward(log) {
		begun, ok := e.Body.(*flow.Intent)
		if !ok || len(asked) == 0 {
			return false
		}
		if last := asked[len(asked)-1]; last.By == worker && last.Call == begun.Call && last.Attempt == begun.Attempt {
			return true
		}
	}
	return false
}

// Faults is how much of what must not happen has happened.
func (a *Audit) Faults() int { return a.Lost + a.Doubles + a.Again + a.Twice }

// String implements [fmt.Stringer].
func (a *Audit) String() string {
	return fmt.Sprintf("%d calls made, %d broken off; lost %d, double advances %d, asked again after a recorded result %d, one attempt made "+
		"twice %d", a.Asked, a.Broken, a.Lost, a.Doubles, a.Again, a.Twice)
}
