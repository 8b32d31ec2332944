package window_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

func TestAWarningIsGivenOnceForEachThresholdAndSpeaker(t *testing.T) {
	t.Parallel()
	for _, manager := range []string{flow.ContextTruncate, flow.ContextSliding, flow.DefaultContext} {
		t.Run(manager, func(t *testing.T) {
			d := stage.NewTalk(20, 6000)
			d.Config.Context = manager
			record := stage.Run(t, d.Engine, d.Config)
			assert.ElementsMatch(t, []string{
				"context-80 Ada", "context-80 Ben", "context-90 Ada", "context-90 Ben", "context Ada", "context Ben",
			}, kindsOf(record))
			for _, w := range record.Warnings {
				assert.Regexp(t, `^\d+ of 5600 tokens$`, w.Evidence)
				assert.NotEmpty(t, w.Call)
				assert.Equal(t, w.Kind == flow.WarnShort, w.Left > 0)
			}
		})
	}
}

// The first call that is at 80 % is the one that the warning names.
func TestAThresholdIsToldWhenItIsReached(t *testing.T) {
	d := stage.NewTalk(20, 9000)
	d.Config.Context = flow.ContextSliding
	record := stage.Run(t, d.Engine, d.Config)
	for _, w := range record.Warnings {
		var total, limit int
		_, err := fmt.Sscanf(w.Evidence, "%d of %d tokens", &total, &limit)
		require.NoError(t, err)
		assert.Equal(t, 8600, limit)
		least := map[flow.WarningKind]int{flow.WarnNear: 80, flow.WarnHigh: 90, flow.WarnShort: 100}[w.Kind]
		assert.GreaterOrEqual(t, 100*total, least*limit, w.Kind)
		assert.Less(t, 100*total, (least+15)*limit, "%s: a turn has less than a tenth of the window", w.Kind)
	}
}

func TestAThresholdIsToldWhereASummaryFollows(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		auto bool
		want []flow.WarningKind
	}{
		"from 80 %": {true, []flow.WarningKind{flow.WarnNear}},
		"from 90 %": {false, []flow.WarningKind{flow.WarnNear, flow.WarnHigh}},
	} {
		t.Run(name, func(t *testing.T) {
			d := stage.NewTalk(20, 6000).Summarizes(test.auto)
			record := stage.Run(t, d.Engine, d.Config)
			require.NotEmpty(t, record.Summaries)
			var kinds []flow.WarningKind
			for _, w := range record.Warnings {
				kinds = append(kinds, w.Kind)
				assert.Contains(t, []string{"Ada", "Ben"}, w.By, "%+v", w)
			}
			assert.Subset(t, kinds, test.want, "what a summary makes room for had come near the window")
		})
	}
}
