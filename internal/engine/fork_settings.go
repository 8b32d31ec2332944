package engine

import (
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// kept adds the amendment that gives a fork what its edit has changed, if the copied part of the log takes some of it back:
// its amendments, and the models that were chosen for actors. The edit is the later decision, and so is what a reopening decides.
func (l *Engine) kept(origin *flow.Core, id string, events []flow.Event, again *reopening) ([]flow.Event, error) {
	forked, err := l.NewCore(id, events)
	if err != nil {
		return nil, err
	}
	record := forked.Record()
	old := origin.Record().Start().Settings
	again.decides(&old, record.Settings())
	a, amended := flow.Overridden(&old, &record.Start().Settings, record.Settings())
	a.Models = replaced(origin.Record().Config(), record)
	if !amended && a.Models == nil {
		return events, nil
	}
	return append(events, flow.Event{Seq: record.Seq + 1, At: record.LastAt, Body: a}), nil
}

// parentOf names the origin of a fork. Rounds that an older release has copied to it count as they did there.
func parentOf(origin *flow.Record, id string, seq int64) *flow.Parent {
	former := origin.Parent()
	return &flow.Parent{ID: id, Seq: seq, KeepsOf: former == nil || former.Seq == 0 || former.KeepsOf}
}

// beginAnew has the round that is present at the end of a copy begin as a fork of another number of rounds has it, if nothing was done in
// it: no call has a result or was left out, nobody was dropped, and no decision about a call is awaited. A reopening leaves it as it was.
func (l *Engine) beginAnew(origin *flow.Core, id string, copied []flow.Event, again *reopening) error {
	if again != nil {
		return nil
	}
	i := len(copied) - 1
	for ; i > 0 && copied[i].Kind() != flow.EventRound; i-- {
		if isDone(copied[i].Body) {
			return nil
		}
	}
	began, ok := copied[i].Body.(*flow.Round)
	if !ok {
		return nil
	}
	forked, err := l.NewCore(id, copied)
	if err != nil {
		return err
	}
	record, begins := forked.Record(), forked.Flow().Round
	edited := record.Start().Settings.Rounds != origin.Record().Start().Settings.Rounds
	awaited := func(q flow.Inquiry) bool { return len(q.About) > 0 }
	if begins == nil || !edited || slices.ContainsFunc(record.Inquiries, awaited) {
		return nil
	}
	anew := begins(record, began.N)
	copied[i].Body = anew
	if t, ok := copied[i-1].Body.(*flow.Transition); ok && t.Round != nil {
		led := *t
		led.Round = anew
		copied[i-1].Body = &led
	}
	return nil
}

// isDone reports whether an event is what was done in a round: more than that an attempt was begun or has failed, or that what was said
// before was summarised.
func isDone(body flow.Body) bool {
	switch body.(type) {
	case *flow.Skipped, *flow.Dropped, *flow.Foreign: // only the flow knows what the last is: such as a decision who speaks
		return true
	case *flow.Failure, *flow.Rejection, *flow.Summarized:
		return false
	}
	_, ended := body.(flow.AttemptEnd)
	return ended
}

// replaced returns the models that an edit of the config has changed for actors for whom another model was chosen in the copied part.
func replaced(before flow.Config, record *flow.Record) map[string]flow.ModelChoice {
	var out map[string]flow.ModelChoice
	former := make(map[string]flow.Call)
	for seat := range before.Seats() {
		call := former[seat.By]
		seat.Ask(&call)
		former[seat.By] = call
	}
	for seat := range record.Config().Seats() {
		was, call := former[seat.By], flow.Call{}
		seat.Ask(&call)
		same := call.Model == was.Model && slices.Equal(call.Fallbacks, was.Fallbacks)
		if call.Model == "" || same || record.Replacement(seat.By) == "" {
			continue
		}
		if out == nil {
			out = make(map[string]flow.ModelChoice)
		}
		out[seat.By] = flow.ModelChoice{Model: call.Model, Fallbacks: call.Fallbacks}
	}
	return out
}
