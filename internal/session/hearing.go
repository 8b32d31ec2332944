package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/piece"
)

const (
	// maxEarly bounds the pieces that came before the facts that they follow.
	maxEarly = 64
	// maxHeard bounds the text of one call that a reader keeps, in bytes. The reader is told that what is beyond it comes with the turn.
	maxHeard = 4 << 20
	// silence is how long a reader waits for the word of how much was published of a call, which comes at once if the call's engine has
	// a bus: for so long until it asks again, and once more until it is told that text is missing.
	silence = 2 * time.Second
)

// hearing is what a reader gets of the calls that another process makes: the pieces on the bus, joined with the facts of the log.
//
// A piece counts only while its attempt is in flight by the log that the reader has folded. So none comes before its intent or
// after its result, and none belongs to a call that the log does not know. The offsets say what is missing and what came twice.
type hearing struct {
	relay  *relay        // nil: there is no bus
	in     <-chan []byte // what the bus brings
	id     string
	key    *piece.Key
	asked  time.Time // when the text so far was last asked for
	again  bool      // it is to be asked for once more, once that can be answered
	voices map[string]*voice
	early  []piece.Piece  // they follow facts that are not folded yet
	given  map[string]int // the attempts, by call, that a closed session of this host was making: nothing more comes of them
}

// voice is what was heard of a call.
type voice struct {
	attempt int
	schema  string       // of a structured answer
	lines   [2]heardLine // of the reply, and of the thoughts
	late    time.Time    // when the word of how much was published is overdue; zero: it has come, or the reader is told that text is missing
	asked   bool         // it was asked for because it was overdue
}

// subscribe begins to hear a conversation.
func (h *hearing) subscribe(ctx context.Context, r *relay, id string) {
	h.relay, h.id, h.voices = r, id, make(map[string]*voice)
	if r != nil {
		h.in = r.bus.Subscribe(ctx, piece.Topic(id))
	}
}

// folded says that the log was read to its end.
func (h *hearing) folded(core *flow.Core) {
	h.expect(core)
	if h.relay == nil {
		h.expire(core)
		return
	}
	if h.key == nil {
		if h.key = pieceKey(core); h.key != nil && len(core.InFlight()) > 0 {
			h.ask()
		}
	}
	early := h.early
	h.early = nil
	for i := range early {
		h.hear(&early[i], core)
	}
}

// expect begins to wait for word of each call in flight. Without a bus the wait is over at once.
func (h *hearing) expect(core *flow.Core) {
	for _, call := range core.InFlight() {
		chunk := core.Streams(call.Call, call.Attempt)
		v := h.voices[call.Call]
		if chunk == nil || v != nil && v.attempt == call.Attempt {
			continue
		}
		if v == nil {
			v = &voice{schema: chunk.Schema}
			h.voices[call.Call] = v
		}
		v.attempt, v.asked, v.late = call.Attempt, h.relay == nil, time.Now()
		switch {
		case h.given[call.Call] == call.Attempt:
			v.late, v.lines[0].told = time.Time{}, true
		case h.relay != nil:
			v.late = v.late.Add(silence)
		}
	}
}

// doubt says that messages may be lost: the text so far is asked for, and the word of how much that is.
func (h *hearing) doubt(core *flow.Core) {
	for _, call := range core.InFlight() {
		if v := h.voices[call.Call]; v != nil {
			v.asked, v.late = false, time.Now().Add(silence)
		}
	}
	if h.lacks() {
		h.ask()
	}
}

// lacks reports whether something is missing that may come again, or may be.
func (h *hearing) lacks() bool {
	for _, v := range h.voices {
		if !v.late.IsZero() || v.lines[0].open() || v.lines[1].open() {
			return true
		}
	}
	return false
}

// expiry returns when there is something to do although nothing comes; zero: there is nothing.
func (h *hearing) expiry() (at time.Time) {
	if h.again {
		at = h.asked.Add(askInterval)
	}
	for _, v := range h.voices {
		at = earlier(at, v.late)
	}
	return at
}

// expire ends the waits that are over: the text is asked for once, and then the reader is told that it is missing.
func (h *hearing) expire(core *flow.Core) {
	now := time.Now()
	asks := h.again && now.Sub(h.asked) >= askInterval && h.lacks()
	h.again = h.again && now.Sub(h.asked) < askInterval
	for id, v := range h.voices {
		switch {
		case v.late.IsZero() || v.late.After(now):
		case !v.asked:
			v.asked, v.late, asks = true, now.Add(silence), true
		default:
			v.late = time.Time{}
			v.miss(core.Streams(id, v.attempt))
		}
	}
	if asks {
		h.ask()
	}
}

// miss says that nothing more is heard of an attempt, whose first chunk begin is; nil: it has ended.
func (v *voice) miss(begin *flow.Chunk) {
	if begin == nil {
		return
	}
	v.lines[0].miss(begin, -1)
	if begin.Reasoning = true; len(v.lines[1].text) > 0 {
		v.lines[1].miss(begin, -1)
	}
}

// ask asks for the text so far of the calls in flight: now, or as soon as that can be answered.
func (h *hearing) ask() {
	if h.key == nil {
		return
	}
	if h.again = time.Since(h.asked) < askInterval; h.again {
		return
	}
	h.asked = time.Now()
	h.relay.ask(append([]byte(piece.Topic(h.id)), h.key.Seal(&piece.Piece{Ask: true})...))
}

// receive takes a message of the bus.
func (h *hearing) receive(message []byte, core *flow.Core) {
	if message == nil { // some may be lost
		h.doubt(core)
		return
	}
	if h.key == nil {
		return
	}
	p, err := h.key.Open(message)
	if err != nil || p.Ask {
		return // a stranger's
	}
	h.hear(&p, core)
}

// ahead reports whether pieces have come that follow facts which are not folded yet.
func (h *hearing) ahead(core *flow.Core) bool {
	return len(h.early) > 0 && h.early[len(h.early)-1].After > core.Record().Seq
}

// hear takes a piece.
func (h *hearing) hear(p *piece.Piece, core *flow.Core) {
	if p.After > core.Record().Seq {
		if len(h.early) < maxEarly {
			h.early = append(h.early, *p)
		}
		return
	}
	begin := core.Streams(p.Call, p.Attempt)
	if begin == nil {
		return // it has ended
	}
	v := h.voices[p.Call]
	if v == nil {
		v = &voice{schema: begin.Schema}
		h.voices[p.Call] = v
	}
	v.attempt = p.Attempt
	var gap bool
	if p.Text == "" {
		v.late = time.Time{}
		gap = v.reach(begin, p)
	} else {
		if !v.late.IsZero() { // the word comes after the text that it counts
			v.late = time.Now().Add(silence)
		}
		begin.Reasoning = p.Reasoning
		gap = v.line(p.Reasoning).add(begin, p)
	}
	if gap {
		h.ask()
	}
}

// reach takes the word of how much was published, and reports whether some of it is missing.
func (v *voice) reach(begin *flow.Chunk, p *piece.Piece) (gap bool) {
	for i, published := range [...]int{p.Offset, p.Parts} {
		l := &v.lines[i]
		if l.holed {
			l.answers++
		}
		if n := published - len(l.text) - l.missing; n > 0 && !l.full {
			begin.Reasoning, gap = i == 1, true
			l.miss(begin, n)
		}
	}
	return gap
}

// line returns one of the two texts of a call.
func (v *voice) line(thoughts bool) *heardLine {
	if thoughts {
		return &v.lines[1]
	}
	return &v.lines[0]
}

// fresh reports whether there are chunks to take.
func (h *hearing) fresh() bool {
	for _, v := range h.voices {
		if len(v.lines[0].fresh)+len(v.lines[1].fresh) > 0 {
			return true
		}
	}
	return false
}

// take returns the chunks that the reader has not had, ordered by their calls.
func (h *hearing) take() (chunks []flow.Chunk) {
	for _, v := range order.ByKey(h.voices) {
		chunks = append(chunks, v.take()...)
	}
	return chunks
}

// take returns the chunks of one call that the reader has not had, those of thoughts first.
func (v *voice) take() []flow.Chunk {
	chunks := append(v.lines[1].fresh, v.lines[0].fresh...) //nolint:gocritic // neither is used again
	v.lines[0].fresh, v.lines[1].fresh = nil, nil
	return chunks
}

// end ends the attempt that a fact ends, and returns what the reader has not had of its text. If live is set, the reader was
// there when the fact was recorded: then its chunks add up to the turn, whatever was heard.
func (h *hearing) end(body flow.Body, live bool) (left []flow.Chunk) {
	spend := flow.SpendOf(body)
	if spend == nil {
		return nil
	}
	v := h.voices[spend.Call]
	if _, continued := body.(*flow.Continued); continued && v != nil {
		return v.take() // the next attempt continues its text
	}
	delete(h.voices, spend.Call)
	turn := saidIn(body)
	switch {
	case v != nil && v.schema != "":
		return v.take()
	case turn == nil || v == nil && (!live || turn.Data != nil && turn.Text == string(turn.Data)):
		return nil
	case v == nil:
		v = &voice{}
	}
	begin := flow.Chunk{Call: turn.Call, Attempt: turn.Attempt, By: turn.Speaker, Hidden: turn.Hidden}
	thoughts := begin
	thoughts.Reasoning = true
	return append(v.lines[1].rest(thoughts, turn.Reasoning), v.lines[0].rest(begin, turn.Text)...)
}

// heardLine is one text of a call as a reader has it.
type heardLine struct {
	text    []byte       // without what is missing
	units   int          // of text, in UTF-16
	holed   bool         // something is missing
	hole    int          // where: the first place, in text
	missing int          // how many bytes, in all places but the end
	told    bool         // the reader is told that something is missing at the end
	full    bool         // what else comes is not kept
	answers int          // how many times the text was published anew, and did not mend it
	parts   int          // how many chunks of the provider came so far
	fresh   []flow.Chunk // what the reader has not had
}

// maxAnswers is how many answers that leave a hole a reader waits for. One may have been lost, or be that to somebody else. What
// two do not mend is further back than an answer goes, and comes with the turn.
const maxAnswers = 2

// open reports whether something is missing that may come again.
func (l *heardLine) open() bool { return l.holed && !l.full && l.answers < maxAnswers }

// miss says that so many bytes are missing at the end of what was heard; -1: nobody knows how many.
func (l *heardLine) miss(begin *flow.Chunk, n int) {
	if l.told {
		return
	}
	l.told = true
	if !l.holed {
		l.holed, l.hole = true, len(l.text)
	}
	chunk := *begin
	chunk.Missing, chunk.Offset, chunk.Units = n, len(l.text), l.units
	l.fresh = append(l.fresh, chunk)
}

// add adds a piece, and reports whether text before it is missing that may come again.
func (l *heardLine) add(begin *flow.Chunk, p *piece.Piece) (gap bool) {
	if l.full {
		return false
	}
	end := len(l.text) + l.missing
	switch {
	case l.holed && p.Offset <= l.hole: // what is missing comes again
		if at := l.hole; p.Offset+len(p.Text) > at {
			l.holed, l.missing, l.answers = false, 0, 0
			l.show(begin, p, at, 0, p.Text[at-p.Offset:])
		}
	case p.Offset > end:
		if !l.holed {
			l.holed, l.hole = true, len(l.text)
		}
		l.missing += p.Offset - end
		l.show(begin, p, len(l.text), p.Offset-end, p.Text)
	case p.Offset+len(p.Text) <= end && (l.holed || string(l.text[p.Offset:p.Offset+len(p.Text)]) == p.Text):
		// it came twice
	case l.holed || strings.HasPrefix(p.Text, string(l.text[p.Offset:])):
		l.show(begin, p, len(l.text), 0, p.Text[end-p.Offset:])
	default: // it replaces what came before
		l.show(begin, p, p.Offset, 0, p.Text)
	}
	return l.open()
}

// show lets the reader have text from an offset on. If that is more than is kept, the reader is told that the rest is missing.
func (l *heardLine) show(begin *flow.Chunk, p *piece.Piece, offset, missing int, text string) {
	if n := len(l.fresh); n > 0 && l.fresh[n-1].Text == "" { // what was missing at the end has come, or is counted now
		l.fresh = l.fresh[:n-1]
	}
	if offset < len(l.text) {
		l.text, l.units = l.text[:offset], units(string(l.text[:offset]))
	}
	l.told = false
	if l.full = offset+len(text) > maxHeard; l.full {
		l.miss(begin, -1)
		return
	}
	at := l.units
	l.text, l.units = append(l.text, text...), at+units(text)
	parts := max(1, p.Parts-l.parts)
	l.parts = max(l.parts, p.Parts)
	if n := len(l.fresh); n > 0 && missing == 0 {
		last := &l.fresh[n-1]
		if last.Attempt == begin.Attempt && last.Offset+len(last.Text) == offset {
			last.Text += text
			last.Parts += parts
			return
		}
	}
	chunk := *begin
	chunk.Offset, chunk.Units, chunk.Text, chunk.Missing, chunk.Parts = offset, at, text, missing, parts
	l.fresh = append(l.fresh, chunk)
}

// rest returns what the reader lacks of a text that is whole now.
func (l *heardLine) rest(begin flow.Chunk, whole string) []flow.Chunk {
	had, heard, parts := l.text, len(l.text), 0
	for _, chunk := range slices.Backward(l.fresh) { // the rest includes what was not yielded
		had, parts = had[:min(len(had), chunk.Offset)], parts+chunk.Parts
	}
	if l.holed {
		had = had[:min(len(had), l.hole)]
	}
	if !strings.HasPrefix(whole, string(had)) {
		had = nil
	}
	if len(had) == len(whole) {
		return nil
	}
	if len(whole) > heard { // its last part came with the turn
		parts++
	}
	begin.Offset, begin.Units, begin.Text, begin.Parts = len(had), units(string(had)), whole[len(had):], max(1, parts)
	return []flow.Chunk{begin}
}
