package cassette_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		"every field":   {response: &provider.Response{Text: "x", Stop: provider.StopFilter, Usage: usage, Model: "m-2026", Cached: true}},
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
			RetryAfter: 90*time.Second + 1, Err: io.ErrUnexpectedEOF,
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
      "id": "z"`)[0], "what was read is written as it was")
		})
	}
}

// The fence of a debate is in no file, and a replay has that of its own debate.
func TestFences(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("The word is 1234", "567890123456: ", fence))), full(fence))
	assert.NotContains(t, contents(t, file), fence)

	tape = open(t, file, cassette.Options{})
	got := ask(tape.Wrap("v", nil), full(otherFence))
	assert.Equal(t, "The word is "+otherFence+": "+otherFence, got.response.Text)
	assert.Equal(t, []string{"The word is " + otherFence, ": ", otherFence}, got.chunks, "a word that was divided comes with the first piece")
}

func TestWhatIsAFence(t *testing.T) {
	with := func(change func(r *provider.Request)) func(string) *provider.Request {
		return func(word string) *provider.Request {
			r := &provider.Request{Self: "Ada"}
			change(r)
			r.System = strings.ReplaceAll(r.System, "WORD", word)
			r.Last.Text = strings.ReplaceAll(r.Last.Text, "WORD", word)
			if r.Last.Fence != "" {
				r.Last.Fence = word
			}
			return r
		}
	}
	tests := []struct {
		name    string
		request func(string) *provider.Request
		first   string
		second  string
		same    bool
	}{
		{"a message's", with(func(r *provider.Request) { r.Last = provider.Message{Fence: "x", Text: "WORD"} }), "f7Qx", "abc", true},
		{"the system prompt's", with(func(r *provider.Request) { r.System = "a\n<<<end WORD>>>\nWORD" }), "1234567890", "0987654321", true},
		{"in the last line", with(func(r *provider.Request) { r.System = "a\r\n <<<end WORD>>>" }), "1234567890", "0987654321", true},
		{"too short a number", with(func(r *provider.Request) { r.System = "<<<end WORD>>>" }), "123456789", "987654321", false},
		{"no number", with(func(r *provider.Request) { r.System = "<<<end WORD>>>" }), "twelve-letter", "another-twelve", false},
		{"no closing marker", with(func(r *provider.Request) { r.System = "<<<WORD Name>>>" }), "1234567890", "0987654321", false},
		{"in a line", with(func(r *provider.Request) { r.System = "see <<<end WORD>>>" }), "1234567890", "0987654321", false},
		{"not in the last message", with(func(r *provider.Request) { r.Last.Text = "<<<end WORD>>>" }), "1234567890", "0987654321", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tape, file := recording(t, cassette.Options{})
			ask(tape.Wrap("v", saying(said("yes"))), test.request(test.first))
			got := ask(open(t, file, cassette.Options{}).Wrap("v", nil), test.request(test.second))
			if test.same {
				assert.NoError(t, got.err)
			} else {
				unseen(t, got.err)
			}
		})
	}
}

// Two fences, one of which begins the other, keep their places.
func TestSeveralFences(t *testing.T) {
	req := func(a, b string) *provider.Request {
		return &provider.Request{Messages: []provider.Message{{Fence: a, Text: "1"}, {Fence: b, Text: "2"}, {Fence: a, Text: "3"}}}
	}
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("abc ab a"))), req("ab", "abc"))
	p := open(t, file, cassette.Options{}).Wrap("v", nil)
	assert.Contains(t, unseen(t, ask(p, req("x", "x")).err), "fence")
	assert.Equal(t, "yy x a", ask(p, req("x", "yy")).response.Text)
}

// A request with more fences than a file may name is recorded, and replayed where they are the same.
func TestManyFences(t *testing.T) {
	req := func(first string) *provider.Request {
		r := &provider.Request{Messages: []provider.Message{{Fence: first, Text: "1"}}}
		for i := range 99 {
			r.Messages = append(r.Messages, provider.Message{Fence: fmt.Sprintf("word-%d-", i), Text: "2"})
		}
		return r
	}
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("first- word-0- word-98-"))), req("first-"))
	p := open(t, file, cassette.Options{}).Wrap("v", nil)
	assert.Equal(t, "other word-0- word-98-", ask(p, req("other")).response.Text)
	assert.Contains(t, contents(t, file), "⟦fence 64⟧")
	assert.NotContains(t, contents(t, file), "⟦fence 65⟧")
}

func TestWhatMakesARequest(t *testing.T) {
	tests := []struct {
		differs string // "": it is the same
		change  func(r *provider.Request)
	}{
		{"", func(r *provider.Request) { r.ID = "other" }},
		{"", func(r *provider.Request) { r.Labels = nil }},
		{`model: recorded "m", asked "n"`, func(r *provider.Request) { r.Model = "n" }},
		{`self: recorded "Ada", asked "Ben"`, func(r *provider.Request) { r.Self = "Ben" }},
		{`maxTokens: recorded "99", asked "0"`, func(r *provider.Request) { r.MaxTokens = 0 }},
		{`temperature: recorded "0.7", asked "null"`, func(r *provider.Request) { r.Temperature = nil }},
		{"system, line 2", func(r *provider.Request) { r.System = strings.Replace(r.System, "Their", "All", 1) }},
		{"messages[0].text, line 1", func(r *provider.Request) { r.Messages[0].Text = "Another." }},
		{`messages[1].speaker: recorded "Ben", asked "Cyd"`, func(r *provider.Request) { r.Messages[1].Speaker = "Cyd" }},
		{`messages[1].fence: recorded "⟦fence 1⟧", asked ""`, func(r *provider.Request) { r.Messages[1].Fence = "" }},
		{"messages[1].text, line 3", func(r *provider.Request) { r.Messages[1].Text = "No & <never>.\n\nElse" }},
		{"messages[2].toolCalls, line 1", func(r *provider.Request) { r.Messages[2].ToolCalls[0].Opaque = nil }},
		{"messages[3].toolResult, line 1", func(r *provider.Request) { r.Messages[3].ToolResult.Error = false }},
		{"messages[3].speaker, which is not asked", func(r *provider.Request) { r.Messages = r.Messages[:3] }},
		{"messages[4].speaker, which is not recorded", func(r *provider.Request) { r.Messages = append(r.Messages, provider.Message{Text: "more"}) }},
		{"last.text, line 1", func(r *provider.Request) { r.Last.Text = "Stop." }},
		{"schema, line 1", func(r *provider.Request) { r.Schema = nil }},
		{"schema, line 1", func(r *provider.Request) { r.Schema.JSON = []byte(`{}`) }},
		{"tools, line 1", func(r *provider.Request) { r.Tools[0].Name = "see" }},
		{"tools, line 1", func(r *provider.Request) { r.Tools = nil }},
	}
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("yes"))), full(fence))
	for _, test := range tests {
		req := full(fence)
		test.change(req)
		got := ask(open(t, file, cassette.Options{}).Wrap("v", nil), req)
		if test.differs == "" {
			assert.NoError(t, got.err)
			continue
		}
		message := unseen(t, got.err)
		assert.Contains(t, message, `"d/r2.ada/1", differs first in `+test.differs)
		assert.NotContains(t, message, "never", "no text is shown")
	}
}

func TestTheNearestRequest(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	p := tape.Wrap("v", saying(said("yes")))
	for i, text := range []string{"one", "two", "three"} {
		ask(p, &provider.Request{ID: fmt.Sprint("d/", i), Self: "Ada", Messages: []provider.Message{{Text: text}}, Last: provider.Message{Text: "Go."}})
	}
	p = open(t, file, cassette.Options{}).Wrap("v", nil)
	req := &provider.Request{ID: "e/1", Self: "Ada", Messages: []provider.Message{{Text: "two"}}, Last: provider.Message{Text: "Stop."}}
	assert.Contains(t, unseen(t, ask(p, req).err), `the nearest, "d/1", differs first in last.text`)
	req.Messages[0].Text, req.Last.Text, req.ID = "four", "Go.", "d/2"
	assert.Contains(t, unseen(t, ask(p, req).err), `the nearest, "d/2", differs first in messages[0].text`)
	other := open(t, file, cassette.Options{}).Wrap("w", nil)
	assert.Contains(t, unseen(t, ask(other, req).err), "none of this provider")
}

// Vendors that share a cassette are told apart by their names.
func TestNamesAreToldApart(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("a", saying(said("from a"))), full(fence))
	ask(tape.Wrap("b", saying(said("from b"))), full(fence))
	tape = open(t, file, cassette.Options{})
	assert.Equal(t, "from b", ask(tape.Wrap("b", nil), full(fence)).response.Text)
	assert.Equal(t, "from a", ask(tape.Wrap("a", nil), full(fence)).response.Text)
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

func TestEqualRequests(t *testing.T) {
	tests := []struct {
		name             string
		recorded, asked  []string // ids
		want             []string
		repeat           bool
		unused, moreThan int
	}{
		{name: "without ids", recorded: []string{"", "", ""}, asked: []string{"", "", ""}, want: []string{"1", "2", "3"}},
		{name: "attempts", recorded: []string{"d/c/1", "d/c/2"}, asked: []string{"e/c/1", "e/c/2"}, want: []string{"1", "2"}},
		{name: "ten attempts", recorded: []string{"d/c9", "d/c10"}, asked: []string{"x", "y"}, want: []string{"1", "2"}},
		{name: "the same id first", recorded: []string{"d/a", "d/b", "d/b"}, asked: []string{"d/b", "x", "d/b"}, want: []string{"2", "1", "3"}},
		{name: "too few", recorded: []string{"a", "b"}, asked: []string{"a"}, want: []string{"1"}, unused: 1},
		{name: "too many", recorded: []string{"a", "b"}, asked: []string{"a", "b", "c"}, want: []string{"1", "2", "unseen"}},
		{name: "repeated", recorded: []string{"a", "b"}, asked: []string{"a", "b", "c", "a"}, want: []string{"1", "2", "2", "2"}, repeat: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tape, file := recording(t, cassette.Options{})
			p := tape.Wrap("v", serial())
			for _, id := range test.recorded {
				ask(p, &provider.Request{ID: id})
			}
			tape = open(t, file, cassette.Options{Repeat: test.repeat})
			p = tape.Wrap("v", nil)
			var got []string
			for _, id := range test.asked {
				a := ask(p, &provider.Request{ID: id})
				if a.err != nil {
					assert.Contains(t, unseen(t, a.err), "was recorded 2 times")
					got = append(got, "unseen")
					continue
				}
				got = append(got, a.response.Text)
			}
			assert.Equal(t, test.want, got)
			assert.Len(t, tape.Unused(), test.unused)
		})
	}
}

// Whatever is done first, the file is the same.
func TestTheOrderOfTheFile(t *testing.T) {
	var first string
	for seed := range uint64(5) {
		dice := rand.New(rand.NewPCG(seed, 1))
		synctest.Test(t, func(t *testing.T) {
			tape, file := recording(t, cassette.Options{})
			script := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
				return scripted.Reply{Text: "I am " + req.ID, Delay: time.Duration(dice.IntN(1000)) * time.Millisecond, ChunkSize: 4}
			}}
			p := tape.Wrap("v", script)
			ids := make([]string, 24)
			for i := range ids {
				ids[i] = fmt.Sprintf("d/r%d.speech", i)
			}
			dice.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			for _, id := range ids { // one after the other, for dice is one
				ask(p, &provider.Request{ID: id, Self: id})
			}
			text := contents(t, file)
			if first == "" {
				first = text
			}
			assert.Equal(t, first, text)
			assert.Less(t, strings.Index(text, `"d/r9.speech"`), strings.Index(text, `"d/r10.speech"`))
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	const n = 40
	folder := t.TempDir()
	files := []string{filepath.Join(folder, "1.json"), filepath.Join(folder, "2.json")}
	for i, file := range files {
		synctest.Test(t, func(t *testing.T) {
			tape, err := cassette.Open(file, cassette.Options{Mode: cassette.Record})
			require.NoError(t, err)
			var all sync.WaitGroup
			for k := range n {
				p := tape.Wrap(fmt.Sprint("v", k%3), &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
					return scripted.Reply{Text: "I am " + req.ID, Delay: time.Duration((k*(7+4*i))%n) * time.Second, ChunkSize: 3}
				}})
				all.Go(func() { ask(p, &provider.Request{ID: fmt.Sprint("d/", k/2)}) })
			}
			all.Wait()
			require.NoError(t, tape.Close())
		})
	}
	assert.Equal(t, contents(t, files[0]), contents(t, files[1]))

	tape := open(t, files[0], cassette.Options{})
	var all sync.WaitGroup
	for k := range n {
		p := tape.Wrap(fmt.Sprint("v", k%3), nil)
		all.Go(func() {
			a := ask(p, &provider.Request{ID: fmt.Sprint("d/", k/2)})
			if assert.NoError(t, a.err) {
				assert.Equal(t, fmt.Sprint("I am d/", k/2), a.response.Text)
				assert.Equal(t, a.response.Text, strings.Join(a.chunks, ""))
			}
		})
	}
	all.Wait()
	assert.Empty(t, tape.Unused())
}

func TestModes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tape.json")
	_, err := cassette.Open(file, cassette.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = cassette.Open(file, cassette.Options{Mode: 7})
	require.EqualError(t, err, "cassette: mode 7 is none")
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

	file := filepath.Join(t.TempDir(), "tape.json")
	tape, err = cassette.Open(file, cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	huge := strings.Repeat("x", cassette.MaxFile)
	assert.Len(t, ask(tape.Wrap("v", saying(said(huge))), &provider.Request{ID: "big"}).response.Text, len(huge))
	ask(tape.Wrap("v", serial()), &provider.Request{ID: "small"})
	assert.Contains(t, contents(t, file), `"small"`, "there is room for others")
	assert.ErrorContains(t, tape.Close(), `the exchange "big" of provider "v" is not recorded: the file would be longer than`)
	no := math.NaN()
	p = open(t, filepath.Join(t.TempDir(), "x.json"), cassette.Options{Mode: cassette.Record}).Wrap("v", serial())
	assert.ErrorContains(t, ask(p, &provider.Request{Temperature: &no}).err, "cannot be written")
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

		tape = open(t, file, cassette.Options{Interval: time.Minute})
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

		began := time.Now()
		assert.Equal(t, []string{"ab", "cd", "ef"}, ask(p, &provider.Request{}).chunks)
		assert.Equal(t, 2*time.Minute, time.Since(began))
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

func TestChecks(t *testing.T) {
	gone := &provider.Error{Kind: provider.KindValidation, Message: "no such model"}
	v := saying(said("yes"))
	v.VendorName = "acme"
	v.OnCheck = func(_ context.Context, model string) error {
		if model == "gone" {
			return gone
		}
		return nil
	}
	tape, file := recording(t, cassette.Options{})
	p := tape.Wrap("v", v)
	assert.Equal(t, "acme", p.(provider.Vendor).Vendor())
	assert.Same(t, v, p.(provider.Wrapper).Unwrap())
	check := func(p provider.Provider, model string) error {
		return p.(provider.Checker).Check(context.Background(), model)
	}
	require.NoError(t, check(p, "spare"))
	require.NoError(t, check(p, "spare"))
	require.ErrorIs(t, check(p, "gone"), gone)
	ask(p, &provider.Request{Model: "used"})
	blind := tape.Wrap("blind", &listener{})
	require.NoError(t, check(blind, "any"), "who cannot check lets pass")
	assert.Empty(t, blind.(provider.Vendor).Vendor())
	require.NoError(t, tape.Close())

	tape = open(t, file, cassette.Options{})
	p = tape.Wrap("v", nil)
	assert.Equal(t, "acme", p.(provider.Vendor).Vendor(), "prices are found by it")
	require.NoError(t, check(p, "spare"))
	require.NoError(t, check(p, "used"))
	require.NoError(t, check(tape.Wrap("blind", nil), "any"))
	unseen(t, check(p, "gone"))
	unseen(t, check(tape.Wrap("other", nil), "used"))
	assert.Empty(t, tape.Wrap("other", nil).(provider.Vendor).Vendor())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.(provider.Checker).Check(ctx, "used"), context.Canceled)

	extended := open(t, file, cassette.Options{Mode: cassette.Extend})
	v.OnCheck = func(_ context.Context, model string) error {
		assert.Equal(t, "new", model, "what is known is not asked")
		return nil
	}
	for _, model := range []string{"spare", "used", "new", "new"} {
		require.NoError(t, check(extended.Wrap("v", v), model))
	}
	assert.Contains(t, contents(t, file), `"new",`)
}

func TestCountsAndVectors(t *testing.T) {
	failure := &provider.Error{Kind: provider.KindQuota, Status: 402}
	v := &vendor{
		answer: func(*provider.Request) answer { return said("yes") },
		count: func(req *provider.Request) (int, error) {
			if req.Self == "Ben" {
				return 0, failure
			}
			return len(req.Last.Text), nil
		},
		embed: func(texts []string) (*provider.Embedding, error) {
			if len(texts) == 0 {
				return nil, failure
			}
			out := &provider.Embedding{Usage: provider.Usage{Input: 3}, Model: "e-1"}
			for range texts {
				out.Vectors = append(out.Vectors, []float32{1, -0.1, math.SmallestNonzeroFloat32, math.MaxFloat32, 1.0 / 3})
			}
			return out, nil
		},
	}
	texts := []string{"one", "two\nlines"}
	play := func(t *testing.T, p provider.Provider, word string) {
		t.Helper()
		counter, ok := provider.As[provider.TokenCounter](p)
		require.True(t, ok)
		embedder, ok := provider.As[provider.Embedder](p)
		require.True(t, ok)
		n, err := counter.CountTokens(t.Context(), &provider.Request{Last: provider.Message{Fence: word, Text: word}})
		require.NoError(t, err)
		assert.Equal(t, 16, n)
		_, err = counter.CountTokens(t.Context(), &provider.Request{Self: "Ben"})
		assert.EqualError(t, err, failure.Error())
		vectors, err := embedder.Embed(t.Context(), "e", texts)
		require.NoError(t, err)
		want, _ := v.embed(texts)
		assert.Equal(t, want, vectors)
		_, err = embedder.Embed(t.Context(), "e", nil)
		assert.EqualError(t, err, failure.Error())
	}
	tape, file := recording(t, cassette.Options{})
	play(t, tape.Wrap("v", v), fence)
	for _, mode := range []cassette.Mode{cassette.Replay, cassette.Extend} {
		tape = open(t, file, cassette.Options{Mode: mode})
		p := tape.Wrap("v", nil)
		play(t, p, otherFence)
		assert.Empty(t, tape.Unused())
		counter, _ := provider.As[provider.TokenCounter](p)
		_, err := counter.CountTokens(t.Context(), &provider.Request{Self: "Cyd"})
		unseen(t, err)
		embedder, _ := provider.As[provider.Embedder](p)
		_, err = embedder.Embed(t.Context(), "e", texts[:1])
		unseen(t, err)
		_, err = embedder.Embed(t.Context(), "other", texts)
		unseen(t, err)
	}
	// Who is asked now, and cannot, says so.
	p := open(t, file, cassette.Options{Mode: cassette.Extend}).Wrap("v", &listener{})
	counter, _ := provider.As[provider.TokenCounter](p)
	_, err := counter.CountTokens(t.Context(), &provider.Request{Self: "Cyd"})
	assert.Contains(t, unseen(t, err), "does not count tokens")
	embedder, _ := provider.As[provider.Embedder](p)
	_, err = embedder.Embed(t.Context(), "other", texts)
	assert.Contains(t, unseen(t, err), "does not embed")
}

type (
	onlyCounts struct {
		provider.Provider
		provider.TokenCounter
	}
	only       struct{ provider.Provider } // Generate
	onlyEmbeds struct {
		provider.Provider
		provider.Embedder
	}
)

// A provider on tape can do what the provider can, and nothing else.
func TestAbilities(t *testing.T) {
	v := saying(said("yes"))
	v.count = func(*provider.Request) (int, error) { return 1, nil }
	v.embed = func([]string) (*provider.Embedding, error) { return &provider.Embedding{}, nil }
	for name, p := range map[string]provider.Provider{
		"": only{&scripted.Provider{}}, "count": onlyCounts{&scripted.Provider{}, v}, "embed": onlyEmbeds{&scripted.Provider{}, v}, "count embed": v,
	} {
		t.Run(name, func(t *testing.T) {
			check := func(p provider.Provider) {
				counter, counts := provider.As[provider.TokenCounter](p)
				embedder, embeds := provider.As[provider.Embedder](p)
				assert.Equal(t, strings.Contains(name, "count"), counts)
				assert.Equal(t, strings.Contains(name, "embed"), embeds)
				if counts {
					n, err := counter.CountTokens(t.Context(), &provider.Request{})
					require.NoError(t, err)
					assert.Equal(t, 1, n)
				}
				if embeds {
					_, err := embedder.Embed(t.Context(), "m", []string{"a"})
					require.NoError(t, err)
				}
				assert.NoError(t, p.(provider.Checker).Check(t.Context(), "m"))
			}
			tape, file := recording(t, cassette.Options{})
			check(tape.Wrap("v", p))
			check(open(t, file, cassette.Options{}).Wrap("v", p))
		})
	}
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
		"record, 1 secrets, labels false, repeat false, interval 0s": options,
		fmt.Sprintf("cassette %q (record)", file):                    tape,
		fmt.Sprintf("v on cassette %q (record)", file):               tape.Wrap("v", v),
		"extend": cassette.Extend, "replay": cassette.Replay,
	} {
		assert.Equal(t, want, fmt.Sprint(value))
		assert.NotContains(t, fmt.Sprintf("%v %+v %#v", value, value, value), "hunter2")
	}
}
