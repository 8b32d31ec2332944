package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// spent is what follows the number of requests in the last lines.
var spent = regexp.MustCompile(` \d{4,} tokens in \(0 from a cache\), \d{3,} tokens out: \$0\.0\d{2,5}\.\n`)

// environment is a getenv of its own.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestTheDemonstrationReadsAsItShould(t *testing.T) {
	for name, args := range map[string][]string{
		"demo":   nil,
		"rounds": {"-rounds", "9", "-topic", "Is chess a sport?"},
		"short":  {"-rounds=1"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.Equal(t, 0, run(t.Context(), args, &stdout, &stderr, environment()))
			assert.Empty(t, stderr.String())
			require.Regexp(t, spent, stdout.String())
			got := spent.ReplaceAllString(stdout.String(), " (…)\n") // the prompts may change
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
			note, rest, _ := strings.Cut(stdout.String(), "\n")
			assert.Contains(t, note, "scripted demonstration")
			for line := range strings.Lines(rest) {
				assert.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
			}
		})
	}
}

func TestWrongFlagsEndWithTwo(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-no-such-flag"}, "not defined: -no-such-flag"},
		{[]string{"-rounds", "0"}, "-rounds must be at least 1"},
		{[]string{"-rounds", "many"}, "invalid value"},
		{[]string{"-topic", ""}, "-topic is empty"},
		{[]string{"Is", "chess", "a", "sport?"}, "in quotes"},
	} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, 2, run(t.Context(), test.args, &stdout, &stderr, environment()))
		assert.Contains(t, stderr.String(), test.want)
		assert.Empty(t, stdout.String())
	}
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 0, run(t.Context(), []string{"-help"}, &stdout, &stderr, environment()))
	assert.Contains(t, stderr.String(), "OPENAI_BASE_URL")
}

// server speaks the chat-completions protocol, with speech for every turn, in pieces. Without any,
// the judge thinks for ever.
func server(t *testing.T, speech ...string) (address string, models *[]string) {
	t.Helper()
	var asked []string
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"data":[{"id":"nomic-embed-text"},{"id":"org/llama:8b"},{"id":"openai/gpt-oss"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model  string
			Format *struct {
				Schema struct{ Name string } `json:"json_schema"` //nolint:tagliatelle // the protocol's name
			} `json:"response_format"` //nolint:tagliatelle // likewise
		}
		data, err := io.ReadAll(r.Body)
		if err != nil { // an interrupt has cut the request off
			return
		}
		if !assert.NoError(t, json.Unmarshal(data, &body)) {
			return
		}
		asked = append(asked, body.Model)
		pieces := speech
		if speech == nil {
			pieces = []string{"Yes."}
		}
		if body.Format != nil {
			if speech == nil {
				<-r.Context().Done()
				return
			}
			var of any = assessment(0, 2)
			if body.Format.Schema.Name == "verdict" {
				of = verdict(2)
			}
			text, _ := json.Marshal(of)
			pieces = []string{string(text)}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range pieces {
			text, _ := json.Marshal(piece)
			_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", text)
		}
		_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"+
			"\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":10}}\n\ndata: [DONE]\n\n")
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/v1", &asked
}

func TestADebateOverHTTPShowsNothingThatATerminalObeys(t *testing.T) {
	address, asked := server(t, "Good day\x1b[3", "1m, neighbours.\r\a\x1b]0;ti", "tle\x1b\\ \u202eDone.\u009b2J")
	var stdout, stderr bytes.Buffer
	args := []string{"-rounds", "1", "-topic", "Is \x1b[2Jchess a sport?"}
	require.Equal(t, 0, run(t.Context(), args, &stdout, &stderr, environment("OPENAI_BASE_URL", address)), stderr.String())

	assert.Equal(t, []string{"org/llama:8b", "org/llama:8b", "org/llama:8b", "org/llama:8b"}, *asked)
	assert.Contains(t, stdout.String(), "Ada (for) and Ben (against) speak with local/org/llama:8b;\n  local/org/llama:8b judges.")
	assert.Contains(t, stdout.String(), "\nIs chess a sport?\n")
	assert.Contains(t, stdout.String(), "Ada (for)\n  Good day, neighbours. Done.\n")
	assert.Contains(t, stdout.String(), "4 requests, 400 tokens in (0 from a cache), 40 tokens out: at an unknown\n  price.")
	assert.NotContains(t, stdout.String(), "demonstration")
	assert.False(t, strings.ContainsFunc(stdout.String(), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }))
}

func TestModelsAreFoundByKeyAndName(t *testing.T) {
	address, _ := server(t, "Yes.")
	for _, test := range []struct {
		name                 string
		model, judge         string
		env                  []string
		wantModel, wantJudge string
	}{
		{"OpenAI", "", "", []string{"OPENAI_API_KEY", "k"}, "openai/gpt-4.1-mini", "openai/gpt-4.1"},
		{"a bare name", "gpt-5.1", "", []string{"OPENAI_API_KEY", "k"}, "openai/gpt-5.1", "openai/gpt-5.1"},
		{"a full name", "openai/gpt-5.1", "o3", []string{"OPENAI_API_KEY", "k"}, "openai/gpt-5.1", "openai/o3"},
		{"OpenRouter", "", "", []string{"OPENROUTER_API_KEY", "k"}, "openrouter/openai/gpt-4.1-mini", "openrouter/openai/gpt-4.1"},
		{"a vendor behind OpenRouter", "openai/o3", "", []string{"OPENROUTER_API_KEY", "k"}, "openrouter/openai/o3", "openrouter/openai/o3"},
		{"Mistral", "", "", []string{"MISTRAL_API_KEY", "k"}, "mistral/mistral-small-latest", "mistral/mistral-large-latest"},
		{
			"two keys", "gpt-4.1", "mistral/mistral-large-latest",
			[]string{"OPENAI_API_KEY", "k", "MISTRAL_API_KEY", "k"},
			"openai/gpt-4.1", "mistral/mistral-large-latest",
		},
		{"a server", "", "", []string{"OPENAI_BASE_URL", address}, "local/org/llama:8b", "local/org/llama:8b"},
		{"a server's own slash", "openai/gpt-oss", "", []string{"OPENAI_BASE_URL", address, "OPENAI_API_KEY", "k"}, "openai/openai/gpt-oss", "openai/openai/gpt-oss"},
		{"a gateway", "openai/gpt-4.1", "gpt-4.1", []string{"OPENAI_BASE_URL", address, "OPENAI_API_KEY", "k"}, "openai/gpt-4.1", "openai/gpt-4.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := choose(t.Context(), options{topic: "T", rounds: 3, model: test.model, judge: test.judge}, environment(test.env...))
			require.NoError(t, err)
			assert.Equal(t, test.wantModel, c.config.Participants[0].Model)
			assert.Equal(t, test.wantModel, c.config.Participants[1].Model)
			assert.Equal(t, test.wantJudge, c.config.Judging.Judges[0].Model)
		})
	}
}

func TestAFailureIsToldWithItsHint(t *testing.T) {
	address, _ := server(t, "Yes.")
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 1, run(t.Context(), []string{"-topic", "\x00"}, &stdout, &stderr, environment("OPENAI_BASE_URL", address)))
	assert.Contains(t, stderr.String(), "topic: holds a NUL character\n  Correct topic.\n")

	stderr.Reset()
	assert.Equal(t, 1, run(t.Context(), nil, &stdout, &stderr, environment("OPENAI_BASE_URL", "localhost")))
	assert.Contains(t, stderr.String(), "OPENAI_BASE_URL: BaseURL is not an http or https URL\n  Correct what OPENAI_BASE_URL was given.\n")

	refused := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"error":{"message":"no such \u001b[31mkey","type":"invalid_request_error"}}`)
	}))
	t.Cleanup(refused.Close)
	stderr.Reset()
	assert.Equal(t, 1, run(t.Context(), nil, &stdout, &stderr, environment("OPENAI_BASE_URL", refused.URL, "OPENAI_API_KEY", "sk-very-secret")))
	assert.Contains(t, stderr.String(), "Renew the API key")
	assert.NotContains(t, stderr.String(), "sk-very-secret")
	assert.NotContains(t, stderr.String(), "\x1b")
}

// interrupting is a writer that interrupts once it has seen a text.
type interrupting struct {
	bytes.Buffer
	at     string
	cancel context.CancelFunc
	done   atomic.Bool
}

func (w *interrupting) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), w.at) && !w.done.Swap(true) {
		w.cancel()
	}
	return n, err
}

func TestAnInterruptCancelsAndTellsWhatWasSpent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	address, _ := server(t)
	stdout := &interrupting{at: "The judge on round 1", cancel: cancel}
	var stderr bytes.Buffer
	assert.Equal(t, 130, run(ctx, nil, stdout, &stderr, environment("OPENAI_BASE_URL", address)))
	assert.Equal(t, "Interrupted: the debate is canceled.\n", stderr.String())
	_, account, ok := strings.Cut(stdout.String(), "The judge on round 1\n\n== Spent ==\n")
	require.True(t, ok, stdout.String())
	assert.Contains(t, account, "3 requests, 200 tokens in") // the call that was broken off counts too
}

func FuzzClean(f *testing.F) {
	f.Add("plain\ttext\nof two lines", 3)
	f.Add("\x1b[31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\a \u009b2J\u202e", 4)
	f.Add("\x1bPq#0\x1b\\ \xff\xc3", 1)
	f.Add("\x1b]no end\nnext line 漢字 e\u0301 👩\u200d🔬", 7)
	f.Fuzz(func(t *testing.T, text string, size int) {
		whole := clean(text)
		for _, r := range whole {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Fatalf("%q leaves %q in %q", text, r, whole)
			}
		}
		var c cleaner
		var pieces strings.Builder
		for size = max(1, size%9); text != ""; {
			n := min(size, len(text))
			pieces.WriteString(c.clean(text[:n]))
			text = text[n:]
		}
		if pieces.String() != whole {
			t.Fatalf("in pieces %q, at once %q", pieces.String(), whole)
		}
		var out bytes.Buffer
		w := wrapper{out: &out}
		w.write(whole)
		w.end()
		if !strings.HasSuffix("\n"+out.String(), "\n") || strings.Contains(out.String(), "\n\n\n") {
			t.Fatalf("%q is wrapped to %q", whole, out.String())
		}
	})
}

func TestTextIsWrappedAsItComes(t *testing.T) {
	var out bytes.Buffer
	w := wrapper{out: &out}
	w.write("\n\n  Begin ")
	w.write("here.\n\n\n\n- a  list\n")
	w.write(strings.Repeat("x", 100) + strings.Repeat("漢", 50) + " \n\n")
	w.end()
	assert.Equal(t, "  Begin here.\n\n  - a list\n  "+strings.Repeat("x", 76)+"\n  "+strings.Repeat("x", 24)+
		strings.Repeat("漢", 26)+"\n  "+strings.Repeat("漢", 24)+"\n", out.String())
}
