package debates_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// troubled is a short debate in which Ben's first attempt fails, and each call waits for its turn.
func troubled() (*debate.Engine, debate.Config) {
	config := stage.TwoDebaters()
	config.ID, config.Rounds, config.Retry = "troubled", 1, &debate.RetryPolicy{Jitter: 1}
	config.Labels = map[string]string{"tenant": "blue"}
	config.Participants[0].Metadata = map[string]string{"userId": "u-7", "team": "red"}
	engine, p := stage.Engine(config)
	engine.Seed = stage.PinnedSeed
	stage.Slowly(p)
	reply, failed := p.Reply, false
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if strings.Contains(req.ID, "opening.Ben") && !failed {
			failed = true
			r.Err = &provider.Error{Kind: provider.KindRateLimit, Status: 429, RetryAfter: 5 * time.Second}
		}
		return r
	}
	engine.Providers["test"] = stage.Queue{Provider: p, Wait: 3 * time.Second}
	return engine, config
}

// TestTheJSONOfWhatIsReported pins the JSON of records, outcomes and lists, and of the states and accounts in them.
func TestTheJSONOfWhatIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, config := troubled()
		record := stage.Run(t, engine, config)
		var infos []debate.Info
		for info, err := range engine.List(t.Context(), debate.Filter{}) {
			require.NoError(t, err)
			infos = append(infos, info)
		}
		data, err := json.Marshal(map[string]any{"record": stage.View(record), "list": infos})
		require.NoError(t, err)
		var shown bytes.Buffer
		require.NoError(t, json.Indent(&shown, data, "", "  "))
		calm := strings.NewReplacer("00000001Z", "Z", "00000001,", "00000000,").Replace(shown.String()) // the jitter of at most 1 ns
		stage.Golden(t, "json/troubled.golden", calm+"\n")

		camel := regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
		var keys func(v any, named bool)
		keys = func(v any, named bool) {
			switch v := v.(type) {
			case map[string]any:
				for key, value := range v {
					assert.True(t, named || camel.MatchString(key), key)
					keys(value, key == "scores" || key == "criteria")
				}
			case []any:
				for _, value := range v {
					keys(value, false)
				}
			}
		}
		var tree any
		require.NoError(t, json.Unmarshal(data, &tree))
		keys(tree, false)
	})
}

// TestTheJSONOfARecordTellsWhatIsMissing: the calls that were left out, and who has ended the debate early.
func TestTheJSONOfARecordTellsWhatIsMissing(t *testing.T) {
	config := stage.TwoDebaters()
	config.OnFailure, config.Budget = stage.Rules(debate.FailureRule{Do: flow.OptionSkip}), &debate.Budget{SoftCalls: 5}
	engine, p := stage.Engine(config)
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if strings.Contains(req.ID, "r1.assessment") {
			r.Err = &provider.Error{Kind: provider.KindRefusal}
		}
	})
	record := stage.Run(t, engine, config)
	data, err := json.Marshal(record)
	require.NoError(t, err)
	var shown struct {
		EndedEarlyBy string
		SkippedCalls []flow.Skipped
	}
	require.NoError(t, json.Unmarshal(data, &shown))
	assert.Equal(t, flow.EndedByBudget, shown.EndedEarlyBy)
	require.Len(t, shown.SkippedCalls, 1)
	assert.Equal(t, "r1.assessment.judge", shown.SkippedCalls[0].Call)
	assert.Equal(t, provider.KindRefusal, shown.SkippedCalls[0].Cause)
}

// TestARecordTellsTimesFailuresAndQueues: of each call, each participant and the whole.
func TestARecordTellsTimesFailuresAndQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, config := troubled()
		record := stage.Run(t, engine, config)
		began := record.StartedAt

		ada, ok := record.CallUsage(record.Turns[0].Call)
		require.True(t, ok)
		assert.Equal(t, began, ada.BeganAt)
		assert.Equal(t, 1, ada.Attempts)
		assert.Equal(t, 3*time.Second, ada.Queued)
		assert.Equal(t, 3*time.Second, record.Turns[0].Queued)
		assert.Equal(t, began.Add(3*time.Second+record.Turns[0].Took), ada.EndedAt)

		ben, ok := record.CallUsage(record.Turns[1].Call)
		require.True(t, ok)
		assert.Equal(t, 2, ben.Attempts)
		assert.Equal(t, 1, ben.Failures)
		assert.Equal(t, 6*time.Second, ben.Queued)
		assert.Equal(t, ada.EndedAt, ben.BeganAt)
		_, ok = record.CallUsage("r9.opening.Ben")
		assert.False(t, ok)

		require.Len(t, record.Failures, 1)
		failed := record.Failures[0]
		assert.Equal(t, "Ben", failed.By)
		assert.Equal(t, failed.At, failed.Error.At)
		assert.True(t, failed.At.After(ben.BeganAt) && failed.At.Before(ben.EndedAt))

		state := record.Participant("Ben")
		assert.Equal(t, 1, state.Failures)
		assert.Equal(t, 1, state.Retries)
		assert.Equal(t, failed.Error, state.LastFailure)
		assert.Equal(t, ben.EndedAt, state.LastAt)
		assert.Equal(t, 6*time.Second, state.Account.Queued)
		assert.Positive(t, state.Account.Took)
		assert.Zero(t, record.Participant("Ada").Failures)

		outcome := stage.View(record).Outcome()
		assert.Equal(t, record.Spent().Cost, outcome.Cost)
		assert.Equal(t, record.Duration(), outcome.Duration)
		assert.Equal(t, []int{1, 1}, []int{outcome.Failures, outcome.Retries})
	})
}

// TestAListTellsWhoHasWon, and what a debate has cost.
func TestAListTellsWhoHasWon(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "told"
	engine, _ := stage.Engine(config)
	record := stage.Run(t, engine, config)
	for info, err := range engine.List(t.Context(), debate.Filter{}) {
		require.NoError(t, err)
		assert.Equal(t, debate.FlowName, info.Flow)
		assert.Equal(t, config.Format, info.Format)
		assert.Equal(t, "Ada", info.Result)
		assert.Equal(t, record.Spent().Cost, info.Spent)
	}
}

// TestTheJSONOfAnErrorTellsWhatHelps: whether a retry can help, a hint, and when it happened.
func TestTheJSONOfAnErrorTellsWhatHelps(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, kind := range stage.Kinds {
		failure := &debate.Error{Kind: kind, At: at}
		data, err := json.Marshal(failure)
		require.NoError(t, err)
		var read struct {
			Retryable bool
			Hint      string
			At        time.Time
		}
		require.NoError(t, json.Unmarshal(data, &read))
		assert.Equal(t, failure.Retryable(), read.Retryable, kind)
		assert.Equal(t, failure.Hint(), read.Hint, kind)
		assert.Equal(t, at, read.At, kind)
		var again debate.Error
		require.NoError(t, json.Unmarshal(data, &again))
		assert.Equal(t, at, again.At, kind)
	}
}

// TestMetadataOfParticipants are in records, and in no request.
func TestMetadataOfParticipants(t *testing.T) {
	config := stage.TwoDebaters()
	config.Participants[0].Metadata = map[string]string{"user": "canary-17"}
	engine, p := stage.Engine(config)
	record := stage.Run(t, engine, config)
	assert.Equal(t, config.Participants[0].Metadata, record.Participant("Ada").Metadata)
	assert.Nil(t, record.Participant("Ben").Metadata)
	require.NotEmpty(t, p.Requests())
	for _, req := range p.Requests() {
		assert.NotContains(t, stage.JSON(req), "canary")
	}
	for name, wrong := range map[string]map[string]string{
		"too long a value": {"user": strings.Repeat("x", 1025)},
		"too long a name":  {strings.Repeat("x", 129): "x"},
		"no name":          {"": "x"},
		"no text":          {"user": "a\x00b"},
	} {
		config.Participants[1].Metadata = wrong
		require.ErrorIs(t, engine.Validate(t.Context(), config), &debate.Error{Kind: provider.KindValidation}, name)
		assert.Contains(t, stage.FieldsOf(t, engine.Validate(t.Context(), config))[0], "participants[1].metadata", name)
	}
	many := make(map[string]string)
	for i := range 65 {
		many[strings.Repeat("x", i+1)] = ""
	}
	config.Participants[1].Metadata = many
	assert.Equal(t, []string{"participants[1].metadata"}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
	var _ flow.Described = config
}
