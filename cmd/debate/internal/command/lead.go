package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// lead shows a conversation until it is over, waits for somebody, or is interrupted. The first interrupt pauses it.
func (p *program) lead(ctx context.Context, session *debate.Session) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	interrupted := make(chan struct{})
	go func() {
		defer close(interrupted)
		select {
		case <-ctx.Done():
		case <-p.Interrupts:
			p.warnf("Pausing. Another Ctrl-C ends the program at once.")
			_ = session.Pause(ctx)
		}
	}()
	defer func() { stop(); <-interrupted }()
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		lines := progress.New(p.Err)
		for event, err := range session.Events(ctx, 0) {
			if err != nil {
				return
			}
			lines.Show(&event)
		}
	}()
	record, err := session.WaitIdle(ctx)
	if record != nil && record.Final() {
		<-shown
	}
	stop()
	<-shown
	return p.finish(record, err)
}

// finish prints the result of a conversation, and says what is to be done about one that is not over.
func (p *program) finish(record *flow.Record, err error) error {
	if record == nil {
		return err
	}
	switch record.State {
	case flow.StatePaused:
		p.warnf("Paused. debate resume %s continues it.", record.ID)
		return exit(exitInterrupted, nil)
	case flow.StateAwaitingInput:
		for _, q := range record.Inquiries {
			p.warnf("%s asks: %s", q.To, q.Question)
			p.warnf("  debate answer %s %s TEXT", record.ID, q.ID)
		}
		return exit(exitWaiting, nil)
	case flow.StateError:
		p.warnf("debate retry %s tries again.", record.ID)
		return errors.Join(err)
	}
	text, ok := resultOf(record)
	if !ok {
		return exit(exitEarly, fmt.Errorf("there is no result: %s", record.Evidence))
	}
	return p.printText(text)
}
