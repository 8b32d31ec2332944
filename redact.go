package debate

import (
	"context"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/session"
)

// Redact removes texts and files from the log of a debate, and appends the fact that it did: how long the texts were, their
// SHA-256, who has removed them, when and why. It returns that fact. All else of the log stays: numbers, times, names, usage and
// costs. The log folds to the same record but for the texts. Where more would change, as when a text stands in a setting such as a
// time-out, the error is of kind validation and names the setting, and nothing has changed.
//
// From then on nothing of the texts stands in the files of the store; what the store cannot reach says its documentation
// ([store.Redactor]). Reports, exports and forks that are made from now on, searches and later requests to models have
// [flow.Redaction].With in the place of the texts. These are not found:
//
//   - a text in other words, in parts, in other letters or with other spaces, as in a summary or a quotation
//   - what is encoded otherwise than as JSON
//   - names: of participants, models, calls, labels. Redacted.Kept says where a text stands as a name.
//   - copies: forks and exports that were made before, backups, the host program's logs, caches and cassettes
//
// The debate may be running, here or in another process: no lease is needed, and nothing that is appended meanwhile is lost. A
// session in this engine has reloaded the log when Redact returns. One in another process does so with its next append or
// within a third of its lease. A request that is on its way still holds the text, and its reply may repeat it.
//
// Redact may be called again: if the fact is in the log already, it makes sure that nothing of the old texts is left in the store's
// files. If the store is no [store.Redactor], the error is of kind validation.
func (e *Engine) Redact(ctx context.Context, id string, redaction flow.Redaction) (*flow.Redacted, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	var fact *flow.Redacted
	err = l.host.Redact(ctx, id, func(log []flow.Event) (out session.Rewritten, err error) {
		if tried := fact; tried != nil { // the store may have failed after its commit
			for i := range log {
				if done, ok := log[i].Body.(*flow.Redacted); ok && done.At.Equal(tried.At) && slices.Equal(done.Events, tried.Events) {
					return session.Rewritten{Gone: redaction.Files}, nil
				}
			}
		}
		fact, out, err = l.redacted(ctx, id, log, redaction)
		return out, err
	})
	if err != nil {
		return nil, err
	}
	return fact, nil
}

// redacted rewrites a log, and checks that it folds to the same record but for the texts.
func (l *engine) redacted(
	ctx context.Context, id string, log []flow.Event, redaction flow.Redaction,
) (*flow.Redacted, session.Rewritten, error) {
	var out session.Rewritten
	blanks := make(map[string]flow.File)
	for _, f := range flow.LogFiles(log) {
		if !slices.Contains(redaction.Files, f.Hash) {
			continue
		}
		blank, data, err := blankFile(&f, redaction.With)
		if err != nil {
			return nil, out, err
		}
		if out.Files == nil {
			out.Files = make(map[string][]byte)
		}
		blanks[f.Hash], out.Files[blank.Hash] = blank, data
	}
	for i := range log {
		m := l.machines[flowOf(log)]
		if m == nil {
			break // the core reports it
		}
		event, err := m.Flow().DecodeEvent(log[i])
		if err != nil {
			return nil, out, err
		}
		log[i] = event
	}
	changed, fact, err := redaction.Apply(log, blanks)
	if err != nil {
		if done := redaction.Done(log); done != nil {
			return done, session.Rewritten{Gone: redaction.Files}, nil
		}
		return nil, out, err
	}
	before, err := l.core(id, log)
	if err != nil {
		return nil, out, err
	}
	after := slices.Clone(log)
	for _, e := range changed {
		after[e.Seq-1] = e
	}
	core, err := l.core(id, after)
	if err != nil {
		return nil, out, flow.HeldBySetting(err)
	}
	if err := flow.SameButTexts(before.Record(), core.Record(), fact); err != nil {
		return nil, out, err
	}
	if fact.At, err = l.host.Now(ctx, "redact"); err != nil {
		return nil, out, err
	}
	at := before.Record().LastAt
	if fact.At.After(at) && !before.HasWork() { // the clock of who continues the debate may be behind this one
		at = fact.At
	}
	changed = append(changed, flow.Event{Seq: int64(len(log)) + 1, At: at, Body: fact})
	out.Events = changed
	out.Gone = redaction.Files
	return fact, out, nil
}

// flowOf returns the name of the flow of a log.
func flowOf(log []flow.Event) string {
	start, ok := log[0].Body.(*flow.Start)
	if !ok {
		return ""
	}
	return start.Flow
}
