package debate

import (
	"context"
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Control gives a control to a debate, wherever it runs. A control is a [flow.Answer], [flow.Pause], [flow.Resume],
// [flow.Stop], [flow.Cancel], [flow.Retry] or [flow.Acknowledge], or a flow's own [flow.Sent]. No lease is needed.
//
// If the debate is open in this engine, Control does what the session's method does. Otherwise it appends the facts
// to the log:
//   - If another process holds the debate, that process acts on them with its next result, or within a third of
//     its lease.
//   - If no process holds it, the facts wait until a process opens the debate. [Filter].Working with Idle finds
//     it.
//
// If a control does not fit the debate's state, the error is of kind state, and nothing changes.
func (e *Engine) Control(ctx context.Context, id string, signal flow.Signal) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	if signal, err = l.hostControl(signal); err != nil {
		return err
	}
	return l.host.Control(ctx, id, signal)
}

// hostControl checks that a signal is a control of the host program, and completes it.
func (l *engine) hostControl(signal flow.Signal) (flow.Signal, error) {
	switch s := signal.(type) {
	case flow.Pause, flow.Resume, flow.Stop, flow.Cancel, flow.Retry, flow.Acknowledge, flow.Sent:
		return signal, nil
	case flow.Answer:
		return l.completed(s)
	default:
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "control", Err: fmt.Errorf("%T is no control", signal)}
	}
}

// completed freezes the row of the model that an answer chooses.
func (l *engine) completed(a flow.Answer) (flow.Answer, error) {
	a.Unattended, a.Row = false, nil
	if a.Model == "" {
		return a, nil
	}
	if host, _, ok := flow.SplitModel(a.Model); ok && l.providers[host] == nil {
		err := fmt.Errorf("no provider %q is registered", text.OneLine(host, 40))
		return a, &flow.Error{Kind: provider.KindValidation, Op: "answer", Field: "model", Err: err}
	}
	a.Row = new(l.model(a.Model))
	return a, nil
}
