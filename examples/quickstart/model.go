package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
)

// choice is a debate that is ready to run.
type choice struct {
	engine *debate.Engine // nil: no model was found
	config debate.Config
	note   string // printed before everything else
	would  string // the model whose prices are shown, although it was not used
}

// source is an origin of models: an API, or your own server.
type source struct {
	name         string
	model, judge string // the defaults of the flags
	provider     *openaicompat.Provider
	serves       []string // the models that the server lists, if it was asked
}

// choose returns a debate with the models that the environment and the flags name. A model without a
// provider's name belongs to the first source.
func choose(ctx context.Context, o options, getenv func(string) string) (choice, error) {
	sources, err := find(ctx, getenv)
	if err != nil || len(sources) == 0 {
		return choice{}, err
	}
	engine := &debate.Engine{Providers: make(map[string]debate.Provider)}
	for _, s := range sources {
		engine.Providers[s.name] = s.provider
	}
	model, judge := o.model, o.judge
	if model == "" {
		model = sources[0].model
	}
	switch {
	case judge == "" && o.model != "":
		judge = model
	case judge == "":
		judge = sources[0].judge
	}
	c := choice{engine: engine, config: debaters(o.topic, o.rounds, qualify(model, sources), qualify(judge, sources))}
	if getenv("OPENAI_BASE_URL") != "" { // your own machine may be slow
		c.config.TurnTimeout, c.config.JudgeTimeout = 10*time.Minute, 10*time.Minute
	}
	return c, nil
}

// debaters returns the config of the debate.
func debaters(topic string, rounds int, model, judge string) debate.Config {
	return debate.Config{
		Topic:  topic,
		Format: format.StructuredRounds,
		Rounds: rounds,
		Participants: []debate.Participant{
			{Name: ada, Side: debate.For, Model: model},
			{Name: ben, Side: debate.Against, Model: model},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: judge}}},
		// No person decides what follows a failure: the debate stops with an error, and can be continued.
		Unattended: true,
	}
}

// find returns the sources that the environment gives access to.
func find(ctx context.Context, getenv func(string) string) ([]source, error) {
	var sources []source
	key := getenv("OPENAI_API_KEY")
	if url := getenv("OPENAI_BASE_URL"); url != "" {
		s := source{name: "local", model: "gpt-4.1-mini", judge: "gpt-4.1", provider: openaicompat.Compatible(url, key)}
		if key != "" {
			s.name = "openai" // a gateway
		}
		var err error
		if s.serves, err = served(ctx, s.provider); err != nil {
			return nil, err
		}
		if len(s.serves) > 0 && !slices.Contains(s.serves, s.model) {
			s.model, s.judge = s.serves[0], s.serves[0]
		}
		sources = append(sources, s)
	} else if key != "" {
		sources = append(sources, source{name: "openai", model: "gpt-4.1-mini", judge: "gpt-4.1", provider: openaicompat.OpenAI(key)})
	}
	if key := getenv("OPENROUTER_API_KEY"); key != "" {
		sources = append(sources, source{
			name: "openrouter", model: "openai/gpt-4.1-mini", judge: "openai/gpt-4.1", provider: openaicompat.OpenRouter(key),
		})
	}
	if key := getenv("MISTRAL_API_KEY"); key != "" {
		sources = append(sources, source{
			name: "mistral", model: "mistral-small-latest", judge: "mistral-large-latest", provider: openaicompat.Mistral(key),
		})
	}
	return sources, nil
}

// qualify puts the provider before a model's name, unless it has one. Names of models can contain slashes
// too. If the server lists the whole name, it is used unchanged.
func qualify(model string, sources []source) string {
	if !slices.Contains(sources[0].serves, model) {
		prefix, _, _ := strings.Cut(model, "/")
		for _, s := range sources {
			if s.name == prefix && strings.Contains(model, "/") {
				return model
			}
		}
	}
	return sources[0].name + "/" + model
}

// served lists the models of a server, except those that only embed. A server without a list has none. If
// it does not answer, or redirects its clients elsewhere, served fails.
func served(ctx context.Context, p *openaicompat.Provider) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	names, err := p.Models(ctx)
	if e, ok := errors.AsType[*provider.Error](err); ok {
		if e.Status >= 400 || e.Kind == provider.KindInvalidResponse {
			return nil, nil // if anything is wrong, the first call reports it
		}
		return nil, &debate.Error{Kind: e.Kind, Op: "OPENAI_BASE_URL", Err: errors.New(cmp.Or(e.Message, "the server does not answer"))}
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "embed") }), err
}
