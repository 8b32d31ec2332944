package flow

import (
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// View says which part of the conversation a call reads. Its zero value is all of it.
type View struct {
	// From is the first round that is read. 0: all are.
	From int
	// Whole is the first round whose messages are sent whole if they fit at all: no summary takes their place.
	// 0: there is no such round.
	Whole int
	// Reader narrows the view to what this participant may read. "": everything.
	Reader string
	// Summarizer is the model ("provider/model") that summarises for this call if Settings.Summarizer names none. It is
	// asked only when a request would not fit, with the options of the call that needs the summary first. Calls that name
	// another model do not read its summaries. "": no model.
	Summarizer string
	// None means that the call reads nothing.
	None bool
	// Labels shows neutral labels in place of the participants' names.
	Labels bool
	// Swapped reverses the order of the turns that were revealed at the same time.
	Swapped bool
	// All says that the result claims to rest on all of the view. Where a window cannot hold it, older messages are
	// summarised, whatever built-in strategy Settings.Context names. Record.Unread returns what a call has read neither
	// whole nor in a summary.
	All bool
	// Anew leaves out the notes that tell of an earlier conclusion, after which the conversation was reopened: the result is to rest on the
	// rest alone.
	Anew bool
}

// Views say which participants read which turns of a conversation. With the zero value everybody reads everything,
// under the participants' own names.
type Views struct {
	// Reads says which turns a participant reads. The first index is the reader's seat; the second is the speaker's
	// seat. The last column stands for speakers that are no participants. nil: everybody reads everything.
	Reads [][]bool `json:"reads,omitempty"`
	// Labels are neutral names, by seat, for calls whose View asks for them. nil: there are none.
	Labels []string `json:"labels,omitempty" redact:"-"`
	// Sides are the sides that participants speak for, by seat. The opening of the conversation, which a cut keeps, is its
	// first round up to the first message of the last side to speak. nil: the opening is one message.
	Sides []string `json:"sides,omitempty" redact:"-"`
	// Marks writes into the marker of each turn what it is: its round, its kind and to whom it is addressed. Markers without it have the
	// speaker's name alone.
	Marks bool `json:"marks,omitempty"`
}

// makeViews makes the views that the conversation needs. The first is everybody's.
func (r *Record) makeViews(views Views) error {
	seats, turns := len(r.settings.Participants), r.expectedTurns()
	r.views = []*transcript.View{{
		Messages: make([]provider.Message, 0, turns), Sizes: make([]int, 0, turns), Rounds: make([]int, 0, turns),
		Turns:   make([]int, 0, turns),
		Batches: make([]int32, 0, turns),
	}}
	r.readers, r.anew, r.sides, r.labelRoom = nil, nil, views.Sides, 0
	if views.Marks {
		r.labelRoom = labelWords + longest(r.settings.Participants, views.Labels)
	}
	if r.settings.Quotes {
		r.labelRoom += quotesRoom
	}
	for _, bySeat := range []int{len(views.Reads), len(views.Labels), len(views.Sides)} {
		if bySeat != 0 && bySeat != seats {
			return invalid("start.views", "are not of %d participants", seats)
		}
	}
	for seat, reads := range views.Reads {
		if len(reads) != seats+1 {
			return invalid("start.views.reads", "are not of %d participants and the others", seats)
		}
		r.readers = append(r.readers, r.audible(reads, seat))
	}
	if len(views.Labels) > 0 {
		r.anonymous = &transcript.View{Key: "labels", Labels: &text.Labels{Names: r.settings.Participants, Labels: views.Labels}}
		r.views = append(r.views, r.anonymous)
	}
	return nil
}

// audible returns the view of the participant in this seat.
func (r *Record) audible(reads []bool, seat int) *transcript.View {
	if !slices.Contains(reads, false) {
		return r.views[0]
	}
	for _, v := range r.views {
		if v.Reads != nil && slices.Equal(v.Reads, reads) {
			return v
		}
	}
	v := &transcript.View{Key: "seat-" + strconv.Itoa(seat+1), Reads: reads}
	r.views = append(r.views, v)
	return v
}

// show adds the nth turn to the views of all that may read it.
func (r *Record) show(n int) {
	t := r.Turns[n]
	seat := r.Seat(t.Speaker)
	content, parts, load := r.attached(t)
	open := r.labelOf(t, nil)
	for _, v := range r.views {
		label := open
		if v.Labels != nil && (t.Target != "" || len(t.Quotations) > 0) {
			label = r.labelOf(t, v.Labels)
		}
		if v.Reads == nil || seat >= 0 && v.Reads[seat] || seat < 0 && v.Reads[len(v.Reads)-1] {
			v.Add(n, t.Round, t.Speaker, label, content, r.fence, parts, load)
			if seat >= 0 && len(r.sides) > 0 {
				v.Opens(r.sides[seat])
			}
		}
	}
}

// labelWords is how many bytes the label of a turn has as a rule, without the name of whom it is addressed to.
const labelWords = 40

// longestLabel bounds a label, in bytes. Names and kinds that are valid are shorter.
const longestLabel = 600

// longest returns how many bytes the longest of these names has.
func longest(lists ...[]string) (most int) {
	for _, names := range lists {
		for _, name := range names {
			most = max(most, len(name))
		}
	}
	return most
}

// labelOf says what a turn is to whoever reads it, such as "round 2, question to Ben", and whether it has no end. l are the labels that
// its reader knows in place of names; nil: the names. It follows from the turn alone, so that what a request has sent is sent again as it
// was. "": the conversation has no labels. Its own words are no names, even if somebody has one of them as a name.
func (r *Record) labelOf(t *Turn, l *text.Labels) string {
	if r.labelRoom == 0 {
		return ""
	}
	label, target, quotes := string(t.Kind), t.Target, quoted(t.Quotations)
	if l != nil {
		target, quotes = l.Hide(target), l.Hide(quotes)
	}
	switch {
	case t.Round <= 0:
	case label == "":
		label = "round " + strconv.Itoa(t.Round)
	default:
		label = "round " + strconv.Itoa(t.Round) + ", " + label
	}
	if target != "" {
		label += " to " + target
	}
	if t.StandIn {
		label += ", a model stood in"
	}
	if t.Cut {
		label += ", cut off by a limit of length"
	}
	label = text.OneLine(text.Escape(label, r.fence), longestLabel)
	if quotes != "" {
		label += text.OneLine(text.Escape(quotes, r.fence), quotesRoom)
	}
	return label
}

// Seat returns the seat of a participant, from 0, or -1 if there is no participant of that name.
func (r *Record) Seat(name string) int { return r.seatOr(name, -1) }

func (r *Record) seatOr(name string, otherwise int) int {
	for seat := range r.settings.Participants {
		if r.settings.Participants[seat] == name {
			return seat
		}
	}
	return otherwise
}

// view returns the conversation as a call reads it, and the index of the first message to read.
func (r *Record) view(v View) (shared *transcript.View, from int) {
	switch {
	case v.None || len(r.views) == 0:
		return &transcript.View{}, 0
	case v.Labels && r.anonymous != nil:
		shared = r.anonymous
	case v.Reader != "" && r.readers != nil:
		shared = r.views[0]
		if seat := r.Seat(v.Reader); seat >= 0 {
			shared = r.readers[seat]
		}
	default:
		shared = r.views[0]
	}
	if own := r.anew[shared]; v.Anew && own != nil {
		shared = own
	}
	return shared, shared.Since(v.From)
}

// Unread returns the turns that the latest attempt at a call has read neither whole nor in a summary, although its
// View.All claims them, oldest first. nil: there are none. A note is a turn of [KindNote], whose call is "note." and its ID.
func (r *Record) Unread(call string) []*Turn {
	state := r.calls[call]
	if state == nil || len(state.intent.Unread) == 0 {
		return nil
	}
	v := r.viewOf(state.intent.View)
	if v == nil {
		return nil
	}
	var out []*Turn
	for _, gap := range state.intent.Unread {
		for i := max(0, gap.From); i < min(gap.To, len(v.Turns)); i++ {
			if n := v.Turns[i]; n >= 0 {
				out = append(out, r.Turns[n])
			} else {
				out = append(out, r.noteTurn(-1-n))
			}
		}
	}
	return out
}

// viewOf returns the view with this key, or nil.
func (r *Record) viewOf(key string) *transcript.View {
	for _, v := range r.views {
		if v.Key == key {
			return v
		}
	}
	return nil
}

// nextBatch ends a batch. What is shown from now on was not revealed together with what was shown before.
func (r *Record) nextBatch() {
	for _, v := range r.views {
		v.Batch++
	}
}

// reveal shows the hidden turns, in the order of their slots.
func (r *Record) reveal() {
	if len(r.hidden) == 0 {
		return
	}
	slices.SortStableFunc(r.hidden, func(a, b int) int { return r.Turns[a].Slot - r.Turns[b].Slot })
	for _, i := range r.hidden {
		r.show(i)
	}
	r.nextBatch()
	r.hidden = r.hidden[:0]
}
