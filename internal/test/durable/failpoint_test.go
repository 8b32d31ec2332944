package durable_test

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate"
)

// failpoints counts the places that a process passes, and kills it at one of them.
type failpoints struct {
	kill   int64 // 0: it lives
	passed atomic.Int64
}

// pass passes one.
func (f *failpoints) pass() {
	if f.passed.Add(1) == f.kill {
		f.die()
	}
}

// die ends this process as kill -9 does.
func (f *failpoints) die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {} // the signal comes
}

// fragile is a store with failpoints before and after each write, which it notes.
type fragile struct {
	debate.Store

	points *failpoints
	ledger *ledger
}

func (s *fragile) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	s.points.pass()
	err := s.Store.Append(ctx, id, after, writer, events)
	s.points.pass()
	if err == nil {
		err = s.ledger.commit(id, events)
	}
	return err
}

func (s *fragile) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	s.points.pass()
	defer s.points.pass()
	return s.Store.Lease(ctx, id, owner, d)
}

func (s *fragile) Release(ctx context.Context, id, owner string) error {
	s.points.pass()
	defer s.points.pass()
	return s.Store.Release(ctx, id, owner)
}

// watchful is a fragile store that can watch.
type watchful struct {
	fragile
	debate.Watcher
}
