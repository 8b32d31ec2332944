package debate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestASummaryHasAFifthOfTheSmallestWindow(t *testing.T) {
	d := newTalk(12, 6000).summarizes(true)
	d.config.MaxTokens, d.config.Reserve = 2000, 2000
	d.windows(9000, 7000)
	run(t, d.engine, d.config)
	require.NotEmpty(t, d.summaries())
	assert.Equal(t, 7000/5, d.summaries()[0].MaxTokens)
	for _, req := range d.summaries() {
		assert.LessOrEqual(t, req.MaxTokens, 7000/5, "a judge with less room has a shorter one made")
	}
}

// A summarizer whose own window is small is given what fits it; the summary then covers less.
func TestASummaryIsMadeOfWhatFitsTheSummarizersWindow(t *testing.T) {
	t.Parallel()
	d := newTalk(30, 9000).summarizes(true)
	d.engine.Models["test/summarizer"] = debate.Model{Priced: true, Context: 2500}
	record := run(t, d.engine, d.config)
	require.NotNil(t, view(record).Verdict)
	require.NotEmpty(t, record.Summaries)
	for _, req := range d.summaries() {
		assert.LessOrEqual(t, d.sent(&req), 2500-replyTokens, req.ID)
		assert.LessOrEqual(t, req.MaxTokens, 500)
	}
	wide := newTalk(30, 9000).summarizes(true)
	wished := run(t, wide.engine, wide.config).Summaries[0].Upto
	first := d.summaries()[0]
	assert.Equal(t, len(heard(&first)), record.Summaries[0].Upto)
	assert.Less(t, record.Summaries[0].Upto, wished, "it covers less than was wished")
	for _, w := range record.Warnings {
		assert.NotEqual(t, "summarizer", w.By, "%+v", w)
	}
	for _, req := range d.turnsOf() {
		assert.LessOrEqual(t, d.sent(&req), 8600)
	}
}

// A summary that covers less than was wished leaves a wish for the same place: that is another summary.
func TestASummaryThatCoversLessIsGoneOnWith(t *testing.T) {
	d := newTalk(10, 5000).summarizes(true)
	d.engine.Models["test/summarizer"] = debate.Model{Priced: true, Context: 2300}
	d.said = func(req *provider.Request) int {
		if req.Self == "Ada" {
			return 300
		}
		return 1
	}
	record := run(t, d.engine, d.config)
	assert.Len(t, record.Turns, 20)
	assert.NotEmpty(t, record.Summaries)
}

func TestASummarizerForWhomASingleTurnIsTooLong(t *testing.T) {
	d := newTalk(20, 6000).summarizes(true)
	d.engine.Models["test/summarizer"] = debate.Model{Priced: true, Context: 1100}
	record := run(t, d.engine, d.config)
	assert.NotNil(t, view(record).Verdict)
	assert.Len(t, record.Turns, 40)
	assert.Empty(t, record.Summaries)
	assert.Empty(t, d.summaries())
}

// Whatever sizes turns and windows have, summaries come to an end and the debate to its verdict.
func TestSummariesOfAnySizeEnd(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60 / fewer) {
		dice := rand.New(rand.NewPCG(seed, 2))
		size := 3000 + dice.IntN(5000)
		d := newTalk(5+dice.IntN(15), size).summarizes(dice.IntN(2) == 0)
		d.config.Context = []string{"", flow.ContextSummarize}[dice.IntN(2)]
		if dice.IntN(3) == 0 {
			d.config.Mode = debate.Simultaneous
		}
		lengths := make([]int, 64)
		for i := range lengths {
			lengths[i] = []int{1, 5, 20, 200, replyTokens}[dice.IntN(5)]
		}
		d.said = func(req *provider.Request) int { return lengths[(len(req.ID)+len(req.Messages)*7+int(req.Self[0]))%64] }
		if dice.IntN(2) == 0 {
			d.engine.Models["test/summarizer"] = debate.Model{Priced: true, Context: 1500 + dice.IntN(3000)}
		}
		if dice.IntN(2) == 0 {
			d.config.Participants[1].Model = "test/other"
			d.engine.Models["test/other"] = debate.Model{Priced: true, Context: 3000 + dice.IntN(5000)}
		}
		length := []int{1, 50, 300, 1500}[dice.IntN(4)]
		d.summary = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: minutes(length)} }
		name := fmt.Sprintf("seed %d, window %d, others %v, summaries of %d, %+v", seed, size, d.engine.Models, length, d.config.Context)
		session, err := d.engine.Start(t.Context(), d.config)
		require.NoError(t, err, name)
		record, err := session.Wait(t.Context())
		require.NoError(t, err, name)
		require.NoError(t, session.Close())
		require.Len(t, record.Turns, 2*d.config.Rounds, name)
		require.NotNil(t, view(record).Verdict, name)
		for _, req := range d.p.Requests() {
			if window := d.engine.Models["test/"+req.Model].Context; window > 0 {
				require.LessOrEqual(t, d.sent(&req), window-replyTokens, "%s: %s", name, req.ID)
			}
		}
		for _, req := range d.turnsOf() {
			if got := heard(&req); len(got) > 0 && got[0] != oldest {
				require.Fail(t, "the opening is left out", "%s: %s: %v", name, req.ID, got)
			}
		}
	}
}
