package flow

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Note is what somebody says in between who takes no part. It is material for those who read it, no instruction, and no argument of a
// side: it is no turn, nobody is scored by it, and the marker around it says so. A host program gives it as a control.
//
// A note is in force for each reader from its next call on. While calls are in flight, or turns are hidden, it is held back, so that no
// request in the making changes and all members of a group read the same. Calls that read no view get it beside the documents.
// Functions of the host program do not read it.
//
// A note is refused with an error of kind validation if it could be mistaken for a word of somebody who takes part, if there are too
// many of them, or if the budget has no room for it beside the conclusion. It is refused with an error of kind state if nobody would read
// it any more.
type Note struct {
	// ID identifies the note: at most 128 letters, digits, '-', '_' and '.'. The same note again is no error and changes nothing. "": the
	// engine draws one.
	ID string `json:"id" redact:"-"`
	// Person names the person who says it, as the host program knows them: one line of at most [MaxReason] bytes, or "". No prompt and no
	// spectator sees it.
	Person string `json:"person,omitempty"`
	// As is the name under which its readers see it, of at most 64 characters: "A listener" if empty.
	As string `json:"as,omitempty"`
	// To are the participants who read it. Everybody who is no participant reads it in any case. none: everybody reads it.
	To   []string `json:"to,omitempty" redact:"-"`
	Text string   `json:"text"` // at most 20,000 bytes
	// Ask is the participant who is to answer the note out of turn, where the flow has that. "": nobody answers.
	Ask   string `json:"ask,omitempty" redact:"-"`
	Round int    `json:"round,omitempty"` // in which it was said; the core sets it
}

// KindNote is the kind of a note where it stands among turns.
const KindNote CallKind = "note"

// listener is the name of whoever says a note without a name.
const listener = "A listener"

// Bounds of notes.
const (
	mostNotes  = 50 // of one conversation
	notedShare = 10 // of the smallest window that is still asked, in percent, for all notes
)

var noteID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// EventKind implements [Body].
func (*Note) EventKind() EventKind { return EventNote }

// note takes what somebody says in between.
func (c *Core) note(n Note) error {
	const op = "say"
	r := c.record
	if r.start == nil || r.Final() {
		return &Error{Kind: provider.KindState, Op: op, Err: r.opposed("", fmt.Errorf("not possible in state %s", r.State))}
	}
	n.Text, n.As, n.To, n.Round = text.Readable(n.Text), cmp.Or(n.As, listener), slices.Clone(n.To), r.Round
	if len(n.To) == 0 {
		n.To = nil
	}
	if i := slices.IndexFunc(r.Notes, func(said *Note) bool { return said.ID == n.ID }); i >= 0 {
		said := *r.Notes[i]
		if said.Round = n.Round; reflect.DeepEqual(said, n) {
			return nil
		}
		err := WithMend(errors.New("is that of another note"), "choose another id")
		return &Error{Kind: provider.KindValidation, Op: op, Field: "id", Err: err}
	}
	var f Findings
	c.checkNote(&f, &n)
	if len(f) > 0 {
		return errors.Join(Within(op, "", f...)...)
	}
	if r.work == StateCompleting && !slices.ContainsFunc(c.last(), func(call *Call) bool { return r.calls[call.ID] == nil }) {
		err := WithMend(errors.New("all calls of the conclusion have begun: nobody would read it"), "fork the conversation")
		return &Error{Kind: provider.KindState, Op: op, Err: err}
	}
	return c.emit(Event{Body: &n})
}

// checkNote reports what is wrong with a note.
func (c *Core) checkNote(f *Findings, n *Note) {
	r := c.record
	if !noteID.MatchString(n.ID) {
		f.Addf("id", "is not 1 to 128 letters, digits, '-', '_' and '.'")
	}
	if why := notReason(n.Person); why != "" {
		f.Addf("person", "the name of the person %s", why)
	}
	before := len(*f)
	if f.Name("as", n.As); len(*f) == before {
		r.checkAs(f, n.As)
	}
	for i, name := range n.To[:min(len(n.To), len(r.settings.Participants))] {
		switch field := fmt.Sprintf("to[%d]", i); {
		case r.Seat(name) < 0:
			f.Addf(field, "%w", Unknown("participant", name, r.settings.Participants...))
		case slices.Contains(n.To[:i], name):
			f.Addf(field, "is a duplicate")
		}
	}
	f.AtMost("to", len(n.To), len(r.settings.Participants))
	if f.Text("text", n.Text, MaxText); strings.TrimSpace(n.Text) == "" {
		f.Addf("text", "is empty")
	}
	if n.Ask != "" {
		c.checkAsk(f, n)
	}
	if len(*f) > 0 {
		return
	}
	if len(r.Notes) >= mostNotes {
		f.Addf("text", "there are %d notes: no more are accepted", mostNotes)
		return
	}
	c.checkRoom(f, n)
}

// checkAs refuses a name that readers could take for that of somebody else, or for a label.
func (r *Record) checkAs(f *Findings, as string) {
	var names text.Names
	names.Add(fieldname.Summarizer, "a name of the library's own")
	names.Add(summaryTitle, "a name of the library's own")
	for _, name := range r.settings.Participants {
		names.Add(name, "a participant")
	}
	for s := range r.config.Seats() {
		names.Add(s.By, "the name of another")
	}
	switch other, ok := names.Add(as, ""); {
	case text.IsLabel(as):
		f.Addf("as", "looks like a neutral label")
	case !ok:
		f.Addf("as", "%w", WithMend(fmt.Errorf("can be confused with %s", other), "choose a name that nobody in the conversation has"))
	}
}

// checkAsk refuses a question to somebody who cannot answer it now.
func (c *Core) checkAsk(f *Findings, n *Note) {
	switch aside := c.machine.flow.Aside; {
	case c.record.Seat(n.Ask) < 0:
		f.Addf("ask", "%w", Unknown("participant", n.Ask, c.record.settings.Participants...))
	case len(n.To) > 0 && !slices.Contains(n.To, n.Ask):
		f.Addf("ask", "%w", WithMend(errors.New("asks "+n.Ask+", who does not read the note"), "name "+n.Ask+" in to, or nobody"))
	case aside == nil:
		f.Addf("ask", "the flow %q has no answers out of turn", c.machine.flow.Name)
	default:
		if err := aside(c.record, n); err != nil {
			f.Addf("ask", "%w", err)
		}
	}
}

// checkRoom refuses a note for which the windows of the models, or the budget, have no room.
func (c *Core) checkRoom(f *Findings, n *Note) {
	r := c.record
	least := 0
	for _, need := range c.mayAsk(r.settings, nil) {
		if row := r.model(need.Model); row != nil {
			if size := r.window(need.Model, *row); size > 0 && (least == 0 || size < least) {
				least = size
			}
		}
	}
	bytes := len(n.Text)
	for _, said := range r.Notes {
		bytes += len(said.Text)
	}
	if most := least * notedShare / 100 * answerBytes; least > 0 && bytes > most {
		f.Addf("text", "all notes have %d bytes together: %d percent of the smallest window that is still asked are %d", bytes, notedShare, most)
		return
	}
	if budget := r.settings.Budget; budget != nil && hardLimits(budget) != (amount{}) {
		if at := c.noRoomFor(&Intent{}, r.noteIncrease(n), surplus{}); at.what != "" {
			err := fmt.Errorf("the hard limit of the budget leaves the conclusion no room for it: %s", at.what)
			f.Addf("text", "%w", WithMend(err, "shorten it, or amend budget."+at.limit+" to a higher limit first"))
		}
	}
}

// noteIncrease bounds how much longer a note makes the conversation.
func (r *Record) noteIncrease(n *Note) increase {
	size := r.growth(len(text.Defused(n.Text)), n.As) + len(noteLabel)
	return increase{bytes: size, tokens: size / answerBytes}
}

// heldIncrease bounds how much longer the notes that are held back make the conversation.
func (r *Record) heldIncrease() (sum increase) {
	for _, k := range r.held {
		sum = sum.plus(r.noteIncrease(r.Notes[k]))
	}
	return sum
}
