package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// CheckRedact checks that these events can change a log that ends at after, as [Redactor] requires: their numbers rise, and
// numbers above after follow it without gaps. If not, the error is of kind validation.
func CheckRedact(after int64, events []flow.Event) error {
	last := int64(0)
	for i := range events {
		seq := events[i].Seq
		if seq <= last || seq > after && seq != max(last, after)+1 {
			err := fmt.Errorf("event %d cannot follow event %d in a log of %d events", seq, last, after)
			return &flow.Error{Kind: provider.KindValidation, Op: "redact", Field: "events", Err: err}
		}
		last = seq
	}
	if len(events) > 0 && last <= after {
		err := fmt.Errorf("nothing is appended to a log of %d events", after)
		return &flow.Error{Kind: provider.KindValidation, Op: "redact", Field: "events", Err: err}
	}
	return nil
}

// Redact implements [Redactor]. The garbage collector frees what was replaced.
func (s *Memory) Redact(_ context.Context, id string, after int64, events []flow.Event, blobs []string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	if err := CheckRedact(after, events); err != nil {
		return err
	}
	l := s.log(id, false)
	if l == nil {
		return flow.ErrNotFound
	}
	defer l.mu.Unlock()
	switch {
	case l.length == 0:
		return flow.ErrNotFound
	case l.length != after:
		return flow.ErrConflict
	}
	now := slices.Clone(l.facts) // readers have the former blocks
	for i := range now {
		now[i] = slices.Clone(now[i])
	}
	l.facts = now
	for i := range events {
		e := &events[i]
		if e.Seq > after {
			l.add(pack(e))
		} else {
			now[(e.Seq-1)/factBlock][(e.Seq-1)%factBlock] = pack(e)
		}
	}
	if len(events) > 0 {
		l.writer, l.before, l.alarm = "", after, time.Time{}
		l.describe()
		l.watch.Ring()
	}
	for _, hash := range blobs {
		delete(l.blobs, hash)
	}
	return nil
}

// describe makes the description of a log from its events.
func (l *memoryLog) describe() {
	l.info = Info{}
	for i := range l.length {
		event := unpack(l.facts[i/factBlock][i%factBlock], i+1)
		l.info.Add(&event)
	}
}
