// Package kernel makes the engine beneath a debate.Engine, for those who step the core of a conversation by hand: package flowtest,
// and tests of single steps.
package kernel

import (
	"errors"
	"maps"
	"testing"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/engine"
)

// Engine is the engine beneath package debate. Freeze makes the start of a conversation, and NewCore a core.
type Engine = engine.Engine

// Of makes an engine of the fields of a debate.Engine. It can start no session, nobody can ask its judges, and it has no detectors of
// the host program's. If a field is wrong, Of ends the test.
func Of(t testing.TB, e *debate.Engine) *Engine {
	t.Helper()
	formats := make([]format.Format, 0, len(e.Formats))
	for name, f := range e.Formats {
		f.Name = name
		formats = append(formats, f)
	}
	flows := map[string]*flow.Flow{debate.FlowName: debate.DebateFlow(formats...)}
	maps.Copy(flows, e.Flows)
	functions := maps.Clone(e.Functions)
	for name, judge := range e.Judges {
		if functions == nil {
			functions = make(map[string]flow.Function)
		}
		if judge != nil {
			functions[name] = named{}
		}
	}
	made, problems := engine.New(engine.Parts{
		Providers: e.Providers, Functions: functions, Contexts: e.Contexts, Flows: flows, Tools: e.Tools, Prompts: e.Prompts, Models: e.Models,
		SkipModelCheck: e.SkipModelCheck, Store: e.Store, Logger: e.Logger, Seed: e.Seed, First: debate.FlowName,
	})
	if err := errors.Join(problems...); err != nil {
		t.Fatal(err)
	}
	return made
}

// Begin makes the core of a conversation, and the signals that start it there: the config, the checks that it has passed, and what an
// engine has frozen of it. None of them is stepped, and the config is not validated.
func Begin(e *Engine, id string, config flow.Config) (*flow.Core, []flow.Signal, error) {
	start, err := e.Freeze(config)
	if err != nil {
		return nil, nil, err
	}
	core, err := e.NewCore(id, nil)
	return core, []flow.Signal{flow.Edit{Config: config}, flow.Validate{}, flow.Validated{OK: true}, start}, err
}

// named is a judge of whom only the name counts.
type named struct{ flow.Function }
