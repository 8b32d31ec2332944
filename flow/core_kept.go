package flow

import "slices"

// kept is what the flow wanted last in the present state. As long as nothing is recorded that could change it (see [Step].Steady), it
// is kept up to date from what is recorded: the flow is not asked, and calls in flight are not looked at. It follows from the record: a
// core without it asks the flow, and finds the same.
//
// It is of use while calls of it are in flight; nil: there is none. Before the flow leads on, it is asked in any case.
type kept struct {
	calls  []*Call // in the flow's order, also those that have a result since
	steady []CallKind
	idle   []int // the places of those that are neither in flight nor over, in their order
	flying int   // how many are in flight
	left   int   // how many have no result, and are not left out
	from   int   // where the search for a call begins: what happens to calls happens mostly in their order
}

// holds reports whether the flow need not be asked what it wants.
func (k *kept) holds() bool { return k != nil && k.flying > 0 }

// keep keeps what the flow wants now, if the step is steady. A person's call is watched in another way; see [due.look].
func (c *Core) keep(step Step, calls []*Call) {
	c.kept = nil
	if len(step.Steady) == 0 || len(calls) < 2 {
		return
	}
	now := &kept{calls: calls, steady: step.Steady}
	for i, call := range calls {
		if call.Performer == ByPerson {
			return
		}
		status := callIdle
		if state := c.record.calls[call.ID]; state != nil {
			status = state.status
		}
		switch status {
		case callInFlight:
			now.flying++
		case callIdle, callFailed:
			now.idle = append(now.idle, i)
		case callDone, callSkipped:
		}
		if status != callSkipped {
			now.left++
		}
	}
	c.kept = now
}

// find returns the place of a call; -1: it is none of them.
func (k *kept) find(id string) int {
	for range k.calls {
		at := k.from
		if k.from++; k.from == len(k.calls) {
			k.from = 0
		}
		if k.calls[at].ID == id {
			return at
		}
	}
	return -1
}

// fold brings the list up to date with an event that the record has folded. false: the flow may want something else now.
func (k *kept) fold(r *Record, e *Event) bool {
	switch body := e.Body.(type) {
	case *Intent:
		return isSideWork(body) || k.takeOff(body.Call)
	case *Warning:
		return body.Call != "" // about an attempt, and not about the round or the budget
	case AttemptEnd:
		call := r.calls[SpendOf(body).Call]
		return isSideWork(call.intent) && call.status != callFailed || k.land(call)
	default:
		return false
	}
}

// isSideWork reports whether an attempt is at something that a call waits for: a summary, or the use of a tool. That call is idle
// meanwhile.
func isSideWork(in *Intent) bool { return in.Tool != "" || in.Upto > 0 }

// takeOff takes note that a call is in flight. false: it is none of the list.
func (k *kept) takeOff(id string) bool {
	at := k.find(id)
	if at < 0 {
		return false
	}
	if i, found := slices.BinarySearch(k.idle, at); found && i == 0 {
		k.idle = k.idle[1:]
	} else if found {
		k.idle = slices.Delete(k.idle, i, i+1)
	}
	k.flying++
	return true
}

// land takes note that an attempt has ended. false: the flow may want something else now.
func (k *kept) land(call *callState) bool {
	at := -1
	if !isSideWork(call.intent) {
		at = k.find(call.intent.Call)
	}
	if at < 0 {
		return false
	}
	k.flying--
	switch call.status {
	case callDone:
		k.left--
		return slices.Contains(k.steady, call.intent.Kind)
	case callIdle: // it is made again, or waits for its tools
		i, _ := slices.BinarySearch(k.idle, at)
		k.idle = slices.Insert(k.idle, i, at)
		return true
	default:
		return false
	}
}
