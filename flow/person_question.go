package flow

import (
	"time"

	"github.com/agonist-dev/debate/internal/transcript"
)

// Reading says what of the conversation a person may read who is asked.
type Reading struct {
	View string `json:"view,omitempty" redact:"-"` // the key of a view; "": everybody's
	From int    `json:"from,omitempty"`            // the first round that is read; 0: all are
}

// Question is an open inquiry as its person may see it: what is asked, and what was said so far. It holds neither the system prompt nor the
// instruction of a model. A flow may name the fields of an answer in the words in which models read them.
type Question struct {
	Inquiry

	// Reads are the messages that the person may read, oldest first. Turns that are hidden are not among them.
	Reads []Passage `json:"reads,omitempty"`
	// Documents are those of the conversation. They are read only. Engine.File returns the bytes of a file by its hash.
	Documents []Document `json:"documents,omitempty"`
}

// Passage is one message of the conversation as one reader has it: with labels in place of names where the reader reads labels.
type Passage struct {
	Speaker string `json:"speaker"`
	Label   string `json:"label,omitempty"` // what it is, such as "round 2, question to Ben"
	Text    string `json:"text"`
	// Turn is the index in Record.Turns, and Note that in Record.Notes. -1: it is none.
	Turn int `json:"turn"`
	Note int `json:"note"`
	// Own means that the reader has said it, or a model in the reader's place: then StandIn of the turn is set.
	Own bool `json:"own,omitempty"`
}

// Question returns an open inquiry in which a person is asked to perform a call, with what that person may read now. false: there is no
// such inquiry, or it asks for a decision.
func (r *Record) Question(id string) (*Question, bool) {
	q := r.inquiry(id)
	if q == nil || !q.performed() {
		return nil, false
	}
	out := &Question{Inquiry: *q, Documents: r.settings.Documents}
	if q.Reads == nil {
		out.Reads = r.notesFor(q.To)
	} else if v := r.viewOf(q.Reads.View); v != nil { // a log may name any
		out.Reads = r.passages(v, q.Reads.From, q.To)
	}
	return out, true
}

// Reads returns what somebody in a seat of the config may read now, oldest first, whether or not they are asked: what the conversation
// shows to that participant, or all of it to whoever is no participant. Where some who are no participants read labels in place of names,
// all of them do here. What tells of an earlier conclusion is left out where [Seat].Anew says so. What a call leaves out besides, as in
// [Reading].From, only a [Question] leaves out. Hidden turns and notes that are held back are not there. nil: nothing was said, or nobody
// has that name.
func (r *Record) Reads(name string) []Passage {
	if len(r.views) == 0 {
		return nil
	}
	for s := range r.config.Seats() {
		if s.By == name {
			v, _ := r.view(View{Reader: name, Labels: r.Seat(name) < 0, Anew: s.Anew})
			return r.passages(v, 0, name)
		}
	}
	return nil
}

// passages returns the messages of a view from one round on, as somebody reads them.
func (r *Record) passages(v *transcript.View, from int, who string) (out []Passage) {
	for i := v.Since(from); i < len(v.Messages); i++ {
		m, n := &v.Messages[i], v.Turns[i]
		p := Passage{Speaker: m.Speaker, Label: m.Label, Text: m.Text, Turn: n, Note: -1}
		if n < 0 {
			p.Turn, p.Note = -1, -1-n
		} else {
			p.Own = r.Turns[n].Speaker == who
		}
		out = append(out, p)
	}
	return out
}

// Questions says how many inquiries wait for a person, since when, and for how long. It is recorded with the events after which one of
// these has changed, so that lists need not read the log. A conversation that is over has none.
type Questions struct {
	Open  int       `json:"open"`
	Since time.Time `json:"since,omitzero"` // when the oldest of them was asked; zero: none is open
	Wake  time.Time `json:"wake,omitzero"`  // when something follows although nobody answers; zero: nothing does
}

// EventKind implements [Body].
func (*Questions) EventKind() EventKind { return EventQuestions }

// questions returns what lists show of the open inquiries.
func (r *Record) questions() Questions {
	now := Questions{Open: len(r.Inquiries)}
	for i := range r.Inquiries {
		if at := r.askedAt[r.Inquiries[i].ID]; now.Since.IsZero() || at.Before(now.Since) {
			now.Since = at
		}
	}
	if now.Open > 0 {
		now.Wake = r.wakes(time.Time{})
	}
	return now
}

// tellQuestions records what lists show of the open inquiries, if the log says something else.
func (c *Core) tellQuestions() error {
	r := c.record
	if r.start == nil || r.Final() || len(r.Inquiries) == 0 && r.told.Open == 0 {
		return nil
	}
	now := r.questions()
	if now.Open == r.told.Open && now.Since.Equal(r.told.Since) && now.Wake.Equal(r.told.Wake) {
		return nil
	}
	return c.emit(Event{Body: &now})
}

// foldQuestions folds what lists show of the open inquiries.
func (r *Record) foldQuestions(q *Questions) error {
	if q.Open < 0 || q.Since.IsZero() != (q.Open == 0) || !q.Wake.IsZero() && q.Open == 0 {
		return invalid("questions.open", "is negative, or does not fit the times")
	}
	r.told = *q
	return nil
}

// foldAsked folds an inquiry, with the time at which it was asked first.
func (r *Record) foldAsked(q *Inquiry, at time.Time) error {
	open := r.inquiry(q.ID) != nil
	if err := r.foldInquiry(q); err != nil || open {
		return err
	}
	if r.askedAt == nil {
		r.askedAt = make(map[string]time.Time)
	}
	r.askedAt[q.ID] = at
	return nil
}
