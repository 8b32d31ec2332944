package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
)

// progress shows the progress of a deliberation. Its hooks are called one after the other.
type progress struct {
	p              stage.Printer
	done, expected int // calls of the phase
	column         int // of the line that shows who is at work; 0: there is none
}

func (s *progress) hooks() deliberation.Hooks {
	return deliberation.Hooks{
		OnRoundStart: func(round, of int) { s.linef("Round %d of %d", round, of) },
		OnPhaseStart: func(_ int, phase debate.State, expected int) {
			if s.done, s.expected = 0, expected; expected > 0 {
				s.linef("  %s: %s", phase, plural(expected, "call"))
			}
		},
		OnAgentStart:         func(agent, activity string) { s.work(agent + " " + activity) },
		OnAgentComplete:      func(agent, activity string) { s.finish(agent + " " + activity) },
		OnAgentRetry:         func(agent, activity string, why error) { s.linef("    ↻ %s %s: %s", agent, activity, reason(why)) },
		OnAgentFailed:        func(agent, activity string, why error) { s.linef("    ✗ %s %s: %s", agent, activity, reason(why)) },
		OnSummarizationStart: func(agent string) { s.work(agent + " summarizing") },
		OnSummarizationComplete: func(agent string, before, after int) {
			s.finish(fmt.Sprintf("%s summarizing its history: %d characters instead of %d", agent, after, before))
		},
		OnSynthesisStart: func() { s.work("the solution is being made") },
		OnSynthesisComplete: func(made *deliberation.Solution) {
			s.finish(fmt.Sprintf("the solution, with a confidence of %g of 100", made.Confidence))
			s.linef("")
		},
		OnWarning: func(w flow.Warning) { s.linef("    ! %s", stage.Clean(w.Evidence)) },
	}
}

// linef writes a separate line.
func (s *progress) linef(format string, args ...any) {
	if s.column > 0 {
		_, _ = fmt.Fprintln(s.p.Out)
		s.column = 0
	}
	s.p.Linef(format, args...)
}

// work shows who has begun with what, side by side: the calls of one phase run at the same time.
func (s *progress) work(what string) {
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

func (s *progress) finish(what string) {
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
