package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

func only(seat flow.Seat) flow.Seats {
	return func(yield func(flow.Seat) bool) { yield(seat) }
}

// TestTheTemperatureOfASeat: a temperature of 0 is one of its own, and what the flow itself has written out is no requirement.
func TestTheTemperatureOfASeat(t *testing.T) {
	for name, c := range map[string]struct {
		own, shared *float64
		usual       float64
		sent        *float64
		required    bool
	}{
		"none":                 {nil, new(0.5), 0, new(0.5), false},
		"zero":                 {new(0.0), new(0.5), 0, new(0.0), true},
		"of its own":           {new(0.7), nil, 0.2, new(0.7), true},
		"zero, not 0.2":        {new(0.0), nil, 0.2, new(0.0), true},
		"as usual":             {new(0.2), nil, 0.2, new(0.2), false},
		"left to the flow":     {nil, nil, 0.2, new(0.2), false},
		"shared":               {nil, new(0.5), 0.2, new(0.5), false},
		"shared, and its own":  {new(0.2), new(0.5), 0.2, new(0.2), true},
		"shared, and the flow": {nil, nil, 0.2, new(0.2), false},
	} {
		t.Run(name, func(t *testing.T) {
			model, fallbacks, options := "test/m", []string{"test/n"}, (*provider.Options)(nil)
			seat := flow.Seat{By: "ada", Model: &model, Fallbacks: &fallbacks, Temperature: &c.own, Options: &options, Usual: c.usual}
			if c.shared != nil || name == "shared, and the flow" {
				seat.Shared = &c.shared
			}
			only(seat).Normalize()
			var call flow.Call
			seat.Ask(&call)
			assert.Equal(t, c.sent, call.Temperature)
			assert.Equal(t, c.required, flow.NeedsTemperature(seat))
			seat.Clear()
			assert.Empty(t, seat.Given())
			assert.Equal(t, []string{"test/n"}, call.Fallbacks)
		})
	}
}

// TestWhatTakesASeat: exactly one of a model, a function and a person does, unless it may stay vacant. A struct need have no field but
// that of the model.
func TestWhatTakesASeat(t *testing.T) {
	for name, c := range map[string]struct {
		model, function  string
		person, vacant   bool
		fields           []string
		performer        flow.Performer
		temperature, max bool // are wrong
	}{
		"a model":                {model: "test/m"},
		"no name of a model":     {model: "m", fields: []string{"judge.model"}},
		"a function":             {function: "f", performer: flow.ByFunction},
		"a person":               {person: true, performer: flow.ByPerson},
		"nobody":                 {fields: []string{"judge.model"}},
		"nobody, and it is fine": {vacant: true},
		"a model and a person":   {model: "test/m", person: true, fields: []string{"judge"}, performer: flow.ByPerson},
		"all":                    {model: "test/m", function: "f", person: true, fields: []string{"judge"}, performer: flow.ByFunction},
		"what no model accepts": {
			model: "test/m", temperature: true, max: true, fields: []string{"temperature", "judge.maxTokens"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			seat := flow.Seat{
				Field: "judge", By: "ada", Model: &c.model, Function: flow.NameField{Field: "judge.function", Name: c.function},
				Person: c.person, Vacant: c.vacant,
			}
			if shared := new(2.5); c.temperature {
				seat.Shared = &shared
			}
			if c.max {
				seat.MaxTokens = new(-1)
			}
			var f flow.Findings
			seat.Check(&f, nil)
			seat.Check(&f, nil)
			var fields []string
			for _, err := range f {
				var failure *flow.Error
				require.ErrorAs(t, err, &failure)
				fields = append(fields, failure.Field)
			}
			if c.temperature { // what seats share is named once
				c.fields = append(c.fields, c.fields[1:]...)
			} else {
				c.fields = append(c.fields, c.fields...)
			}
			assert.Equal(t, c.fields, fields)
			var call flow.Call
			seat.Ask(&call)
			assert.Equal(t, c.performer, call.Performer)
			assert.Equal(t, c.function, call.Function)
			only(seat).Clone()
			assert.Equal(t, c.max, len(seat.Given()) > 0)
		})
	}
}
