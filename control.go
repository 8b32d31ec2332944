package debate

import (
	"context"
	"errors"
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
	if signal, err = l.controls(signal); err != nil {
		return err
	}
	if s := l.held(id); s != nil {
		return s.do(ctx, signal)
	}
	if err := l.append(ctx, id, signal); err != nil {
		return err
	}
	return l.wind(ctx, id)
}

// append adds what a control says to the log.
func (l *live) append(ctx context.Context, id string, signal Signal) error {
	writer, tried := newID(), []Event(nil)
	return untangle(func() error {
		log, err := l.read(ctx, id)
		if err != nil || stands(log, tried) {
			return err
		}
		core, err := l.core(id, log)
		if err != nil {
			return err
		}
		out, err := core.Note(l.input(signal))
		if err != nil || len(out.Events) == 0 {
			return err
		}
		tries := 0
		err = l.insist(ctx.Done(), func() error {
			tries++
			return l.store.Append(ctx, id, out.Events[0].Seq-1, writer, out.Events)
		})
		if tried = nil; tries > 1 { // an earlier try may have succeeded
			tried = out.Events
		}
		if err != nil {
			return storeError("control", err)
		}
		l.log(id, out.Events)
		return nil
	})
}

// wind settles what was in flight in a debate that has just ended, if nobody holds it any more: no worker
// would look for it.
func (l *live) wind(ctx context.Context, id string) error {
	core, err := l.load(ctx, id)
	if err != nil || !core.record.Final() || core.over() {
		return err
	}
	if held, err := l.claim(ctx, id); held != nil || errors.Is(err, ErrClosed) {
		return nil // it is a host's to close
	} else if err != nil {
		return err
	}
	s, err := l.openClaimed(ctx, id)
	if err != nil {
		if errors.Is(err, ErrLeased) || errors.Is(err, ErrClosed) {
			return nil // who holds it will
		}
		return err
	}
	return s.Close()
}

// controls checks that a signal is one of a host's, and completes it.
func (l *live) controls(signal Signal) (Signal, error) {
	switch s := signal.(type) {
	case Pause, Resume, Stop, Cancel, Retry, Acknowledge, Sent:
		return signal, nil
	case Answer:
		return l.answer(s)
	default:
		return nil, &Error{Kind: KindValidation, Op: "control", Err: fmt.Errorf("%T is no control", signal)}
	}
}

// answer freezes the row of the model that an answer chooses.
func (l *live) answer(a Answer) (Answer, error) {
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

// mostConflicts bounds how often others may be faster in a row. Each of them has got something done.
const mostConflicts = 100

// untangle tries again while the log grows under it.
func untangle(try func() error) error {
	var err error
	for range mostConflicts {
		if err = try(); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return err
}

// note brings a control to a debate that somebody else holds, who is to act on it.
func (s *Session) note(ctx context.Context, signal Signal) error {
	var tried []Event
	return untangle(func() error {
		if log, err := s.refold(ctx); err != nil || stands(log, tried) {
			return err
		}
		out, err := s.core.Note(s.live.input(signal))
		if err != nil {
			if broken := s.core.err(); broken != nil {
				s.drop(broken)
			}
			return err
		}
		if len(out.Events) == 0 {
			return nil
		}
		err = s.save(ctx, out.Events)
		if tried = nil; s.doubt {
			tried = out.Events
		}
		switch {
		case errors.Is(err, ErrConflict):
			return err
		case err != nil:
			s.drop(err)
			return err
		}
		s.changed()
		s.finished()
		return nil
	})
}
