package command

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// leftover is how long a process that was killed holds a conversation, and a little more.
const leftover = 16 * time.Second

// outwait opens a conversation that another process holds, if that process was killed and will not be heard of again. One that
// works shows that by its log: then, and after the time that a dead one can hold it, the error is [flow.ErrLeased].
func (p *program) outwait(ctx context.Context, engine *debate.Engine, id string) (*debate.Session, error) {
	ctx, stop := p.interruptible(ctx)
	defer stop()
	before, err := engine.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	most := cmp.Or(p.Takeover, leftover)
	p.warnf("Another process has %s. If it was killed, that ends within %v.", shortID(id), most)
	late, again := time.NewTimer(most), time.NewTicker(most/64)
	defer late.Stop()
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, interruption(ctx, ctx.Err())
		case <-late.C:
			return nil, flow.ErrLeased
		case <-again.C:
		}
		now, err := engine.Record(ctx, id)
		if err != nil {
			return nil, interruption(ctx, err)
		}
		if now.Seq != before.Seq {
			return nil, flow.ErrLeased
		}
		// Not with ctx, which ends with this function.
		if session, err := engine.Open(context.WithoutCancel(ctx), id); !errors.Is(err, flow.ErrLeased) {
			return session, err
		}
	}
}
