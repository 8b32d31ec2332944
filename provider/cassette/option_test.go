package cassette_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
)

// thinker is a model that says all that a reply can hold, in chunks of both kinds.
type thinker struct{ err error }

func (m thinker) Generate(_ context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	for _, c := range []provider.Chunk{
		{Text: "Is it ", Reasoning: true}, {Text: req.Last.Fence + "?", Reasoning: true}, {Text: "No " + req.Last.Fence}, {Text: ": \xffyes."},
	} {
		emit(c)
	}
	text := "No " + req.Last.Fence + ": \xffyes."
	if m.err != nil {
		return &provider.Response{ID: "gen-2", Cost: new(0.25), Usage: provider.Usage{Input: 1}}, m.err
	}
	return &provider.Response{
		Text: text, Stop: provider.StopEnd, ID: "gen-1", Model: "m", Reasoning: "Is it " + req.Last.Fence + "?", Cost: new(0.5),
		Citations: []provider.Citation{
			{Title: "A", URL: "https://a.example/", Quote: "two\nlines", Start: len(text) - 4, End: len(text) - 1},
			{URL: "https://b.example/" + req.Last.Fence},
		},
		Left: []string{"seed"},
	}, nil
}

func wished() *provider.Request {
	return &provider.Request{
		ID: "d/1", Model: "m", Last: provider.Message{Text: "Go.", Fence: fence, Parts: []provider.Part{{Type: "image/png", Name: "a", Hash: "claimed", Data: []byte("1")}}},
		Options: &provider.Options{
			Effort: provider.EffortLow, TopP: new(0.5), Stop: []string{"a\nb"}, Seed: new(int64(0)), ServiceTier: "flex",
			Verbosity: provider.VerbosityLow, Search: true, Reasoning: provider.ReasoningAsk,
			Extra: map[string]json.RawMessage{"x": []byte(`{"y":1}`)}, Header: map[string]string{"x-title": "t"},
		},
	}
}

// TestThoughtsAndSourcesAreRecorded: what a reply holds besides its text comes back, with the present fence words.
func TestThoughtsAndSourcesAreRecorded(t *testing.T) {
	for _, model := range []thinker{{}, {err: &provider.Error{Kind: provider.KindAPI}}} {
		tape, file := recording(t, cassette.Options{})
		generate := func(p provider.Provider, word string) ([]provider.Chunk, *provider.Response) {
			var chunks []provider.Chunk
			req := wished()
			req.Last.Fence = word
			r, err := p.Generate(t.Context(), req, func(c provider.Chunk) { chunks = append(chunks, c) })
			if model.err == nil {
				require.NoError(t, err)
			} else {
				require.Equal(t, model.err, err)
			}
			return chunks, r
		}
		generate(tape.Wrap("v", model), fence)
		require.NoError(t, tape.Close())
		for _, word := range []string{fence, otherFence} {
			wantChunks, want := generate(model, word)
			chunks, r := generate(open(t, file, cassette.Options{}).Wrap("v", nil), word)
			assert.Equal(t, want, r)
			assert.Equal(t, wantChunks, chunks)
		}
	}
}

// TestOptionsAreCompared: options that ask for nothing are none. A file counts by its data. TestEachFieldMakesARequest has all fields.
func TestOptionsAreCompared(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("yes"))), wished())
	require.NoError(t, tape.Close())
	for differs, change := range map[string]func(req *provider.Request){
		"options.effort, line 1":                    func(req *provider.Request) { req.Options.Effort = provider.EffortHigh },
		"options.effort, which is not asked":        func(req *provider.Request) { req.Options = nil },
		`options.seed: recorded "0", asked "1"`:     func(req *provider.Request) { req.Options.Seed = new(int64(1)) },
		"options.extra.x, line 1":                   func(req *provider.Request) { req.Options.Extra["x"] = []byte(`{"y":2}`) },
		"options.header.x-title, line 1":            func(req *provider.Request) { req.Options.Header["x-title"] = "u" },
		"last.parts[0].hash, line 1":                func(req *provider.Request) { req.Last.Parts[0].Data = []byte("2") },
		"last.parts[0].type, which is not asked":    func(req *provider.Request) { req.Last.Parts = nil },
		"last.parts[1].type, which is not recorded": func(req *provider.Request) { req.Last.Parts = append(req.Last.Parts, provider.Part{}) },
	} {
		req := wished()
		change(req)
		got := ask(open(t, file, cassette.Options{}).Wrap("v", nil), req)
		assert.Contains(t, unseen(t, got.err), "differs first in "+differs)
	}
	req := wished()
	req.Last.Parts[0].Hash = "another claim"
	require.NoError(t, ask(open(t, file, cassette.Options{}).Wrap("v", nil), req).err)
	assert.NotContains(t, contents(t, file), "claim")

	tape, file = recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("yes"))), &provider.Request{})
	require.NoError(t, ask(open(t, file, cassette.Options{}).Wrap("v", nil), &provider.Request{Options: &provider.Options{}}).err)
	req = wished()
	req.Options.TopP = new(math.NaN())
	require.Error(t, ask(tape.Wrap("v", saying(said("yes"))), req).err)
}

// TestAPlaceThatIsNone: a file that someone has edited does not lead beyond the text.
func TestAPlaceThatIsNone(t *testing.T) {
	for _, place := range []string{`"start": -1`, `"start": 3, "end": 2`, `"end": 99`} {
		_, err := cassette.Load([]byte(`{"version":2,"entries":[{"provider":"v","request":{"model":"m"},"response":{"text":"Yes.","citations":[{"url":"u",`+place+`}]}}]}`), cassette.Options{})
		require.ErrorContains(t, err, "is no place in the text")
	}
}

// TestACostThatIsNone: a provider of the host's that gives no number does not lose the exchange.
func TestACostThatIsNone(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(answer{response: &provider.Response{Text: "yes", Cost: new(math.NaN())}})), &provider.Request{})
	require.NoError(t, tape.Close())
	assert.Nil(t, ask(open(t, file, cassette.Options{}).Wrap("v", nil), &provider.Request{}).response.Cost)
}
