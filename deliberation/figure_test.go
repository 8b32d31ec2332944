package deliberation_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
)

// The figures of a deliberation: time, characters and bytes. Time is that of a synctest bubble, so it is exact:
// what is left is what the flow waits for.

const latency = 100 * time.Millisecond

// replyLength is that of every reply, in characters: about 400 tokens.
const replyLength = 1700

// long pads a text to the length of a reply.
func long(text string) string {
	return text + strings.Repeat(" A further point of some weight.", replyLength)[:replyLength-len(text)]
}

// figures are what one debate has shown.
type figures struct {
	took       time.Duration
	calls      int
	characters int   // of system prompts and last messages
	bytes      int64 // of the log as JSON
	turns      int
}

// measure plays a deliberation in which every call takes the latency, and every text has the usual length.
func measure(t testing.TB, config deliberation.Config) (f figures) {
	t.Helper()
	engine, p := engineFor(func(_ string, req *provider.Request) (scripted.Reply, bool) {
		if req.Schema != nil {
			return scripted.Reply{}, false
		}
		return scripted.Reply{Text: long(callOf(req))}, true
	})
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if r.Text == "" {
			r.Text = usual(callOf(req), req)
		}
		r.Delay = latency
	})
	began := time.Now()
	r := play(t, engine, config)
	f.took = time.Since(began)
	f.turns = len(r.Turns)
	for _, req := range p.Requests() {
		f.calls++
		f.characters += utf8.RuneCountInString(req.System) + utf8.RuneCountInString(req.Last.Text)
	}
	for _, e := range events(t, engine, r.ID) {
		line, err := json.Marshal(e)
		require.NoError(t, err)
		f.bytes += int64(len(line))
	}
	return f
}

// ideal is the time of a debate whose phases take one call each: a proposal, critiques and refinements for
// each round, and the synthesis.
func ideal(rounds int) time.Duration { return time.Duration(2+2*rounds) * latency }

// withTermination makes the rounds end by the judge's number, which the script keeps below the threshold: each
// round but the last takes one call more.
func withTermination(c deliberation.Config, kind string) deliberation.Config {
	c.Termination.Kind = kind
	return c
}

func rounds(n int, summaries bool) deliberation.Config {
	c := three()
	c.Rounds, c.Summaries.Off = n, !summaries
	return c
}

func TestTimeIsThatOfTheCriticalPath(t *testing.T) {
	for _, n := range []int{1, 2, 5, 10} {
		for name, test := range map[string]struct {
			config deliberation.Config
			path   time.Duration
		}{
			"plain":       {rounds(n, false), ideal(n)},
			"summaries":   {rounds(n, true), ideal(n)},
			"convergence": {withTermination(rounds(n, true), deliberation.TerminationConvergence), ideal(n) + time.Duration(n-1)*latency},
			"quality":     {withTermination(rounds(n, false), deliberation.TerminationQuality), ideal(n) + time.Duration(n-1)*latency},
		} {
			t.Run(fmt.Sprintf("%s/R=%d", name, n), stage.Bubbled(func(t *testing.T) {
				assert.Equal(t, test.path, measure(t, test.config).took)
			}))
		}
	}
}

// completions is a local fake of the chat-completions protocol: it counts the characters of the bodies that it
// gets and answers with texts of the usual length.
type completions struct {
	characters atomic.Int64
	requests   atomic.Int64
}

func (c *completions) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, "broken", http.StatusBadRequest)
		return
	}
	n := c.requests.Add(1)
	c.characters.Add(int64(utf8.RuneCount(body)))
	text := long(fmt.Sprintf("Reply %d.", n))
	if strings.Contains(string(body), `"json_schema"`) {
		text = toJSON(solution(text))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := map[string]any{
		"choices": []any{map[string]any{"index": 0, "delta": map[string]string{"content": text}, "finish_reason": "stop"}},
		"usage":   map[string]int{"prompt_tokens": len(body) / 4, "completion_tokens": 425, "total_tokens": len(body)/4 + 425},
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", toJSON(chunk))
}

// onTheWire plays a deliberation against the fake and returns the characters of all request bodies.
func onTheWire(t testing.TB, config deliberation.Config) (characters, requests int64) {
	t.Helper()
	fake := &completions{}
	server := httptest.NewServer(fake)
	defer server.Close()
	p := &openaicompat.Provider{}
	p.BaseURL = server.URL
	engine, _ := engineFor(nil)
	engine.Providers["test"] = p
	r := play(t, engine, config)
	require.Empty(t, r.Warnings)
	require.Empty(t, r.Rejections)
	return fake.characters.Load(), fake.requests.Load()
}

// shortener is the problem of the measurement: default agents, judge and settings.
func shortener(n int, summaries bool) deliberation.Config {
	c := rounds(n, summaries)
	c.Problem, c.Context = "Design a URL shortener for 100 million links, with statistics, that survives the loss of a machine.", ""
	return c
}

// comparison is what the comparable program sends at R = 10 with summaries on. mostCharacters is 0.6 of it. About a sixth of what is sent
// is fixed text, which tells the agents how they work together, what the markers mean, and what a good critique or refinement is.
const (
	comparison     = 1_290_237
	mostCharacters = comparison * 6 / 10
)

func TestCharactersOnTheWire(t *testing.T) {
	on, requests := onTheWire(t, shortener(10, true))
	off, _ := onTheWire(t, shortener(10, false))
	t.Logf("R=10: %d characters in %d requests with summaries, %d without", on, requests, off)
	assert.LessOrEqual(t, on, int64(mostCharacters))
	assert.Less(t, on, off)
}

// TestCharactersOfTheWholeHistory: where all read all that was said, their own summaries keep the input below 0.7 times that of the
// comparable program.
func TestCharactersOfTheWholeHistory(t *testing.T) {
	config := shortener(10, true)
	config.FullHistory = new(true)
	on, requests := onTheWire(t, config)
	t.Logf("R=10: %d characters in %d requests", on, requests)
	assert.LessOrEqual(t, on, int64(comparison*7/10))
}

// TestTheLogIsLinearInContributions: what is written for a contribution does not grow with the debate.
func TestTheLogIsLinearInContributions(t *testing.T) {
	per := func(n int) (out float64) {
		synctest.Test(t, func(t *testing.T) {
			f := measure(t, rounds(n, true))
			out = float64(f.bytes) / float64(f.turns)
		})
		return out
	}
	short, many := per(5), per(40)
	t.Logf("%.0f bytes for each turn at R=5, %.0f at R=40", short, many)
	assert.LessOrEqual(t, many, short*1.02)
}
