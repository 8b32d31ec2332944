package flow_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// TestTheTemperatureOfASeat: a temperature of 0 is one of its own, and what the flow itself has written out is no requirement.
func TestTheTemperatureOfASeat(t *testing.T) {
	shared := new(0.5)
	for name, c := range map[string]struct {
		own      *float64
		usual    float64
		sent     *float64
		required bool
	}{
		"none":             {nil, 0, shared, false},
		"zero":             {new(0.0), 0, new(0.0), true},
		"of its own":       {new(0.7), 0.2, new(0.7), true},
		"zero, not 0.2":    {new(0.0), 0.2, new(0.0), true},
		"as usual":         {new(0.2), 0.2, new(0.2), false},
		"left to the flow": {nil, 0.2, new(0.2), false},
	} {
		t.Run(name, func(t *testing.T) {
			model, fallbacks, options := "test/m", []string{"test/n"}, (*provider.Options)(nil)
			seat := flow.Seat{
				By: "ada", Model: &model, Fallbacks: &fallbacks, Temperature: &c.own, Options: &options, Shared: shared, Usual: c.usual,
			}
			seat.Normalize()
			var call flow.Call
			seat.Ask(&call)
			assert.Equal(t, c.sent, call.Temperature)
			assert.Equal(t, c.required, seat.Requirement().Temperature)
			seat.Clear()
			assert.Empty(t, seat.Given())
			assert.Equal(t, []string{"test/n"}, call.Fallbacks)
		})
	}
}
