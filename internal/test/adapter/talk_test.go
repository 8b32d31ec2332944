package adapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// most is what a debate with a real vendor may cost.
const most = 50_000_000_000 * flow.Money(1) // 0.05 USD

// hold plays a debate of two rounds with a verdict, and says what it cost.
func hold(t *testing.T, name, model string, p provider.Provider) *flow.Record {
	t.Helper()
	heard := &listener{Provider: p, pieces: map[string]int{}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{name: heard}}
	config := debate.Config{
		Topic: "Should cities close their centres to private cars?", Format: "structured-rounds", Rounds: 2, MaxTokens: 700,
		Participants: []debate.Participant{
			{Name: "Ada", Side: format.For, Model: name + "/" + model, Instructions: "Speak in three sentences."},
			{Name: "Ben", Side: format.Against, Model: name + "/" + model, Instructions: "Speak in three sentences."},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: name + "/" + model}}},
	}
	if row, ok := priced(t, engine, config); ok && row.Priced {
		config.Budget = &flow.Budget{Hard: most}
	}
	config.Unattended = true
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	defer func() { // also if the debate broke off
		if record, err := session.Record(context.WithoutCancel(t.Context())); err == nil {
			total := record.Spent()
			t.Logf("%s/%s: %d requests, %d tokens in, %d out, %s USD", name, model, total.Requests, total.Usage.Input, total.Usage.Output, total.Cost)
		}
	}()
	for event, err := range session.Events(t.Context(), 0) {
		require.NoError(t, err)
		switch {
		case body.As[flow.Failure](event) != nil:
			t.Logf("%s: attempt %d: %v", body.As[flow.Failure](event).Call, body.As[flow.Failure](event).Attempt, body.As[flow.Failure](event).Error)
		case body.As[flow.Turn](event) != nil:
			t.Logf("%s: %s: %d bytes, %d tokens in, %d out", name, body.As[flow.Turn](event).Speaker, len(body.As[flow.Turn](event).Text), body.As[flow.Turn](event).Usage.Input, body.As[flow.Turn](event).Usage.Output)
		}
	}
	record := stage.Ended(t, session)
	assert.Equal(t, flow.StateCompleted, record.State)
	assert.Len(t, record.Turns, 4)
	d, ok := debate.Of(record)
	require.True(t, ok)
	assert.Len(t, d.Assessments, 2)
	if assert.NotNil(t, d.Verdict) {
		t.Logf("%s: the verdict: %+v", name, d.Verdict.Winner)
	}
	for _, turn := range record.Turns {
		assert.NotEmpty(t, strings.TrimSpace(turn.Text))
		assert.False(t, turn.Usage.IsZero(), "the vendor tells the usage")
		assert.Greater(t, heard.count(turn.Call), 1, "%s came as a stream", turn.Call)
	}
	return record
}

// listener counts the pieces in which replies come, by call.
type listener struct {
	provider.Provider

	mu     sync.Mutex
	pieces map[string]int
}

func (l *listener) Unwrap() provider.Provider { return l.Provider }

func (l *listener) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	_, call, _ := strings.Cut(req.ID, "/")
	call, _, _ = strings.Cut(call, "/")
	return l.Provider.Generate(ctx, req, func(c provider.Chunk) {
		l.mu.Lock()
		l.pieces[call]++
		l.mu.Unlock()
		emit(c)
	})
}

func (l *listener) count(call string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pieces[call]
}

// priced returns what is known of a debate's model.
func priced(t *testing.T, engine *debate.Engine, config debate.Config) (flow.Model, bool) {
	t.Helper()
	start, err := kernel.Of(t, engine).Freeze(config)
	if err != nil {
		return flow.Model{}, false
	}
	row, ok := start.Models[config.Participants[0].Model]
	return row, ok
}

// TestTheTalkItself holds the debate that real vendors are tried with, without one.
func TestTheTalkItself(t *testing.T) {
	p := &scripted.Provider{VendorName: "openai", Reply: func(req *provider.Request) scripted.Reply {
		usage := provider.Usage{Input: 100, Output: 20}
		if req.Schema == nil {
			return scripted.Reply{Text: "I have thought about it, and will say more next time.", Chunks: 4, Usage: usage}
		}
		return scripted.Reply{Text: judged(req), Usage: usage}
	}}
	record := hold(t, "openai", "gpt-5-nano", p)
	assert.Positive(t, record.Spent().Cost)
	assert.Equal(t, 7, record.Spent().Requests)
}

// judged answers for a judge.
func judged(req *provider.Request) string {
	var names []string
	for _, name := range regexp.MustCompile(`\b(Ada|Ben)\b`).FindAllString(req.Last.Text, -1) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var answer any = debate.Judgement{
		ShouldContinue: true, QualityScore: 7, Reasoning: "They talk.", Recommendations: "Go on.", Assessments: []debate.ParticipantMark{
			{Participant: names[0], Strengths: []string{"first"}, Weaknesses: []string{}, Score: 7},
			{Participant: names[1], Strengths: []string{}, Weaknesses: []string{"second"}, Score: 6},
		},
	}
	if req.Schema.Name == "verdict" {
		answer = debate.FinalVerdict{
			Summary: "All is said.", KeyPoints: []debate.KeyPoints{
				{Participant: names[0], MainArguments: []string{"streets"}}, {Participant: names[1], MainArguments: []string{"roads"}},
			},
			AreasOfAgreement: []string{}, AreasOfDisagreement: []string{"much"},
			Winner:   &debate.Winner{Participant: names[0], Reasoning: "stands first"},
			Scores:   map[string]float64{names[0]: 70, names[1]: 60},
			Criteria: map[string]string{"evidence": "some"}, QualityScore: 70, Insights: []string{"none"},
		}
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// checked tries whether a provider knows its models.
func checked(t *testing.T, p provider.Provider, model string) {
	t.Helper()
	if checker, ok := provider.As[provider.Checker](p); assert.True(t, ok, "every adapter can check a model") {
		require.NoError(t, checker.Check(t.Context(), model))
		assert.Error(t, checker.Check(t.Context(), "no-such-model-"+model))
	}
}

func TestACheckOfAScript(t *testing.T) {
	p := &scripted.Provider{OnCheck: func(_ context.Context, model string) error {
		if strings.HasPrefix(model, "no-such") {
			return errors.New("unknown")
		}
		return nil
	}}
	checked(t, p, "m")
}
