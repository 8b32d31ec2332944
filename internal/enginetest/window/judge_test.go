package window_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// judgedTalk is a talk in which all have a window of this size, and a judge assesses each round.
func judgedTalk(rounds, tokens int) *stage.Talk {
	d := stage.NewTalk(rounds, tokens)
	d.Config.Judging.When = debate.EveryRound
	d.Config.Judging.Judges = slices.Clone(d.Config.Judging.Judges)
	d.Windows(tokens, tokens)
	d.Said = func(*provider.Request) int { return 200 }
	return d
}

// holdsRound reports whether a request holds all turns of a round.
func holdsRound(req *provider.Request, record *debate.Record, round int) bool {
	got := stage.Heard(req)
	for _, turn := range record.RoundTurns(round) {
		if !slices.Contains(got, turn.Call) {
			return false
		}
	}
	return true
}

// A judge has the rounds before summarised by its own model, and only when they no longer fit. The debaters slide.
func TestAJudgeReadsItsRoundWholeAndTheRoundsBeforeInSummaries(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"", flow.ContextTruncate, flow.ContextSliding, flow.ContextSummarize} {
		t.Run(strategy, func(t *testing.T) {
			d := judgedTalk(12, 5000)
			d.Config.Context = strategy
			record := stage.Run(t, d.Engine, d.Config)
			requests := d.Judges()
			require.Len(t, requests, 13)
			for i := range requests[:12] {
				assert.True(t, holdsRound(&requests[i], record, i+1), "round %d", i+1)
			}
			assert.Contains(t, stage.Heard(&requests[12]), "summary")
			outcome := stage.View(record).Outcome()
			assert.Empty(t, outcome.Unread)
			assert.Empty(t, outcome.Degraded)

			seen := map[string]int{}
			for _, req := range d.Summaries() {
				assert.Equal(t, "judge", req.Model)
				for _, call := range stage.Heard(&req) {
					seen[call]++
				}
			}
			last := record.Summaries[len(record.Summaries)-1]
			for i, turn := range record.Turns[:last.Upto] {
				assert.Equal(t, 1, seen[turn.Call], "%s is read for one summary", turn.Call)
				if i > 0 && i == last.Upto-1 {
					assert.NotEqual(t, turn.Round, record.Turns[i+1].Round, "a summary ends with a round")
				}
			}
			for _, req := range d.TurnsOf() {
				assert.NotContains(t, stage.Heard(&req), "summary", "the debaters slide")
			}
		})
	}
}

func TestNothingIsSummarisedForAJudgeWhoseWindowHoldsAll(t *testing.T) {
	d := judgedTalk(8, 5000)
	d.Windows(5000, 60_000)
	record := stage.Run(t, d.Engine, d.Config)
	assert.Empty(t, record.Summaries)
	assert.Empty(t, stage.View(record).Outcome().Unread)
}

// With "none" nothing is summarised. The outcome names what was not read, and each request says what it lacks.
func TestWhatAJudgeCouldNotReadIsNamed(t *testing.T) {
	d := judgedTalk(10, 5000)
	d.Config.Summarizer = flow.NoSummarizer
	record := stage.Run(t, d.Engine, d.Config)
	assert.Empty(t, record.Summaries)
	requests := d.Judges()
	verdict := stage.Heard(&requests[10])
	var lost []string
	for _, turn := range record.Turns {
		if !slices.Contains(verdict, turn.Call) {
			lost = append(lost, turn.Call)
		}
	}
	require.NotEmpty(t, lost)
	outcome := stage.View(record).Outcome()
	assert.Equal(t, []debate.Unread{{Judge: "judge", Kind: debate.KindVerdict, Turns: lost}}, outcome.Unread)
	require.Len(t, outcome.Degraded, 1)
	assert.Regexp(t, `^the verdict of judge rests on a part: the judge's window did not hold rounds? 2( to \d|, Ada in round 3)`, outcome.Degraded[0])
	data, err := json.Marshal(outcome.Unread[0])
	require.NoError(t, err)
	assert.Contains(t, string(data), `{"judge":"judge","kind":"verdict","turns":["r2.argument.Ada",`)

	cut := 0
	for _, req := range d.Provider.Requests() {
		left := strings.Contains(req.Last.Text, "left out above")
		_, call, _ := strings.Cut(req.ID, "/")
		said := 0 // before this request
		for _, turn := range record.Turns {
			if turn.Call+"/1" == call {
				break
			}
			said++
		}
		if req.Schema != nil {
			said = 2 * (slices.IndexFunc(requests, func(r provider.Request) bool { return r.ID == req.ID }) + 1)
			said = min(said, len(record.Turns))
		}
		assert.Equal(t, len(req.Messages) < said, left, "%s holds %d of %d", req.ID, len(req.Messages), said)
		if left {
			cut++
		}
	}
	assert.Positive(t, cut)
}

// An assessment whose own round does not fit says so.
func TestARoundThatDoesNotFitIsNamed(t *testing.T) {
	d := judgedTalk(2, 2500)
	d.Config.MaxTokens, d.Config.Reserve = 800, 400
	d.Config.Judging.Judges[0].MaxTokens = 400
	d.Windows(0, 2100)
	d.Said = func(*provider.Request) int { return 500 }
	record := stage.Run(t, d.Engine, d.Config)
	outcome := stage.View(record).Outcome()
	require.NotEmpty(t, outcome.Unread)
	assert.Equal(t, debate.Unread{Judge: "judge", Kind: debate.KindAssessment, Round: 1, Turns: []string{stage.Oldest}}, outcome.Unread[0])
	assert.Equal(t, "the assessment of round 1 by judge rests on a part: the judge's window did not hold Ada in round 1, of which there is no summary: amend summarizer, or its model", outcome.Degraded[0])
}

// A Go judge has no window: it gets every turn, and nobody summarises for it.
func TestAGoJudgeReadsEverything(t *testing.T) {
	d := judgedTalk(10, 5000)
	read := map[int]int{}
	d.Config.Judging.Judges = []debate.JudgeConfig{{Judge: "host"}}
	d.Engine.Judges = map[string]debate.Judge{"host": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		if task.Kind == debate.KindVerdict {
			return json.RawMessage(stage.Verdict([]string{"Ada", "Ben"})), nil
		}
		read[task.Round] = len(task.Turns)
		return json.RawMessage(stage.Judgement([]string{"Ada", "Ben"}, true)), nil
	})}
	record := stage.Run(t, d.Engine, d.Config)
	assert.Equal(t, 20, read[10])
	assert.Empty(t, record.Summaries)
	assert.Empty(t, stage.View(record).Outcome().Unread)
}

// Judges of two models have summaries of their own, and judges of one model share theirs.
func TestEachModelOfAPanelSummarisesForItself(t *testing.T) {
	t.Parallel()
	d := judgedTalk(12, 5000)
	d.Engine.Models["test/second"] = d.Engine.Models["test/judge"]
	d.Config.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Model: "test/second"}, {Model: "test/judge"}}
	d.Summary = func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: "by " + req.Model + stage.Words(50)}
	}
	record := stage.Run(t, d.Engine, d.Config)
	ids := map[string]bool{}
	for _, req := range d.Summaries() {
		assert.False(t, ids[req.ID], req.ID)
		ids[req.ID] = true
	}
	for _, req := range d.Judges() {
		for i := range req.Messages {
			if text := req.Messages[i].Text; strings.HasPrefix(text, "by ") {
				assert.Equal(t, "by "+req.Model, text[:len("by "+req.Model)])
			}
		}
	}
	assert.Empty(t, stage.View(record).Outcome().Unread)
}

// The most that a debate can use includes what summaries for its judge use.
func TestAnEstimateIncludesTheSummariesForAJudge(t *testing.T) {
	d := judgedTalk(12, 5000)
	with := stage.Estimated(t, d.Engine, d.Config)
	d.Config.Summarizer = flow.NoSummarizer
	without := stage.Estimated(t, d.Engine, d.Config)
	assert.Greater(t, with.Calls, without.Calls)
	assert.Greater(t, with.Cost, without.Cost)
	assert.Equal(t, without.FirstRound, with.FirstRound, "a debate can do without")

	d.Config.Summarizer = ""
	record := stage.Run(t, d.Engine, d.Config)
	require.NotEmpty(t, record.Summaries)
	assert.LessOrEqual(t, record.Spent().Requests, with.Calls)
	assert.LessOrEqual(t, record.Spent().Cost, with.Cost)
}

// What is kept back for the verdict is enough for the summaries that it reads.
func TestTheVerdictsReserveHoldsItsSummaries(t *testing.T) {
	t.Parallel()
	for calls := 20; calls <= 32; calls++ {
		d := stage.NewTalk(20, 5000)
		d.Windows(5000, 5000)
		d.Said = func(*provider.Request) int { return 200 }
		d.Config.Budget = &debate.Budget{SoftCalls: calls, HardCalls: calls}
		record := stage.Run(t, d.Engine, d.Config)
		require.NotNil(t, stage.View(record).Verdict, "%d calls", calls)
		assert.Empty(t, stage.View(record).Outcome().Unread, "%d calls", calls)
		assert.LessOrEqual(t, record.Spent().Requests, calls)
	}
}

func TestNoSummarizerIsNoModel(t *testing.T) {
	d := judgedTalk(2, 5000)
	d.Config.Summarizer = flow.NoSummarizer
	require.NoError(t, d.Engine.Validate(t.Context(), d.Config))
	d.Config.AutoSummary = true
	assert.Equal(t, []string{"autoSummary"}, stage.FieldsOf(t, d.Engine.Validate(t.Context(), d.Config)))
}
