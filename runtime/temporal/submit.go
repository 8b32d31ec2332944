package temporal

import (
	"context"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// submit stores a debate without starting it here.
func submit(ctx context.Context, engine *debate.Engine, config flow.Config) (id string, err error) {
	session, err := engine.New(config)
	if err != nil {
		return "", err
	}
	if err := session.Validate(ctx); err != nil {
		return "", err
	}
	start, err := engine.Freeze(config)
	if err != nil {
		return "", err
	}
	id = session.ID()
	core, err := engine.NewCore(id, nil)
	if err != nil {
		return "", err
	}
	for _, signal := range []flow.Signal{flow.Edit{Config: config}, flow.Validate{}, flow.Validated{OK: true}, start} {
		out, err := core.StepDrain(flow.Input{At: time.Now(), Signal: signal})
		if err != nil {
			return "", err
		}
		if err := engine.Store.Append(ctx, id, 0, "submit/"+id, out.Events); err != nil {
			return "", err
		}
	}
	return id, nil
}
