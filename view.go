package debate

import (
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/provider"
)

// View says which part of the conversation a call reads. Its zero value is all of it.
type View struct {
	// From is the first round that is read.
	From int
	// None means that the call reads nothing.
	None bool
	// Reader narrows the view to what this participant may read. "": everything.
	Reader string
	// Labels shows neutral labels in place of the participants' names.
	Labels bool
	// Swapped reverses the order of the turns that were revealed at the same time.
	Swapped bool
}

// view is the conversation as its readers see it. It only grows, so that all requests with the same view share it.
type view struct {
	key      string // names it in the log; "": everybody's
	reads    []bool // whose turns: by seat, and last those of the others; nil: everybody's
	labels   *labels
	messages []provider.Message
	sizes    []int // sizes[i] is an upper bound of the tokens of messages[:i+1]
	rounds   []int
	batches  []int32 // messages that were revealed at the same time have the same number
	batch    int32
	summary  *summary                // the latest; nil: none
	sums     map[token.Counter][]int // not a fact: tokens of the messages, by vocabulary
}

// summary replaces the messages of a view from the first after the opening up to upto, exclusive.
type summary struct {
	message provider.Message
	upto    int
}

// framing bounds the tokens that a vendor adds around one message: roles, separators, names.
const framing = 24

// add appends a turn.
func (v *view) add(round int, speaker, text, fence string) {
	m := provider.Message{Speaker: speaker, Text: escape(text, fence), Fence: fence}
	if v.labels != nil {
		m.Speaker, m.Text = v.labels.hide(m.Speaker), escape(v.labels.hide(m.Text), fence)
	}
	size := 0
	if n := len(v.sizes); n > 0 {
		size = v.sizes[n-1]
	}
	v.messages = append(v.messages, m)
	v.rounds = append(v.rounds, round)
	v.sizes = append(v.sizes, size+messageBound(&m))
	v.batches = append(v.batches, v.batch)
}

// messageBound returns an upper bound of a message's tokens. It relies on a token having at least one byte.
func messageBound(m *provider.Message) int {
	return len(m.Text) + 2*len(m.Fence) + len(m.Speaker) + framing
}

// size bounds the tokens of messages[from:upto] by their bytes.
func (v *view) size(from, upto int) int {
	if upto <= from {
		return 0
	}
	size := v.sizes[upto-1]
	if from > 0 {
		size -= v.sizes[from-1]
	}
	return size
}

// swapped returns the messages with those of each batch in the opposite order. first is the index of the first of
// them.
func (v *view) swapped(messages []provider.Message, first int) []provider.Message {
	return reversedRuns(messages, func(i, j int) bool { return v.batches[first+i] == v.batches[first+j] })
}

// reversedRuns returns a copy in which each run of adjacent elements that belong together is reversed.
func reversedRuns[T any](all []T, together func(i, j int) bool) []T {
	out := slices.Clone(all)
	for i := 0; i < len(out); {
		j := i + 1
		for j < len(out) && together(i, j) {
			j++
		}
		slices.Reverse(out[i:j])
		i = j
	}
	return out
}

// Views say which participants read which turns of a conversation. With the zero value everybody reads everything,
// under the participants' own names.
type Views struct {
	// Reads says which turns a participant reads. The first index is the reader's seat; the second is the speaker's
	// seat. The last column stands for speakers that are no participants. nil: everybody reads everything.
	Reads [][]bool `json:"reads,omitempty"`
	// Labels are neutral names, by seat, for calls whose View asks for them. nil: there are none.
	Labels []string `json:"labels,omitempty"`
}

// makeViews makes the views that the conversation needs. The first is everybody's.
func (r *Record) makeViews(views Views) error {
	seats, turns := len(r.terms.Participants), r.expectedTurns()
	r.views = []*view{{
		messages: make([]provider.Message, 0, turns), sizes: make([]int, 0, turns), rounds: make([]int, 0, turns),
		batches: make([]int32, 0, turns),
	}}
	r.readers = nil
	if len(views.Reads) != 0 && len(views.Reads) != seats || len(views.Labels) != 0 && len(views.Labels) != seats {
		return invalid("start.views", "are not of %d participants", seats)
	}
	for seat, reads := range views.Reads {
		if len(reads) != seats+1 {
			return invalid("start.views.reads", "are not of %d participants and the others", seats)
		}
		r.readers = append(r.readers, r.audible(reads, seat))
	}
	if len(views.Labels) > 0 {
		r.anonymous = &view{key: "labels", labels: &labels{names: r.terms.Participants, labels: views.Labels}}
		r.views = append(r.views, r.anonymous)
	}
	return nil
}

// audible returns the view of the participant in this seat.
func (r *Record) audible(reads []bool, seat int) *view {
	if !slices.Contains(reads, false) {
		return r.views[0]
	}
	for _, v := range r.views {
		if v.reads != nil && slices.Equal(v.reads, reads) {
			return v
		}
	}
	v := &view{key: "seat-" + strconv.Itoa(seat+1), reads: reads}
	r.views = append(r.views, v)
	return v
}

// show adds a turn to the views of all that may read it.
func (r *Record) show(t *Turn) {
	for _, v := range r.views {
		if v.reads == nil || v.reads[r.seatOr(t.Speaker, len(v.reads)-1)] {
			v.add(t.Round, t.Speaker, t.Text, r.fence)
		}
	}
}

// Seat returns the seat of a participant, from 0, or -1 if there is no participant of that name.
func (r *Record) Seat(name string) int { return r.seatOr(name, -1) }

func (r *Record) seatOr(name string, otherwise int) int {
	for seat := range r.terms.Participants {
		if r.terms.Participants[seat] == name {
			return seat
		}
	}
	return otherwise
}

// view returns the conversation as a call reads it, and the index of the first message to read.
func (r *Record) view(v View) (shared *view, from int) {
	switch {
	case v.None || len(r.views) == 0:
		return &view{}, 0
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
	from, _ = slices.BinarySearch(shared.rounds, v.From)
	return shared, from
}

// viewOf returns the view with this key, or nil.
func (r *Record) viewOf(key string) *view {
	for _, v := range r.views {
		if v.key == key {
			return v
		}
	}
	return nil
}

// nextBatch ends a batch. What is shown from now on was not revealed together with what was shown before.
func (r *Record) nextBatch() {
	for _, v := range r.views {
		v.batch++
	}
}

// reveal shows the hidden turns, in the order of their slots.
func (r *Record) reveal() {
	if len(r.hidden) == 0 {
		return
	}
	slices.SortStableFunc(r.hidden, func(a, b int) int { return r.Turns[a].Slot - r.Turns[b].Slot })
	for _, i := range r.hidden {
		r.show(r.Turns[i])
	}
	r.nextBatch()
	r.hidden = r.hidden[:0]
}
