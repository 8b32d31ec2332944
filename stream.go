package debate

import (
	"strings"
	"sync"
)

// stream is the text of one attempt as it comes in.
type stream struct {
	command *Command
	seq     int64 // of the last event before the stream began
	room    int   // how many parts are expected: as many as the last one had
	left    int   // bytes that a reply may still have: it is cut behind them

	mu    sync.Mutex
	parts []string
	count int  // of the parts, also after they are let go
	same  bool // the reply is what was streamed, or begins with it
	done  bool
}

// add takes a part, unless the reply is too long already: nobody is to fill the memory.
func (st *stream) add(text string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.left -= len(text); st.left < 0 {
		st.left = -1
		return
	}
	if st.parts == nil {
		st.parts = make([]string, 0, st.room)
	}
	st.parts = append(st.parts, text)
	st.count++
}

// close lets the parts go: from now on the turn holds the text, which is given.
func (st *stream) close(text string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.done, st.same = true, true
	for _, part := range st.parts {
		if !strings.HasPrefix(text, part) {
			st.same = false
			break
		}
		text = text[len(part):]
	}
	st.parts = nil
}

// since yields the text after the first so many parts.
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

// rest yields what is left of a turn's text after a reader has had so much of it.
func (st *stream) rest(turn *Turn, parts, offset int) *Chunk {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.same {
		parts, offset = 0, 0 // the reply differs from what was streamed: it replaces all of it
	}
	if offset >= len(turn.Text) {
		return nil
	}
	return &Chunk{
		Call: turn.Call, Attempt: turn.Attempt, By: turn.Speaker,
		Offset: offset, Text: turn.Text[offset:], Parts: max(1, st.count-parts),
	}
}
