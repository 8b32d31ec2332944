package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Rewritten is what becomes of a log.
type Rewritten struct {
	Events []flow.Event // as store.Redactor has them
	Files  map[string][]byte
	Gone   []string // the hashes of blobs
}

// Redact rewrites the log of a conversation, whether or not somebody has it open. rewrite gets the log, again after each conflict.
// A session of this host has reloaded the log when Redact returns. Those of other processes do so once they see that it has grown.
func (h *Host) Redact(ctx context.Context, id string, rewrite func(log []flow.Event) (Rewritten, error)) error {
	redactor, ok := h.Store.(store.Redactor)
	if !ok {
		err := errors.New("the store cannot rewrite logs: it is no store.Redactor")
		return &flow.Error{Kind: provider.KindValidation, Op: "redact", Field: "Engine.Store", Err: err}
	}
	for range maxConflicts {
		err := h.redact(ctx, redactor, id, rewrite)
		if err == nil {
			if core, unread := h.Load(ctx, id); unread == nil { // what was appended has removed an alarm that the log says nothing of
				h.keepAlarm(ctx, core)
			}
			return h.refresh(ctx, id)
		}
		if !errors.Is(err, flow.ErrConflict) {
			return err
		}
	}
	return StoreError("redact", flow.ErrConflict)
}

// redact rewrites a log once.
func (h *Host) redact(ctx context.Context, in store.Redactor, id string, rewrite func(log []flow.Event) (Rewritten, error)) error {
	log, err := h.Read(ctx, id)
	if err != nil {
		return err
	}
	now, err := rewrite(log)
	if err != nil {
		return err
	}
	if err := h.PutFiles(ctx, id, now.Files); err != nil {
		return err
	}
	if err := h.redactReason(ctx, id); err != nil { // before the store cleans its files
		return err
	}
	end := int64(len(log))
	err = h.retryStore(ctx.Done(), func() error { return in.Redact(ctx, id, end, now.Events, now.Gone) })
	if err != nil {
		return StoreError("redact", err)
	}
	var added []flow.Event
	for _, e := range now.Events {
		if e.Seq > end {
			added = append(added, e)
		}
	}
	h.Log(id, added)
	h.cores.forget(id)
	return nil
}

// reasonRedacted is the reason of a quarantine whose own may have quoted what was removed.
const reasonRedacted = "the reason was removed with a text of the conversation"

// redactReason replaces the reason of a quarantine, if there is one: it may quote what was removed. The quarantine ends when it would
// have.
func (h *Host) redactReason(ctx context.Context, id string) error {
	if q := h.shunned.now(id); q.Count > 0 {
		q.Reason = reasonRedacted
		h.shunned.set(id, q)
	}
	kept, keeps := h.Store.(store.Quarantines)
	if !keeps {
		return nil
	}
	err := h.retryStore(ctx.Done(), func() error {
		q, err := kept.Quarantine(ctx, id)
		if err != nil || q == (store.Quarantine{}) {
			return err
		}
		q.Reason = reasonRedacted
		return kept.SetQuarantine(ctx, id, q)
	})
	if err != nil {
		return StoreError("redact", err)
	}
	return nil
}

// refresh lets the session of this host, if it has one, reload the log.
func (h *Host) refresh(ctx context.Context, id string) error {
	s := h.Session(id)
	if s == nil {
		return nil
	}
	if err := s.mu.enter(ctx); err != nil {
		return fmt.Errorf("the text is removed, but the open session may hold it still: %w", err)
	}
	defer s.mu.Unlock()
	if s.closed != nil {
		return nil
	}
	_, err := s.reload(context.WithoutCancel(ctx))
	return err
}

// Forget forgets a conversation that was deleted.
func (h *Host) Forget(id string) { h.cores.forget(id) }
