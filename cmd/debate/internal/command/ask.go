package command

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/cmd/debate/internal/inquiry"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// attend reports whether a person is there for the questions of a conversation that is to start. clarify is the flag --clarify.
// On a terminal a person is there. Elsewhere nobody is, unless --clarify says that the lines of the standard input are answers:
// then the problem cannot come from there too.
func (p *program) attend(clarify bool) (attended bool, err error) {
	switch {
	case clarify && p.viewing.inputRead:
		return false, exit(exitArguments,
			errors.New("--clarify reads answers from the standard input, and so it cannot be the problem too: use --problemDescription"))
	case clarify && !terminal(p.In):
		p.viewing.lines.given = true
		return true, nil
	default:
		return p.interactive(), nil
	}
}

// asks reports whether inquiries are asked line by line.
func (p *program) asks() bool { return p.interactive() || p.viewing.lines.given }

// errNoAnswer reports that the standard input has ended before an inquiry was answered.
var errNoAnswer = errors.New("the standard input has no more answers")

// lineError says why a line is no answer. The line was read to its end, so that the next one can be read.
type lineError string

func (e lineError) Error() string { return string(e) }

// answerLines are the lines of the standard input.
type answerLines struct {
	given bool // they are answers even if the input is no terminal
	next  chan answerLine
}

// answerLine is a line, or why it was not taken.
type answerLine struct {
	text string
	err  error
}

// begun returns the lines to come. The first use begins to read.
func (a *answerLines) begun(in io.Reader) <-chan answerLine {
	if a.next == nil {
		a.next = make(chan answerLine)
		// A read of a terminal cannot be aborted: the goroutine belongs to the process, and ends with its input.
		go func(next chan<- answerLine) {
			defer close(next)
			for buffered := bufio.NewReader(in); ; {
				line, err := readLine(buffered)
				if _, ok := errors.AsType[lineError](err); err != nil && !ok {
					return
				}
				next <- answerLine{line, err}
			}
		}(a.next)
	}
	return a.next
}

// settling is longer than a terminal needs for the next line of what was pasted.
const settling = 50 * time.Millisecond

// drop takes all lines that are there already, and returns how many are not blank: they answer nothing that is asked after them.
func (a *answerLines) drop(ctx context.Context, in io.Reader) (dropped int) {
	for next := a.begun(in); ; {
		select {
		case <-ctx.Done():
			return dropped
		case <-time.After(settling):
			return dropped
		case line, ok := <-next:
			if !ok {
				return dropped
			}
			if line.err != nil || strings.TrimSpace(line.text) != "" {
				dropped++
			}
		}
	}
}

// read returns the next line. At the end of the input the error is errNoAnswer, and of a line that is no answer a lineError.
func (a *answerLines) read(ctx context.Context, in io.Reader) (string, error) {
	next := a.begun(in)
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line, ok := <-next:
		if !ok {
			return "", errNoAnswer
		}
		return line.text, line.err
	}
}

// readLine reads a line without its end. The last line of an input may lack one.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	long := false
	for {
		part, more, err := in.ReadLine()
		if err != nil { // never beside a part
			return "", err
		}
		if long = long || len(line)+len(part) > mostText; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case more:
		case long:
			return "", lineError("the answer is longer than 1 MiB, the most that one may be")
		case !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0:
			return "", lineError("the answer is no text in UTF-8")
		default:
			return string(line), nil
		}
	}
}

// ask asks the open inquiries one after the other. If nobody answers one, the error says so, and it stays open.
func (l *leader) ask(ctx context.Context, record *flow.Record) error {
	for _, q := range record.Inquiries {
		if err := l.askOne(ctx, &q, l.question(record, &q)); err != nil {
			return err
		}
	}
	return nil
}

func (l *leader) askOne(ctx context.Context, q *flow.Inquiry, asks string) error {
	for _, line := range inquiry.Lines(q, asks) {
		_, _ = fmt.Fprintln(l.Err, line)
	}
	if terminal(l.In) { // a pasted text can hold a line that ends its answer, and what looks like the next one
		if n := l.viewing.lines.drop(ctx, l.In); n > 0 {
			l.warnf("Dropped %s that came before this question.", progress.Plural(n, "line"))
		}
	}
	dialogue := inquiry.Begin(*q)
	for {
		_, _ = fmt.Fprintf(l.Err, "%s> ", dialogue.Prompt())
		line, err := l.viewing.lines.read(ctx, l.In)
		if errors.Is(err, errNoAnswer) && len(dialogue.Written()) > 0 { // the end of the input ends the answer too
			line, err = inquiry.End, nil
		}
		refused, ok := errors.AsType[lineError](err)
		if !terminal(l.In) || err != nil && !ok {
			_, _ = fmt.Fprintln(l.Err) // nobody has pressed enter
		}
		if ok {
			l.warnf("%v", refused)
			continue
		}
		if err != nil {
			return err
		}
		answer, err := dialogue.Take(line)
		if err != nil {
			l.warnf("%v", err)
			continue
		}
		if answer == nil {
			continue
		}
		err = l.give(ctx, *answer)
		var failure *flow.Error
		switch {
		case err == nil:
			return nil
		case errors.As(err, &failure) && failure.Kind == provider.KindValidation:
			l.warnf("%s", progress.Told(err))
			dialogue = inquiry.Begin(*q)
		case errors.As(err, &failure) && failure.Kind == provider.KindState:
			l.warnf("%s", progress.Told(err)) // it was answered elsewhere, or withdrawn
			return nil
		default:
			return err
		}
	}
}

// give gives a signal to the conversation. An answer is of the system's user, who is at the terminal.
func (l *leader) give(ctx context.Context, signal flow.Signal) error {
	if answer, ok := signal.(flow.Answer); ok {
		answer.Person = l.user()
		signal = answer
	}
	return l.session.Control(ctx, signal)
}

// question returns on one line what an inquiry asks.
func (p *program) question(record *flow.Record, q *flow.Inquiry) string {
	var asked flow.CallUsage
	if len(q.About) > 0 {
		asked, _ = record.CallUsage(q.About[0].Call)
	}
	return progress.Asks(q, func(id string) string { return progress.Clean(called(record, id)) }, asked.Model, p.at)
}

// tellAnswers says how the open inquiries are answered later. What has failed is told once, with what helps against it.
func (p *program) tellAnswers(record *flow.Record) {
	resume := p.tools.again("resume", shortID(record.ID))
	because, failures := p.failures(record)
	p.tellFailures(because)
	for _, failure := range failures {
		p.showMend(record, failure, resume)
	}
	if len(failures) > 0 {
		p.warnf("%s lists what else can be done.", progress.Command("show", shortID(record.ID)))
	}
	asking := false
	for i := range record.Inquiries {
		q := &record.Inquiries[i]
		if len(q.About) > 0 {
			continue
		}
		asking = true
		for _, line := range inquiry.Lines(q, p.question(record, q)) {
			_, _ = fmt.Fprintln(p.Err, line)
		}
		what := "TEXT"
		if len(q.Options) > 0 {
			what = "OPTION"
		}
		p.warnf("%s %s", p.tools.again("answer", shortID(record.ID), q.ID), what)
	}
	if asking {
		p.warnf("%s continues it then.", resume)
	}
}
