package session

import (
	"strings"
	"sync"

	"github.com/agonist-dev/debate/flow"
)

// stream is the text of one attempt as it comes in, in parts: the provider's chunks.
type stream struct {
	command   *flow.Command
	after     int64 // the number of the last event before the stream began
	bytesLeft int   // how much longer the reply may become: the rest is cut
	expected  int32 // how many parts are expected: as many as the last stream had
	count     int32 // how many parts came; close keeps it. With 32 bits for each, a flight fits in 640 bytes

	mu      sync.Mutex
	parts   []string
	matches bool // the turn's text begins with what was streamed
	done    bool
}

// add adds a part. When the reply is too long, add ignores it: a provider must not fill the memory.
func (st *stream) add(text string) {
	st.mu.Lock()
	defer st.mu.Unlock()
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

// close frees the parts. From now on the turn has the text, which is given.
func (st *stream) close(text string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.done, st.matches = true, true
	for _, part := range st.parts {
		if !strings.HasPrefix(text, part) {
			st.matches = false
			break
		}
		text = text[len(part):]
	}
	st.parts = nil
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

// remainder returns the part of a turn's text that a reader has not had; nil: it has had all.
func (st *stream) remainder(turn *flow.Turn, parts, offset int) *flow.Chunk {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.matches {
		parts, offset = 0, 0 // the turn replaces what was streamed
	}
	if offset >= len(turn.Text) {
		return nil
	}
	return &flow.Chunk{
		Call: turn.Call, Attempt: turn.Attempt, By: turn.Speaker,
		Offset: offset, Text: turn.Text[offset:], Parts: max(1, int(st.count)-parts),
	}
}
