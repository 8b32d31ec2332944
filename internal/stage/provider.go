package stage

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Shop is a provider that can list its models.
type Shop struct {
	*scripted.Provider

	Has   []string
	Err   error
	Hangs bool
	Lists atomic.Int32
	Looks atomic.Int32
}

// Models implements [provider.Lister].
func (s *Shop) Models(ctx context.Context) ([]string, error) {
	s.Lists.Add(1)
	if s.Hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Has, s.Err
}

// Check implements [provider.Checker].
func (s *Shop) Check(_ context.Context, model string) error {
	s.Looks.Add(1)
	if model == "alias" {
		return nil
	}
	return &provider.Error{Kind: provider.KindValidation, Status: 404, Code: "model_not_found"}
}

// Market returns a config of three providers, one for each debater and one for the judge, and an engine with them.
func Market() (debate.Config, *debate.Engine, map[string]*Shop) {
	config := TwoDebaters()
	config.Participants[0].Model, config.Participants[0].Fallbacks = "one/debater", []string{"one/spare", "one/alias", "two/spare"}
	config.Participants[1].Model, config.Judging.Judges[0].Model = "two/debater", "three/judge"
	engine, p := Engine(config)
	shops := make(map[string]*Shop)
	for _, name := range []string{"one", "two", "three"} {
		shops[name] = &Shop{Provider: p, Has: []string{"debater", "spare", "judge"}}
		engine.Providers[name] = shops[name]
	}
	return config, engine, shops
}

// TopK is a field of a vendor's own, for Options.Extra.
func TopK(value string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"top_k": json.RawMessage(value)}
}

// Queue is a wrapper in which each call waits.
type Queue struct {
	provider.Provider

	Wait   time.Duration
	Silent bool // it does not say that it waits
	Nested int  // how often it says so at once
}

func (q Queue) Unwrap() provider.Provider { return q.Provider }

// Generate implements [provider.Provider].
func (q Queue) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if err := q.stand(ctx); err != nil {
		return nil, &provider.Error{Kind: provider.KindTimeout, NotSent: true, Err: err}
	}
	return q.Provider.Generate(ctx, req, emit)
}

func (q Queue) stand(ctx context.Context) error {
	if !q.Silent {
		for range max(1, q.Nested) {
			defer provider.Waiting(ctx)()
		}
		if deadline, ok := ctx.Deadline(); ok {
			return errors.New("a call that waits has a deadline: " + deadline.String())
		}
	}
	return Sleep(ctx, q.Wait)
}

// Sleep waits for a time. If ctx is done first, it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Cached answers everything from a cache.
type Cached struct{ provider.Provider }

// Generate implements [provider.Provider].
func (c Cached) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	r, err := c.Provider.Generate(ctx, req, emit)
	if err == nil {
		r.Cached, r.Usage = true, provider.Usage{}
	}
	return r, err
}
