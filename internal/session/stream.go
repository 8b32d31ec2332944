package session

import (
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/provider"
)

// stream is the text of one attempt as it comes in, in parts: the provider's chunks.
type stream struct {
	command   *flow.Command
	after     int64 // the number of the last event before the stream began
	bytesLeft int   // how much longer the reply may become: the rest is cut
	expected  int32 // how many parts are expected: as many as the last stream had
	count     int32 // how many parts came; close keeps it
	former    int   // how many bytes an attempt before this one has said; the first part has them

	mu      sync.Mutex
	parts   []string
	thought *thought // the text of the model's thoughts; nil: none came
	matches bool     // the turn's text begins with what was streamed
	done    bool
}

// open begins the stream of a command that readers may watch. after is the number of the last event before it.
func (st *stream) open(command *flow.Command, after int64) {
	st.command, st.after, st.bytesLeft = command, after, command.MaxText()
}

// take adds what a provider has emitted.
func (st *stream) take(c provider.Chunk) {
	if c.Reasoning {
		st.think(c.Text)
	} else {
		st.add(c.Text)
	}
}

// watched returns what takes the chunks of a call, so that to gets the text that its readers watch, and what the attempts before
// have said of that text. emit is nil if readers watch nothing of the call, or to is.
func watched(command *flow.Command, to func(provider.Chunk)) (emit func(provider.Chunk), said string) {
	if !command.Stream || to == nil {
		return nil, ""
	}
	if command.Spoken == "" {
		return func(c provider.Chunk) {
			if c.Text != "" {
				to(c)
			}
		}, command.Said
	}
	spoken := &spokenText{field: strictjson.NewField(command.Spoken), json: command.Request == nil || len(command.Request.Tools) == 0}
	if command.Said != "" {
		said = spoken.next(command.Said)
	}
	return func(c provider.Chunk) {
		if !c.Reasoning {
			c.Text = spoken.next(c.Text)
		}
		if c.Text != "" {
			to(c)
		}
	}, said
}

// spokenText reads what readers watch of a reply that is to be a JSON object: the text of one field. If tools are offered, the reply may
// be words beside the use of one. Readers watch such words up to the first brace. If an object follows all the same, its field follows
// the words, and the event then replaces both. What begins like JSON, thinking, a fence or a byte-order mark is never words.
type spokenText struct {
	field *strictjson.Field
	words bool // the reply begins with words
	json  bool // what comes now may be the object
}

// next returns what the next piece of the reply adds.
func (s *spokenText) next(piece string) string {
	if !s.words && !s.json {
		piece = strings.TrimLeft(piece, " \t\r\n")
		if piece == "" {
			return ""
		}
		first, _ := utf8.DecodeRuneInString(piece)
		s.json = strings.ContainsRune("{[<`~\ufeff", first)
		s.words = !s.json
	}
	if s.json {
		return s.field.Next(piece)
	}
	words, _, found := strings.Cut(piece, "{")
	if !found {
		return piece
	}
	s.json = true
	return words + s.field.Next(piece[len(words):])
}

// saidIn returns what an event has of a reply's text, as a turn; nil: it has none. A reply that asks for tools may say something
// beside that.
func saidIn(body flow.Body) *flow.Turn {
	switch body := body.(type) {
	case *flow.Turn:
		return body
	case *flow.ToolCalls:
		return &flow.Turn{Spend: body.Spend, Speaker: body.By, Text: body.Text}
	default:
		return nil
	}
}

// add adds a part. When the reply is too long, add ignores it: a provider must not fill the memory.
func (st *stream) add(text string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done {
		return // the call was given up
	}
	if st.bytesLeft -= len(text); st.bytesLeft < 0 {
		st.bytesLeft = -1
		return
	}
	if st.parts == nil {
		st.parts = make([]string, 0, st.expected)
	}
	st.parts = append(st.parts, text)
	st.count++
}

// begin makes what the attempts before have said the first part. Later text continues it.
func (st *stream) begin(said string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if said != "" && !st.done {
		st.parts, st.count, st.former = append(make([]string, 0, st.expected+1), said), 1, len(said)
	}
}

// end returns how much came. It is for a stream whose parts are kept.
func (st *stream) end() (at place) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, part := range st.parts {
		at = at.after(part)
	}
	return at
}

// place is a place in a text.
type place struct {
	bytes int
	units int // of UTF-16
}

// after returns the place behind a text that begins here.
func (p place) after(text string) place { return place{p.bytes + len(text), p.units + units(text)} }

// units returns how many code units of UTF-16 a text has. A byte that is no UTF-8 is one, as in JSON.
func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// continues reports whether the stream begins with text of this length that attempts before have said.
func (st *stream) continues(length int) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return length > 0 && st.former == length
}

// thought is the text of a model's thoughts as it comes in.
type thought struct {
	text    strings.Builder
	count   int32 // how many parts came
	matches bool  // the turn's thoughts begin with what was streamed
}

// think adds a part of the model's thoughts, within the bound of the reply.
func (st *stream) think(text string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done {
		return
	}
	if st.thought == nil {
		st.thought = &thought{}
	}
	if t := st.thought; t.text.Len()+len(text) <= st.command.MaxText() {
		t.text.WriteString(text)
		t.count++
	}
}

// thoughtSince returns the thoughts that a reader has not had, as a chunk; nil: it has had all.
func (st *stream) thoughtSince(had int, at place) *flow.Chunk {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done || st.thought == nil || st.thought.text.Len() <= at.bytes {
		return nil
	}
	return &flow.Chunk{
		Call: st.command.Call, Attempt: st.command.Attempt, By: st.command.By, Schema: st.command.Schema,
		Reasoning: true, Hidden: st.command.Hidden, Offset: at.bytes, Units: at.units, Text: st.thought.text.String()[at.bytes:],
		Parts: max(1, int(st.thought.count)-had),
	}
}

// thoughtLen returns how long the thoughts are so far. The lock is held.
func (st *stream) thoughtLen() int {
	if st.thought == nil {
		return 0
	}
	return st.thought.text.Len()
}

// close frees the parts, but those of a structured answer and of a reply that was cut. From now on the turn has the text and the
// thoughts, which are given.
func (st *stream) close(text, thoughts string, cut bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.done, st.matches = true, true
	if t := st.thought; t != nil { // the turn has them from now on
		t.matches = strings.HasPrefix(thoughts, t.text.String())
		t.text.Reset()
	}
	if st.command.Schema != "" {
		return // rest reads them
	}
	for _, part := range st.parts {
		if !strings.HasPrefix(text, part) {
			st.matches = false
			break
		}
		text = text[len(part):]
	}
	if !cut { // else rest may read them
		st.parts = nil
	}
}

// since returns the text after the first so many parts.
func (st *stream) since(parts int) (text string, count int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done || parts >= len(st.parts) {
		return "", 0
	}
	fresh := st.parts[parts:]
	if len(fresh) == 1 {
		return fresh[0], 1
	}
	return strings.Join(fresh, ""), len(fresh)
}

// rest returns the part of a structured answer, or of a reply that is continued, that a reader has not had; nil: it has had all.
func (st *stream) rest(parts int, at place) *flow.Chunk {
	st.mu.Lock()
	defer st.mu.Unlock()
	answer := strings.Join(st.parts, "")
	if at.bytes >= len(answer) {
		return nil
	}
	return &flow.Chunk{
		Call: st.command.Call, Attempt: st.command.Attempt, By: st.command.By, Schema: st.command.Schema, Hidden: st.command.Hidden,
		Offset: at.bytes, Units: at.units, Text: answer[at.bytes:], Parts: max(1, int(st.count)-parts),
	}
}

// remainder returns the part of a turn's text that a reader has not had; nil: it has had all.
func (st *stream) remainder(turn *flow.Turn, parts int, at place) *flow.Chunk {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.matches {
		parts, at = 0, place{} // the turn replaces what was streamed
	}
	if at.bytes >= len(turn.Text) {
		return nil
	}
	return &flow.Chunk{
		Call: turn.Call, Attempt: turn.Attempt, By: turn.Speaker, Hidden: st.command.Hidden,
		Offset: at.bytes, Units: at.units, Text: turn.Text[at.bytes:], Parts: max(1, int(st.count)-parts),
	}
}

// thoughtRemainder returns the part of a turn's thoughts that a reader has not had; nil: it has had all.
func (st *stream) thoughtRemainder(turn *flow.Turn, had int, at place) *flow.Chunk {
	st.mu.Lock()
	defer st.mu.Unlock()
	parts := 1
	if t := st.thought; t == nil || !t.matches {
		at = place{}
	} else {
		parts = max(1, int(t.count)-had)
	}
	if at.bytes >= len(turn.Reasoning) {
		return nil
	}
	return &flow.Chunk{
		Call: turn.Call, Attempt: turn.Attempt, By: turn.Speaker, Hidden: st.command.Hidden, Reasoning: true,
		Offset: at.bytes, Units: at.units, Text: turn.Reasoning[at.bytes:], Parts: parts,
	}
}
