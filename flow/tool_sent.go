package flow

import (
	"encoding/json"
	"slices"

	"github.com/agonist-dev/debate/internal/text"
)

// sentUse is what of a use of a tool a model is sent when it goes on.
type sentUse struct {
	answer    string
	arguments json.RawMessage
}

// roomForUses bounds the bytes of uses, arguments and answers, that are sent: half of the free window, at four bytes per
// token, as in English. 0: the window is unknown.
func (r *Record) roomForUses(intent *Intent, model Model) int {
	const halfOfFour = 2
	size := r.window(intent.Model, model)
	if size == 0 {
		return 0
	}
	return max(1, size-r.terms.Reserve-intent.Tokens) * halfOfFour
}

// sentUses returns what is sent of each use, by exchange and by use. The newest get the room first: of the older ones, answers and
// long texts in arguments are cut, so that a long work does not overflow the window that it began with.
func (c *callState) sentUses(room int) [][]sentUse {
	sent := make([][]sentUse, len(c.talk))
	for i, e := range slices.Backward(c.talk) {
		sent[i] = make([]sentUse, len(e.uses))
		for j := range slices.Backward(e.uses) {
			use := &sent[i][j]
			use.arguments = e.asked.Uses[j].Arguments
			result := e.uses[j].result
			if result == nil {
				continue
			}
			content, short := result.Text, result.Cut
			if room > 0 && len(content) > max(leastShown, room-1) {
				content, short = text.Cut(content, max(leastShown, room-1)), true
			}
			if room > 0 {
				room = max(1, room-len(content))
			}
			if short {
				content += "\n[… the answer was longer, and is cut here]"
			}
			use.answer = content
			if room > 0 {
				use.arguments = shortArguments(use.arguments, max(leastShown, room-1))
				room = max(1, room-len(use.arguments))
			}
		}
	}
	return sent
}

// shortArguments returns arguments with at most so many bytes in each of their texts, if they have more than that in all. What
// is no object, or is still longer than twice that, becomes an object without fields: vendors want one.
func shortArguments(arguments json.RawMessage, most int) json.RawMessage {
	if len(arguments) <= most {
		return arguments
	}
	var fields map[string]any
	if err := json.Unmarshal(arguments, &fields); err != nil {
		return json.RawMessage("{}")
	}
	for key, value := range fields {
		if said, ok := value.(string); ok && len(said) > most/2 {
			fields[key] = text.Cut(said, most/2) + "[… cut here: it was longer]"
		}
	}
	short, err := json.Marshal(fields)
	if err != nil || len(short) > 2*most {
		return json.RawMessage("{}")
	}
	return short
}
