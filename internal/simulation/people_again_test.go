package simulation_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// formerVerdict is who tells of a verdict after which a debate has gone on.
const formerVerdict = "The earlier verdict"

// elsewhere is the process that goes on with what the engine has stored.
const elsewhere = "elsewhere"

// reopened is what a debate was reopened for, and what it had by then.
type reopened struct {
	flow.Reopening

	turns, notes, skipped int
}

// goesOn has the engine make another debate of one that is over: it reopens it, or forks it at a drawn event. Another process then plays
// that one. Whoever was asked at the cut is asked anew, and nothing that is copied is called or paid again. false: it is not reopened.
func (s *peopleSim) goesOn() bool {
	s.t.Helper()
	s.secret() // so that a limit that was accepted is not too low by a word
	if !chance(s.more, 3) {
		return s.reopen()
	}
	id := s.id + "-fork"
	if err := s.host.Store.Lease(s.t.Context(), id, elsewhere, time.Hour); err != nil { // the engine only stores it
		s.failf("%v", err)
	}
	seq := 1 + s.more.Int64N(int64(len(s.log)))
	session, err := s.host.Fork(s.t.Context(), s.id, seq, debate.Editing(func(c *debate.Config) { c.ID = id }))
	switch {
	case err == nil: // it is idle, and needs no process
		_ = session.Close()
	case !errors.Is(err, flow.ErrLeased):
		s.failf("no fork at event %d: %v", seq, err)
	}
	s.met["fork"]++
	clear(s.read) // some of it was sent after the cut
	s.adopt(id, 0)
	return true
}

// reopen goes on after the verdict, for further rounds or for one answer, and reports whether it does.
func (s *peopleSim) reopen() bool {
	s.t.Helper()
	former := stage.View(s.core.Record())
	o := flow.Reopening{ID: s.id + "-again"}
	to := oneOf(s.more, former.Config().Participants...)
	if former.Format().Rounds > 0 || chance(s.more, 2) {
		o.Ask, o.To = fmt.Sprintf("Who pays for it, %d?", len(former.Notes)), to.Name // each question once
	} else {
		o.Rounds = 1 + s.more.IntN(2)
	}
	if chance(s.more, 2) {
		o.Budget = &debate.Budget{Hard: 1_000_000_000_000_000}
	}
	id, err := s.host.SubmitReopening(s.t.Context(), s.id, o)
	if err != nil {
		failure, ok := errors.AsType[*flow.Error](err)
		switch {
		case ok && failure.Kind == provider.KindState && !s.concluded():
		case ok && failure.Field == "to" && (former.IsDropped(to.Name) || !former.Format().Judged(to.Side)):
		case ok && strings.HasPrefix(failure.Field, "budget") && former.Settings().Budget != nil && o.Budget == nil:
		default:
			s.failf("it is not reopened with %+v: %v", o, err)
		}
		s.met["not reopened"]++
		return false
	}
	if !s.concluded() {
		s.failf("it is reopened, and nothing was concluded")
	}
	if s.met["reopened"]++; o.Ask != "" {
		s.met["reopened for a question"]++
	}
	s.adopt(id, 1)
	d, out := stage.View(s.core.Record()), former.Outcome()
	if len(d.Earlier) != len(former.Earlier)+1 || len(d.Turns) != len(former.Turns) {
		const said = "%d turns and %d earlier conclusions are copied as %d and %d"
		s.failf(said, len(former.Turns), len(former.Earlier), len(d.Turns), len(d.Earlier))
	}
	last := &d.Earlier[len(d.Earlier)-1]
	winner, want, got := cmp.Or(out.Winner, string(out.Side)), stage.JSON(former.Verdicts), stage.JSON(last.Verdicts)
	if last.Round != former.Round || last.Winner != winner || got != want {
		s.failf("after round %d %q had won: %s\nafter round %d %q has: %s", former.Round, winner, want, last.Round, last.Winner, got)
	}
	s.again = &reopened{Reopening: o, turns: len(d.Turns), notes: len(d.Notes) - 1, skipped: len(d.SkippedCalls)}
	return true
}

// concluded reports whether the last change of the state has ended a conclusion.
func (s *peopleSim) concluded() bool {
	for _, e := range slices.Backward(s.log) {
		if t := body.As[flow.Transition](e); t != nil {
			return t.From == flow.StateCompleting && t.To == flow.StateCompleted
		}
	}
	return false
}

// adopt goes on with what the engine has stored under an id: a copy of the present debate up to a cut, with so many notes of its own.
func (s *peopleSim) adopt(id string, told int) {
	s.t.Helper()
	former := s.log
	s.id, s.log = id, nil
	for event, err := range s.host.Store.Read(s.t.Context(), id, 0) {
		if err != nil {
			s.failf("%v", err)
		}
		s.log = append(s.log, event)
	}
	s.stored = int64(len(s.log))
	if chance(s.more, 2) {
		s.log = s.throughJSON(s.log)
	}
	s.core, s.wait, s.again, s.retries = s.load(s.log), time.Time{}, nil, 0
	r := s.core.Record()
	former = former[:r.Parent().Seq]
	before := s.load(former).Record()
	s.checkPaid("what was copied", s.log, r.Parent().Spent)
	s.checkPaid("what stands before the cut", former, r.Parent().Spent)
	if len(r.Notes) != len(before.Notes)+told {
		s.failf("%d notes are copied as %d", len(before.Notes), len(r.Notes))
	}
	s.said = nil
	for _, n := range r.Notes {
		s.said = append(s.said, *n)
	}
	s.done = make(map[string]bool)
	clear(s.decided)
	for i := range s.log {
		s.decide(&s.log[i])
		if in := body.As[flow.Intent](s.log[i]); in != nil && r.Done(in.Call) {
			s.done[in.Call] = true
		}
	}
	s.step(flow.Opened{By: elsewhere})
	s.takeOver()
	s.checkAsked(before.Inquiries)
}

// checkAsked: the persons who were asked at the cut are asked anew, and have all of their time.
func (s *peopleSim) checkAsked(former []flow.Inquiry) {
	s.t.Helper()
	r := s.core.Record()
	decides := func(q flow.Inquiry) bool { return len(q.Options) > 0 }
	asks := func(n *flow.Note) bool { return n.Ask != "" }
	switch {
	case r.State == flow.StatePaused, r.State == flow.StateError, r.Late():
		return
	case slices.ContainsFunc(r.Inquiries, decides), slices.ContainsFunc(r.Notes, asks):
		return // something else may come first
	}
	for i := range former {
		if decides(former[i]) {
			continue
		}
		q, open := r.Question(former[i].ID)
		if !open || !q.Until.IsZero() && !q.Until.Equal(s.now.Add(time.Duration(q.Within))) {
			s.failf("%s was asked at the cut, and is not asked anew: %+v", former[i].ID, r.Inquiries)
		}
		s.met["asked anew"]++
	}
}

// checkReopened: the former verdict does not count again, and for a question nothing is said but the answer.
func (s *peopleSim) checkReopened() {
	s.t.Helper()
	d := stage.View(s.core.Record())
	last, said, asked := &d.Earlier[len(d.Earlier)-1], d.Turns[s.again.turns:], 0
	for _, n := range d.Notes[s.again.notes:] {
		if n.Ask != "" {
			asked++
		}
	}
	ended := d.EndedEarlyBy != "" || d.CutShort() != "" || d.Late()
	whole := d.State == flow.StateCompleted && !ended && len(d.SkippedCalls) == s.again.skipped
	switch {
	case slices.ContainsFunc(d.Verdicts, func(v *debate.Verdict) bool { return s.done[v.Call] }):
		s.failf("the former verdict counts again")
	case s.again.Ask == "" && d.Round > last.Round+s.again.Rounds:
		s.failf("%d further rounds lead to round %d after round %d", s.again.Rounds, d.Round, last.Round)
	case s.again.Ask == "":
	case last.Question != s.again.Ask || last.To != s.again.To:
		s.failf("%q is asked %q, and %q was to be asked %q", last.To, last.Question, s.again.To, s.again.Ask)
	case len(said) > asked || slices.ContainsFunc(said, func(turn *flow.Turn) bool { return turn.Kind != debate.KindAside }):
		s.failf("%d questions have %d answers, or something else is said", asked, len(said))
	case whole && last.Answer == nil && !d.IsDropped(last.To):
		s.failf("nobody has left out the answer, and there is none")
	}
}

// keep stores what the log has grown by, and has the engine verify all of it.
func (s *peopleSim) keep() {
	s.t.Helper()
	s.kept = append(s.kept, s.id)
	if err := s.host.Store.Append(s.t.Context(), s.id, s.stored, elsewhere, s.log[s.stored:]); err != nil {
		s.failf("%v", err)
	}
	if _, err := s.host.Verify(s.t.Context(), s.id); err != nil {
		s.failf("%v", err)
	}
}

// forget removes what was stored.
func (s *peopleSim) forget() {
	for _, id := range s.kept {
		if err := s.host.Store.Delete(s.t.Context(), id); err != nil {
			s.t.Error(err)
		}
	}
}

// checkPaid compares what the calls of a log have cost with an account.
func (s *peopleSim) checkPaid(what string, events []debate.Event, counted flow.Account) {
	s.t.Helper()
	var paid flow.Account
	for i := range events {
		if spend := flow.SpendOf(events[i].Body); spend != nil {
			paid.Add(spend)
		}
	}
	if paid.Cost != counted.Cost || paid.Usage != counted.Usage {
		s.failf("%s has cost %v for %+v, and %v for %+v are counted", what, paid.Cost, paid.Usage, counted.Cost, counted.Usage)
	}
}

// judges reports whether those who are asked are not told of an earlier verdict.
func judges(kind flow.CallKind) bool {
	return kind == debate.KindAssessment || kind == debate.KindVerdict || kind == debate.KindBallot
}

// checkIntent: nothing that was done in what was copied is asked for again, and no use of the tool is made that nobody has decided to make.
func (s *peopleSim) checkIntent(e *debate.Event) {
	s.t.Helper()
	switch in := body.As[flow.Intent](*e); {
	case in == nil:
	case s.done[in.Call]:
		s.failf("%s was done before the cut, and is made again", in.Call)
	case in.Tool != "" && !s.mayUse(in):
		s.failf("nobody has decided that %s is made, in attempt %d", in.Call, in.Attempt)
	}
}

// mayUse reports whether somebody has approved of a use of the tool, or has chosen that it is made again.
func (s *peopleSim) mayUse(in *flow.Intent) bool {
	if in.Attempt > 1 {
		return s.decided[fmt.Sprintf("ask.%s.%d", in.Call, in.Attempt-1)] == flow.OptionAgain
	}
	return s.decided["ask."+in.Call] == flow.OptionApprove || slices.Contains(slices.Collect(maps.Values(s.decided)), flow.OptionAlways)
}

// decide keeps what was decided about a use of the tool.
func (s *peopleSim) decide(e *debate.Event) {
	a := body.As[flow.Answer](*e)
	if a == nil {
		return
	}
	s.decided[a.Inquiry] = a.Option
	switch a.Option {
	case flow.OptionApprove, flow.OptionAlways:
		s.met["use that is approved"]++
	case flow.OptionDeny:
		s.met["use that is denied"]++
	case flow.OptionAgain, flow.OptionDone, flow.OptionTell:
		s.met["use of which nobody knows the outcome"]++
	default:
	}
}
