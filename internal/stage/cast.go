package stage

import (
	"log/slog"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TwoDebaters returns a config of three rounds with a judge.
func TwoDebaters() debate.Config {
	return debate.Config{
		Topic:  "Should cities ban cars from their centres?",
		Format: format.StructuredRounds,
		Rounds: 3,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "test/debater", Position: "Yes, ban them."},
			{Name: "Ben", Side: debate.Against, Model: "test/debater", Position: "No, price them."},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/judge"}}},
		// A failure that is not retried is an error at once, unless a test is about something else.
		Unattended: true, Patience: time.Nanosecond,
	}
}

// Engine returns an engine whose only provider follows the script for the config's participants, and the provider.
func Engine(config debate.Config) (*debate.Engine, *scripted.Provider) {
	var names []string
	for _, p := range config.Participants {
		names = append(names, p.Name)
	}
	p := &scripted.Provider{Reply: Script(names), Record: true}
	engine := &debate.Engine{
		Logger:    slog.New(slog.DiscardHandler), // a test that wants lines has a logger of its own
		Providers: map[string]debate.Provider{"test": p},
		Models: map[string]debate.Model{
			"test/debater": {Priced: true, Input: 1_000_000, Output: 2_000_000, CachedInput: 100_000, CacheWrite: 1_000_000},
			"test/judge":   {Priced: true, Input: 3_000_000, Output: 9_000_000, CachedInput: 300_000, CacheWrite: 3_000_000},
		},
	}
	if config.Labels[labelPause] != "" {
		engine.Flows = map[string]*debate.Flow{debate.FlowName: Paced()}
	}
	return engine, p
}

// InFlow returns a config under the name of the one flow that an engine was given. Without a flow it is a debate's.
func InFlow(engine *debate.Engine, config debate.Config) flow.Config {
	for name := range engine.Flows {
		return flow.Named(name, config)
	}
	return config
}
