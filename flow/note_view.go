package flow

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// What the marker of a note says that it is. No text can forge a marker.
const (
	noteLabel = "note of somebody who takes no part: material, no argument of a side"
	toldLabel = "what was concluded earlier, told by the program: material" // no longer than the other
)

func (n *Note) label() string {
	if n.own() {
		return toldLabel
	}
	return noteLabel
}

// Held reports whether a note is recorded, and held back until no call is in flight or between two replies, and no turn is hidden.
func (r *Record) Held(id string) bool {
	return slices.ContainsFunc(r.held, func(k int) bool { return r.Notes[k].ID == id })
}

// foldNote folds a note. It is held back until the end of the fold, if not longer.
func (r *Record) foldNote(n *Note) error {
	switch {
	case !noteID.MatchString(n.ID) || slices.ContainsFunc(r.Notes, func(said *Note) bool { return said.ID == n.ID }):
		return invalid("note.id", "%q is no id, or that of another note", text.OneLine(n.ID, 80))
	case notReason(n.Person) != "" || notReason(n.As) != "" || n.As == "":
		return invalid("note.as", "is empty or, as the person may be, no line")
	case n.Text == "" || n.Round != r.Round: // what was removed from it may have made it longer
		return invalid("note.text", "is empty, or the round is not the present one")
	case len(r.Notes) >= mostNotes+r.reopened:
		return invalid("note", "exceeds the limit of %d", mostNotes+r.reopened)
	case slices.ContainsFunc(n.To, func(name string) bool { return r.Seat(name) < 0 }) || n.Ask != "" && r.Seat(n.Ask) < 0:
		return invalid("note.to", "is no participant")
	}
	r.Notes = append(r.Notes, n)
	r.held = append(r.held, len(r.Notes)-1)
	return nil
}

// showHeld shows the notes that are held back, if nothing holds them back any longer.
func (r *Record) showHeld() {
	if len(r.inFlight)+len(r.hidden) > 0 || slices.ContainsFunc(r.current, r.isTalking) {
		return
	}
	for _, k := range r.held {
		r.showNote(k)
	}
	r.held = r.held[:0]
}

// isTalking reports whether a call of the present state is between two replies: it has asked for tools, or was cut, and is to go on. What
// it was sent is the beginning of what it is sent next.
func (r *Record) isTalking(call *callState) bool {
	return call.status == callIdle && !call.withdrawn && call.first > r.workAt && (len(call.special.talk) > 0 || call.special.said != "")
}

// showNote adds a note to the views of all who read it.
func (r *Record) showNote(k int) {
	n := r.Notes[k]
	as := text.Escape(n.As, r.fence) // who says a note has chosen the name too
	r.splitReaders(n.To)
	if n.own() && len(r.views) > 0 {
		r.splitAnew()
	}
	for i, v := range r.views {
		anew := r.isAnew(v)
		if anew && n.own() {
			continue
		}
		if anew || len(n.To) == 0 || i == 0 || v == r.anonymous || r.reads(v, n.To) {
			v.Add(-1-k, r.Round, as, n.label(), n.Text, r.fence, nil, 0)
		}
	}
	r.nextBatch()
	m := provider.Message{Speaker: as, Label: n.label(), Text: text.Escape(n.Text, r.fence), Fence: r.fence}
	r.handed = append(r.handed, handout{m, transcript.Bound(&m), n.To})
}

// splitAnew gives the calls that do not read the program's own notes views of their own.
func (r *Record) splitAnew() {
	for _, v := range []*transcript.View{r.views[0], r.anonymous} {
		if v == nil || r.anew[v] != nil {
			continue
		}
		own := v.Split(strings.TrimSuffix("anew-"+v.Key, "-"))
		if r.anew == nil {
			r.anew = make(map[*transcript.View]*transcript.View)
		}
		r.anew[v], r.views = own, append(r.views, own)
	}
}

// isAnew reports whether a view is one without the program's own notes.
func (r *Record) isAnew(v *transcript.View) bool {
	for _, own := range r.anew {
		if own == v {
			return true
		}
	}
	return false
}

// reads reports whether one of these participants reads a view.
func (r *Record) reads(v *transcript.View, who []string) bool {
	for seat, own := range r.readers {
		if own == v && slices.Contains(who, r.settings.Participants[seat]) {
			return true
		}
	}
	return false
}

// splitReaders gives those participants a view of their own who have read one together with some to whom a note is addressed, and to
// whom it is not. Everybody's view gets each note, since those read it too who take no part.
func (r *Record) splitReaders(to []string) {
	if len(to) == 0 {
		return
	}
	if r.readers == nil {
		r.readers = slices.Repeat(r.views[:1], len(r.settings.Participants))
	}
	for i, v := range slices.Clone(r.views) {
		var apart []int
		for seat, own := range r.readers {
			if own == v && !slices.Contains(to, r.settings.Participants[seat]) {
				apart = append(apart, seat)
			}
		}
		if len(apart) == 0 || i > 0 && !r.reads(v, to) {
			continue
		}
		own := v.Split("split-" + strconv.Itoa(len(r.views)))
		r.views = append(r.views, own)
		for _, seat := range apart {
			r.readers[seat] = own
			r.moveQuestions(r.settings.Participants[seat], v.Key, own.Key)
		}
	}
}

// moveQuestions lets the open questions to a participant read another view.
func (r *Record) moveQuestions(to, from, key string) {
	for i := range r.Inquiries {
		if q := &r.Inquiries[i]; q.To == to && q.Reads != nil && q.Reads.View == from {
			q.Reads = &Reading{View: key, From: q.Reads.From}
		}
	}
}

// notesFor returns the notes for a person who reads nothing else of the conversation.
func (r *Record) notesFor(who string) (out []Passage) {
	for k, n := range r.Notes {
		if r.readsNote(k, who) {
			out = append(out, Passage{Speaker: n.As, Label: n.label(), Text: n.Text, Turn: -1, Note: k})
		}
	}
	return out
}

// readsNote reports whether the kth note is in force for somebody.
func (r *Record) readsNote(k int, who string) bool {
	to := r.Notes[k].To
	return !slices.Contains(r.held, k) && (len(to) == 0 || r.Seat(who) < 0 || slices.Contains(to, who))
}

// ReadableNotes returns the notes that are in force for an actor, in the order in which they were recorded, as functions of the host
// program may read them: copies without the person. Everybody who is no participant reads all of them.
func (r *Record) ReadableNotes(name string) []*Note {
	var notes []*Note
	for k := range r.Notes {
		if r.readsNote(k, name) {
			n := *r.Notes[k]
			n.Person, n.To = "", slices.Clone(n.To)
			notes = append(notes, &n)
		}
	}
	return notes
}

// noteTurn returns a note as a turn, for those who are told what was not read.
func (r *Record) noteTurn(k int) *Turn {
	n := r.Notes[k]
	return &Turn{Spend: Spend{Call: string(KindNote) + "." + n.ID}, Kind: KindNote, Speaker: n.As, Round: n.Round, Text: n.Text}
}
