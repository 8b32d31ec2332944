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

// beginAnew has a round with which a copy ends begin as the fork has it, if that has another number of rounds: nothing was done in it.
func (l *Engine) beginAnew(id string, copied []flow.Event) error {
	i := len(copied) - 1
	if _, amended := copied[i].Body.(*flow.Amendment); amended {
		i--
	}
	began, ok := copied[i].Body.(*flow.Round)
	if !ok {
		return nil
	}
	forked, err := l.NewCore(id, copied)
	if err != nil {
		return err
	}
	begins := forked.Flow().Round
	if begins == nil {
		return nil
	}
	anew := begins(forked.Record(), began.N)
	if anew.Of == began.Of {
		return nil
	}
	copied[i].Body = anew
	if t, ok := copied[i-1].Body.(*flow.Transition); ok && t.Round != nil {
		led := *t
		led.Round = anew
		copied[i-1].Body = &led
	}
	return nil
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
