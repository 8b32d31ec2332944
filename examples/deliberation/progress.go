package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/progress"
)

// display shows the progress of a deliberation. Its hooks are called one after the other.
type display struct {
	p              stage.Printer
	sizes          deliberation.Sizes // of summaries
	done, expected int                // calls of the phase
	column         int                // of the line that shows who is at work; 0: there is none
}

func (s *display) hooks() progress.Hooks {
	return progress.Hooks{
		OnRound: func(round flow.Round) { s.linef("Round %d of %d", round.N, round.Of) },
		OnPhase: func(phase progress.Phase) {
			if s.done, s.expected = 0, phase.Expected; s.expected > 0 {
				s.linef("  %s: %s", phase.State, plural(s.expected, "call"))
			}
		},
		OnCall:    func(job progress.Job) { s.work(doing(job)) },
		OnDone:    s.end,
		OnRetry:   func(job progress.Job, why error) { s.linef("    ↻ %s: %s", doing(job), reason(why)) },
		OnFailed:  func(job progress.Job, why error) { s.linef("    ✗ %s: %s", doing(job), reason(why)) },
		OnWarning: func(w *flow.Warning) { s.linef("    ! %s", stage.Clean(w.Evidence)) },
	}
}

// doing says who is asked for what.
func doing(job progress.Job) string {
	if job.Kind == deliberation.KindSynthesis {
		return "the solution is being made"
	}
	return job.By + " " + deliberation.Activity(job.Kind, job.Target)
}

// end shows the result of a call. That of a summary is shown by [display.measure].
func (s *display) end(job progress.Job) {
	switch turn, _ := job.Result.(*flow.Turn); job.Kind {
	case deliberation.KindDigest:
	case deliberation.KindSynthesis:
		var made deliberation.Solution
		if turn != nil && json.Unmarshal(turn.Data, &made) == nil {
			s.finish(fmt.Sprintf("the solution, with a confidence of %g of 100", made.Confidence))
			s.linef("")
		}
	default:
		s.finish(doing(job))
	}
}

// measure takes each event, and shows those of summaries with their sizes.
func (s *display) measure(e *flow.Event) {
	before, after := s.sizes.Fold(e)
	if turn, ok := e.Body.(*flow.Turn); ok && after > 0 {
		s.finish(fmt.Sprintf("%s summarizing its history: %d characters instead of %d", turn.Speaker, after, before))
	}
}

// linef writes a separate line.
func (s *display) linef(format string, args ...any) {
	if s.column > 0 {
		_, _ = fmt.Fprintln(s.p.Out)
		s.column = 0
	}
	s.p.Linef(format, args...)
}

// work shows who has begun with what, side by side: the calls of one phase run at the same time.
func (s *display) work(what string) {
	const width = 96
	size := utf8.RuneCountInString(what)
	switch {
	case s.column > 0 && s.column+size+3 <= width:
		_, _ = fmt.Fprint(s.p.Out, " · ")
		s.column += 3 + size
	default:
		if s.column > 0 {
			_, _ = fmt.Fprintln(s.p.Out)
		}
		_, _ = fmt.Fprint(s.p.Out, "    … ")
		s.column = 6 + size
	}
	_, _ = fmt.Fprint(s.p.Out, what)
}

func (s *display) finish(what string) {
	s.done++
	count := fmt.Sprintf("%d/%d", s.done, s.expected)
	if s.done > s.expected { // votes and merges make further calls
		count = strconv.Itoa(s.done)
	}
	s.linef("    ✓ %s %s", count, what)
}

// reason returns an error in a few words.
func reason(err error) string {
	if failure, ok := errors.AsType[*debate.Error](err); ok && failure.Err != nil {
		err = failure.Err // the line already says whose call it was
	}
	if err == nil {
		return "no known reason"
	}
	return stage.Clean(strings.TrimPrefix(err.Error(), "provider: "))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
