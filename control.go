package debate

import (
	"context"
	"fmt"
)

// Control brings a control to a debate wherever it runs: [Answer], [Pause], [Resume], [Stop],
// [Cancel], [Retry], [Acknowledge], or a flow's own [Sent]. No lease is needed. If the debate is open
// in this engine that is what its session's method does; else the facts are appended to the log, and
// whoever holds the debate acts on them with its next result, or within a third of its lease. If nobody
// does, they wait for who opens it: [Filter].Working with Idle finds the debate.
//
// A control that does not suit the debate's state is an error of kind state, and changes nothing.
func (e *Engine) Control(ctx context.Context, id string, signal Signal) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	if signal, err = l.hostControl(signal); err != nil {
		return err
	}
	return l.host.control(ctx, id, signal)
}

// hostControl checks that a signal is a control of the host program, and completes it.
func (l *live) hostControl(signal Signal) (Signal, error) {
	switch s := signal.(type) {
	case Pause, Resume, Stop, Cancel, Retry, Acknowledge, Sent:
		return signal, nil
	case Answer:
		return l.completed(s)
	default:
		return nil, &Error{Kind: KindValidation, Op: "control", Err: fmt.Errorf("%T is no control", signal)}
	}
}

// completed freezes the row of the model that an answer chooses.
func (l *live) completed(a Answer) (Answer, error) {
	a.Unattended, a.Row = false, nil
	if a.Model == "" {
		return a, nil
	}
	if host, _, ok := divide(a.Model); ok && l.providers[host] == nil {
		return a, &Error{Kind: KindValidation, Op: "answer", Field: "model", Err: fmt.Errorf("no provider %q is registered", oneLine(host, 40))}
	}
	a.Row = new(l.model(a.Model))
	return a, nil
}
