package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// opReopen is what errors of Reopen name.
const opReopen = "reopen"

// Reopen goes on with a conversation that is completed; see debate.Engine.
func (l *Engine) Reopen(ctx context.Context, id string, o flow.Reopening) (*Session, error) {
	again, err := l.SubmitReopening(ctx, id, o)
	if err != nil {
		return nil, err
	}
	return l.Open(ctx, again)
}

// SubmitReopening stores what Reopen goes on with; see debate.Engine.
func (l *Engine) SubmitReopening(ctx context.Context, id string, o flow.Reopening) (string, error) {
	events, err := l.host.Read(ctx, id)
	if err != nil {
		return "", err
	}
	origin, err := l.NewCore(id, events)
	if err != nil {
		return "", err
	}
	seq := concludedAt(events)
	if seq == 0 {
		return "", unconcluded(id, origin.Record().State)
	}
	reopens := origin.Flow().Reopen
	if reopens == nil {
		err := flow.WithMend(errors.New("no conversation of the flow "+origin.Flow().Name+" is reopened"), "fork the conversation")
		return "", &flow.Error{Kind: provider.KindValidation, Op: opReopen, Err: err}
	}
	config, note, err := reopens(origin.Record(), o)
	if err != nil {
		return "", errors.Join(flow.Within(opReopen, "", err)...)
	}
	edit := func(flow.Config) flow.Config { return config }
	return l.fork(ctx, id, seq-1, edit, &reopening{note, o.Ask, o.Budget != nil}, nil) // something is copied
}

// unconcluded says why a conversation in this state, which has no conclusion, is not reopened.
func unconcluded(id string, state flow.State) error {
	err := flow.WithMend(fmt.Errorf("the conversation %s was completed without a conclusion", id), "fork the conversation")
	switch {
	case state == flow.StateCanceled:
		err = flow.WithMend(fmt.Errorf("the conversation %s was canceled: it has no conclusion", id), "fork the conversation")
	case !state.Final():
		err = flow.WithMend(fmt.Errorf("the conversation %s is not completed: it is in the state %s", id, state),
			"wait until it is completed, or fork it")
	}
	return &flow.Error{Kind: provider.KindState, Op: opReopen, Err: err}
}

// reopening is what a fork goes on with after a conclusion.
type reopening struct {
	note   flow.Note
	asked  string // with which the note ends
	budget bool   // another budget is given
}

// decides leaves to the config of a reopening what it decides: other values than those in force are changes, whatever the config of the
// original was. old are the settings of that config. A nil reopening decides nothing.
func (o *reopening) decides(old, now *flow.Settings) {
	if o == nil {
		return
	}
	if old.Rounds = now.Rounds; o.budget {
		old.Budget = now.Budget
	}
}

// concludedAt returns the number of the event with which a conversation was completed whose conclusion is made. 0: there is none.
func concludedAt(events []flow.Event) int64 {
	for _, event := range slices.Backward(events) {
		if t, ok := event.Body.(*flow.Transition); ok {
			if t.From == flow.StateCompleting && t.On == flow.TriggerCompleted {
				return event.Seq
			}
			return 0
		}
	}
	return 0
}

// stepped returns a copied log with what follows in it at once, without any call: from the present time on after a conclusion, or that it
// no longer waits for those whose questions are left out.
func (l *Engine) stepped(ctx context.Context, id string, log []flow.Event, again *reopening, unasked bool) ([]flow.Event, error) {
	in := flow.Input{At: log[len(log)-1].At, Signal: flow.Tick{}}
	switch {
	case again != nil:
		now, err := l.host.Now(ctx, opReopen)
		if err != nil {
			return nil, err
		}
		in = flow.Input{At: now, Signal: flow.Reopened{Note: again.note, Asked: again.asked}}
	case !unasked:
		return log, nil
	}
	core, err := l.NewCore(id, log)
	if err != nil {
		return nil, err
	}
	out, err := core.StepDrain(in)
	if err != nil {
		return nil, err
	}
	return append(log, out.Events...), nil
}
