package debate

import (
	"context"
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Control gives a control to a debate, wherever it runs. A control is a [flow.Answer], [flow.Pause], [flow.Resume],
// [flow.Stop], [flow.Cancel], [flow.Retry] or [flow.Amendment], or a flow's own [flow.Sent], given as a value. No lease is needed.
//
// If the debate is open in this engine, Control does what the session's method does. Otherwise it appends the facts
// to the log:
//   - If another process holds the debate, that process acts on them with its next result, or within a third of
//     its lease.
//   - If no process holds it, the facts wait until a process opens the debate. [Filter].Working with Idle finds
//     it.
//
// All of these but an Amendment and an Answer may give a Reason: one line of at most [flow.MaxReason] bytes. The log, and so
// exports, have it in the evidence of the transition, or beside the input.
//
// If a control does not fit the debate's state, the error is of kind state, and nothing changes. So it is with kind validation
// if a reason or an input is refused.
func (e *Engine) Control(ctx context.Context, id string, signal flow.Signal) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	if signal, err = l.hostControl(ctx, id, signal); err != nil {
		return err
	}
	return l.host.Control(ctx, id, signal)
}

// hostControl checks that a signal is a control of the host program, and completes it.
func (l *engine) hostControl(ctx context.Context, id string, signal flow.Signal) (flow.Signal, error) {
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
func (l *engine) completed(ctx context.Context, id string, a flow.Answer) (flow.Answer, error) {
	a.Rule, a.Row, a.Accounts = false, nil, nil
	if a.Model == "" {
		return a, nil
	}
	if host, _, ok := flow.SplitModel(a.Model); ok && l.providers[host] == nil {
		err := fmt.Errorf("no provider %q is registered", text.OneLine(host, 40))
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
func (l *engine) rowed(ctx context.Context, id string, a flow.Amendment) (_ flow.Amendment, err error) {
	a.Rows, a.Accounts, err = l.entering(ctx, id, a.Names())
	return a, err
}

// entering returns the rows of models that take over in a conversation, and the accounts of providers that it did not have.
func (l *engine) entering(
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
