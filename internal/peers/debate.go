package main

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	w1 "github.com/agonist-dev/debate/internal/bench"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// arena plays the debate with the engine, as a program does that embeds it: one engine, and Play for each
// debate.
//
// The engine logs every step, reserves room for calls, arms timeouts, and decodes, validates and
// converts each answer of the judge. A debate that has ended is deleted from a store.Memory.
type arena struct {
	engine *debate.Engine
	store  store.Store
	forget bool // delete a debate that has ended
	config debate.Config
}

func newArena(p provider.Provider, s store.Store, rounds int) *arena {
	_, inMemory := s.(*store.Memory)
	return &arena{
		engine: &debate.Engine{Providers: map[string]debate.Provider{"bench": p}, Store: s},
		store:  s,
		forget: inMemory,
		config: w1.Config(rounds),
	}
}

// play plays one debate.
func (a *arena) play(ctx context.Context) (*played, error) {
	record, err := a.engine.Play(ctx, a.config)
	if err != nil {
		return nil, err
	}
	return a.conclude(ctx, record)
}

// playToReader plays one debate while its events are read.
func (a *arena) playToReader(ctx context.Context) (*played, error) {
	session, err := a.engine.Start(ctx, a.config)
	if err != nil {
		return nil, err
	}
	streamed := 0
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			return nil, errors.Join(err, session.Close())
		}
		if chunk, ok := event.Body.(*flow.Chunk); ok && chunk.Schema == "" {
			streamed += len(chunk.Text)
		}
	}
	record, err := session.Wait(ctx)
	if err := errors.Join(err, session.Close()); err != nil {
		return nil, err
	}
	out, err := a.conclude(ctx, record)
	if err != nil {
		return nil, err
	}
	out.streamed = streamed
	return out, nil
}

func (a *arena) conclude(ctx context.Context, record *debate.Record) (*played, error) {
	d, ok := debate.Of(record)
	if !ok {
		return nil, errors.New("the record is not of a debate")
	}
	out := &played{turns: make([]turn, len(record.Turns)), assessments: len(d.Assessments)}
	for i, t := range record.Turns {
		out.turns[i] = turn{t.Speaker, t.Text}
	}
	if d.Verdict != nil && d.Verdict.Winner != nil {
		out.winner = d.Verdict.Winner.Participant
	}
	if a.forget {
		return out, a.store.Delete(ctx, record.ID)
	}
	return out, nil
}

// close stops the engine.
func (a *arena) close(ctx context.Context) error { return a.engine.Shutdown(ctx) }

// listener hears the requests to the script.
type listener struct {
	*w1.Script

	asked func(*provider.Request)
}

// Generate implements [provider.Provider].
func (l *listener) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	l.asked(req)
	return l.Script.Generate(ctx, req, emit)
}

// learnSchemas plays a debate of one round and returns the schemas of its judge's requests.
func learnSchemas(ctx context.Context) (schemas, error) {
	var found schemas
	a := newArena(&listener{w1.NewScript(), func(req *provider.Request) {
		switch {
		case req.Schema == nil:
		case w1.Kind(req.Schema.Name) == w1.Concluding:
			found.verdict = string(req.Schema.JSON)
		default:
			found.assessment = string(req.Schema.JSON)
		}
	}}, &store.Memory{}, 1)
	_, err := a.play(ctx)
	return found, errors.Join(err, a.close(ctx))
}
