package debate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// toy is the smallest runtime that can be: it keeps nothing but a log and a list of what is to be
// done, so each of its steps could run on another machine. A real one adds a lease, the calls of one
// batch at once, and a Lost for each call that was in flight when its process ended.
type toy struct {
	t      *testing.T
	engine *debate.Engine // knows the providers; its own sessions are not used
	store  debate.Store
	id     string
	todo   []string // calls to be made
	wait   time.Time
}

// load makes the core from nothing but the stored log.
func (y *toy) load() *flow.Core {
	var events []debate.Event
	for event, err := range y.store.Read(y.t.Context(), y.id, 0) {
		if err != nil {
			break // nothing is stored yet
		}
		events = append(events, event)
	}
	core, err := y.engine.NewCore(y.id, throughJSON(y.t, events))
	require.NoError(y.t, err)
	return core
}

// step takes an input and does what the output says, in its order: save, then break off, then start,
// then wait. This runtime makes one call at a time, so there is never one to break off.
func (y *toy) step(core *flow.Core, in flow.Input) {
	after := core.Record().Seq
	out, err := core.Step(in)
	require.NoError(y.t, err)
	require.NoError(y.t, y.store.Append(y.t.Context(), y.id, after, "toy", out.Events))
	y.todo = append(y.todo, out.Start...)
	y.wait = out.Wait
}

// run plays a debate from its start to its end.
func (y *toy) run(start *flow.Start, config debate.Config) *debate.Record {
	core := y.load() // of a debate that is still to be configured; Engine.Validate has checked it
	for _, signal := range []flow.Signal{flow.Edit{Config: config}, flow.Validate{}, flow.Validated{OK: true}, *start} {
		y.step(core, flow.Input{At: time.Now(), Signal: signal})
	}
	for {
		core := y.load()
		switch {
		case core.Record().Final():
			return core.Record()
		case len(y.todo) > 0:
			command, err := core.Command(y.todo[0]) // all that the call takes: the core is not needed for it
			require.NoError(y.t, err)
			y.todo = y.todo[1:]
			in, err := y.engine.Perform(y.t.Context(), command, nil)
			require.NoError(y.t, err)
			y.step(y.load(), in)
		default: // a retry waits for its time
			require.NotZero(y.t, y.wait, "nothing is due")
			y.step(core, flow.Input{At: y.wait, Signal: flow.Tick{}})
		}
	}
}

// TestToyRuntime: a runtime that forgets everything between two commands ends as a Session does.
func TestToyRuntime(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"sequential":   func(*debate.Config) {},
		"simultaneous": func(c *debate.Config) { c.Mode = debate.Simultaneous },
		"free form":    func(c *debate.Config) { c.Format = format.FreeForm },
		"no judge":     func(c *debate.Config) { c.Judging = nil },
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			config.ID = "toy"
			change(&config)
			engine, p := engineFor(config)
			p.Reply = flaky(p.Reply)
			start, err := engine.Freeze(config)
			require.NoError(t, err)

			toy := &toy{t: t, engine: engine, store: &store.Memory{}, id: config.ID}
			record := toy.run(&start, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, undisturbed(t, config), canonical(t, record))
			assert.Zero(t, record.InFlight())
			if config.Judging != nil {
				assert.Len(t, record.Rejections, 1)
			}
		})
	}
}

// flaky fails the first attempt at Ben's second turn, and spoils the judge's first answer of round two.
func flaky(reply func(*provider.Request) scripted.Reply) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		r := reply(req)
		switch {
		case strings.Contains(req.ID, "/r2.") && strings.HasSuffix(req.ID, ".Ben/1"):
			r.Err = &provider.Error{Kind: provider.KindNetwork, Message: "cut off", NotSent: true}
		case strings.HasSuffix(req.ID, "/r2.assessment.judge/1"):
			r.Text = "Ada was better."
		}
		return r
	}
}
