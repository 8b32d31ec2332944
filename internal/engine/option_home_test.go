package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A vendor's own fields and headers go to the provider of the seat. Another one that takes over is asked without them.
func TestAVendorsOwnFieldsStayWithIt(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Rounds = nil, 1
	ada := &config.Participants[0]
	ada.Model, ada.Fallbacks = "test/debater", []string{"test/second", "other/third"}
	ada.Options = &provider.Options{
		Effort: provider.EffortLow, Extra: map[string]json.RawMessage{"enable_thinking": json.RawMessage("false")},
		Header: map[string]string{"X-Team": "red"},
	}
	asked := map[string]*provider.Options{}
	events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		row := e.Models["test/debater"]
		e.Models["test/second"], e.Models["other/third"] = row, row
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if req.Self == ada.Name {
				asked[req.Model] = req.Options
				if req.Model != "third" {
					r.Err = &provider.Error{Kind: provider.KindRefusal, Status: 200}
				}
			}
		})
		e.Providers["other"] = p
	})
	require.NoError(t, err)
	assert.Equal(t, ada.Options, asked["debater"])
	assert.Equal(t, ada.Options, asked["second"], "another model of the same provider")
	assert.Equal(t, &provider.Options{Effort: provider.EffortLow}, asked["third"])
	core := stage.CoreOf(t, &debate.Engine{}, "home", events)
	assert.Equal(t, []flow.LeftOut{{Model: "other/third", What: []string{"extra", "header"}}}, core.Record().LeftOut())
}

// A model that is named later must take the temperature that the config gives its seat.
func TestAnAmendedModelMustTakeTheTemperatureOfItsSeat(t *testing.T) {
	for _, own := range []*float64{nil, new(0.3)} {
		config := stage.TwoDebaters()
		config.Judging, config.Rounds = nil, 1
		config.Participants[0].Temperature = own
		engine, p := stage.Engine(config)
		engine.Models["test/plain"] = engine.Models["test/debater"]
		lacking(engine, provider.AbilityTemperature, "plain")
		reply, held := p.Reply, make(chan struct{})
		p.Reply = func(req *provider.Request) scripted.Reply {
			<-held
			return reply(req)
		}
		s, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		err = s.Control(t.Context(), flow.Amendment{Models: map[string]flow.ModelChoice{config.Participants[0].Name: {Model: "test/plain"}}})
		close(held)
		if own == nil {
			require.NoError(t, err, "nobody has asked for the default")
		} else {
			require.ErrorIs(t, err, flow.ErrUnsupported)
		}
		require.NoError(t, s.Close())
	}
}
