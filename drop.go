package debate

import (
	"maps"
	"slices"
	"strings"
)

func (c *Core) drop(who, reason string) error {
	return c.emit(Event{Body: &Dropped{Participant: who, Reason: reason}})
}

// isDropped reports whether a participant or judge takes no further part.
func (r *Record) isDropped(name string) bool { return slices.Contains(r.dropped, name) }

// foldDropped lets somebody take no further part, and judges no longer be told to judge a participant.
func (r *Record) foldDropped(name string) {
	if r.isDropped(name) || len(r.dropped) >= mostOpen {
		return
	}
	r.dropped = append(r.dropped, name)
	r.Inquiries = slices.DeleteFunc(r.Inquiries, func(q Inquiry) bool { return q.About != "" && q.To == name }) // no longer of interest
	if r.place(name, -1) < 0 || r.config.Judging == nil {
		return
	}
	if r.anonymous != nil {
		name = r.anonymous.labels.hide(name)
	}
	texts := maps.Clone(r.texts)
	for key, text := range texts {
		if strings.HasPrefix(key, "assess.") || strings.HasPrefix(key, "verdict.") {
			texts[key] = strings.Replace(text, "\n- "+name+"\n", "\n", 1)
		}
	}
	r.texts = texts
}
