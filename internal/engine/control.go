package engine

import (
	"context"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Control gives a control to a conversation, wherever it runs; see debate.Engine.
func (l *Engine) Control(ctx context.Context, id string, signal flow.Signal) error {
	signal, err := l.hostControl(ctx, id, signal)
	if err != nil {
		return err
	}
	return l.host.Control(ctx, id, signal)
}

// hostControl checks that a signal is a control of the host program, and completes it.
func (l *Engine) hostControl(ctx context.Context, id string, signal flow.Signal) (flow.Signal, error) {
	switch s := signal.(type) {
	case flow.Pause, flow.Resume, flow.Stop, flow.Cancel, flow.Retry, flow.Sent:
		return signal, nil
	case flow.Answer:
		s, err := l.completed(ctx, id, s)
		if err != nil {
			return nil, err
		}
		return l.storeAnswer(ctx, id, s)
	case flow.Amendment:
		return l.rowed(ctx, id, s)
	default:
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "control", Err: text.IsNo(signal, "control")}
	}
}

// completed freezes the row of the model that an answer chooses, and its account.
func (l *Engine) completed(ctx context.Context, id string, a flow.Answer) (flow.Answer, error) {
	a.Rule, a.Row, a.Accounts = false, nil, nil
	if a.Model == "" {
		return a, nil
	}
	if host, _, ok := flow.SplitModel(a.Model); ok && l.providers[host] == nil {
		err := unregistered("provider", "Providers", host, l.providers)
		return a, &flow.Error{Kind: provider.KindValidation, Op: "answer", Field: "model", Err: err}
	}
	rows, accounts, err := l.entering(ctx, id, []string{a.Model})
	if err != nil {
		return a, err
	}
	a.Row, a.Accounts = new(rows[a.Model]), accounts
	return a, nil
}

// rowed freezes the rows of the models that an amendment names, and their accounts. Whether they can be asked checks the
// core, together with the rest of the amendment.
func (l *Engine) rowed(ctx context.Context, id string, a flow.Amendment) (_ flow.Amendment, err error) {
	a.Rows, a.Accounts, err = l.entering(ctx, id, a.ModelNames())
	return a, err
}

// entering returns the rows of models that take over in a conversation, and the accounts of providers that it did not have.
func (l *Engine) entering(
	ctx context.Context, id string, names []string,
) (rows map[string]flow.Model, accounts map[string]string, err error) {
	if len(names) == 0 {
		return nil, nil, nil
	}
	record, w, err := l.appoint(ctx, id, names)
	if err != nil {
		return nil, nil, err
	}
	rows = make(map[string]flow.Model, len(names))
	for _, name := range names {
		rows[name] = l.row(name, w)
	}
	if record == nil {
		return rows, nil, nil
	}
	return rows, l.joining(ctx, record, names), nil
}
