package debate

import (
	"context"
	"io"
	"iter"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/engine"
	"github.com/agonist-dev/debate/store"
)

// SnapshotVersion is the version of the snapshots that this release writes. Older snapshots can be imported.
const SnapshotVersion = engine.SnapshotVersion

// MaxSnapshot is the largest size of a snapshot, in bytes, that is written or read: 64 MiB. A larger log stays in
// its store.
const MaxSnapshot = engine.MaxSnapshot

// Fork starts a new debate that continues from a point of an old one. The new log begins with a copy of the old one
// up to event seq. The old debate does not change and need not be open.
//
// The cut moves forward over events that only complete the one before them: the result of an answer, or the round
// that a transition begins. With seq 0 nothing is copied: the debate begins from the start, as after a reset. Calls
// that were in flight at the cut are not copied. The new debate makes them. What persons were asked to do there, it asks anew: they have
// all of the time, and the edited config says who they are.
//
// What tools have done is not undone. If the original has used tools since the cut that are not read-only, the new debate warns
// of it: see [flow.WarnEffect]. Uses of the copied part are not repeated: their results are copied. Of the uses without a
// result at the cut:
//   - One that was in flight has an unknown outcome in the new debate; see flow.ToolResult.Unknown.
//   - One that the original has begun since has an unknown outcome too, unless its tool is read-only or idempotent: then the
//     new debate makes it, with the same key.
//   - One that the original has not begun is made as in any debate. A person's approval of that one use is not copied. Approval
//     of all uses of a tool is.
//
// What a model asks for after the cut is another use.
//
// edit may change the config; nil changes nothing. edit gets the config with an empty Config.ID and leaves the new
// debate's id there. An empty id becomes a new UUIDv7. An id that exists is a conflict: with [flow.ErrForked], if it is that of this fork.
//
// What the copied part refers to cannot be changed: the names, sides and order of the participants, the flow and
// its config, the format, the mode, and the audience. Other models, texts, judges, limits, rounds and labels can. A model that
// is known to lack a required ability is refused with [flow.ErrUnsupported], as by [Engine.Validate].
//
// edit gets the config that the old debate was started with, without its amendments. A fork of a debate of [Engine.Run] stays
// unattended. Any other fork is unattended if the edited config says so. The amendments of the copied part hold in the new
// debate too. If edit changes what they set, the new debate records that as an amendment after the copied part.
//
// If edit changes the number of rounds, the present round begins as that number has it, as long as no call of it has a result, was left
// out or waits for a decision. A round in which somebody has spoken keeps its phase.
//
// What the copied part has cost counts as the new debate's own. If the debate was paused or in error at the cut, so
// is the new one. A debate that a hard limit has stopped can be retried with a higher limit. If a soft limit has ended the rounds, fork
// from the event before its warning.
func (e *Engine) Fork(ctx context.Context, id string, seq int64, edit func(flow.Config) flow.Config) (*Session, error) {
	return on(e, func(l *engine.Engine) (*Session, error) { return facade(l.Fork(ctx, id, seq, edit)) })
}

// SubmitFork stores what [Engine.Fork] starts, but does not run it: another process opens it, or this one later. It returns the id of the
// fork. [Engine.Work] of a worker finds it. The engine needs what it needs for [Engine.Submit].
func (e *Engine) SubmitFork(ctx context.Context, id string, seq int64, edit func(flow.Config) flow.Config) (fork string, err error) {
	return on(e, func(l *engine.Engine) (string, error) { return l.SubmitFork(ctx, id, seq, edit) })
}

// Reopen goes on with a conversation that is completed, after its conclusion: in a fork, whose speakers read the verdict, the solution or
// the summary as a note, for further rounds. A debate can go on for the answer of one participant to a question instead. Both conclusions
// stand in the fork. If the conversation is not completed, or has no conclusion, the error is of kind state: fork it. If the flow does not
// reopen conversations, or refuses a field, the error is of kind validation.
//
// Reopen runs the fork here, as Start does. [Engine.SubmitReopening] only stores it.
func (e *Engine) Reopen(ctx context.Context, id string, o flow.Reopening) (*Session, error) {
	return on(e, func(l *engine.Engine) (*Session, error) { return facade(l.Reopen(ctx, id, o)) })
}

// SubmitReopening stores what [Engine.Reopen] goes on with, but does not run it: another process opens it, or this one later. It returns
// the id of the fork. [Engine.Work] of a worker finds it. The engine needs what it needs for [Engine.Submit]. If o.ID exists, the error is
// of kind conflict, and wraps [flow.ErrForked] if it is that of this fork.
func (e *Engine) SubmitReopening(ctx context.Context, id string, o flow.Reopening) (fork string, err error) {
	return on(e, func(l *engine.Engine) (string, error) { return l.SubmitReopening(ctx, id, o) })
}

// Editing makes an edit for [Engine.Fork] from a function that writes to a config of type T, such as debate.Config.
// The fork of a config of another type is refused.
func Editing[T any, P interface {
	*T
	flow.Config
}](edit func(P),
) func(flow.Config) flow.Config {
	return func(config flow.Config) flow.Config {
		c, err := flow.ConfigAs[T](config)
		if err != nil {
			return nil
		}
		edit(c)
		return P(c)
	}
}

// Export writes a debate as versioned JSON, one event a line. It leaves out the secret seed and the prompts, which
// hold words drawn from the seed. It holds the files of the debate. So the export is as confidential as the debate itself, and no more.
//
// [Engine.Import] reads an export. Package export writes debates for people. A debate that still runs is exported
// as it is saved now. If the log is larger than [MaxSnapshot], the error is of kind validation.
func (e *Engine) Export(ctx context.Context, id string, w io.Writer) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	return l.Export(ctx, id, w)
}

// Import reads what [Engine.Export] or [Session.Snapshot] has written, and stores it under its id. It returns the
// id and opens nothing: [Engine.Open] continues the debate, and only calls without a result are made again. A debate without its
// seed gets a new one, so that it can be continued.
//
// A log without its texts, as [Engine.Export] writes it, is continued with the engine's own prompts. Config.Prompts of a log are
// programs of somebody else, and Import does not execute them. [Engine.Fork] does: look at them before you fork what you have imported.
// Where sides win, the verdicts of such a debate may name participants: these win as long as no verdict names a side, and then a
// participant's name counts for the participant's side.
//
// What a log without its seed says about uses of tools gives no rights here. A use needs approval if the log or the tool of
// [Engine.Tools] says so, or if there is no such tool yet. Approvals in such a log do not count: a person, or the policy, is asked anew.
// Nor does what it says that it has copied: Record.Copied is nothing, and sums count the whole conversation here.
//
// Import checks before it stores:
//
//   - the JSON, strictly
//
//   - the config, as Validate does; but no provider or judge need be registered
//
//   - the order and times of the events, and that each follows from those before it
//
//   - that all files that the debate refers to are there, and no others
//
// A problem is an error of kind validation that names the field, and nothing is stored. So is a snapshot of a newer version, or one
// larger than [MaxSnapshot].
//
// If the store holds the debate already, one of the two logs must be the beginning of the other, and the longer one
// is kept. Otherwise the error is of kind conflict. So it is if a log without its seed would lengthen the stored one by an approval of a
// use of a tool. In all cases but a conflict the store gets back the files that it has lost, as far as the import holds them.
func (e *Engine) Import(ctx context.Context, r io.Reader) (id string, err error) {
	return on(e, func(l *engine.Engine) (string, error) { return l.Import(ctx, r) })
}

// Verified is what [Engine.Verify] has read.
type Verified struct {
	// Record is the fold of the log.
	Record *flow.Record
	// Decisions is how many changes of the state the flow has decided again, as they stand in the log.
	Decisions int
}

// Verify checks the stored log of a debate, wherever the debate runs. It asks no provider and changes nothing. No provider, judge or tool
// need be registered. Verify does what follows:
//
//  1. It reads the log, and then reads it again as strictly as [Engine.Import] reads a log from elsewhere, files included. Both must
//     fold to the same record.
//  2. It compares the record with what the store lists of the debate: its flow, state and round.
//  3. It has the flow decide each change of the state again, from the events before that. Changes that a person, a control, a failure or a
//     limit has caused are left out, and so are those that a fork has copied. No reply is judged again.
//
// If one of these fails, the error is of kind store, wraps [store.ErrDamaged], and says what is wrong. An error that does not wrap it
// is no fault of the log: there is no such debate ([ErrNotFound]), this engine lacks something ([ErrMissing]), the store fails, the log
// is larger than [MaxSnapshot], or ctx is done.
//
// The time grows with the square of the length of the log.
func (e *Engine) Verify(ctx context.Context, id string) (Verified, error) {
	return on(e, func(l *engine.Engine) (Verified, error) {
		found, err := l.Verify(ctx, id)
		return Verified(found), err
	})
}

// Redact removes texts and files from the log of a debate, and appends a flow.Redacted: how long the texts were, their SHA-256,
// who has removed them, when and why. It returns that fact. Everything else in the log stays: numbers, times, names, usage and
// costs. The log folds to the same record except for the texts. If more would change, because a text is part of a setting such
// as a time-out, the error is of kind validation and names the setting, and nothing has changed.
//
// From then on the files of the store hold nothing of the texts; see the store's documentation for what it cannot reach
// ([store.Redactor]). Reports, exports and forks that are made from now on, searches and later requests to models have
// [flow.Redaction].With in the place of the texts. The reason of a quarantine, which may quote one, is replaced. Redact does not find:
//
//   - a text in other words, in parts, in other letters or with other spaces, as in a summary or a quotation
//   - text in any encoding other than JSON
//   - identifiers: names of participants, models, calls, labels, criteria. Redacted.Kept lists where a text is one. The types of
//     configs and events say which of their strings are identifiers; see flow.Flow.Bodies for a flow of the host program.
//   - copies: forks and exports that were made before, backups, the host program's logs, caches and cassettes
//   - memory: a running engine keeps the latest prompts, for further starts
//
// The debate may be running, here or in another process: no lease is needed, and nothing that is appended meanwhile is lost. A
// session in this engine has reloaded the log when Redact returns. One in another process does so with its next append or
// within a third of its lease. A request in flight still holds the text, and its reply may repeat it.
//
// If nothing is found that can be removed, the error is of kind validation and nothing has changed. To find forks that hold a copy, read
// Record.Parent of the listed debates, and again for forks of forks.
//
// Redact may be called again: if the fact is in the log already, it makes sure that nothing of the old texts is left in the store's
// files. If the store does not implement [store.Redactor], the error is of kind validation.
func (e *Engine) Redact(ctx context.Context, id string, redaction flow.Redaction) (*flow.Redacted, error) {
	return on(e, func(l *engine.Engine) (*flow.Redacted, error) { return l.Redact(ctx, id, redaction) })
}

// Delete removes a debate from the store, with its files, whatever its state. It first acquires the lease, so that no process loses a
// debate on which it works: if another process has the lease, the error wraps [flow.ErrLeased]. If the debate is open in this engine, the
// error wraps [store.ErrOpen] too. If there is no such debate, Delete returns nil. An id can be given again: a program that decides before
// what is deleted, or controlled, says which debate it means by [flow.Expecting].
func (e *Engine) Delete(ctx context.Context, id string) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	return l.Delete(ctx, id)
}

// Prune deletes old debates from the store, with their files, as [store.Prune] does: those that are over, and on which no process
// works. A debate that is open in this engine is not deleted.
//
//	old := store.Retention{Before: time.Now().AddDate(0, 0, -30), Labels: map[string]string{"tenant": "acme"}}
//	for gone, err := range engine.Prune(ctx, old) {
//		…
//	}
func (e *Engine) Prune(ctx context.Context, r store.Retention) iter.Seq2[store.Pruned, error] {
	return each(e, func(l *engine.Engine) iter.Seq2[store.Pruned, error] { return l.Prune(ctx, r) })
}

// File returns the bytes of a file of a stored debate by its hash, for displays. The record's settings and turns have the
// hashes. If the debate refers to no such file, or its bytes are missing or damaged, the error wraps [flow.ErrNoFile]. The
// caller must not write to the bytes.
func (e *Engine) File(ctx context.Context, id, hash string) ([]byte, error) {
	return on(e, func(l *engine.Engine) ([]byte, error) { return l.File(ctx, id, hash) })
}
