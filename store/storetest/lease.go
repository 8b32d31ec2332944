package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// short is the length of a lease whose end a check waits for.
const short = 50 * time.Millisecond

func leaseChecks() []check {
	return []check{
		{"lease/one owner holds a conversation", leaseOne},
		{"lease/another conversation is free", leaseOther},
		{"lease/its owner renews it", leaseRenewed},
		{"lease/a release gives it back", leaseReleased},
		{"lease/a stranger releases nothing", leaseStranger},
		{"lease/it ends when its time is over", leaseLapses},
		{"lease/it does not end before", leaseLasts},
		{"lease/a renewal counts from now", leaseShortened},
		{"lease/of many who ask one gets it", leaseCrowd},
		{"lease/of many who ask for one that has ended one gets it", leaseCrowdAfter},
		{"lease/a lease is no conversation", leaseUnbegun},
		{"lease/its owner comes back through another handle", leaseBack},
		{"lease/the list names the owner", leaseListed},
	}
}

func leaseOne(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", some(0, 1, "w"))
	x.lease(handles[0], "a", "me", time.Hour)
	for _, s := range append(handles, x.open()) {
		x.leased("it is mine", s, "a", "you")
		x.leased("it is mine", s, "a", "ME")
		x.leased("it is mine", s, "a", "me ")
	}
}

func leaseOther(x *exam) {
	s := x.open()
	x.lease(s, "a", "me", time.Hour)
	x.lease(s, "b", "you", time.Hour)
	x.lease(s, "A", "you", time.Hour)
	x.lease(s, "c", "me", time.Hour)
	x.leased("it is yours", s, "b", "me")
}

func leaseRenewed(x *exam) {
	handles := x.handles(2)
	for range 3 {
		x.lease(handles[0], "a", "me", time.Hour)
		x.lease(handles[1], "a", "me", time.Hour)
	}
	x.leased("it is mine", handles[1], "a", "you")
	// When a lease ends that is as long as my first, and younger, mine would have ended too.
	x.lease(handles[0], "b", "me", short)
	x.lease(handles[0], "c", "you", short)
	x.lease(handles[1], "b", "me", time.Hour)
	x.until("a lease ends", func() bool { return handles[0].Lease(x.Context(), "c", "me", time.Hour) == nil })
	x.leased("it was renewed", handles[0], "b", "you")
}

func leaseReleased(x *exam) {
	handles := x.handles(2)
	for n := range 4 {
		who := fmt.Sprint("owner ", n)
		x.lease(handles[n%2], "a", who, time.Hour)
		x.leased("it is held", handles[n%2], "a", "you")
		x.release(handles[(n+1)%2], "a", who)
	}
	x.lease(handles[0], "a", "you", time.Hour)
}

func leaseStranger(x *exam) {
	handles := x.handles(2)
	x.release(handles[0], "a", "me")
	x.lease(handles[0], "a", "me", time.Hour)
	for _, s := range handles {
		x.release(s, "a", "you")
		x.release(s, "a", "")
		x.release(s, "a", "ME")
		x.release(s, "b", "me")
	}
	x.leased("I have not released it", handles[1], "a", "you")
	x.release(handles[0], "a", "me")
	x.release(handles[0], "a", "me")
	x.lease(handles[1], "a", "you", time.Hour)
	x.release(handles[0], "a", "me")
	x.leased("it is not mine any more", handles[0], "a", "me")
	x.unknown(handles[0], "a")
}

func leaseLapses(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", some(0, 1, "w"))
	x.lease(handles[0], "a", "me", short)
	x.until("a lease ends", func() bool {
		err := handles[1].Lease(x.Context(), "a", "you", time.Hour)
		if err != nil && !errors.Is(err, flow.ErrLeased) {
			x.Fatalf("Lease gave %v, want nil or flow.ErrLeased", err)
		}
		return err == nil
	})
	x.leased("it has ended, and is yours", handles[0], "a", "me")
	x.release(handles[0], "a", "me")
	x.leased("it has ended, and is yours", handles[0], "a", "me")
	x.release(handles[1], "a", "you")
	x.lease(handles[0], "a", "me", short)
	x.until("the list names no owner", func() bool {
		infos := x.list(handles[1], store.Filter{})
		return len(infos) == 1 && infos[0].Owner == ""
	})
	x.listed("the lease has ended", handles[1], store.Filter{Idle: true}, "a")
}

// leaseLasts uses the clock of this process. The clock of a database may differ from it by coarse.
func leaseLasts(x *exam) {
	const coarse = 5 * time.Millisecond
	handles := x.handles(2)
	for n, d := range []time.Duration{short, 3 * short / 2, 2 * short} {
		id := fmt.Sprint("d", n)
		begin := time.Now()
		x.lease(handles[0], id, "me", d)
		x.until("a lease ends", func() bool { return handles[1].Lease(x.Context(), id, "you", time.Hour) == nil })
		if took := time.Since(begin); took < d-coarse {
			x.Errorf("a lease of %v has ended after %v", d, took)
		}
	}
}

func leaseShortened(x *exam) {
	handles := x.handles(2)
	x.lease(handles[0], "a", "me", time.Hour)
	x.lease(handles[1], "a", "me", short)
	x.until("a lease ends that was shortened", func() bool { return handles[0].Lease(x.Context(), "a", "you", time.Hour) == nil })
}

// asked lets many owners ask for a lease at once, and requires that exactly one gets it.
func asked(x *exam, handles []store.Store, id string) {
	x.Helper()
	const owners = 50
	var got, refused atomic.Int64
	x.crowd(owners, func(i int) {
		switch err := handles[i%len(handles)].Lease(x.Context(), id, fmt.Sprint("owner ", i), time.Hour); {
		case err == nil:
			got.Add(1)
		case errors.Is(err, flow.ErrLeased):
			refused.Add(1)
		default:
			x.Errorf("Lease gave %v, want nil or flow.ErrLeased", err)
		}
	})
	if got.Load() != 1 || refused.Load() != owners-1 {
		x.Errorf("of %d owners who ask at once %d get the lease, and %d are told that it is held", owners, got.Load(), refused.Load())
	}
}

func leaseCrowd(x *exam) {
	handles := x.handles(4)
	for n := range 5 {
		id := fmt.Sprint("d", n)
		if n > 2 {
			x.append(handles[0], id, 0, "w", some(0, 1, "w"))
		}
		asked(x, handles, id)
	}
}

func leaseCrowdAfter(x *exam) {
	handles := x.handles(4)
	x.lease(handles[0], "released", "me", time.Hour)
	x.release(handles[0], "released", "me")
	asked(x, handles, "released")
	x.lease(handles[0], "a", "me", short)
	x.lease(handles[0], "b", "me", short)
	x.until("a lease ends", func() bool { return handles[0].Lease(x.Context(), "b", "you", time.Hour) == nil })
	asked(x, handles, "a")
}

func leaseUnbegun(x *exam) {
	handles := x.handles(2)
	x.lease(handles[0], "a", "me", time.Hour)
	x.lease(handles[0], "b", "me", time.Hour)
	for _, s := range handles {
		x.unknown(s, "a")
		x.listed("a lease is no conversation", s, store.Filter{})
	}
	x.append(handles[1], "a", 0, "w", some(0, 1, "w"))
	x.log(handles[0], "a", 0, some(0, 1, "w"))
	x.listed("b is not begun", handles[0], store.Filter{}, "a")
	x.leased("it is mine since before it was begun", handles[1], "a", "you")
}

func leaseBack(x *exam) {
	x.visit(func(s store.Store) {
		x.append(s, "a", 0, "w", some(0, 1, "w"))
		x.lease(s, "a", "me", time.Hour)
	})
	x.lease(x.open(), "a", "me", time.Hour)
}

func leaseListed(x *exam) {
	handles := x.handles(2)
	for _, id := range []string{"a", "b", "c"} {
		x.append(handles[0], id, 0, "w", some(0, 1, id))
	}
	owners := func(want ...string) {
		x.Helper()
		for _, s := range handles {
			var got []string
			for _, info := range x.list(s, store.Filter{}) {
				got = append(got, info.Owner)
			}
			if what := unlike(got, want); what != "" {
				x.Errorf("the owners in List are wrong: %s", what)
			}
		}
	}
	hostile := "me \"'\\%\n🙂 \u2028" // the host program chooses the token
	owners("", "", "")
	x.lease(handles[0], "b", hostile, time.Hour)
	owners("", hostile, "")
	x.listed("b is held", handles[1], store.Filter{Idle: true}, "a", "c")
	x.lease(handles[1], "a", "you", time.Hour)
	owners("you", hostile, "")
	x.append(handles[1], "b", 1, "w", some(1, 1, "b"))
	owners("you", hostile, "")
	x.release(handles[1], "b", hostile)
	owners("you", "", "")
	x.listed("a is held", handles[0], store.Filter{Idle: true}, "b", "c")
}
