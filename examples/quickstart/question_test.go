package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// failing is a server whose answer to a request, the nth, is a status with a body, or a text to be streamed.
// The schema is the name of that which is asked for, "" in a turn.
func failing(t *testing.T, answer func(n int, schema string) (status int, text string)) (address string) {
	t.Helper()
	n := 0
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"data":[{"id":"small"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Format struct {
				Schema struct{ Name string } `json:"json_schema"` //nolint:tagliatelle // the protocol's name
			} `json:"response_format"` //nolint:tagliatelle // likewise
		}
		if !assert.NoError(t, json.NewDecoder(r.Body).Decode(&body)) {
			return
		}
		n++
		status, text := answer(n, body.Format.Schema.Name)
		if status != http.StatusOK {
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, text)
			return
		}
		quoted, _ := json.Marshal(text)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", quoted)
	})
	s := httptest.NewUnstartedServer(mux)
	s.Config.SetKeepAlivesEnabled(false) // between two requests nothing of a connection is left that a bubble would wait for
	s.Start()
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// judged is what a judge says who is asked for an assessment or a verdict, and "Yes." in a turn.
func judged(schema string) string {
	of := any(assessment(0, 2))
	switch schema {
	case "":
		return "Yes."
	case "verdict":
		of = verdict(2)
	}
	text, _ := json.Marshal(of)
	return string(text)
}

// Whatever comes up, the program goes on or ends by itself, and says what it has chosen and why it has stopped.
func TestQuestionsAreAnsweredWithoutAPerson(t *testing.T) {
	t.Parallel()
	const revoked = `{"error":{"message":"This key was revoked.","type":"invalid_request_error","code":"invalid_api_key"}}`
	const full = `{"error":{"message":"The context is too long.","type":"invalid_request_error","code":"context_length_exceeded"}}`
	for _, test := range []struct {
		name   string
		rounds string
		answer func(n int, schema string) (int, string)
		code   int
		stdout []string
		never  []string
		stderr []string
	}{
		{
			name: "the judge's answers are not accepted", rounds: "1",
			answer: func(_ int, schema string) (int, string) {
				if schema == "" {
					return 200, "Yes."
				}
				return 200, "I think Ada wins."
			},
			code: 1,
			stdout: []string{
				"(The answer of the judge was not accepted", "(A question has come up: judge: invalid_response: the answer was not accepted",
				"The choice is to go on without this answer.)", "\n== Verdict ==\n", "\n== Spent ==\n",
			},
			never:  []string{"has won"},
			stderr: []string{"debate: invalid_response: verdict.judge", "\n  Retry: the answer of judge could not be used"},
		},
		{
			name: "the key is revoked while somebody speaks", rounds: "2",
			answer: func(n int, schema string) (int, string) {
				if n > 3 {
					return 401, revoked
				}
				return 200, judged(schema)
			},
			code:   1,
			stdout: []string{"Quality 7.5 of 10", "This key was revoked"},
			never:  []string{"A question has come up", "The judge on round 2", "== Verdict =="},
			stderr: []string{"debate: authentication: r2.closing.Ada: Ada: ", "\n  Renew the API key"},
		},
		{
			name: "the key is revoked before the judge speaks", rounds: "1",
			answer: func(n int, schema string) (int, string) {
				if n > 2 {
					return 401, revoked
				}
				return 200, judged(schema)
			},
			code:   1,
			stdout: []string{"(judge gave no answer: status 401", "This key was revoked"},
			never:  []string{"A question has come up", "== Verdict =="},
			stderr: []string{"debate: authentication: r1.assessment.judge: judge: ", "\n  Renew the API key"},
		},
		{
			name: "the conversation no longer fits, once", rounds: "2",
			answer: func(n int, schema string) (int, string) {
				switch {
				case n == 4:
					return 400, full
				case schema == "":
					return 200, strings.Repeat("Cars are loud. ", 2000)
				default:
					return 200, judged(schema)
				}
			},
			stdout: []string{
				"(A question has come up: Ada: context_overflow: ",
				"The choice is to leave out the oldest turns.)", "\n== Verdict ==\n", "Ben has won",
			},
			never: []string{"No verdict"},
		},
		{
			name: "the conversation never fits the judge's model", rounds: "1",
			answer: func(_ int, schema string) (int, string) {
				if schema != "" {
					return 400, full
				}
				return 200, "Yes."
			},
			code:   1,
			stdout: []string{"The choice is to leave out the oldest turns.)"},
			never:  []string{"== Verdict =="},
			stderr: []string{"debate: context_overflow: r1.assessment.judge", "\n  Amend models.judge or context: a larger window"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := environment("OPENAI_BASE_URL", failing(t, test.answer), "OPENAI_API_KEY", "sk-very-secret")
			var code int
			var stdout, stderr bytes.Buffer
			synctest.Test(t, func(t *testing.T) { // the program waits before it asks again
				code = run(t.Context(), []string{"-rounds", test.rounds}, &stdout, &stderr, env)
			})
			assert.Equal(t, test.code, code, stderr.String())
			said := strings.Join(strings.Fields(stdout.String()), " ") // as the lines may break anywhere
			for _, text := range test.stdout {
				if strings.HasPrefix(text, "\n") {
					assert.Contains(t, stdout.String(), text)
				} else {
					assert.Contains(t, said, text)
				}
			}
			for _, text := range test.never {
				assert.NotContains(t, stdout.String(), text)
			}
			for _, text := range test.stderr {
				assert.Contains(t, stderr.String(), text)
			}
			if test.code == 0 {
				assert.Empty(t, stderr.String())
			}
		})
	}
}

// A debate that waits for a person all the same ends the program, with the question.
func TestWhoeverWaitsForAPersonIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "Yes."} }}
		config := debaters("Is chess a sport?", 1, "demo/one", "demo/one")
		config.Unattended = false
		var stdout, stderr bytes.Buffer
		record, err := play(t.Context(), &debate.Engine{Providers: map[string]debate.Provider{"demo": script}}, config, newPrinter(&stdout, false))
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		assert.Equal(t, flow.StateAwaitingInput, record.State)
		assert.Equal(t, 1, finish(t.Context(), &stderr, err, record))
		assert.Contains(t, stderr.String(), "nobody can be asked here: the conversation awaits an answer to inquiry ")
		assert.Contains(t, stderr.String(), "invalid_response: ")
		assert.Equal(t, 1, strings.Count(stderr.String(), "the answer of judge could not be used"), "what helps")
	})
}

// silence is a server that never answers; begun is closed when it is asked.
func silence(t *testing.T) (address string, begun <-chan struct{}) {
	t.Helper()
	asked := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func TestAnInterruptBeforeTheDebate(t *testing.T) {
	address, begun := silence(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-begun
		cancel()
	}()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 130, run(ctx, nil, &stdout, &stderr, environment("OPENAI_BASE_URL", address)))
	assert.Equal(t, "Interrupted: no debate was begun.\n", stderr.String())
	assert.Empty(t, stdout.String())
}

// A server that sends its clients to another port gets neither them nor their key there.
func TestTheKeyStaysWithItsServer(t *testing.T) {
	var elsewhere []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere = append(elsewhere, r.URL.Path+" "+r.Header.Get("Authorization"))
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "Bearer sk-very-secret", r.Header.Get("Authorization"))
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	var stdout, stderr bytes.Buffer
	assert.Equal(t, 1, run(t.Context(), nil, &stdout, &stderr, environment("OPENAI_BASE_URL", server.URL+"/v1", "OPENAI_API_KEY", "sk-very-secret")))
	assert.Empty(t, elsewhere)
	assert.Contains(t, stderr.String(), "OPENAI_BASE_URL: the server redirects elsewhere")
	assert.NotContains(t, stderr.String(), "sk-very-secret")
}
