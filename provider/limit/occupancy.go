package limit

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// occupancy is the value that a ledger keeps of a Concurrency: which machine has how many places.
type occupancy struct {
	Machines map[string]tenant `json:"machines"`
}

// tenant is a machine. Times are in microseconds of the ledger's clock since 1970.
type tenant struct {
	Held  int   `json:"held"`
	Wants int   `json:"wants"` // places in all: calls in flight and calls that wait
	Since int64 `json:"since"` // from when it has none
	Until int64 `json:"until"` // when it counts as dead
}

// need is what a machine reports: its calls in flight and the calls that wait.
type need struct {
	machine  string
	inFlight int
	waiting  int
	lease    time.Duration
}

// room is the answer: the places that a machine has, and those that it should have. If these are fewer, other machines
// wait for theirs.
type room struct{ held, fair int }

// update returns what an update of a ledger's value does for a need. got receives the answer.
func (n need) update(calls int, got *room) func(value []byte, now time.Time) []byte {
	return func(value []byte, now time.Time) []byte {
		var o occupancy
		if json.Unmarshal(value, &o) != nil {
			o = occupancy{} // from another release, or damaged: each machine reports what it holds
		}
		*got = o.assign(now.UnixMicro(), n, calls)
		value, _ = json.Marshal(o)
		return value
	}
}

// assign gives a machine the places that are its part and free. What it gives back, by needing less, is free for the
// machines that ask next.
func (o *occupancy) assign(now int64, n need, calls int) room {
	until := now + n.lease.Microseconds()
	live := map[string]tenant{}
	for id, t := range o.Machines {
		if t.Until > now {
			t.Until = min(t.Until, until) // the ledger's clock may have been set back
			live[id] = t
		}
	}
	o.Machines = live
	me := live[n.machine]
	if me.Held > 0 || me.Since == 0 {
		me.Since = now
	}
	me.Held, me.Wants, me.Until = n.inFlight, n.inFlight+n.waiting, until
	o.Machines[n.machine] = me
	free := calls
	for _, t := range o.Machines {
		free -= t.Held
	}
	fair := o.fair(n.machine, calls)
	me.Held += max(0, min(fair-me.Held, free))
	if me.Wants == 0 {
		delete(o.Machines, n.machine)
	} else {
		o.Machines[n.machine] = me
	}
	return room{me.Held, fair}
}

// fair returns how many places a machine should have: what it wants, or else an equal part of what is left of those that
// want less. If there are fewer places than machines, each gets one in turn: that which has had none for
// longest comes first.
func (o *occupancy) fair(machine string, calls int) int {
	most := calls
	if calls < len(o.Machines) {
		most = 1
	}
	ids := slices.SortedFunc(maps.Keys(o.Machines), func(a, b string) int { // the last ones get what cannot be divided
		x, y := o.Machines[a], o.Machines[b]
		turn := cmp.Compare(x.Held, y.Held) // so that places stay where they are
		if most == 1 {
			turn = cmp.Or(cmp.Compare(min(y.Held, 1), min(x.Held, 1)), cmp.Compare(y.Since, x.Since))
		}
		return cmp.Or(cmp.Compare(min(x.Wants, most), min(y.Wants, most)), turn, cmp.Compare(a, b))
	})
	for i, id := range ids {
		part := min(o.Machines[id].Wants, most, calls/(len(ids)-i))
		if id == machine {
			return part
		}
		calls -= part
	}
	return 0
}
