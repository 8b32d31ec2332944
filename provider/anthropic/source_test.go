package anthropic_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/anthropic"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// spoken returns a provider whose server gives recorded answers, one after the other, and the bodies that it is sent.
// The last one is repeated. An answer that begins with "HTTP/" has a head of its own.
func spoken(t *testing.T, answers ...string) (*anthropic.Provider, *[]string) {
	t.Helper()
	var bodies []string
	p := anthropic.New(canary)
	p.BaseURL = "http://example.com"
	p.Client = &http.Client{Transport: adaptertest.Transport(func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		answer := answers[min(len(bodies), len(answers))-1]
		if !strings.HasPrefix(answer, "HTTP/") {
			answer = ok + recorded(t, answer)
		}
		return (&adaptertest.Playback{Answer: answer}).RoundTrip(r)
	})}
	return p, &bodies
}

func recorded(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/reply/" + name + ".sse")
	require.NoError(t, err)
	return string(data)
}

func searching() *provider.Request {
	req := request()
	req.MaxTokens, req.Options = 1000, &provider.Options{Search: true}
	return req
}

// A source belongs to the block of text that came with it.
func TestCitations(t *testing.T) {
	p, _ := spoken(t, "search")
	r := adaptertest.Answer(t, p, searching())
	assert.Equal(t, "msg_01LHpEgU4KbfgXGVi3UtHQY1", r.ID)
	assert.Equal(t, "claude-sonnet-4-20250514", r.Model)
	assert.Equal(t, provider.Usage{Input: 15665, Output: 795}, r.Usage)
	var passages []string
	for _, c := range r.Citations {
		passages = append(passages, r.Text[c.Start:c.End])
	}
	assert.Equal(t, []string{
		"Ooooo oo ooooooooooo oooooooo o ooooo oooo.", "Oo Ooooooooo 25, 2025, ooooooooo.", "Oooo oOO 26 oooooooooo oooooooo.",
		"Oooo oOO 26 oooooooooo oooooooo.",
	}, passages, "the same source for the same passage counts once")
	assert.Equal(t, provider.Citation{
		Title: "Fang Junyu's Technology Weekly - September 26, 2025 - Future",
		URL:   "https://future.forem.com/junyu_fang_a216509a97501d/fang-junyus-technology-weekly-september-26-2025-2ndd",
		Quote: "Ooooo oo ooooooooooo oooooooo o ooooo oooooooooo oooo.", Start: r.Citations[0].Start, End: r.Citations[0].End,
	}, r.Citations[0])
}

func TestHostileCitations(t *testing.T) {
	for _, citation := range []string{
		`7`, `[]`, `{"type":7}`, `{"type":"web_search_result_location","url":"javascript:alert(1)"}`, `{"type":"page_location","url":"https://x.test"}`,
	} {
		p := played(ok + stream(block(0, `{"type":"text","text":""}`, `{"type":"text_delta","text":"Yes."}`,
			`{"type":"citations_delta","citation":`+citation+`}`), "end_turn"))
		r, _, err := ask(t, p, searching())
		require.NoError(t, err, citation)
		assert.Equal(t, "Yes.", r.Text)
		assert.Empty(t, r.Citations)
	}
}

// Thoughts are apart from the text, and from each other.
func TestReasoningText(t *testing.T) {
	for _, tt := range []struct {
		o    *provider.Options
		want string
	}{
		{nil, "O'o ooooooo 1071 ooo 462, ooooo oo 21."},
		{&provider.Options{Reasoning: provider.ReasoningAsk}, "O'o ooooooo 1071 ooo 462, ooooo oo 21."},
		{&provider.Options{Reasoning: provider.ReasoningHide}, ""},
	} {
		p, _ := spoken(t, "thinking")
		req := request()
		req.Options = tt.o
		r := adaptertest.Answer(t, p, req)
		assert.Equal(t, "# Ooooooo OOO(1071, 462) = 21 ✓", r.Text)
		assert.Equal(t, tt.want, r.Reasoning)
		assert.Equal(t, 62, r.Usage.Reasoning)
	}
}

// A reply that the vendor pauses for its searches is one reply: its pieces are joined, and their usage is added up.
func TestPausedReplies(t *testing.T) {
	p, bodies := spoken(t, "pause_1", "pause_2", "pause_3")
	r, chunks, err := ask(t, p, searching())
	require.NoError(t, err)
	assert.Equal(t, "Oo ooo. Ooo oo 1. Oo 2.", r.Text)
	assert.Equal(t, r.Text, strings.Join(chunks, ""))
	assert.Equal(t, provider.StopEnd, r.Stop)
	assert.Equal(t, "Ooo ooo?", r.Reasoning)
	assert.Equal(t, provider.Usage{Input: 2037 + 9000 + 9100, Output: 60 + 40 + 30}, r.Usage)
	require.Len(t, r.Citations, 2)
	assert.Equal(t, "Ooo oo 1.", r.Text[r.Citations[0].Start:r.Citations[0].End])
	assert.Equal(t, " Oo 2.", r.Text[r.Citations[1].Start:r.Citations[1].End])

	require.Len(t, *bodies, 3)
	golden(t, "reply/pause_2.json", readable(t, []byte((*bodies)[1])))
	golden(t, "reply/pause_3.json", readable(t, []byte((*bodies)[2])))
	for i, want := range []int{1000, 940, 900} {
		var body struct {
			MaxTokens int `json:"max_tokens"`
		}
		require.NoError(t, json.Unmarshal([]byte((*bodies)[i]), &body))
		assert.Equal(t, want, body.MaxTokens, "the limit holds for all pieces together")
	}
}

// A key may be renewed while a reply is paused. The rest of the reply, and its failure, show neither of the two.
func TestAKeyIsRenewedDuringAPause(t *testing.T) {
	keys := []string{"sk-ant-api03-AAAAbbbbCCCCddddEEEEffff1111", "sk-ant-api03-ZZZZyyyyXXXXwwwwVVVVuuuu2222"}
	for _, answers := range [][]string{
		{"pause_1", "pause_2", "pause_3"},
		{"pause_1", "HTTP/1.1 400 X\r\nConnection: close\r\n\r\nOo is not Oo"},
	} {
		p, asked := anthropic.New(""), 0
		p.BaseURL = "http://example.com"
		p.Key = func(context.Context) (string, error) { return keys[min(asked, 1)], nil }
		p.Client = &http.Client{Transport: adaptertest.Transport(func(r *http.Request) (*http.Response, error) {
			answer := answers[asked]
			asked++
			if !strings.HasPrefix(answer, "HTTP/") {
				answer = ok + recorded(t, answer)
			}
			key := r.Header.Get("X-Api-Key")
			if asked > 1 {
				key = keys[0] + " or " + keys[1]
			}
			return (&adaptertest.Playback{Answer: strings.ReplaceAll(answer, "Oo", key)}).RoundTrip(r)
		})}
		r, chunks, err := ask(t, p, searching())
		require.Equal(t, len(answers), asked)
		said := strings.Join(chunks, "")
		if err == nil {
			assert.Equal(t, said, r.Text)
			data, err := json.Marshal(r)
			require.NoError(t, err)
			said += string(data)
			assert.Contains(t, r.Text, "[redacted] or [redacted]")
		} else {
			assert.Contains(t, err.Error(), "[redacted] or [redacted] is not [redacted]")
			said += err.Error()
		}
		for _, part := range []string{"AAAA", "ffff1111", "ZZZZ", "uuuu2222"} {
			assert.NotContains(t, said, part)
		}
	}
}

func TestPausesAreBounded(t *testing.T) {
	p, bodies := spoken(t, "pause_1")
	r, _, err := ask(t, p, searching())
	e := failure(t, err, provider.KindInvalidResponse)
	assert.Equal(t, "pause_turn", e.Code)
	assert.Len(t, *bodies, 9)
	assert.Equal(t, provider.Usage{Input: 9 * 2037, Output: 9 * 60}, r.Usage, "it is paid nevertheless")

	p, bodies = spoken(t, "pause_1")
	req := searching()
	req.MaxTokens = 100
	r = adaptertest.Answer(t, p, req)
	assert.Len(t, *bodies, 2)
	assert.Equal(t, provider.StopLength, r.Stop, "nothing of the limit is left")
}

// A piece that fails leaves the pieces before it paid.
func TestPausesThatFail(t *testing.T) {
	const head = "HTTP/1.1 "
	for _, tt := range []struct {
		name, answer string
		kind         provider.Kind
		paid         bool
	}{
		{"refused", head + "429 Too Many Requests\r\nRetry-After: 7\r\nConnection: close\r\n\r\n{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"x\"}}", provider.KindRateLimit, true},
		{"cut", ok + "event: message_start\ndata: {\"type\":\"message_start\"}\n\n", provider.KindNetwork, false},
		{"no answer", head, provider.KindNetwork, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, bodies := spoken(t, "pause_1", tt.answer)
			r, chunks, err := ask(t, p, searching())
			e := failure(t, err, tt.kind)
			assert.NotEmpty(t, chunks)
			assert.False(t, e.NotSent)
			assert.Less(t, e.Status, 400, "it would count as free")
			assert.Len(t, *bodies, 2)
			if tt.paid {
				require.NotNil(t, r)
				assert.Equal(t, provider.Usage{Input: 2037, Output: 60}, r.Usage)
				return
			}
			assert.Nil(t, r, "what it costs is unknown")
		})
	}
}

// A recorded answer that is cut at any byte before the reason for its end is no reply.
func TestCutSources(t *testing.T) {
	for _, name := range []string{"search", "thinking"} {
		whole := recorded(t, name)
		for n := 0; n < strings.Index(whole, "event: message_stop"); n += longform.Or(1, 17) {
			r, _, err := ask(t, played(ok+whole[:n]), searching())
			failure(t, err, provider.KindNetwork)
			require.True(t, r == nil || !r.Partial, n) // what the search finds is input that is counted later
		}
	}
}

// The vendor counts the input at the beginning of a reply. A reply that is cut behind that reports it as a part.
func TestACutReplyReportsItsInput(t *testing.T) {
	whole := recorded(t, "thinking")
	first, counted := strings.Index(whole, "event: content_block_start"), strings.Index(whole, "event: message_delta")
	require.Less(t, first, counted)
	for n := first; n < counted; n += longform.Or(1, 17) {
		r, _, err := ask(t, played(ok+whole[:n]), request())
		failure(t, err, provider.KindNetwork)
		require.NotNil(t, r, n)
		require.True(t, r.Partial, n)
		require.Equal(t, provider.Usage{Input: 47, Output: 2}, r.Usage, n)
	}
}

// A last piece that is cut at any byte before the reason for its end is no reply. What the whole costs is unknown until the
// vendor has counted it.
func TestCutPieces(t *testing.T) {
	last, step := recorded(t, "pause_3"), longform.Or(1, 11)
	counted := strings.Index(last, "event: message_stop")
	for n := 0; n < strings.LastIndex(last, "\n\n")+2; n += step {
		p, _ := spoken(t, "pause_1", ok+last[:n])
		r, _, err := ask(t, p, searching())
		if n < counted {
			failure(t, err, provider.KindNetwork)
			require.True(t, r == nil || r.Partial, n)
			continue
		}
		require.NoError(t, err, n)
		require.Equal(t, provider.Usage{Input: 2037 + 9100, Output: 60 + 30}, r.Usage, n)
	}
}
