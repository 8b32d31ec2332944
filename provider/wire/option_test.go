package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

func TestNearest(t *testing.T) {
	all := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	for _, tt := range []struct {
		effort provider.Effort
		steps  []string
		want   string
	}{
		{provider.EffortNone, all, "none"},
		{provider.EffortNone, all[1:], ""},
		{provider.EffortMinimal, all, "minimal"},
		{provider.EffortMinimal, []string{"none", "low", "high"}, "low"},
		{provider.EffortMedium, []string{"low", "high"}, "low"},
		{provider.EffortMax, all, "max"},
		{provider.EffortMax, all[:6], "xhigh"},
		{provider.EffortLow, []string{"high"}, "high"},
		{provider.EffortLow, []string{"none"}, ""},
		{provider.EffortLow, nil, ""},
		{"odd", all, ""},
	} {
		got, ok := wire.Nearest(tt.effort, tt.steps)
		assert.Equal(t, tt.want != "", ok, "%v", tt)
		if ok {
			assert.Equal(t, tt.want, got)
		}
	}
}

func TestLacking(t *testing.T) {
	req := &provider.Request{
		Model: "m", Options: &provider.Options{Search: true},
		Messages: []provider.Message{{Parts: []provider.Part{{Type: "image/png"}}}},
		Last:     provider.Message{Parts: []provider.Part{{Type: "application/pdf"}}},
	}
	require.NoError(t, wire.Lacking(req, provider.AbilityStop, provider.AbilityFile))
	for _, lacks := range []provider.Ability{provider.AbilitySearch, provider.AbilityImage, provider.AbilityPDF} {
		var e *provider.Error
		require.ErrorAs(t, wire.Lacking(req, provider.AbilityStop, lacks), &e)
		assert.Equal(t, string(lacks), e.Code)
		assert.True(t, e.NotSent)
	}
}
