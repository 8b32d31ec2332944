package cassette_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/scripted"
)

// full is a request with everything.
func full(fence string) *provider.Request {
	temperature := 0.7
	return &provider.Request{
		ID: "d/r2.ada/1", Model: "m", System: "You are Ada.\nTheir words:\n<<<" + fence + " Name>>>\n<<<end " + fence + ">>>", Self: "Ada",
		Messages: []provider.Message{
			{Text: "The topic."},
			{Speaker: "Ben", Fence: fence, Text: "No & <never>.\n\n\"Not\" at all…\r\n"},
			{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "1", Name: "look", Arguments: []byte(`{"w":[1.50,"é"]}`), Opaque: []byte(`"s"`)}}},
			{Speaker: "", ToolResult: &provider.ToolResult{ID: "1", Text: "nothing\nfound", Error: true}},
		},
		Last: provider.Message{Text: "Go on; the word is " + fence + "."}, MaxTokens: 99, Temperature: &temperature,
		Schema: &provider.Schema{Name: "s", JSON: []byte(`{"type":"object","properties":{"a":{"type":"null"}}}`)},
		Tools:  []provider.Tool{{Name: "look", Description: "Looks.\nUp.", Parameters: []byte(`{ "type": "object" }`)}},
		Labels: map[string]string{"tenant": "t-1"},
	}
}

const fence, otherFence = "1234567890123456", "9876543210987654"

// answers are all that a provider can do, good and bad.
func answers() map[string]answer {
	usage := provider.Usage{Input: 5, CachedInput: 1, CacheWrite: 2, Output: 4, Reasoning: 3}
	return map[string]answer{
		"a reply":       said("One", " two", ", three.\nÜber 🙂"),
		"one chunk":     said("all"),
		"empty chunks":  said("", "a", "", "", "b", ""),
		"no chunk":      {response: &provider.Response{Text: "unwatched", Stop: provider.StopLength}},
		"nothing":       {},
		"blank":         {response: &provider.Response{}},
		"other chunks":  {chunks: []string{"not", " this"}, response: &provider.Response{Text: "but this", Cached: true}},
		"empty chunk":   {chunks: []string{""}, response: &provider.Response{Text: "all"}},
		"every field":   {response: &provider.Response{Text: "x", Stop: provider.StopFilter, Usage: usage, Model: "m-2026", Left: []string{"temperature", "stop"}, Cached: true}},
		"no UTF-8":      said("\x80a\xff", "\xe2\x82", "\xac⟦", "fence 1⟧\x00\u2028", "⟦x41⟧"),
		"a cut bracket": said("\xe2", "\x9f\xa6", "\xe2\x9f", "\xa7"),
		"calls": {response: &provider.Response{Stop: provider.StopTool, Calls: []provider.ToolCall{
			{ID: "1", Name: "f", Arguments: []byte(`{"a":{"b":[1,2.0,"<&>"]},"a":null}`), Opaque: []byte(`{"sealed":"x"}`)},
			{ID: "2", Name: "g", Arguments: []byte(`{ "spaced" : 1 }`), Opaque: []byte(`[1, 2]`)},
			{ID: "3", Name: "h", Arguments: []byte("{broken\n\x80"), Opaque: []byte("null")},
			{ID: "4", Name: "deep", Arguments: []byte(strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000))},
			{ID: "5", Name: "text", Arguments: []byte(`"{\"a\":1}"`)},
			{},
		}}},
		"refused": {err: &provider.Error{
			Kind: provider.KindRateLimit, Status: 429, Code: "slow", Message: "Slow\ndown.", RequestID: "req_1",
			RetryAfter: 90*time.Second + 1, Window: 8192, Capped: true, Err: io.ErrUnexpectedEOF,
		}},
		"not sent": {err: &provider.Error{Kind: provider.KindNetwork, NotSent: true}},
		"no kind":  {err: &provider.Error{}},
		"broken off": {
			chunks: []string{"Half of ", "a rep"}, response: &provider.Response{Usage: usage, Model: "m"},
			err: &provider.Error{Kind: provider.KindAPI, Message: "sorry"},
		},
		"another error": {chunks: []string{"a"}, err: errors.New("disk full")},
	}
}

// alike asserts that a replay is the recording.
func alike(t *testing.T, want, got answer) {
	t.Helper()
	assert.Equal(t, want.chunks, got.chunks)
	assert.Equal(t, want.response, got.response)
	if want.err == nil {
		assert.NoError(t, got.err)
		return
	}
	require.Error(t, got.err)
	assert.Equal(t, want.err.Error(), got.err.Error())
	var is, should *provider.Error
	if !errors.As(want.err, &should) {
		assert.NotErrorAs(t, got.err, &is)
		return
	}
	require.ErrorAs(t, got.err, &is)
	cause, expected := *is, *should
	if expected.Err != nil {
		assert.EqualError(t, cause.Err, expected.Err.Error())
	}
	cause.Err, expected.Err = nil, nil
	assert.Equal(t, expected, cause)
}

func TestReplayIsTheRecording(t *testing.T) {
	for name, want := range answers() {
		t.Run(name, func(t *testing.T) {
			tape, file := recording(t, cassette.Options{})
			alike(t, want, ask(tape.Wrap("v", saying(want)), full(fence)))
			require.NoError(t, tape.Close())

			tape = open(t, file, cassette.Options{})
			assert.Equal(t, []string{"v d/r2.ada/1"}, tape.Unused())
			p := tape.Wrap("v", nil)
			alike(t, want, ask(p, full(fence)))
			assert.Empty(t, tape.Unused())
			unseen(t, ask(p, full(fence)).err)

			tape = open(t, file, cassette.Options{})
			alike(t, want, ask(tape.Wrap("v", nil), full(otherFence)))

			extended := open(t, file, cassette.Options{Mode: cassette.Extend})
			before := contents(t, file)
			ask(extended.Wrap("w", saying(said("more"))), &provider.Request{ID: "z"})
			assert.Equal(t, strings.TrimSuffix(strings.Split(before, `"entries": [`)[1], "\n  ]\n}\n"),
				strings.Split(strings.Split(contents(t, file), `"entries": [`)[1], `,
    {
      "provider": "w"`)[0], "what was read is written as it was")
		})
	}
}

// serial answers with the number of the request.
func serial() *vendor {
	var mu sync.Mutex
	n := 0
	return &vendor{answer: func(*provider.Request) answer {
		mu.Lock()
		defer mu.Unlock()
		n++
		return said(fmt.Sprint(n))
	}}
}

func TestModes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tape.json")
	_, err := cassette.Open(file, cassette.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = cassette.Open(file, cassette.Options{Mode: 7})
	require.EqualError(t, err, `cassette: no mode "mode 7" is known: there are extend, record, replay`)
	_, err = cassette.Open(filepath.Join(file, "nowhere"), cassette.Options{Mode: cassette.Record})
	require.Error(t, err, "before anything is paid")
	_, err = cassette.Load(nil, cassette.Options{Mode: cassette.Record})
	require.EqualError(t, err, "cassette: mode record needs a file")

	source := serial()
	tape := open(t, file, cassette.Options{Mode: cassette.Extend})
	assert.Equal(t, "1", ask(tape.Wrap("v", source), &provider.Request{ID: "a"}).response.Text)
	assert.Equal(t, "2", ask(tape.Wrap("v", source), &provider.Request{ID: "a"}).response.Text, "equal requests are recorded as often as they are made")
	assert.Empty(t, tape.Unused())
	require.NoError(t, tape.Close())
	_, err = cassette.Open(file, cassette.Options{Mode: cassette.Record})
	require.ErrorIs(t, err, fs.ErrExist, "a recording is not overwritten")

	tape = open(t, file, cassette.Options{Mode: cassette.Extend})
	p := tape.Wrap("v", source)
	for _, want := range []string{"1", "2", "3"} {
		assert.Equal(t, want, ask(p, &provider.Request{ID: "a"}).response.Text)
	}
	assert.Equal(t, "4", ask(p, &provider.Request{ID: "a", Self: "b"}).response.Text)
	assert.Equal(t, 4, strings.Count(contents(t, file), `"request"`))
	unseen(t, ask(tape.Wrap("v", nil), &provider.Request{Self: "c"}).err)

	tape = open(t, file, cassette.Options{})
	asked := &scripted.Provider{}
	p = tape.Wrap("v", asked)
	unseen(t, ask(p, &provider.Request{Self: "c"}).err)
	assert.Equal(t, "1", ask(p, &provider.Request{}).response.Text)
	assert.Zero(t, asked.Calls(), "a replay asks nobody")
	assert.Nil(t, p.(provider.Wrapper).Unwrap())
	require.NoError(t, tape.Close())
	_, err = p.Generate(t.Context(), &provider.Request{}, nil)
	var closed *provider.Error
	require.ErrorAs(t, err, &closed)
	assert.Equal(t, cassette.CodeClosed, closed.Code)
}

// What the file holds after each exchange is whole: a crash takes nothing of it.
func TestACrashLosesNothing(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	p := tape.Wrap("v", serial())
	for i := range 3 {
		assert.Equal(t, i, strings.Count(contents(t, file), `"request"`))
		_, err := cassette.Open(file, cassette.Options{})
		require.NoError(t, err)
		ask(p, &provider.Request{})
	}
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing else is left")
	info, err := left[0].Info()
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}

func TestWhatCannotBeWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	require.NoError(t, os.Mkdir(folder, 0o700))
	tape, err := cassette.Open(filepath.Join(folder, "tape.json"), cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	p := tape.Wrap("v", serial())
	require.NoError(t, os.RemoveAll(folder))
	assert.Equal(t, "1", ask(p, &provider.Request{}).response.Text, "what was paid is given")
	require.NoError(t, os.Mkdir(folder, 0o700))
	assert.Equal(t, "2", ask(p, &provider.Request{}).response.Text)
	assert.Equal(t, 2, strings.Count(contents(t, filepath.Join(folder, "tape.json")), `"request"`), "and written as soon as possible")
	require.NoError(t, os.RemoveAll(folder))
	ask(p, &provider.Request{})
	require.ErrorIs(t, tape.Close(), fs.ErrNotExist)
	require.NoError(t, tape.Close())

	no := math.NaN()
	p = open(t, filepath.Join(t.TempDir(), "x.json"), cassette.Options{Mode: cassette.Record}).Wrap("v", serial())
	assert.ErrorContains(t, ask(p, &provider.Request{Temperature: &no}).err, "cannot be written")
}

func TestAnExchangeForWhichAFileHasNoRoom(t *testing.T) {
	longform.Lone(t)
	file := filepath.Join(t.TempDir(), "tape.json")
	tape, err := cassette.Open(file, cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	huge := strings.Repeat("x", cassette.MaxFile)
	assert.Len(t, ask(tape.Wrap("v", saying(said(huge))), &provider.Request{ID: "big"}).response.Text, len(huge))
	ask(tape.Wrap("v", serial()), &provider.Request{ID: "small"})
	assert.Contains(t, contents(t, file), `"small"`, "there is room for others")
	assert.ErrorContains(t, tape.Close(), `the exchange "big" of provider "v" is not recorded: the file would be longer than`)
}

func TestWhatIsBrokenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tape, file := recording(t, cassette.Options{})
		p := tape.Wrap("v", &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
			return scripted.Reply{Text: "abcdef", ChunkSize: 2, Interval: time.Second}
		}})
		for _, end := range []func(context.Context) (context.Context, context.CancelFunc){
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 1500*time.Millisecond)
			},
			func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(1500*time.Millisecond, cancel)
				return ctx, cancel
			},
		} {
			ctx, cancel := end(t.Context())
			_, err := p.Generate(ctx, &provider.Request{}, func(provider.Chunk) {})
			require.Error(t, err)
			cancel()
		}
		assert.NotContains(t, contents(t, file), `"request"`, "its end is not the provider's answer")
		ask(p, &provider.Request{})
		require.NoError(t, tape.Close())

		tape = open(t, file, cassette.Options{})
		p = tape.Wrap("v", nil)
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		_, err := p.Generate(ctx, &provider.Request{}, func(provider.Chunk) { n++; cancel() })
		var e *provider.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, provider.KindCanceled, e.Kind)
		assert.True(t, e.NotSent)
		assert.Equal(t, 1, n)
		assert.Len(t, tape.Unused(), 1, "the answer is given back")
		_, err = p.Generate(ctx, &provider.Request{}, func(provider.Chunk) {})
		require.ErrorIs(t, err, context.Canceled)

		assert.Equal(t, []string{"ab", "cd", "ef"}, ask(p, &provider.Request{}).chunks)
	})
}

func TestCloseBeforeTheEnd(t *testing.T) {
	tape, err := cassette.Open(filepath.Join(t.TempDir(), "tape.json"), cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	p := tape.Wrap("v", &vendor{answer: func(*provider.Request) answer {
		assert.ErrorContains(t, tape.Close(), "1 exchanges have not ended")
		return said("late")
	}})
	assert.Equal(t, "late", ask(p, &provider.Request{}).response.Text)
}

func TestLabels(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		tape, file := recording(t, cassette.Options{Labels: wanted})
		ask(tape.Wrap("v", saying(said("yes"))), full(fence))
		assert.Equal(t, wanted, strings.Contains(contents(t, file), "t-1"))
		alike(t, said("yes"), ask(open(t, file, cassette.Options{}).Wrap("v", nil), full(fence)))
	}
}

// Nothing that is printed shows a secret or what is wrapped.
func TestStrings(t *testing.T) {
	options := cassette.Options{Mode: cassette.Record, Secrets: []string{"hunter2"}}
	file := filepath.Join(t.TempDir(), "tape.json")
	tape := open(t, file, options)
	v := saying(said("yes"))
	v.VendorName = "hunter2"
	for want, value := range map[string]any{
		"record, 1 secrets, labels false, repeat false": options,
		fmt.Sprintf("cassette %q (record)", file):       tape,
		fmt.Sprintf("v on cassette %q (record)", file):  tape.Wrap("v", v),
		"extend": cassette.Extend, "replay": cassette.Replay,
	} {
		assert.Equal(t, want, fmt.Sprint(value))
		assert.NotContains(t, fmt.Sprintf("%v %+v %#v", value, value, value), "hunter2")
	}
}
