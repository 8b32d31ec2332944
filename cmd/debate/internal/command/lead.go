package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/live"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// viewing is how a conversation is shown while it runs.
type viewing struct {
	quiet, verbose, chunks bool

	began time.Time // when the program began: what happened before is shown by nobody
	// inputRead means that the problem was read from the standard input.
	inputRead bool
	lines     answerLines // of the standard input
	columns   int         // of the terminal that a pager shows a text on; 0: none does
}

// viewFlags adds the flags of commands that lead a conversation to its end.
func (p *program) viewFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&p.viewing.quiet, "quiet", false, "show nothing but questions and errors while the conversation runs")
	flags.BoolVarP(&p.viewing.verbose, "verbose", "v", false,
		"print each speech once it was held, beside the lines of progress")
	flags.BoolVar(&p.viewing.chunks, "chunks", false, "with --json: print the pieces of texts as they stream, too")
}

// leader leads one conversation.
type leader struct {
	*program
	session *debate.Session
	showing sync.Mutex      // held by whoever uses lines
	lines   *progress.Lines // nil: none are shown
	reading *reader         // of speeches; nil: they are not shown
	viewed  bool            // the view has left behind what has failed
	seen    int64           // the number of the last event that was shown
	// interrupted is set by the first signal that asks the program to end.
	interrupted atomic.Bool
}

// lead shows a conversation until it is over, waits for somebody, or is interrupted, and prints its result. The first interrupt
// pauses it, the second one ends the program at once.
func (p *program) lead(ctx context.Context, session *debate.Session) error {
	l := &leader{program: p, session: session}
	var record *flow.Record
	var err error
	if p.lively() {
		record, err = l.leadLive(ctx)
	} else {
		if !p.viewing.quiet {
			l.lines = p.plainLines()
		}
		if l.lines != nil && p.viewing.verbose {
			l.reading = p.reader(p.Err, l.lines.Course().Name)
		}
		record, err = l.leadLines(ctx)
	}
	return l.finish(record, err)
}

// plainLines returns lines of progress for the standard error.
func (p *program) plainLines() *progress.Lines {
	lines := progress.New(p.Err, p.viewing.began)
	lines.At = p.at
	return lines
}

// lively reports whether the live view is shown: the standard error is a terminal that can be drawn on, and nothing else writes
// to it.
func (p *program) lively() bool {
	term := p.get("TERM")
	able := term != "dumb" && (term != "" || runtime.GOOS == windows)
	return able && terminal(p.Err) && !p.viewing.quiet && (!p.json || !terminal(p.Out))
}

// leadLive shows the live view. The view asks what is to be asked.
func (l *leader) leadLive(ctx context.Context) (*flow.Record, error) {
	t := live.Terminal{Out: l.Err, Environ: l.environ(), Interrupts: l.Interrupts, At: l.at, Person: l.user()}
	if terminal(l.In) {
		t.In = l.In
	}
	l.hold(true)
	l.viewed = true
	var aborts atomic.Bool // the pause with which the person leaves has aborted the calls in flight
	left, err := live.Show(ctx, t, l.events, func(signal flow.Signal) error {
		leaves := signal == flow.Signal(flow.Pause{Person: t.Person})
		if leaves {
			aborts.Store(true)
		}
		err := l.give(ctx, signal)
		if leaves && err != nil {
			aborts.Store(false)
		}
		return err
	})
	l.hold(false)
	l.interrupted.Store(left == live.Interrupt || left == live.AtOnce)
	if left == live.AtOnce {
		return nil, context.Canceled
	}
	if err != nil {
		return nil, fmt.Errorf("show the conversation: %w", err)
	}
	if left != "" && !aborts.Load() { // calls in flight would be waited for, such as those of a pause that lets them finish
		_ = l.session.Close() // it returns nil
	}
	var record *flow.Record
	err = l.interruptible(ctx, func(ending context.Context) (err error) {
		if record, err = l.session.WaitIdle(ending); record == nil && ending.Err() != nil {
			l.interrupted.Store(true)
		}
		l.catchUp(ending, record)
		return err
	})
	return record, err
}

// environ returns the variables that say what the terminal can do.
func (p *program) environ() []string {
	var out []string
	for _, name := range []string{
		"TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM_PROGRAM", "TMUX", "WT_SESSION", "SSH_TTY",
	} {
		if value, ok := p.Lookup(name); ok {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// leadLines shows plain lines, and asks on the terminal, or reads answers from the standard input.
func (l *leader) leadLines(ctx context.Context) (*flow.Record, error) {
	ctx, stop := context.WithCancel(ctx)
	asking, unask := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { l.watch(ctx, stop, unask) })
	running.Go(func() { l.tick(ctx) })
	defer func() { stop(); running.Wait(); unask() }()
	for {
		record, err := l.follow(ctx)
		if record == nil || record.State != flow.StateAwaitingInput || !l.asks() || l.interrupted.Load() {
			return record, err
		}
		if err := l.ask(asking, record); err != nil {
			return record, err
		}
	}
}

// tick tells of calls of which nothing comes, until ctx is done.
func (l *leader) tick(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			l.showing.Lock()
			if l.lines != nil {
				l.lines.Tick(now)
			}
			l.showing.Unlock()
		}
	}
}

// watch takes the signals that ask the program to end. The first one pauses the conversation. If that is impossible, and with the
// second one, nothing is waited for any more.
func (l *leader) watch(ctx context.Context, stop, unask func()) {
	for range 2 {
		select {
		case <-ctx.Done():
			return
		case <-l.Interrupts:
		}
		if l.interrupted.Swap(true) {
			break
		}
		l.warnf("Pausing. Another Ctrl-C ends the program at once.")
		unask()
		if l.session.Pause(ctx) != nil {
			break
		}
	}
	stop()
}

// follow shows events until no process works on the conversation. It has then shown every event of the record that it returns.
func (l *leader) follow(ctx context.Context) (*flow.Record, error) {
	reading, stop := context.WithCancel(ctx)
	var showing sync.WaitGroup
	showing.Go(func() {
		for _, err := range l.events(reading) {
			if err != nil {
				return
			}
		}
	})
	record, err := l.session.WaitIdle(ctx)
	stop()
	showing.Wait()
	l.catchUp(ctx, record)
	return record, err
}

// catchUp shows the events of a record that were not shown yet. nil: there is none.
func (l *leader) catchUp(ctx context.Context, record *flow.Record) {
	if record == nil || l.seen >= record.Seq {
		return
	}
	for _, broken := range l.events(ctx) {
		if broken != nil || l.seen >= record.Seq {
			break
		}
	}
}

// events yields the events that were not shown yet. Each is shown before it is yielded: as plain lines if there are any, and as
// JSON on the standard output if that is wanted.
func (l *leader) events(ctx context.Context) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		for event, err := range l.session.Events(ctx, l.seen) {
			if err == nil {
				l.show(&event)
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// show shows an event. A fact is shown once.
func (l *leader) show(e *flow.Event) {
	_, chunk := e.Body.(*flow.Chunk)
	if !chunk {
		if e.Seq <= l.seen {
			return
		}
		l.seen = e.Seq
	}
	if l.lines != nil {
		l.showing.Lock()
		l.lines.Show(e)
		l.showing.Unlock()
	}
	if l.reading != nil && !e.At.Before(l.viewing.began) {
		l.reading.event(e)
	}
	if l.json && (!chunk || l.viewing.chunks) {
		l.printJSON(e.Public())
	}
}

// again returns the command that continues this conversation with the same tools.
func (l *leader) again() string { return l.tools.again("resume", shortID(l.session.ID())) }

// finish prints the result of a conversation, and says what is to be done about one that is not over.
func (l *leader) finish(record *flow.Record, err error) error {
	if l.store == notKept {
		defer l.warnf("Nothing of this conversation is kept.")
	}
	switch {
	case record == nil && l.interrupted.Load():
		l.continues("Interrupted. ")
		return exit(exitInterrupted, nil)
	case record == nil:
		return l.left(err)
	}
	got := resultOf(record)
	if l.store == notKept && !record.Final() { // nothing continues it
		l.tellFailure(record)
		return ended(record, &got, err)
	}
	if l.json {
		l.printResult(record, &got)
	}
	return l.end(record, &got, err)
}

// tellFailure says what has stopped a conversation that fails, unless the lines or the view have. They leave it to the questions, if it has
// asked.
func (l *leader) tellFailure(record *flow.Record) {
	if record.State == flow.StateAwaitingInput {
		because, _ := l.failures(record)
		l.tellFailures(because)
		return
	}
	told := l.viewed || l.lines != nil && l.lines.Told()
	if !told && record.State == flow.StateError && record.Failure != nil && record.Reason != flow.EndHardLimit {
		l.tellFailures(l.failedBecause(record))
	}
}

// end says what is to be done about a conversation that no process works on.
func (l *leader) end(record *flow.Record, got *result, err error) error {
	switch {
	case record.Final():
		if l.lines != nil {
			l.lines.End()
		}
		if err := l.conclude(got); err != nil {
			return err
		}
		if _, ok := debate.Of(record); !ok && got.exists && !l.viewing.quiet && l.store != notKept { // of a debate all is printed
			l.warnf("%s prints what was said.", progress.Command("show --full", shortID(record.ID)))
		}
	case record.State == flow.StateError:
		l.tellFailure(record)
		l.showMend(record, record.Failure, l.again())
	case record.State == flow.StatePaused:
		said := "Paused. "
		if l.lines != nil {
			said = "" // by a line
		}
		l.continues(said)
	case record.State == flow.StateAwaitingInput:
		l.warnf("The conversation waits for an answer.")
		if l.tellAnswers(record); l.interrupted.Load() {
			return exit(exitInterrupted, nil)
		}
	case l.interrupted.Load():
		l.continues("Interrupted. ")
		return exit(exitInterrupted, nil)
	default:
		return l.left(err)
	}
	return ended(record, got, err)
}

// ended returns the error that a program ends with which has led or watched a conversation until no process worked on it. err is why that
// was so.
func ended(record *flow.Record, got *result, err error) error {
	switch {
	case record.Final():
		return lacking(record, got)
	case record.State == flow.StatePaused:
		return exit(exitInterrupted, nil)
	case record.State == flow.StateAwaitingInput:
		return exit(exitWaiting, nil)
	case record.State != flow.StateError:
		return err
	}
	if cut := record.CutShort(); cut != "" && record.Reason == flow.EndHardLimit {
		return exit(exitEarly, errors.New("the conversation has "+progress.Clean(cut)))
	}
	if record.Failure != nil { // which was said
		return exit(codeOf(failed(record.Failure)), nil)
	}
	return failed(err)
}

// left says how a conversation is continued that is not over, and that something beside it has stopped, such as its store.
func (l *leader) left(err error) error {
	if err != nil {
		l.continues("")
	}
	return err
}

// continues says what continues the conversation, if it is kept.
func (l *leader) continues(said string) {
	if l.store != notKept {
		l.warnf("%s%s continues it.", said, l.again())
	}
}

// conclude prints the result of a conversation that is over, if there is one.
func (l *leader) conclude(got *result) error {
	if got.exists && !l.json && l.outputs.result == "" {
		if err := l.print(got.text); err != nil {
			return err
		}
	}
	if !l.viewing.quiet {
		for _, note := range got.notes {
			l.warnf("%s", note)
		}
	}
	return nil
}

// lacking returns the error that a conversation which is over ends the program with: it was cut short, or has not what was asked for.
func lacking(record *flow.Record, got *result) error {
	cut := progress.Clean(record.CutShort())
	switch {
	case got.silent != "":
		again := progress.Command("reopen --ask TEXT --to "+progress.Quote(got.silent), shortID(record.ID)) + " asks again."
		return exit(exitEarly, &toldError{errors.New(record.Evidence), got.silent + " has not answered.", again})
	case !got.exists:
		why := cmp.Or(strings.TrimPrefix(cut, "ended "), progress.Clean(got.lacks), progress.Clean(record.Evidence), string(record.State))
		return exit(exitEarly, fmt.Errorf("the conversation has ended without what was asked for: %s", why))
	case cut != "":
		return exit(exitEarly, errors.New("the conversation has "+cut))
	default:
		return nil
	}
}
