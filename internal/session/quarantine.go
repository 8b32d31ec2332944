package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

const (
	// firstQuarantine is how long a conversation is left alone after it could not be opened once. Each time more doubles it.
	firstQuarantine = 30 * time.Second
	// longestQuarantine is the longest that it is left alone.
	longestQuarantine = time.Hour
	// reasonBytes bounds the reason of a quarantine.
	reasonBytes = 300
)

// quarantineOf returns how long a conversation is left alone that could not be opened count times.
func quarantineOf(count int) time.Duration {
	return min(firstQuarantine<<min(max(count, 1)-1, 10), longestQuarantine)
}

// shunned are the conversations that this host leaves alone, whatever others do: it lacks what they need, or the store keeps
// no quarantines. The zero value is ready to use.
type shunned struct {
	mu  sync.Mutex
	all map[string]store.Quarantine
	end map[string]time.Time
}

// now returns for how long a conversation is still shunned, and how often it was.
func (s *shunned) now(id string) store.Quarantine {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.all[id]
	q.Left = flow.Duration(max(0, time.Until(s.end[id])))
	return q
}

// set replaces what is known of a conversation. What was over for long is forgotten.
func (s *shunned) set(id string, q store.Quarantine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other, end := range s.end {
		if time.Since(end) > longestQuarantine {
			delete(s.all, other)
			delete(s.end, other)
		}
	}
	if s.all == nil {
		s.all, s.end = make(map[string]store.Quarantine), make(map[string]time.Time)
	}
	if s.all[id], s.end[id] = q, time.Now().Add(time.Duration(q.Left)); q == (store.Quarantine{}) {
		delete(s.all, id)
		delete(s.end, id)
	}
}

// add adds one more time to a conversation. It returns false if the conversation is still shunned.
func (s *shunned) add(id, reason string, before int) (store.Quarantine, bool) {
	q := s.now(id)
	if q.Left > 0 {
		return q, false
	}
	q = oneMore(q, reason, before)
	s.set(id, q)
	return q, true
}

// oneMore returns the quarantine of a conversation that could not be opened once more.
func oneMore(old store.Quarantine, reason string, before int) store.Quarantine {
	count := max(old.Count, before) + 1
	return store.Quarantine{Count: count, Reason: reason, Left: flow.Duration(quarantineOf(count))}
}

// blameless reports whether an error of opening a conversation, or of working on it, says nothing of the conversation itself:
// somebody else works on it, or the store has failed or is slow.
func blameless(err error) bool {
	failed, ok := errors.AsType[*flow.Error](err)
	if ok && failed.Kind == provider.KindStore {
		return !errors.Is(err, store.ErrDamaged)
	}
	return err == nil || errors.Is(err, flow.ErrLeased) || errors.Is(err, flow.ErrClosed) || errors.Is(err, flow.ErrNotFound) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// refused records that a conversation could not be opened, or that the work on it has broken down: workers leave it alone for a
// while, each time for longer. It is the one way into quarantine, for sessions and for runtimes of others; letOut is the way out. It
// reports whether err says something of the conversation. Who tries before that time is over makes it no longer. before is how often
// that has happened already, as far as the caller knows.
//
// What only this host lacks is no reason for others to leave the conversation alone. If nobody has taken it up by the second
// time, the quarantine in the store tells of it, with nothing left.
func (h *Host) refused(ctx context.Context, id string, err error, before int) bool {
	if blameless(err) || ctx.Err() != nil {
		return false
	}
	h.Counts.Refused.Add(1)
	reason := text.OneLine(redact.Foreign(err.Error()), reasonBytes)
	kept, keeps := h.Store.(store.Quarantines)
	missing := errors.Is(err, flow.ErrMissing)
	if missing || !keeps {
		q, added := h.shunned.add(id, reason, before)
		if added {
			h.Quarantined(id, q)
		}
		if !added || !keeps || q.Count < 2 {
			return true
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.Lease)
	defer cancel()
	old, failed := kept.Quarantine(ctx, id)
	if failed != nil || old.Left > 0 {
		return true
	}
	q := oneMore(old, reason, before)
	if missing {
		q.Left = 0
	}
	if kept.SetQuarantine(ctx, id, q) == nil && !missing {
		h.Quarantined(id, q)
	}
	return true
}

// letOut ends the quarantine of a conversation that was opened, and returns how often it could not be opened before.
func (h *Host) letOut(ctx context.Context, id string) (count int) {
	count = h.shunned.now(id).Count
	h.shunned.set(id, store.Quarantine{})
	kept, keeps := h.Store.(store.Quarantines)
	if !keeps {
		return count
	}
	q, err := kept.Quarantine(ctx, id)
	if err == nil && q != (store.Quarantine{}) {
		count = q.Count
		_ = kept.SetQuarantine(ctx, id, store.Quarantine{})
	}
	return count
}

// Shuns reports whether this host leaves a conversation alone that is due.
func (h *Host) Shuns(id string) bool { return h.shunned.now(id).Left > 0 }
