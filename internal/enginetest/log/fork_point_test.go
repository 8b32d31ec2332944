package log_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// turned is the number of the event with which a host has led a debate another way; without any, that
// after the last.
func turned(events []debate.Event) int64 {
	for i := range events {
		e := &events[i]
		if body.As[flow.Sent](*e) != nil || body.As[flow.Transition](*e) != nil && slices.Contains([]debate.Trigger{flow.TriggerStop, flow.TriggerCancel}, body.As[flow.Transition](*e).On) {
			return e.Seq
		}
	}
	return int64(len(events)) + 1
}

// part is the beginning of a log.
type part []debate.Event

// open yields the attempts that have no outcome, by call. What a person was asked is not lost.
func (p part) open() map[string]int {
	open := map[string]int{}
	for i := range p {
		switch e := &p[i]; {
		case body.As[flow.Intent](*e) != nil:
			open[body.As[flow.Intent](*e).Call] = body.As[flow.Intent](*e).Attempt
		case performs(*e):
			delete(open, body.As[flow.Inquiry](*e).ID)
		default:
			if spend := flow.SpendOf(e.Body); spend != nil {
				delete(open, spend.Call)
			}
		}
	}
	return open
}

// asked yields the attempts that persons are asked to make, by call.
func (p part) asked() map[string]int {
	asked, latest, concluding := map[string]int{}, map[string]int{}, false
	for i := range p {
		switch e := &p[i]; {
		case body.As[flow.Intent](*e) != nil:
			latest[body.As[flow.Intent](*e).Call] = body.As[flow.Intent](*e).Attempt
		case performs(*e):
			asked[body.As[flow.Inquiry](*e).ID] = latest[body.As[flow.Inquiry](*e).ID]
		case body.As[flow.Answer](*e) != nil: // what follows from it is copied with it
			delete(asked, body.As[flow.Answer](*e).Inquiry)
		case body.As[flow.Withdrawn](*e) != nil:
			delete(asked, body.As[flow.Withdrawn](*e).Call)
		default:
			if spend := flow.SpendOf(e.Body); spend != nil {
				delete(asked, spend.Call)
			}
			if t := body.As[flow.Transition](*e); t != nil && (t.To == flow.StateCompleting && !concluding || t.To.Final()) {
				concluding = true // nobody is asked any more what was asked before
				clear(asked)
			}
		}
	}
	return asked
}

// performs reports whether an event asks a person to perform a call.
func performs(e debate.Event) bool {
	q := body.As[flow.Inquiry](e)
	return q != nil && len(q.Options) == 0
}

// settled yields the calls that have a result, and the inquiries that are answered.
func (p part) settled() map[string]bool {
	done := map[string]bool{}
	for i := range p {
		e := &p[i]
		if body.As[flow.Answer](*e) != nil {
			done[body.As[flow.Answer](*e).Inquiry] = true
		}
		if body.As[debate.Turn](*e) != nil || body.As[debate.Assignment](*e) != nil || body.As[debate.Ballot](*e) != nil || body.As[flow.Summarized](*e) != nil || body.As[debate.Assessment](*e) != nil || body.As[debate.Verdict](*e) != nil {
			done[flow.SpendOf(e.Body).Call] = true
		}
	}
	return done
}

// requests counts the requests whose outcome is known.
func (p part) requests() (n int) {
	for i := range p {
		if spend := flow.SpendOf(p[i].Body); spend != nil && spend.Model != "" && (body.As[flow.Failure](p[i]) == nil || !body.As[flow.Failure](p[i]).Unsent) {
			n++
		}
	}
	return n
}

// copied yields the events that a fork is to begin with, behind its start: without numbers, and without
// the calls that are left out, of models and of persons. The last transition counts no more than what is unsettled without them.
func (p part) copied(leave, asked map[string]int, unsettled flow.Unsettled) (out []string) {
	last, latest := -1, map[string]int{}
	for i := range p {
		if body.As[flow.Transition](p[i]) != nil && len(leave) > 0 {
			last = i
		}
	}
	for i, e := range p {
		if i == last {
			of := *body.As[flow.Transition](e)
			of.Unsettled = of.Less(of.Less(unsettled))
			e.Body = &of
		}
		if body.As[flow.Start](e) != nil {
			continue
		}
		if in := body.As[flow.Intent](e); in != nil {
			if latest[in.Call] = in.Attempt; in.Attempt == leave[in.Call] || in.Attempt == asked[in.Call] {
				continue
			}
		}
		if q := body.As[flow.Inquiry](e); performs(e) && asked[q.ID] == latest[q.ID] {
			continue
		}
		e.Seq = 0
		out = append(out, stage.JSON(e))
	}
	return out
}

// last names the last event.
func (p part) last() string {
	if len(p) == 0 {
		return "nothing"
	}
	e := p[len(p)-1]
	if e.Kind() == flow.EventStart {
		return "the start"
	}
	text := stage.JSON(e)
	return text[:min(len(text), 200)]
}

// forked is a debate that was played, and is forked everywhere.
type forked struct {
	course
	world       *world // in which it is forked
	events      part
	calls       int
	spent       flow.Account
	undisturbed string
	ended       string
}

// at forks the debate after an event, and says what is wrong with the fork.
func (f *forked) at(t *testing.T, seq int64) error {
	w := f.world
	former := w.source.Calls()
	session, err := w.engine.Fork(t.Context(), "parent", seq, nil)
	if err != nil {
		return err
	}
	fork, err := w.end(t.Context(), session)
	if err != nil {
		return err
	}
	want := f.undisturbed
	if seq >= turned(f.events) {
		want = f.ended
	}
	before, log, start := f.events[:seq], part(stage.Kept(t, w.engine.Store, session.ID())), body.As[flow.Start](f.events[0])
	var unsettled flow.Unsettled
	if parent := fork.Parent(); parent != nil {
		unsettled = parent.Spent.Unsettled
	}
	copied := before.copied(before.open(), before.asked(), unsettled)
	calls := w.source.Calls() - former
	rest := log[min(len(log), len(copied)+1):]
	switch got := stage.Canonical(t, fork); {
	case session.ID() == "parent" || fork.ID != session.ID():
		return fmt.Errorf("its id is %q", fork.ID)
	case got != want:
		return fmt.Errorf("it ends as\n%s\nand not as\n%s", got, want)
	case fork.Parent() == nil || fork.Parent().ID != "parent" || fork.Parent().Seq < seq:
		return fmt.Errorf("its parent is %v", fork.Parent())
	case (seq > 0) != (body.As[flow.Start](log[0]).Seed == start.Seed):
		return fmt.Errorf("its seed is %q, and that of its parent %q", body.As[flow.Start](log[0]).Seed, start.Seed)
	case seq > 0 && !slices.Equal(copied, log.copied(nil, nil, unsettled)[:len(copied)]):
		return fmt.Errorf("it begins with\n%s\nand not with\n%s", log.copied(nil, nil, unsettled)[:len(copied)], copied)
	case f.exact && before.requests()+calls != f.calls:
		return fmt.Errorf("%d requests are made after %d: the parent made %d", w.source.Calls(), before.requests(), f.calls)
	case f.exact && stage.JSON(fork.Spent()) != stage.JSON(f.spent):
		return fmt.Errorf("%v is spent, by the parent %v", fork.Spent(), f.spent)
	}
	settled := before.settled()
	for i := range rest {
		if in := body.As[flow.Intent](rest[i]); in != nil && settled[in.Call] {
			return fmt.Errorf("%s is asked again", in.Call)
		}
		if a := body.As[flow.Answer](rest[i]); a != nil && settled[a.Inquiry] {
			return fmt.Errorf("a person is asked %s again", a.Inquiry)
		}
	}
	return nil
}

// Wherever a debate is forked, the fork ends as the debate would have, and nothing that stands in the
// copied part is asked or paid for again.
func TestForkingAtEveryPoint(t *testing.T) {
	t.Parallel()
	forks, debates := 0, 0
	for name, c := range courses() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &forked{course: c, undisturbed: c.undisturbed(t)}
				f.config.ID = "parent"
				w, record := f.play(t, &store.Memory{})
				f.events, f.ended, f.calls, f.spent = stage.Kept(t, w.engine.Store, "parent"), stage.Canonical(t, record), w.source.Calls(), record.Spent()
				before := stage.JSON(f.events)
				f.world = f.course.world(w.engine.Store)
				f.world.mend()
				for seq := int64(0); seq <= int64(len(f.events)); seq += longform.Sized[int64](1, 5, 15) {
					assert.NoError(t, f.at(t, seq), "forked at %d of %d, after %s", seq, len(f.events), f.events[:seq].last())
					forks++
				}
				assert.Equal(t, before, stage.JSON(stage.Kept(t, w.engine.Store, "parent")), "the parent has changed")
			})
			debates++
		})
	}
	fmt.Printf("forked %d debates at %d points\n", debates, forks)
}
