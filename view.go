package debate

import (
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/provider"
)

// View says what of the conversation a call reads: all of it, or what its fields leave.
type View struct {
	// From is the first round that is read.
	From int
	// None: nothing is read.
	None bool
	// Reader narrows the view to what the format lets this participant read; "": everything.
	Reader string
	// Labels shows neutral labels in place of the participants' names.
	Labels bool
	// Swapped turns round the order of those who spoke at once.
	Swapped bool
}

// view is the conversation as somebody reads it: append only, so that all requests of a debate with
// the same view share it.
type view struct {
	key      string // names it in the log; "": everybody's
	reads    []bool // by seat, and the audience last; nil: everybody
	labels   *labels
	messages []provider.Message
	sizes    []int // sizes[i] is an upper bound of the tokens of messages[:i+1]
	rounds   []int
	batches  []int32 // messages that were revealed at once have the same number
	batch    int32
	summary  *summary                // the latest; nil: there is none
	sums     map[token.Counter][]int // not a fact: tokens of the messages, by vocabulary
}

// summary stands for the messages of a view from the first after the opening to the one before upto.
type summary struct {
	message provider.Message
	upto    int
}

// framing bounds the tokens that a vendor adds around one message: roles, separators, names.
const framing = 24

// add appends what somebody has said in a round.
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

// messageBound is an upper bound of a message's tokens: a token holds at least one byte.
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

// swapped yields messages with those of one batch in the opposite order.
func (v *view) swapped(messages []provider.Message, first int) []provider.Message {
	return reversedRuns(messages, func(i, j int) bool { return v.batches[first+i] == v.batches[first+j] })
}

// reversedRuns yields a copy with each run of neighbours that belong together in the opposite order.
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

// Views say who reads what of a conversation. Their zero value: everybody reads everything, under its own name.
type Views struct {
	// Reads says, by the reader's seat, whose turns are read: by seat, and last whether the turns of those who are no
	// participants are. nil: everybody reads everything.
	Reads [][]bool `json:"reads,omitempty"`
	// Labels are neutral names, by seat, for calls whose View wants them; nil: there are none.
	Labels []string `json:"labels,omitempty"`
}

// makeViews makes the views that the conversation needs: everybody's first.
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

// audible yields the view of the participant in this seat.
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

// show lets everybody read a turn who may.
func (r *Record) show(t *Turn) {
	for _, v := range r.views {
		if v.reads == nil || v.reads[r.seatOr(t.Speaker, len(v.reads)-1)] {
			v.add(t.Round, t.Speaker, t.Text, r.fence)
		}
	}
}

// Seat yields the seat of a participant, from 0; -1: nobody of that name takes part.
func (r *Record) Seat(name string) int { return r.seatOr(name, -1) }

func (r *Record) seatOr(name string, otherwise int) int {
	for seat := range r.terms.Participants {
		if r.terms.Participants[seat] == name {
			return seat
		}
	}
	return otherwise
}

// view yields the conversation as a call reads it, and where it begins.
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

// viewOf finds a view by its key; nil: there is none.
func (r *Record) viewOf(key string) *view {
	for _, v := range r.views {
		if v.key == key {
			return v
		}
	}
	return nil
}

// nextBatch ends a batch: what is shown from now on was not said at the same time as what was before.
func (r *Record) nextBatch() {
	for _, v := range r.views {
		v.batch++
	}
}

// reveal lets everybody read the turns that waited for each other, in slot order.
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
