package durable_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// The kinds of failpoints.
const (
	beforeAppend  = "before an append"
	afterAppend   = "after an append"
	beforeLease   = "before a lease"
	afterLease    = "after a lease"
	beforeRelease = "before a release"
	afterRelease  = "after a release"
	beforeCall    = "before a call"
	beforeFailure = "before a call's failure"
	beforeAnswer  = "before a call's answer"
	beforeEffect  = "before an effect"
	afterEffect   = "after an effect"
)

// death says at which failpoint a process kills itself: the one with this number of those of a kind, or of all if that is empty. The
// zero death is none. Numbers of a kind are sure, since a slow machine adds leases alone.
type death struct {
	Kind   string `json:"kind,omitempty"`
	Number int64  `json:"number"` // from 1
}

// failpoints notes the kinds of those that a process passes, and kills it at one of them.
type failpoints struct {
	kill death

	mu     sync.Mutex
	passed []string
	count  int64 // of those that kill counts
}

// pass passes one.
func (f *failpoints) pass(kind string) {
	f.mu.Lock()
	f.passed = append(f.passed, kind)
	dead := false
	if f.kill.Kind == "" || f.kill.Kind == kind {
		f.count++
		dead = f.count == f.kill.Number
	}
	f.mu.Unlock()
	if dead {
		f.die(kind)
	}
}

// die tells where, and ends this process as kill -9 does.
func (f *failpoints) die(where string) {
	fmt.Println(where)
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // the signal comes
}

// fragile is a store with failpoints before and after each write, which it notes.
type fragile struct {
	store.Store

	points *failpoints
	ledger *ledger
}

func (s *fragile) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	s.points.pass(beforeAppend)
	err := s.Store.Append(ctx, id, after, writer, events)
	s.points.pass(afterAppend)
	if err == nil {
		err = s.ledger.commit(id, events)
	}
	return err
}

func (s *fragile) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	s.points.pass(beforeLease)
	defer s.points.pass(afterLease)
	return s.Store.Lease(ctx, id, owner, d)
}

func (s *fragile) Release(ctx context.Context, id, owner string) error {
	s.points.pass(beforeRelease)
	defer s.points.pass(afterRelease)
	return s.Store.Release(ctx, id, owner)
}

// watchful is a fragile store that can watch and has a clock.
type watchful struct {
	fragile
	store.Watcher
	store.Clock
}
