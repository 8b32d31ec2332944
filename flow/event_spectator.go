package flow

// Spectated is an optional ability of a flow's own [Body]: people who only watch may see it. Events of its kind are left out of
// [Event.Spectator] without it.
type Spectated interface {
	Body
	// Spectator returns a copy without what is not for spectators, above all what [Spend] says beyond [Spend.Shown].
	Spectator() Body
}

// Spectator returns what people who only watch may see of an event: what was said, by whom, whether a model stood in for a person, how it
// was judged, and the states and rounds. If they may see nothing of it, ok is false.
//
// Of a quotation they see where it stands and whether it is true, and neither the document nor what differs from it.
//
// They see no prompts, instructions, documents, labels, models, prices, budgets and thoughts, nothing of failures, not who has said a
// note, and nothing that is between the host program and those who answer its questions. So numbers are missing between the facts that
// they see. A file that a turn brings is left out too. Of a hidden turn they see no chunks; the turn itself is kept back by a [Veil].
func (e Event) Spectator() (shown Event, ok bool) {
	switch body := e.Body.(type) {
	case *Start:
		s := &body.Settings
		e.Body = &Start{
			Version: body.Version, Flow: body.Flow, FlowVersion: body.FlowVersion, Shape: body.Shape,
			Settings: Settings{ID: s.ID, Topic: s.Topic, Language: s.Language, Rounds: s.Rounds, Participants: s.Participants},
		}
	case *Transition:
		e.Body = &Transition{
			From: body.From, To: body.To, On: body.On, Reason: body.Reason, By: body.By, Whole: body.Whole, Drain: body.Drain,
			Calls: body.Calls, Round: body.Round, Result: body.Result,
		}
	case *Intent:
		e.Body = &Intent{
			Call: body.Call, Attempt: body.Attempt, Kind: body.Kind, By: body.By, Round: body.Round, Slot: body.Slot, Target: body.Target,
			StandIn: body.StandIn, Hidden: body.Hidden,
		}
	case *Turn:
		turn := *body
		turn.Spend = body.Shown()
		turn.Attachments, turn.UsedUp, turn.Reasoning, turn.Uncited, turn.Quotations = nil, false, "", 0, nil
		for i := range body.Quotations {
			q := &body.Quotations[i]
			turn.Quotations = append(turn.Quotations, Quotation{Start: q.Start, End: q.End, Status: q.Status})
		}
		e.Body = &turn
	case *Chunk:
		return e, body.Schema == "" && !body.Reasoning && !body.Hidden
	case *Dropped:
		e.Body = &Dropped{Participant: body.Participant}
	case *Redacted: // what they have seen may be gone: they load the conversation anew
		e.Body = &Redacted{With: body.With, At: body.At}
	case *Note:
		note := *body
		note.Person = ""
		e.Body = &note
	case *Round, *Heartbeat:
	case Spectated:
		e.Body = body.Spectator()
	default:
		return Event{}, false
	}
	return e, true
}
