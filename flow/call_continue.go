package flow

import (
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// A reply that ends at its cap is recorded as a part of the reply. The next attempt of the call gives the model what it has said
// as its own message, and asks it to go on. Vendors that hold a reply to a schema make each reply a whole object, so what
// follows is asked for without one: the instruction has the schema in words, and the joined text is checked.

// Continued is a part of a reply: the reply has ended at the cap on its tokens, and the next attempt of the same call continues
// it; see Call.Continues.
type Continued struct {
	Spend
	By    string `json:"by" redact:"-"`
	Round int    `json:"round,omitempty"`
	Text  string `json:"text"` // of this attempt alone
	// Anew means that the model has begun its reply again. The parts before this one are dropped.
	Anew bool `json:"anew,omitempty"`
}

// mostContinues bounds Call.Continues.
const mostContinues = 16

// goOnWords asks for the rest of a reply.
const goOnWords = "Your reply above was cut off, because it came to the limit of its length. Continue it with the very next character. " +
	"Repeat nothing, and add neither an introduction nor a code fence: what you write now is put directly behind it."

// begun returns the parts of a reply that this model has to continue; "": it begins a reply.
func (c *callState) begun(model string) string {
	if c == nil || c.intent == nil || c.intent.Model != model {
		return ""
	}
	return c.special.said
}

// goOn adds what the model has said so far to what is sent, and asks for the rest. It returns how often the reply may be
// continued after that.
func (p *prepared) goOn(state *callState) int {
	most := min(p.call.Continues, mostContinues)
	said := state.begun(p.model)
	if said == "" {
		return most
	}
	p.said = said
	p.talk = append(p.talk, provider.Message{Text: p.last}, provider.Message{Speaker: p.call.By, Text: said})
	p.last = goOnWords
	return max(0, most-state.special.parts)
}

// joined returns a reply with the parts before it. anew reports that the model has begun again, so that they are dropped.
func (c *Core) joined(state *callState, s Result) (whole Result, anew bool) {
	said := state.begun(state.intent.Model)
	if said == "" {
		return s, false
	}
	if anew = beginsAnew(said, s.Text); anew {
		return s, true
	}
	whole = s
	whole.Text = said + s.Text
	if s.Metadata != nil && len(s.Metadata.citations) > 0 { // their passages are counted from the beginning
		beside := *s.Metadata
		beside.citations = slices.Clone(beside.citations)
		for i := range beside.citations {
			if one := &beside.citations[i]; one.End > 0 {
				one.Start, one.End = one.Start+len(said), one.End+len(said)
			}
		}
		whole.Metadata = &beside
	}
	if schema := c.machine.flow.Schemas[state.intent.Schema]; schema != nil && s.Stop != provider.StopLength {
		if !schema.reads(whole.Text) && schema.reads(s.Text) {
			return s, true // it has begun again in other words
		}
	}
	return whole, false
}

// beginsAnew reports whether a continuation repeats the start of the reply. Then the model has begun again instead of
// continuing.
func beginsAnew(said, reply string) bool {
	const sure = 24 // bytes
	said, reply = strings.TrimSpace(said), strings.TrimSpace(reply)
	return len(said) >= sure && strings.HasPrefix(reply, text.Cut(said, sure))
}

// breaksOff reports whether a reply is a part that the next attempt continues: it has ended at its cap, and is no longer than that.
func breaksOff(in *Intent, s Result) bool {
	return in.Continues > 0 && s.Stop == provider.StopLength && len(s.Calls) == 0 && strings.TrimSpace(s.Text) != "" &&
		len(s.Text) <= maxReplyBytes(visibleTokens(in))
}

// mayGoOn reports whether the request for the rest of what the model has said fits its window.
func (c *Core) mayGoOn(state *callState, said string) bool {
	call := c.wanted(state)
	if call == nil {
		return true // no request follows
	}
	own := state.own()
	before := own.said
	own.said = said
	_, _, failure := c.prepare(call, false)
	own.said = before
	return failure == nil || failure.Kind != provider.KindContextOverflow
}

// mostReply bounds the bytes of a reply with all its parts, each of which had its own cap. 0: it has no bound.
func (c *Core) mostReply(intent *Intent) int {
	tokens, state := visibleTokens(intent), c.record.calls[intent.Call]
	if tokens == 0 && state != nil && state.person {
		tokens = c.record.settings.MaxTokens
	}
	if tokens == 0 {
		return 0
	}
	return len(state.begun(intent.Model)) + maxReplyBytes(tokens)
}

// foldContinued keeps a part of a reply.
func (r *Record) foldContinued(call *callState, part *Continued) error {
	if call.intent.Continues <= 0 || call.special.parts >= mostContinues || part.Text == "" {
		return invalid("continued", "is no part of a reply that may be continued")
	}
	own := call.own()
	if part.Anew {
		own.said = ""
	}
	own.said += part.Text
	own.parts++
	call.status, call.trouble, call.vain = callIdle, nil, 0
	return nil
}

// whole ends the reply of a call: what follows is another one.
func (c *callState) whole() {
	if c.special.parts > 0 {
		own := c.own()
		own.said, own.parts = "", 0
	}
}
