package flow

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Note is what somebody says in between who takes no part. It is material for those who read it, no instruction, and no argument of a
// side: it is no turn, nobody is scored by it, and the marker around it says so. A host program gives it as a control.
//
// A note is in force for each reader from its next call on. While calls are in flight or between two replies, as where they use tools, or
// turns are hidden, it is held back, so that no request in the making changes and all members of a group read the same. Calls that read no
// view get it beside the documents, and functions of the host program that judge or decide with what they are asked. Tools do not get it.
//
// A note is refused with an error of kind validation if it could be mistaken for a word of somebody who takes part or of the program, if
// there are too many of them, from all or from one person, or if the budget has no room for it beside the conclusion. It is refused with an
// error of kind state once all calls of the conclusion have begun. What is said during the last call of a flow without a conclusion is
// recorded, and read by nobody.
type Note struct {
	// ID identifies the note: at most 128 letters, digits, '-', '_' and '.'. The same note again is no error and changes nothing, also once
	// the conversation is over. "": the engine draws one. IDs that begin with "reopened-" are those of what [Flow].Reopen tells.
	ID string `json:"id" redact:"-"`
	// Person names the person who says it, as the host program knows them: one line of at most [MaxReason] bytes, or "". No prompt and no
	// spectator sees it.
	Person string `json:"person,omitempty"`
	// As is the name under which its readers see it, of at most 64 characters: "A listener" if empty.
	As string `json:"as,omitempty"`
	// To are the participants who read it. Everybody who is no participant reads it in any case, but for what [View].Anew leaves out. none:
	// everybody reads it.
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
	mostNotes  = 50  // of one conversation
	notedShare = 10  // of the smallest window that is still asked, in percent, for all notes
	mostOfOne  = 20  // of one person; their notes take at most half of the share
	leastTold  = 500 // bytes of each note of the program's own, whatever the window
)

// ownNote begins the IDs of the notes with which a conversation goes on after its conclusion. Hosts say none, and the bounds of theirs do
// not count them: whoever says much keeps no conversation from going on.
const ownNote = "reopened-"

func (n *Note) own() bool { return strings.HasPrefix(n.ID, ownNote) }

// Asks returns the participant whom somebody asks in the note. "": nobody, as in a note of the program's own: that quotes the conclusion
// after which Ask was asked something.
func (n *Note) Asks() string {
	if n.own() {
		return ""
	}
	return n.Ask
}

// opSay is what errors about notes name.
const opSay = "say"

var noteID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// EventKind implements [Body].
func (*Note) EventKind() EventKind { return EventNote }

// say takes what somebody says in between.
func (c *Core) say(n Note) error {
	if n.own() {
		err := WithMend(fmt.Errorf("begins with %q, as those of the program's own notes do", ownNote), "choose another id")
		return &Error{Kind: provider.KindValidation, Op: opSay, Field: "id", Err: err}
	}
	return c.note(n)
}

// note records a note, of somebody or of the program.
func (c *Core) note(n Note) error {
	r := c.record
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
		return &Error{Kind: provider.KindValidation, Op: opSay, Field: "id", Err: err}
	}
	if r.start == nil || r.Final() {
		return &Error{Kind: provider.KindState, Op: opSay, Err: r.opposed("", fmt.Errorf("not possible in state %s", r.State))}
	}
	var f Findings
	c.checkNote(&f, &n)
	if len(f) > 0 {
		return errors.Join(Within(opSay, "", f...)...)
	}
	if r.work == StateCompleting && !slices.ContainsFunc(c.last(), func(call *Call) bool { return r.calls[call.ID] == nil }) {
		err := WithMend(errors.New("all calls of the conclusion have begun: nobody would read it"), "fork the conversation")
		return &Error{Kind: provider.KindState, Op: opSay, Err: err}
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
	if f.Name("as", n.As); len(*f) == before && !n.own() {
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
	if len(*f) == 0 && !n.own() {
		c.checkShare(f, n)
	}
	if len(*f) == 0 {
		c.checkRoom(f, n)
	}
}

// programNames are the names under which the library speaks: for calls of its own, in the notes of the flows' Reopen, and where a program
// shows who decides who speaks.
func programNames() []string {
	return []string{
		fieldname.Summarizer, summaryTitle, "The chair", "The earlier verdict", "The earlier solution", "The end so far",
	}
}

// checkAs refuses a name that readers could take for that of somebody else, for a label, or for a token of their own. Signs around a name,
// or between it and other words, are not enough to tell it from another.
func (r *Record) checkAs(f *Findings, as string) {
	var names text.Names
	naming, _ := Unnamed(r.config).(Naming)
	add := func(name, whose string) {
		if names.Add(name, whose); naming != nil {
			names.Add(naming.NameOf(name), whose)
		}
	}
	for _, name := range programNames() {
		names.Add(name, "a name of the library's own")
	}
	for _, name := range r.settings.Participants {
		add(name, "a participant")
	}
	for s := range r.config.Seats() {
		add(s.By, "the name of another")
	}
	if text.Defused(as) != as {
		f.Addf("as", "holds what a model may read as a control token")
		return
	}
	seen := []string{as}
	for _, part := range strings.FieldsFunc(as, beside) {
		seen = append(seen, strings.Trim(part, inNames+" "))
	}
	for _, part := range seen {
		switch other, ok := names.Add(part, ""); {
		case text.IsLabel(part):
			f.Addf("as", "looks like a neutral label")
			return
		case !ok && other != "":
			f.Addf("as", "%w", WithMend(fmt.Errorf("can be confused with %s", other), "choose a name that nobody in the conversation has"))
			return
		}
	}
}

// inNames are signs that stand within names. Others stand between a name and further words, as in "Ben (for)".
const inNames = "'’.-‐&_"

func beside(r rune) bool {
	return (unicode.IsPunct(r) || unicode.IsSymbol(r)) && !strings.ContainsRune(inNames, r)
}

// checkAsk refuses a question to somebody who cannot answer it now.
func (c *Core) checkAsk(f *Findings, n *Note) {
	switch aside := c.machine.flow.Aside; {
	case c.record.Seat(n.Ask) < 0:
		f.Addf("ask", "%w", Unknown("participant", n.Ask, c.record.settings.Participants...))
	case len(n.To) > 0 && !slices.Contains(n.To, n.Ask):
		f.Addf("ask", "%w", WithMend(errors.New("asks "+n.Ask+", who does not read the note"), "name "+n.Ask+" in to, or nobody"))
	case aside == nil:
		f.Addf("ask", "%w", WithMend(fmt.Errorf("the flow %q has no answers out of turn", c.machine.flow.Name), "leave it out"))
	default:
		if err := aside(c.record, n); err != nil {
			f.Addf("ask", "%w", err)
		}
	}
}

// checkShare refuses a note beyond what all hosts' notes may be together, or those of one person.
func (c *Core) checkShare(f *Findings, n *Note) {
	count, bytes := 1, len(n.Text)
	theirs, theirBytes := 1, len(n.Text)
	for _, said := range c.record.Notes {
		if said.own() {
			continue
		}
		if count, bytes = count+1, bytes+len(said.Text); said.Person == n.Person {
			theirs, theirBytes = theirs+1, theirBytes+len(said.Text)
		}
	}
	room, known := c.noteRoom(), n.Person != "" // the notes of whom the host does not name are not those of one
	const later, shorter = "ask it in a reopening, once the conversation is over", "shorten it"
	refuse := func(mend, format string, args ...any) {
		f.Addf("text", "%w", WithMend(fmt.Errorf(format, args...), mend))
	}
	switch {
	case count > mostNotes:
		refuse(later, "there are %d notes: no more are accepted", mostNotes)
	case known && theirs > mostOfOne:
		refuse(later, "there are %d notes of this person: no more are accepted", mostOfOne)
	case room > 0 && bytes > room:
		refuse(shorter, "all notes have %d bytes together: %d percent of the smallest window that is still asked are %d", bytes, notedShare, room)
	case known && room > 0 && theirBytes > room/2:
		refuse(shorter, "all notes of this person have %d bytes together: at most %d are accepted, half of those of all", theirBytes, room/2)
	}
}

// fitted leaves out of the middle of what a note of the program's own tells what is beyond the share of such notes. What is asked at its
// end stays whole.
func (c *Core) fitted(content, asked string) string {
	const gap = "\n…\n"
	told := strings.TrimSuffix(content, asked)
	room := c.ownRoom() - len(content) + len(told)
	for _, said := range c.record.Notes {
		if said.own() {
			room -= len(said.Text)
		}
	}
	if room = max(room, leastTold); len(told) <= room {
		return content
	}
	half := (room - len(gap)) / 2
	begin, end := text.Cut(told, half), strings.ToValidUTF8(told[len(told)-half:], "")
	return strings.TrimRight(begin, "\n") + gap + strings.TrimLeft(end, "\n") + content[len(told):] // the cut makes no empty line
}

// ownRoom returns how many bytes all notes of the program's own may have together.
func (c *Core) ownRoom() int {
	if room := c.noteRoom(); room > 0 {
		return min(room, MaxText)
	}
	return MaxText
}

// noteRoom returns how many bytes hosts' notes may have together, and the program's own as many again. 0: no window is known.
func (c *Core) noteRoom() int {
	r := c.record
	least := 0
	for _, need := range c.mayAsk(r.settings, nil) {
		if row := r.model(need.Model); row != nil {
			if size := r.window(need.Model, *row); size > 0 && (least == 0 || size < least) {
				least = size
			}
		}
	}
	return least * notedShare / 100 * answerBytes
}

// checkRoom refuses a note for which the budget has no room.
func (c *Core) checkRoom(f *Findings, n *Note) {
	r := c.record
	if budget := r.settings.Budget; budget != nil && hardLimits(budget) != (amount{}) {
		if at := c.noRoomFor(&Intent{}, r.noteIncrease(n), surplus{}); at.what != "" {
			err := fmt.Errorf("the hard limit of the budget leaves the conclusion no room for it: %s", at.what)
			f.Addf("text", "%w", WithMend(err, "shorten it, or amend budget."+at.limit+" to a higher limit first"))
		}
	}
}

// toldOfNotes bounds, in bytes, what a flow tells those who judge of notes and of the answers to them.
const toldOfNotes = 500

// noteIncrease bounds how much longer a note makes the conversation, and what is asked about it.
func (r *Record) noteIncrease(n *Note) increase {
	size := r.growth(len(text.Defused(n.Text)), n.As) + len(noteLabel) + toldOfNotes
	return increase{bytes: size, tokens: size / answerBytes}
}

// heldIncrease bounds how much longer the notes that are held back make the conversation.
func (r *Record) heldIncrease() (sum increase) {
	for _, k := range r.held {
		sum = sum.plus(r.noteIncrease(r.Notes[k]))
	}
	return sum
}
