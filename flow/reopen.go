package flow

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Reopening asks that a conversation whose conclusion is made goes on: in a fork, which reads what was concluded as a note.
type Reopening struct {
	ID     string // of the conversation that goes on; "": a new one
	Rounds int    // how many further rounds, or executions, there are; 0: the one answer alone
	// Ask is a question, and To the participant of a debate who answers it, in place of further rounds: in every format, also where none
	// is answered out of turn. In a deliberation and in arbitrated work Ask is what is asked of all in these rounds. "": there is none.
	Ask, To string
	// Person names the person who asks for it, as the host program knows them. No prompt has it.
	Person string
	// Budget replaces that of the conversation, of which its own part counts as used. nil: it stays. If a limit of cost, tokens or calls is
	// reached, or leaves no room for another conclusion beside the note of the first, nothing is reopened.
	Budget *Budget
}

// Reopened is the signal that goes on after a conclusion. A runtime steps it once, in a fork that ends before the last transition of its
// origin: the conclusion stands there, and Flow.Reopen has made the note. The flow's rule for [TriggerReopen] says to which state it
// leads.
type Reopened struct {
	Note Note // the core gives it its ID, and leaves out of its middle what is too long for the smallest window
	// Asked is what is asked now, with which the text of the note ends. Nothing of it is left out. "": nothing is asked.
	Asked string
}

// TriggerReopen leads back from a conclusion that is made. Only a flow's rules from StateCompleting have it, and only [Reopened] fires it.
const TriggerReopen Trigger = "reopen"

// mostReopened bounds how often a conversation goes on after its conclusion. Each time its flow keeps what was concluded.
const mostReopened = 100

// reopen goes on after a conclusion.
func (c *Core) reopen(s Reopened) error {
	r := c.record
	step := c.machine.flow.Steps[StateCompleting]
	if r.State != StateCompleting || r.Parent() == nil || step.Calls != nil && r.lacks(step.Calls(r)) {
		err := WithMend(errors.New("the conversation is no fork of one whose conclusion is made"), "fork the conversation")
		return &Error{Kind: provider.KindState, Op: string(TriggerReopen), Err: err}
	}
	if r.reopened >= mostReopened {
		err := WithMend(fmt.Errorf("it went on after its conclusion %d times already", mostReopened), "start another conversation")
		return &Error{Kind: provider.KindState, Op: string(TriggerReopen), Err: err}
	}
	if err := c.fire(TriggerReopen, Exit{person: s.Note.Person}, false); err != nil {
		return err
	}
	if err := c.checkAsked(s.Asked); err != nil {
		return err
	}
	s.Note.ID, s.Note.Text = ownNote+strconv.Itoa(r.reopened), c.fitted(text.Readable(s.Note.Text), s.Asked)
	if err := c.mayReopen(&s.Note); err != nil {
		return err
	}
	if err := c.note(s.Note); err != nil {
		return err
	}
	return c.mayBegin()
}

// checkAsked refuses what cannot be asked after a conclusion: it is empty, or has no room beside the least that is told of that.
func (c *Core) checkAsked(asked string) error {
	if asked == "" {
		return nil
	}
	var f Findings
	switch most := max(c.ownRoom()-leastTold, leastTold); {
	case strings.TrimSpace(asked) == "":
		f.Addf("ask", "is empty")
	case len(asked) > most:
		f.Addf("ask", "%w", WithMend(fmt.Errorf("has %d bytes: the smallest window has room for %d", len(asked), most), "shorten it"))
	default:
		f.Text("ask", asked, most)
	}
	return errors.Join(Within(string(TriggerReopen), "", f...)...)
}

// foldReopened folds that the conversation goes on after its conclusion, as if nothing had ended it. The time of the round begins anew, and
// so do the limits of time. Calls that have failed before need no decision any more.
func (r *Record) foldReopened(at time.Time) {
	r.reopened++
	r.foldCut()
	r.shortened = r.Round - r.whole
	r.reset()
	r.late, r.roundAt, r.timesFrom, r.firstTimed = false, at, at, ""
	r.Reason, r.Evidence, r.EndedEarlyBy = "", "", ""
	r.limit, r.softened, r.hardened = "", nil, nil
	r.sharing, r.planned, r.done, r.notedBefore = nil, 0, 0, len(r.Notes)
}

// foldCut keeps what was cut short before a reopening. The settings have the number of rounds of what follows already. A flow that is
// measured in something else has no number of the time before.
func (r *Record) foldCut() {
	if _, paced := r.projection.(Paced); paced {
		return
	}
	own := r.settings
	before := *own
	before.Rounds, r.settings = cmp.Or(r.begunOf, own.Rounds), &before
	if cut := r.CutShort(); cut != "" {
		r.cuts = append(r.cuts, cut)
	}
	r.settings = own
}

// Concluding returns the ID of a call of the conclusion that names no round: the ID itself, or, once the conversation was reopened, one
// of its own for each conclusion, such as "again1.verdict.Ada".
func (r *Record) Concluding(id string) string {
	if r.reopened == 0 {
		return id
	}
	return "again" + strconv.Itoa(r.reopened) + "." + id
}

// checkReopening reports a rule, or an input, for TriggerReopen where nothing can be reopened.
func (f *Flow) checkReopening() error {
	for _, rule := range f.Rules {
		if rule.On == TriggerReopen && rule.From != StateCompleting {
			return fmt.Errorf("a rule for %s begins in %s: only a conclusion that is made is reopened", TriggerReopen, rule.From)
		}
	}
	for _, on := range f.Inputs {
		if on == TriggerReopen {
			return fmt.Errorf("the input %q is a trigger of the kernel: an input needs a name of its own", on)
		}
	}
	return nil
}
