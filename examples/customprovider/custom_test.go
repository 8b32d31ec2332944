package main

import (
	"context"
	"iter"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// The adapter says what the vendor says: a server acts each scenario of the suite in Parlour's words.
func TestConformance(t *testing.T) {
	connect := func(t *testing.T, s providertest.Scenario) provider.Provider {
		t.Helper()
		if len(s.Calls) > 0 {
			t.Skip("Parlour's models call no tools")
		}
		server := httptest.NewServer(&Server{Key: s.Key, Speak: func(ctx context.Context, ask *Ask) iter.Seq[Line] {
			return func(yield func(Line) bool) { act(ctx, s, ask, yield) }
		}})
		t.Cleanup(server.Close)
		parlour := New(server.URL, s.Key)
		parlour.Client = server.Client()
		return parlour
	}
	providertest.Run(t, connect)
	providertest.RunThoughts(t, connect)
}

// The adapter stands whatever can happen to bytes on their way. The fixtures hold the vendor's own words,
// byte for byte; what any server can do, the suite does itself.
func TestFaults(t *testing.T) {
	providertest.RunHTTP(t, providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			parlour := New(s.URL, s.Key)
			parlour.Client, parlour.IdleTimeout, parlour.MaxBody, parlour.MaxLine = s.Client, s.IdleTimeout, s.MaxBody, s.MaxLine
			return parlour
		},
		Wholes: providertest.Wholes(t, "testdata/whole"),
		Faults: providertest.Faults(t, "testdata/fault"),
		NoSignal: map[string]string{
			"slow-down":        "Parlour has one way to ask for patience: status 429",
			"budget-in-flight": "Parlour reserves no money for a reply",
			"window-exceeded":  "Parlour refuses a question that leaves no room for a reply",
			"no-choices":       "Parlour gives one reply, not a list of them",
			"only-thinking":    "Parlour's models do not think",
			"usage-twice":      "Parlour counts once, at the end",
			"comments":         "lines of JSON have no comments",
			"tool-results":     "Parlour's models call no tools",
		},
	})
}

// What cannot be written as JSON is not sent.
func TestAQuestionThatCannotBeAsked(t *testing.T) {
	parlour := New("http://parlour.test", "")
	_, err := parlour.Generate(t.Context(), &provider.Request{Schema: &provider.Schema{JSON: []byte("{")}}, func(provider.Chunk) {})
	var e *provider.Error
	if assert.ErrorAs(t, err, &e) {
		assert.Equal(t, provider.KindValidation, e.Kind)
		assert.True(t, e.NotSent)
	}
}

// act does in a model's place what a scenario says.
func act(ctx context.Context, s providertest.Scenario, ask *Ask, yield func(Line) bool) {
	if s.Sent != nil {
		s.Sent(sent(ask))
	}
	for i, piece := range s.Reply {
		if !yield(Line{Text: piece}) {
			return
		}
		if i > 0 || s.Hold == nil {
			continue
		}
		select {
		case <-s.Hold:
		case <-ctx.Done():
			return
		}
	}
	switch {
	case s.Cut:
	case s.Fail != "" && s.Fail != provider.KindInvalidResponse: // which is a whole reply without a text
		failure := failures()[s.Fail]
		failure.Message, failure.Wait = "not with "+s.Key, s.RetryAfter
		yield(Line{Error: &failure})
	default:
		end := map[provider.StopReason]string{
			provider.StopEnd: "stop", provider.StopLength: "length", provider.StopFilter: "filter", provider.StopRefusal: "refusal",
		}[s.Stop]
		yield(Line{End: end, Usage: &Usage{In: s.Usage.Input, Out: s.Usage.Output}, Model: s.Model})
	}
}

// sent is what reached the vendor of a request.
func sent(ask *Ask) providertest.Sent {
	s := providertest.Sent{
		Model: ask.Model, System: ask.System, MaxTokens: ask.Limit, Temperature: ask.Temperature, Schema: ask.Schema != nil,
	}
	for _, turn := range ask.Turns {
		s.Turns = append(s.Turns, providertest.Turn{Role: provider.Role(turn.Role), Text: turn.Text})
	}
	return s
}

// failures are Parlour's words for each kind.
func failures() map[provider.Kind]Failure {
	return map[provider.Kind]Failure{
		provider.KindRateLimit:       {Status: 429, Code: "hush"},
		provider.KindQuota:           {Status: 402, Code: "unpaid"},
		provider.KindAPI:             {Status: 500, Code: "fire"},
		provider.KindTimeout:         {Status: 504, Code: "asleep"},
		provider.KindContextOverflow: {Status: 413, Code: "too_long"},
		provider.KindAuthentication:  {Status: 401, Code: "stranger"},
		provider.KindContentFilter:   {Status: 400, Code: "off_limits"},
		provider.KindValidation:      {Status: 404, Code: "nobody"},
	}
}
