package engine

import (
	"context"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Advance steps a stored conversation; see debate.Engine.
func (l *Engine) Advance(ctx context.Context, id, owner string, signal flow.Signal) (flow.Next, error) {
	switch signal.(type) {
	case flow.Pause, flow.Resume, flow.Stop, flow.Cancel, flow.Retry, flow.Answer, flow.Sent, flow.Note, flow.Amendment:
		var err error
		if signal, err = l.hostControl(ctx, id, signal); err != nil {
			return flow.Next{}, err
		}
	}
	return l.host.Advance(ctx, id, owner, signal)
}

// Call makes a call and advances its conversation with the outcome; see debate.Engine.
func (l *Engine) Call(ctx context.Context, id, owner string, call flow.Lost, emit func(provider.Chunk)) (flow.Next, error) {
	return l.host.Call(ctx, id, owner, call, emit)
}
