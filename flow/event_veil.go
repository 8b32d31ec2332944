package flow

// Veil keeps hidden turns from one reader for as long as the other participants may not read them either; see Call.Hidden. So a person who
// debates can watch, and still answers without having read what the others say at the same time.
//
// The facts that follow a hidden turn are kept back with it: each reader gets all facts in their order, and may continue after any of them.
// A conversation that is over hides nothing. When something is redacted, the reader is told at once. If Held is not 0 then, the veil has
// forgotten what it kept back, and takes no facts until they are read again after Held()-1. The zero value is ready for a reader who begins
// anywhere in the log. It is not safe for concurrent use.
type Veil struct {
	calls map[string]bool // those whose turns are hidden
	held  []Event
	one   [1]Event

	again    int64 // the number of the fact that is to be read again; 0: none is
	redacted int64 // the number of the last redaction that the reader was told of while something was kept back
}

// Lift takes the next event of a conversation, and returns those that its reader may have now: none, this one, or this one behind all that
// was kept back. The slice is valid until the next call.
func (v *Veil) Lift(e Event) []Event {
	v.one[0] = e
	if fact := e.Kind() != EventHeartbeat && e.Kind() != EventChunk; fact && v.again > 0 {
		if e.Seq != v.again {
			return nil
		}
		v.again = 0
	}
	switch body := e.Body.(type) {
	case *Heartbeat:
		return v.live()
	case *Chunk:
		if body.Hidden || v.calls[body.Call] {
			return nil
		}
		return v.live()
	case *Redacted: // what is kept back has what was removed, unless it was read again since
		if len(v.held) > 0 && e.Seq > v.redacted {
			v.again, v.redacted, v.held = v.Held(), e.Seq, nil
			return v.live()
		}
	case *Intent:
		if body.Hidden {
			if v.calls == nil {
				v.calls = make(map[string]bool)
			}
			v.calls[body.Call] = true
		}
	case *Turn:
		if body.Hidden {
			v.held = append(v.held, e)
			return nil
		}
	case *Transition:
		if body.reveals() && len(v.held) > 0 {
			shown := append(v.held, e) //nolint:gocritic // nothing is kept back any more
			v.calls, v.held = nil, nil
			return shown
		}
	}
	if len(v.held) > 0 {
		v.held = append(v.held, e)
		return nil
	}
	return v.one[:]
}

// live returns an event that is no fact. Its number is that of the last fact that the reader has.
func (v *Veil) live() []Event {
	if first := v.Held(); first > 0 {
		v.one[0].Seq = first - 1
	}
	return v.one[:]
}

// Held returns the number of the first event that is kept back; 0: none is.
func (v *Veil) Held() int64 {
	if len(v.held) == 0 {
		return v.again
	}
	return v.held[0].Seq
}

// reveals reports whether the transition shows hidden turns. What a conversation continues after a wait is still hidden.
func (t *Transition) reveals() bool {
	switch {
	case t.To.Final():
		return true
	case waits(t.To):
		return false
	case waits(t.From):
		return t.To == StateCompleting && (t.On == TriggerStop || t.On == TriggerLimit || t.On == TriggerAnswered && t.From == StateError)
	default:
		return true
	}
}
