package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestConformance(t *testing.T) {
	providertest.Run(t, func(_ *testing.T, s providertest.Scenario) provider.Provider { return adaptertest.Acting(s) })
}

func ask(t *testing.T, p *scripted.Provider, req *provider.Request) (*provider.Response, []string, error) {
	t.Helper()
	var chunks []string
	r, err := p.Generate(t.Context(), req, func(c provider.Chunk) { chunks = append(chunks, c.Text) })
	return r, chunks, err
}

func text(t *testing.T, p *scripted.Provider, id, self string) string {
	t.Helper()
	r, _, err := ask(t, p, &provider.Request{ID: id, Self: self})
	require.NoError(t, err)
	return r.Text
}

func TestZero(t *testing.T) {
	p := &scripted.Provider{}
	r, chunks, err := ask(t, p, &provider.Request{Self: "Ada", Model: "m"})
	require.NoError(t, err)
	assert.NotEmpty(t, r.Text)
	assert.Equal(t, []string{r.Text}, chunks)
	assert.Equal(t, provider.StopEnd, r.Stop)
	assert.Equal(t, "m", r.Model)
	assert.Positive(t, r.Usage.Input)
	assert.Positive(t, r.Usage.Output)
	require.NoError(t, p.Check(t.Context(), "any"))
	assert.Empty(t, p.Vendor())
	assert.Equal(t, 1, p.Calls())
	assert.Empty(t, p.Requests(), "nothing is recorded unasked")
}

func TestWhoAnswers(t *testing.T) {
	p := &scripted.Provider{
		ByID:    map[string]scripted.Reply{"r1/1": {Text: "by id"}},
		Replies: map[string][]scripted.Reply{"Ada": {{Text: "first"}, {Text: "second"}}, "Ben": {{Text: "only"}}},
		Reply:   func(req *provider.Request) scripted.Reply { return scripted.Reply{Text: "made up for " + req.Self} },
	}
	assert.Equal(t, "first", text(t, p, "x", "Ada"))
	assert.Equal(t, "by id", text(t, p, "r1/1", "Ada"))
	assert.Equal(t, "only", text(t, p, "x", "Ben"))
	assert.Equal(t, "by id", text(t, p, "r1/1", "Ada"), "an id is answered again and again")
	assert.Equal(t, "second", text(t, p, "x", "Ada"))
	assert.Equal(t, "made up for Ada", text(t, p, "x", "Ada"))
	assert.Equal(t, "made up for Cy", text(t, p, "x", "Cy"))
	assert.Equal(t, 7, p.Calls())
}

func TestScriptEnds(t *testing.T) {
	p := &scripted.Provider{Replies: map[string][]scripted.Reply{"Ada": {{Text: "first"}}}}
	text(t, p, "a", "Ada")
	_, _, err := ask(t, p, &provider.Request{ID: "b", Self: "Ada"})
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, provider.KindValidation, e.Kind)
	assert.True(t, e.NotSent)
	assert.NotEmpty(t, text(t, p, "c", "Ben"), "whoever has no queue is not at its end")
}

func TestQueueUnderConcurrency(t *testing.T) {
	const n = 200
	queue := make([]scripted.Reply, n)
	for i := range queue {
		queue[i].Text = fmt.Sprint(i)
	}
	p := &scripted.Provider{Replies: map[string][]scripted.Reply{"Ada": queue}, Record: true}
	var group sync.WaitGroup
	var seen sync.Map
	for range n {
		group.Go(func() {
			r, err := p.Generate(context.Background(), &provider.Request{Self: "Ada"}, func(provider.Chunk) {})
			if assert.NoError(t, err) {
				_, twice := seen.LoadOrStore(r.Text, true)
				assert.False(t, twice, "%s was given twice", r.Text)
			}
		})
	}
	group.Wait()
	assert.Equal(t, n, p.Calls())
	assert.Len(t, p.Requests(), n)
}

func TestChunks(t *testing.T) {
	tests := []struct {
		name  string
		reply scripted.Reply
		want  []string
	}{
		{"none", scripted.Reply{Text: "abcdef"}, []string{"abcdef"}},
		{"one", scripted.Reply{Text: "abcdef", Chunks: 1}, []string{"abcdef"}},
		{"three", scripted.Reply{Text: "abcdefg", Chunks: 3}, []string{"abc", "de", "fg"}},
		{"four of six", scripted.Reply{Text: "abcdef", Chunks: 4}, []string{"ab", "cd", "e", "f"}},
		{"seven of ten", scripted.Reply{Text: "abcdefghij", Chunks: 7}, []string{"ab", "cd", "ef", "g", "h", "i", "j"}},
		{"of characters", scripted.Reply{Text: "äbö🙂u", Chunks: 3}, []string{"äb", "ö🙂", "u"}},
		{"of broken text", scripted.Reply{Text: "a\x80\x80b", Chunks: 2}, []string{"a\x80", "\x80b"}},
		{"a negative number", scripted.Reply{Text: "ab", Chunks: -1, ChunkSize: -1}, []string{"ab"}},
		{"size", scripted.Reply{Text: "abcdefg", ChunkSize: 2, Chunks: 3}, []string{"ab", "cd", "ef", "g"}},
		{"more than bytes", scripted.Reply{Text: "ab", Chunks: 9}, []string{"a", "b"}},
		{"characters stay whole", scripted.Reply{Text: "äöü🙂", ChunkSize: 1}, []string{"ä", "ö", "ü", "🙂"}},
		{"broken text", scripted.Reply{Text: "a\x80\x80", ChunkSize: 1}, []string{"a\x80\x80"}},
		{"empty", scripted.Reply{Chunks: 4}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, chunks, err := ask(t, &scripted.Provider{ByID: map[string]scripted.Reply{"": tt.reply}}, &provider.Request{})
			require.NoError(t, err)
			assert.Equal(t, tt.want, chunks)
			assert.Equal(t, tt.reply.Text, r.Text)
		})
	}
}

func TestReplyFields(t *testing.T) {
	calls := []provider.ToolCall{{ID: "1", Name: "f", Arguments: []byte(`{}`)}}
	usage := provider.Usage{Input: 7, Output: 9}
	p := &scripted.Provider{ByID: map[string]scripted.Reply{
		"tool": {Calls: calls, Model: "other", Usage: usage},
		"cut":  {Text: "half", Stop: provider.StopLength},
		"tiny": {Text: "no"},
	}}
	r, _, err := ask(t, p, &provider.Request{ID: "tool", Model: "m"})
	require.NoError(t, err)
	assert.Equal(t, &provider.Response{Calls: calls, Model: "other", Usage: usage, Stop: provider.StopTool}, r)
	r.Calls[0].Arguments[0] = '!'
	assert.Equal(t, "{}", string(calls[0].Arguments), "a response is its receiver's own")

	r, _, err = ask(t, p, &provider.Request{ID: "tiny"})
	require.NoError(t, err)
	assert.Equal(t, provider.Usage{Input: 1, Output: 1}, r.Usage, "at least one of each")

	r, _, err = ask(t, p, &provider.Request{ID: "cut", Messages: []provider.Message{{Text: strings.Repeat("x", 400)}}})
	require.NoError(t, err)
	assert.Equal(t, provider.StopLength, r.Stop)
	assert.Equal(t, provider.Usage{Input: 100, Output: 1}, r.Usage)
}

// TestThoughts: a script says all that a reply can hold, and hides thoughts as an adapter does.
func TestThoughts(t *testing.T) {
	p := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
		return scripted.Reply{
			Text: "Yes.", Reasoning: "Hm.", ID: "gen-1", Cost: new(0.5), Left: []string{"seed"},
			Citations: []provider.Citation{{URL: "https://a.example/"}},
		}
	}}
	for _, way := range []provider.ReasoningText{provider.ReasoningShow, provider.ReasoningHide} {
		var chunks []provider.Chunk
		req := &provider.Request{Options: &provider.Options{Reasoning: way}}
		r, err := p.Generate(t.Context(), req, func(c provider.Chunk) { chunks = append(chunks, c) })
		require.NoError(t, err)
		assert.Equal(t, "gen-1", r.ID)
		assert.InDelta(t, 0.5, *r.Cost, 0)
		assert.Equal(t, []string{"seed"}, r.Left)
		assert.Equal(t, []provider.Citation{{URL: "https://a.example/"}}, r.Citations)
		if way == provider.ReasoningHide {
			assert.Equal(t, []provider.Chunk{{Text: "Yes."}}, chunks)
			assert.Empty(t, r.Reasoning)
			continue
		}
		assert.Equal(t, []provider.Chunk{{Text: "Hm.", Reasoning: true}, {Text: "Yes."}}, chunks)
		assert.Equal(t, "Hm.", r.Reasoning)
	}
}

func TestFaults(t *testing.T) {
	fault := &provider.Error{Kind: provider.KindRateLimit, RetryAfter: time.Minute}
	p := &scripted.Provider{ByID: map[string]scripted.Reply{
		"instead": {Text: "abcd", ChunkSize: 1, Err: fault},
		"midway":  {Text: "abcd", ChunkSize: 1, Err: fault, AfterChunks: 2, Usage: provider.Usage{Input: 5}},
		"late":    {Text: "ab", ChunkSize: 1, Err: fault, AfterChunks: 9},
	}}
	r, chunks, err := ask(t, p, &provider.Request{ID: "instead"})
	require.ErrorIs(t, err, fault)
	assert.Nil(t, r)
	assert.Empty(t, chunks)

	r, chunks, err = ask(t, p, &provider.Request{ID: "midway"})
	require.ErrorIs(t, err, fault)
	assert.Equal(t, provider.Usage{Input: 5}, r.Usage)
	assert.Equal(t, []string{"a", "b"}, chunks)

	_, chunks, err = ask(t, p, &provider.Request{ID: "late"})
	require.ErrorIs(t, err, fault)
	assert.Equal(t, []string{"a", "b"}, chunks)
}

func TestDelays(t *testing.T) {
	p := &scripted.Provider{ByID: map[string]scripted.Reply{
		"slow":  {Text: "abc", ChunkSize: 1, Delay: time.Second, Interval: 100 * time.Millisecond},
		"fault": {Delay: time.Minute, Err: errors.New("late")},
	}}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		_, err := p.Generate(t.Context(), &provider.Request{ID: "slow"}, func(provider.Chunk) { at = append(at, time.Since(start)) })
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{time.Second, 1100 * time.Millisecond, 1200 * time.Millisecond}, at)

		start = time.Now()
		_, err = p.Generate(t.Context(), &provider.Request{ID: "fault"}, func(provider.Chunk) {})
		require.EqualError(t, err, "late")
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestContextEnds(t *testing.T) {
	for id, chunks := range map[string]int{"delay": 0, "interval": 1, "hold": 1} {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &scripted.Provider{ByID: map[string]scripted.Reply{
					"delay":    {Text: "abc", Delay: time.Hour},
					"interval": {Text: "abc", ChunkSize: 1, Interval: time.Hour},
					"hold":     {Text: "abc", ChunkSize: 1, Hold: make(chan struct{})},
				}}
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				n := 0
				_, err := p.Generate(ctx, &provider.Request{ID: id}, func(provider.Chunk) { n++ })
				var e *provider.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, provider.KindTimeout, e.Kind)
				assert.False(t, e.NotSent)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, time.Second, time.Since(start))
				assert.Equal(t, chunks, n)
			})
		})
	}
}

func TestCanceledWithoutDelays(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &scripted.Provider{ByID: map[string]scripted.Reply{"": {Text: "abc", ChunkSize: 1}}}
	n := 0
	_, err := p.Generate(ctx, &provider.Request{}, func(provider.Chunk) { n++; cancel() })
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, n)
	_, err = p.Generate(ctx, &provider.Request{}, func(provider.Chunk) {})
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	assert.True(t, e.NotSent)
}

func TestRequestsAreCopies(t *testing.T) {
	temperature := 0.5
	req := &provider.Request{
		ID: "a", Temperature: &temperature,
		Messages: []provider.Message{{Text: "m", ToolResult: &provider.ToolResult{Text: "r"}}},
		Last:     provider.Message{ToolCalls: []provider.ToolCall{{Arguments: []byte("1")}}, Parts: []provider.Part{{Data: []byte("png")}}},
		Schema:   &provider.Schema{JSON: []byte("{}")},
		Tools:    []provider.Tool{{Parameters: []byte("{}")}},
		Options:  &provider.Options{Stop: []string{"s"}},
		Labels:   map[string]string{"k": "v"},
	}
	p := &scripted.Provider{Record: true}
	_, _, err := ask(t, p, req)
	require.NoError(t, err)
	check := func() {
		got := p.Requests()
		require.Len(t, got, 1)
		r := got[0]
		assert.InDelta(t, 0.5, *r.Temperature, 0)
		assert.Equal(t, "m", r.Messages[0].Text)
		assert.Equal(t, "r", r.Messages[0].ToolResult.Text)
		assert.Equal(t, "1", string(r.Last.ToolCalls[0].Arguments))
		assert.Equal(t, "{}", string(r.Schema.JSON))
		assert.Equal(t, "{}", string(r.Tools[0].Parameters))
		assert.Equal(t, "v", r.Labels["k"])
		assert.Equal(t, []string{"s"}, r.Options.Stop)
		assert.Equal(t, "png", string(r.Last.Parts[0].Data))
	}
	spoil := func(r *provider.Request) {
		*r.Temperature = 9
		r.Messages[0].ToolResult.Text = "spoilt"
		r.Messages[0].Text = "spoilt"
		r.Last.ToolCalls[0].Arguments[0] = '9'
		r.Schema.JSON[0] = '9'
		r.Tools[0].Parameters[0] = '9'
		r.Labels["k"] = "spoilt"
		r.Options.Stop[0] = "spoilt"
		r.Last.Parts[0].Data[0] = '9'
	}
	spoil(req)
	check()
	spoil(&p.Requests()[0])
	check()
}

func TestVendorAndCheck(t *testing.T) {
	down := errors.New("down")
	p := &scripted.Provider{VendorName: "acme", OnCheck: func(_ context.Context, model string) error {
		if model == "gone" {
			return down
		}
		return nil
	}}
	assert.Equal(t, "acme", p.Vendor())
	require.NoError(t, p.Check(t.Context(), "here"))
	require.ErrorIs(t, p.Check(t.Context(), "gone"), down)
}

func FuzzChunks(f *testing.F) {
	f.Add("Ünïcode 🙂", 3, 0)
	f.Add("\x80\xff", 0, 1)
	f.Add(strings.Repeat("abc", 50), 100, 0)
	f.Fuzz(func(t *testing.T, s string, chunks, size int) {
		p := &scripted.Provider{ByID: map[string]scripted.Reply{"": {Text: s, Chunks: chunks, ChunkSize: size}}}
		var got []string
		_, err := p.Generate(t.Context(), &provider.Request{}, func(c provider.Chunk) { got = append(got, c.Text) })
		require.NoError(t, err)
		require.Equal(t, s, strings.Join(got, ""))
		least, most := len(s), 0
		for _, c := range got {
			require.NotEmpty(t, c)
			require.True(t, !utf8.ValidString(s) || utf8.ValidString(c), "a character was divided")
			n := utf8.RuneCountInString(c)
			least, most = min(least, n), max(most, n)
		}
		if size <= 0 {
			require.Len(t, got, min(max(1, chunks), utf8.RuneCountInString(s)))
			require.LessOrEqual(t, most-min(most, least), 1, "the pieces are as long as each other")
		}
	})
}

func BenchmarkGenerate(b *testing.B) {
	p := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
		return scripted.Reply{Text: "Cities are for people.", Usage: provider.Usage{Input: 100, Output: 5}}
	}}
	req := &provider.Request{ID: "a", Self: "Ada"}
	emit := func(provider.Chunk) {}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Generate(b.Context(), req, emit); err != nil {
			b.Fatal(err)
		}
	}
}

func Example() {
	p := &scripted.Provider{Replies: map[string][]scripted.Reply{
		"Ada": {{Text: "Ban them.", ChunkSize: 4}},
		"Ben": {{Err: &provider.Error{Kind: provider.KindRateLimit}}, {Text: "Price them."}},
	}}
	for _, self := range []string{"Ada", "Ben", "Ben"} {
		response, err := p.Generate(context.Background(), &provider.Request{Self: self}, func(c provider.Chunk) {
			fmt.Printf("%q ", c.Text)
		})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("→", response.Text)
	}
	// Output:
	// "Ban " "them" "." → Ban them.
	// provider: rate_limit
	// "Price them." → Price them.
}

// Without a script an answer is what the schema allows, and names everybody of whom the schema speaks.
func TestWithoutAScriptAnAnswerMatchesItsSchema(t *testing.T) {
	p := &scripted.Provider{}
	answer, err := p.Generate(t.Context(), &provider.Request{Self: "Iris", Schema: &provider.Schema{Name: "verdict", JSON: []byte(`{
		"type": "object", "required": ["marks", "winner", "sure", "why", "notes"],
		"properties": {
			"marks": {"type": "array", "items": {"$ref": "#/$defs/mark"}},
			"winner": {"anyOf": [{"enum": ["Ada", "Ben"]}, {"type": "null"}]},
			"sure": {"type": "boolean"}, "why": {"type": ["string", "null"]}, "left": {"type": "string"},
			"notes": {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}}
		},
		"$defs": {"mark": {"type": "object", "required": ["of", "score"], "properties": {
			"of": {"enum": ["Ada", "Ben"]}, "score": {"type": "number", "maximum": 10}
		}}}
	}`)}}, func(provider.Chunk) {})
	require.NoError(t, err)
	assert.JSONEq(t, `{
		"marks": [{"of": "Ada", "score": 10}, {"of": "Ben", "score": 10}], "winner": "Ada", "sure": false,
		"why": "This is what Iris has to say.", "notes": [1]
	}`, answer.Text)
}

// A schema that refers to itself has no end, but the answer to it has.
func TestAnAnswerToAnEndlessSchemaEnds(t *testing.T) {
	for name, schema := range map[string]string{
		"an object": `{"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}}}}`,
		"a list":    `{"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/a"}}}}`,
		"nothing":   `{"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/a"}}}`,
	} {
		answer, err := (&scripted.Provider{}).Generate(t.Context(), &provider.Request{
			Self: "Iris", Schema: &provider.Schema{Name: "endless", JSON: []byte(schema)},
		}, func(provider.Chunk) {})
		require.NoError(t, err, name)
		assert.NotEmpty(t, answer.Text, name)
	}
}
