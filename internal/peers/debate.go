package main

import (
	"context"
	"errors"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// arena plays the debate with the engine, as a program does that embeds it: one engine, and for each
// debate Start and Wait.
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
		engine: &debate.Engine{Providers: map[string]debate.Provider{"simulated": p}, Store: s},
		store:  s,
		forget: inMemory,
		config: debate.Config{
			Topic: topic, Rounds: rounds,
			Participants: []debate.Participant{
				{Name: ada, Side: format.For, Position: "Yes, ban them.", Model: "simulated/debater"},
				{Name: ben, Side: format.Against, Position: "No, price them.", Model: "simulated/debater"},
				{Name: cy, Side: format.Neutral, Position: "Start with lorries.", Model: "simulated/debater"},
			},
			Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Name: judge, Model: "simulated/judge"}}},
		},
	}
}

// play plays one debate.
func (a *arena) play(ctx context.Context) (*played, error) {
	session, err := a.engine.Start(ctx, a.config)
	if err != nil {
		return nil, err
	}
	return a.conclude(ctx, session)
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
	out, err := a.conclude(ctx, session)
	if err != nil {
		return nil, err
	}
	out.streamed = streamed
	return out, nil
}

func (a *arena) conclude(ctx context.Context, session *debate.Session) (*played, error) {
	record, err := session.Wait(ctx)
	if err := errors.Join(err, session.Close()); err != nil {
		return nil, err
	}
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
		err = a.store.Delete(ctx, session.ID())
	}
	return out, err
}

// close stops the engine.
func (a *arena) close(ctx context.Context) error { return a.engine.Shutdown(ctx) }

// simulatedProvider is the script as a provider.
type simulatedProvider struct {
	script *script
	asked  func(*provider.Request) // nil: nobody looks at requests
}

// Generate implements [provider.Provider].
func (p *simulatedProvider) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if p.asked != nil {
		p.asked(req)
	}
	size := len(req.System) + len(req.Last.Text)
	for i := range req.Messages {
		size += len(req.Messages[i].Text)
	}
	asked := speech
	if req.Schema != nil {
		asked = kind(req.Schema.Name)
	}
	text, err := p.script.answer(ctx, asked, req.Self, len(req.Messages), size)
	if err != nil {
		return nil, err
	}
	if asked == speech {
		for piece := range p.script.split(text) {
			emit(provider.Chunk{Text: piece})
		}
	}
	return &provider.Response{Text: text, Stop: provider.StopEnd, Usage: provider.Usage{Input: size / 4, Output: len(text) / 4}}, nil
}

// learnSchemas plays a debate of one round and returns the schemas of its judge's requests.
func learnSchemas(ctx context.Context) (schemas, error) {
	var found schemas
	a := newArena(&simulatedProvider{script: newScript(), asked: func(req *provider.Request) {
		switch {
		case req.Schema == nil:
		case kind(req.Schema.Name) == concluding:
			found.verdict = string(req.Schema.JSON)
		default:
			found.assessment = string(req.Schema.JSON)
		}
	}}, &store.Memory{}, 1)
	_, err := a.play(ctx)
	return found, errors.Join(err, a.close(ctx))
}
