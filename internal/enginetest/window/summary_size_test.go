package window_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestASummaryHasAFifthOfTheSmallestWindow(t *testing.T) {
	d := stage.NewTalk(12, 6000).Summarizes(true)
	d.Config.MaxTokens, d.Config.Reserve = 2000, 2000
	d.Windows(9000, 7000)
	stage.Run(t, d.Engine, d.Config)
	require.NotEmpty(t, d.Summaries())
	assert.Equal(t, 7000/5, d.Summaries()[0].MaxTokens)
	for _, req := range d.Summaries() {
		assert.LessOrEqual(t, req.MaxTokens, 7000/5, "a judge with less room has a shorter one made")
	}
}

// A summarizer whose own window is small is given what fits it; the summary then covers less.
func TestASummaryIsMadeOfWhatFitsTheSummarizersWindow(t *testing.T) {
	t.Parallel()
	d := stage.NewTalk(30, 9000).Summarizes(true)
	d.Engine.Models["test/summarizer"] = debate.Model{Priced: true, Window: 2500}
	record := stage.Run(t, d.Engine, d.Config)
	require.NotNil(t, stage.View(record).Verdict)
	require.NotEmpty(t, record.Summaries)
	for _, req := range d.Summaries() {
		assert.LessOrEqual(t, d.Sent(&req), 2500-stage.ReplyTokens, req.ID)
		assert.LessOrEqual(t, req.MaxTokens, 500)
	}
	wide := stage.NewTalk(30, 9000).Summarizes(true)
	wished := stage.Run(t, wide.Engine, wide.Config).Summaries[0].Upto
	first := d.Summaries()[0]
	assert.Equal(t, len(stage.Heard(&first)), record.Summaries[0].Upto)
	assert.Less(t, record.Summaries[0].Upto, wished, "it covers less than was wished")
	for _, w := range record.Warnings {
		assert.NotEqual(t, "summarizer", w.By, "%+v", w)
	}
	for _, req := range d.TurnsOf() {
		assert.LessOrEqual(t, d.Sent(&req), 8600)
	}
}

// A summary that covers less than was wished leaves a wish for the same place: that is another summary.
func TestASummaryThatCoversLessIsGoneOnWith(t *testing.T) {
	d := stage.NewTalk(10, 5000).Summarizes(true)
	d.Engine.Models["test/summarizer"] = debate.Model{Priced: true, Window: 2300}
	d.Said = func(req *provider.Request) int {
		if req.Self == "Ada" {
			return 300
		}
		return 1
	}
	record := stage.Run(t, d.Engine, d.Config)
	assert.Len(t, record.Turns, 20)
	assert.NotEmpty(t, record.Summaries)
}

func TestASummarizerForWhomASingleTurnIsTooLong(t *testing.T) {
	d := stage.NewTalk(20, 6000).Summarizes(true)
	d.Engine.Models["test/summarizer"] = debate.Model{Priced: true, Window: 1100}
	record := stage.Run(t, d.Engine, d.Config)
	assert.NotNil(t, stage.View(record).Verdict)
	assert.Len(t, record.Turns, 40)
	assert.Empty(t, record.Summaries)
	assert.Empty(t, d.Summaries())
}

// Whatever sizes turns and windows have, summaries come to an end and the debate to its verdict.
func TestSummariesOfAnySizeEnd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60 / longform.Fewer()) {
		dice := rand.New(rand.NewPCG(seed, 2))
		size := 3000 + dice.IntN(5000)
		d := stage.NewTalk(5+dice.IntN(15), size).Summarizes(dice.IntN(2) == 0)
		d.Config.Context = []string{"", flow.ContextSummarize}[dice.IntN(2)]
		if dice.IntN(3) == 0 {
			d.Config.Mode = debate.Simultaneous
		}
		lengths := make([]int, 64)
		for i := range lengths {
			lengths[i] = []int{1, 5, 20, 200, stage.ReplyTokens}[dice.IntN(5)]
		}
		d.Said = func(req *provider.Request) int { return lengths[(len(req.ID)+len(req.Messages)*7+int(req.Self[0]))%64] }
		if dice.IntN(2) == 0 {
			d.Engine.Models["test/summarizer"] = debate.Model{Priced: true, Window: 1500 + dice.IntN(3000)}
		}
		if dice.IntN(2) == 0 {
			d.Config.Participants[1].Model = "test/other"
			d.Engine.Models["test/other"] = debate.Model{Priced: true, Window: 3000 + dice.IntN(5000)}
		}
		length := []int{1, 50, 300, 1500}[dice.IntN(4)]
		d.Summary = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: stage.Words(length)} }
		name := fmt.Sprintf("seed %d, window %d, others %v, summaries of %d, %+v", seed, size, d.Engine.Models, length, d.Config.Context)
		session, err := d.Engine.Start(t.Context(), d.Config)
		require.NoError(t, err, name)
		record, err := session.Wait(t.Context())
		require.NoError(t, err, name)
		require.NoError(t, session.Close())
		require.Len(t, record.Turns, 2*d.Config.Rounds, name)
		require.NotNil(t, stage.View(record).Verdict, name)
		for _, req := range d.Provider.Requests() {
			if window := d.Engine.Models["test/"+req.Model].Window; window > 0 {
				require.LessOrEqual(t, d.Sent(&req), window-stage.ReplyTokens, "%s: %s", name, req.ID)
			}
		}
		for _, req := range d.TurnsOf() {
			if got := stage.Heard(&req); len(got) > 0 && got[0] != stage.Oldest {
				require.Fail(t, "the opening is left out", "%s: %s: %v", name, req.ID, got)
			}
		}
	}
}
