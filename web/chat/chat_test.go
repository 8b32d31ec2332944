package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/chat"
)

// reply is an answer, a piece of one, or an error, as clients read it.
type reply struct {
	ID      string
	Object  string
	Choices []struct {
		Message, Delta struct{ Role, Content string }
		Reason         string `json:"finish_reason"`
	}
	Usage *struct {
		Total int `json:"total_tokens"`
	}
	Error *struct{ Message, Type, Param, Code string }
}

// served is an endpoint that offers a debate as the model "two".
func served(t *testing.T, config debate.Config, o web.Options, befalls ...provider.Kind) (http.Handler, *debate.Engine) {
	t.Helper()
	h, engine := offered(t, config, o, befalls...)
	return chat.New(h), engine
}

// offered is a handler that offers a debate as its only preset.
func offered(t *testing.T, config debate.Config, o web.Options, befalls ...provider.Kind) (*web.Handler, *debate.Engine) {
	t.Helper()
	engine, source := stage.Engine(config)
	engine.Store = &store.Memory{}
	for _, kind := range befalls {
		stage.Befall(source, kind, stage.Said("Ben", 2))
	}
	data, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	o.Presets = []web.Preset{{Name: "two", Config: data}}
	h, err := web.New(engine, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		assert.NoError(t, engine.Shutdown(ctx))
	})
	return h, engine
}

// assertNone: no conversation was started.
func assertNone(t *testing.T, engine *debate.Engine) {
	t.Helper()
	for info, err := range engine.List(t.Context(), store.Filter{}) {
		t.Error("a conversation was started", info.ID, err)
	}
}

// ask sends a request as a program on this machine.
func ask(t *testing.T, h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	request.RemoteAddr, request.Host = "127.0.0.1:40000", "localhost:8080"
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, request)
	return answer
}

// read reads an answer of this status.
func read(t *testing.T, answer *httptest.ResponseRecorder, status int) (out reply) {
	t.Helper()
	require.Equal(t, status, answer.Code, answer.Body)
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &out))
	return out
}

const completions = "/v1/chat/completions"

// asked is a request with this last message.
func asked(topic, more string) string {
	return fmt.Sprintf(`{"model":"two","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":%q}]%s}`, topic, more)
}

// TestACompletion: a conversation about the last message is held, and the answer has what was said in it. The same request with the same
// key gets the same conversation, as a stream of the same words.
func TestACompletion(t *testing.T) {
	h, engine := served(t, stage.TwoDebaters(), web.Options{})
	first := ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", ""), "Idempotency-Key", "k")
	whole := read(t, first, http.StatusOK)
	assert.Contains(t, first.Body.String(), `"refusal":null},"logprobs":null,"finish_reason":"stop"`)
	require.Equal(t, "chat.completion", whole.Object)
	require.Len(t, whole.Choices, 1)
	said := whole.Choices[0].Message.Content
	assert.Equal(t, "stop", whole.Choices[0].Reason)
	for round := range 3 {
		for _, name := range []string{"Ada", "Ben"} {
			assert.Contains(t, said, "### "+name+"\n\n*Round "+strconv.Itoa(round+1))
			assert.Contains(t, said, strings.TrimSpace(stage.Speech(name, round+1)))
		}
	}
	assert.Contains(t, said, "### verdict\n\n")
	assert.Contains(t, said, "- **summary:** A close debate.")
	assert.NotContains(t, said, "attempt")
	record := stage.StoredRecord(t, engine, whole.ID)
	settings := record.Settings()
	assert.Equal(t, "Is chess a sport?", settings.Topic)
	require.Len(t, settings.Documents, 1)
	assert.Equal(t, "Earlier messages", settings.Documents[0].Name)
	usage := record.Spent().Usage
	require.NotNil(t, whole.Usage)
	assert.Equal(t, usage.Input+usage.Output, whole.Usage.Total)

	body := asked("Is chess a sport?", `,"stream":true,"stream_options":{"include_usage":true}`)
	answer := ask(t, h, http.MethodPost, completions, body, "Idempotency-Key", "k")
	require.Equal(t, "text/event-stream", answer.Header().Get("Content-Type"))
	stream, ended := strings.CutSuffix(answer.Body.String(), "data: [DONE]\n\n")
	assert.True(t, ended)
	assert.Contains(t, stream, `"choices":[{"index":0,"delta":{"role":"assistant"},"logprobs":null,"finish_reason":null}],"usage":null}`)
	assert.Contains(t, stream, `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}`)
	assert.Equal(t, strings.Count(stream, "data: ")-1, strings.Count(stream, `"usage":null`), "all pieces but the last")
	var joined strings.Builder
	total := 0
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var piece reply
		require.NoError(t, json.Unmarshal([]byte(data), &piece))
		assert.Equal(t, whole.ID, piece.ID)
		for _, c := range piece.Choices {
			joined.WriteString(c.Delta.Content)
		}
		if piece.Usage != nil {
			total = piece.Usage.Total
		}
	}
	assert.Equal(t, said, joined.String())
	assert.Equal(t, whole.Usage.Total, total)
	plain := ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", `,"stream":true`), "Idempotency-Key", "k")
	assert.NotContains(t, plain.Body.String(), `"usage"`)
}

// TestEarlierMessagesAreADocument: what an assistant has refused is among them.
func TestEarlierMessagesAreADocument(t *testing.T) {
	h, engine := served(t, stage.TwoDebaters(), web.Options{})
	out := read(t, ask(t, h, http.MethodPost, completions, `{"model":"two","messages":[
		{"role":"user","name":"Ann","content":[{"type":"text","text":"Is tag a sport?"}]},
		{"role":"assistant","content":[{"type":"refusal","refusal":"I cannot say."}]},
		{"role":"assistant","content":null,"refusal":"Nor now."},
		{"role":"user","content":"Is chess a sport?"}
	]}`), http.StatusOK)
	documents := stage.StoredRecord(t, engine, out.ID).Settings().Documents
	require.Len(t, documents, 1)
	text, err := engine.File(t.Context(), out.ID, documents[0].Files[0].Hash)
	require.NoError(t, err)
	assert.Equal(t, "user Ann:\nIs tag a sport?\n\nassistant:\nI cannot say.\n\nassistant:\nNor now.\n\n", string(text))
}

// TestAPauseEndsTheAnswer: with the same key the client gets the rest, when somebody has resumed the conversation.
func TestAPauseEndsTheAnswer(t *testing.T) {
	var engine *debate.Engine
	h, engine := served(t, stage.TwoDebaters(), web.Options{Start: func(ctx context.Context, c flow.Config) (string, error) {
		id, err := engine.Submit(ctx, c)
		if err != nil {
			return "", err
		}
		return id, engine.Control(ctx, id, flow.Pause{})
	}})
	body := asked("Is chess a sport?", "")
	out := read(t, ask(t, h, http.MethodPost, completions, body, "Idempotency-Key", "k"), http.StatusOK)
	assert.Equal(t, "stop", out.Choices[0].Reason)
	assert.Equal(t, "### Paused\n\nThe conversation "+out.ID+" goes on when somebody resumes it there.\n", out.Choices[0].Message.Content)
	require.NoError(t, engine.Control(t.Context(), out.ID, flow.Resume{}))
	_, err := engine.Open(t.Context(), out.ID)
	require.NoError(t, err)
	rest := read(t, ask(t, h, http.MethodPost, completions, body, "Idempotency-Key", "k"), http.StatusOK)
	assert.Equal(t, out.ID, rest.ID)
	assert.Contains(t, rest.Choices[0].Message.Content, "### verdict\n\n")
	assert.NotContains(t, rest.Choices[0].Message.Content, "### Paused")
}

// TestAQuestionEndsTheAnswer: its words and its options are the last ones.
func TestAQuestionEndsTheAnswer(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended = false
	h, engine := served(t, config, web.Options{}, provider.KindRefusal)
	out := read(t, ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", "")), http.StatusOK)
	questions := stage.StoredRecord(t, engine, out.ID).Inquiries
	require.Len(t, questions, 1)
	said := out.Choices[0].Message.Content
	assert.Contains(t, said, "### A person is asked\n\nThe conversation "+out.ID)
	assert.Contains(t, said, "- `"+questions[0].ID+"` to Ben: ")
	assert.Contains(t, said, "  - `skip`: ")
}

// TestAQuestionBesideWhatIsHiddenEndsTheAnswer: whoever only views gets what Ben says at the same time no earlier than Ada, a person, does.
func TestAQuestionBesideWhatIsHiddenEndsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Simultaneous()
		config.Judging, config.Unattended = nil, false
		config.Participants[0] = debate.Participant{Name: "Ada", Side: debate.For, Position: "Yes, ban them.", Person: true}
		h, engine := served(t, config, web.Options{
			Authorize: func(_ *http.Request, a web.Access) (string, error) {
				if a.Action == web.Inspect {
					return "", errors.New("no")
				}
				return "ann", nil
			},
			Policy: func(_ *http.Request, _ string, c flow.Config) (flow.Config, error) { return c, nil },
		})
		out := read(t, ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", "")), http.StatusOK)
		hidden := stage.StoredRecord(t, engine, out.ID).Waiting()
		require.NotNil(t, hidden, "Ben has spoken")
		said := out.Choices[0].Message.Content
		assert.Contains(t, said, "### A person is asked")
		assert.NotContains(t, said, hidden.Text)
	})
}

// TestAStreamIsNotSilentWhileATurnIsSpoken: an answer has each turn when it is over, and comments before.
func TestAStreamIsNotSilentWhileATurnIsSpoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, engine := served(t, stage.TwoDebaters(), web.Options{})
		source, ok := engine.Providers["test"].(*scripted.Provider)
		require.True(t, ok)
		stage.Altered(source, func(_ *provider.Request, r *scripted.Reply) { r.Interval, r.Chunks = 5*time.Second, 8 })
		answer := ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", `,"stream":true`))
		require.Equal(t, http.StatusOK, answer.Code)
		assert.Contains(t, answer.Body.String(), "\n\n:\n\n")
		assert.Contains(t, answer.Body.String(), "data: [DONE]")
	})
}

// bounded is a response whose writes have a deadline.
type bounded struct {
	*httptest.ResponseRecorder

	deadlines []time.Time
}

func (b *bounded) SetWriteDeadline(at time.Time) error {
	b.deadlines = append(b.deadlines, at)
	return nil
}

// TestAnAnswerHasATimeToLeave: a client that reads nothing is not waited for. The next request of the connection has its own time.
func TestAnAnswerHasATimeToLeave(t *testing.T) {
	h, _ := served(t, stage.TwoDebaters(), web.Options{})
	for body, status := range map[string]int{asked("Is chess a sport?", ""): http.StatusOK, "{}": http.StatusBadRequest} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, completions, strings.NewReader(body))
		request.RemoteAddr, request.Host = "127.0.0.1:40000", "localhost:8080"
		request.Header.Set("Content-Type", "application/json")
		answer := &bounded{ResponseRecorder: httptest.NewRecorder()}
		h.ServeHTTP(answer, request)
		require.Equal(t, status, answer.Code)
		require.Len(t, answer.deadlines, 2)
		assert.False(t, answer.deadlines[0].IsZero())
		assert.True(t, answer.deadlines[1].IsZero())
	}
}

// TestAFailureIsAnError: the client is told why, and not to try again, since it would pay again.
func TestAFailureIsAnError(t *testing.T) {
	h, _ := served(t, stage.TwoDebaters(), web.Options{}, provider.KindAuthentication)
	answer := ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", ""))
	assert.Equal(t, "false", answer.Header().Get("X-Should-Retry"))
	out := read(t, answer, http.StatusBadGateway)
	assert.Equal(t, "server_error", out.Error.Type)
	assert.Contains(t, out.Error.Message, "authentication")
	stream := ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", `,"stream":true`)).Body.String()
	assert.Contains(t, stream, `data: {"error":{"message":"the conversation `)
	assert.NotContains(t, stream, "[DONE]")
}

// TestRequestsThatAreRefused: as the API writes errors, before anything is started.
func TestRequestsThatAreRefused(t *testing.T) {
	h, engine := served(t, stage.TwoDebaters(), web.Options{})
	for body, want := range map[string]struct {
		status int
		param  string
	}{
		`{`: {http.StatusBadRequest, ""},
		`{"model":"three","messages":[{"role":"user","content":"x"}]}`: {http.StatusNotFound, "model"},
		`{"model":"two"}`: {http.StatusBadRequest, "messages"},
		`{"model":"two","messages":[{"role":"assistant","content":"x"}]}`:               {http.StatusBadRequest, "messages"},
		`{"model":"two","messages":[{"role":"user","content":" "}]}`:                    {http.StatusBadRequest, "messages[0].content"},
		`{"model":"two","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`: {http.StatusBadRequest, "messages[0].content"},
		asked("x", `,"n":2`):                                    {http.StatusBadRequest, "n"},
		asked("x", `,"tools":[{}]`):                             {http.StatusBadRequest, "tools"},
		asked("x", `,"functions":[{}]`):                         {http.StatusBadRequest, "functions"},
		asked("x", `,"response_format":{"type":"json_object"}`): {http.StatusBadRequest, "response_format"},
	} {
		out := read(t, ask(t, h, http.MethodPost, completions, body), want.status)
		require.NotNil(t, out.Error, body)
		assert.Equal(t, "invalid_request_error", out.Error.Type, body)
		assert.Equal(t, want.param, out.Error.Param, body)
		assert.NotEmpty(t, out.Error.Message, body)
	}
	unknown := ask(t, h, http.MethodPost, completions, `{"model":"three","messages":[{"role":"user","content":"x"}]}`)
	assert.Equal(t, "model_not_found", read(t, unknown, http.StatusNotFound).Error.Code)
	read(t, ask(t, h, http.MethodPost, completions, asked("x", ""), "Content-Type", "text/plain"), http.StatusUnsupportedMediaType)
	got := ask(t, h, http.MethodGet, completions, "")
	read(t, got, http.StatusMethodNotAllowed)
	assert.Equal(t, http.MethodPost, got.Header().Get("Allow"))
	read(t, ask(t, h, http.MethodPost, completions, asked("x", ""), "Sec-Fetch-Site", "cross-site"), http.StatusForbidden)
	read(t, ask(t, h, http.MethodPost, completions, asked("x", ""), "X-Forwarded-For", "10.0.0.1"), http.StatusForbidden)
	read(t, ask(t, h, http.MethodGet, "/v1/embeddings", ""), http.StatusNotFound)
	assertNone(t, engine)
}

// TestNothingIsStartedThatCannotBeFollowed: if all streams are taken, or the caller may not see what is said, nothing is paid.
func TestNothingIsStartedThatCannotBeFollowed(t *testing.T) {
	offers, engine := offered(t, stage.TwoDebaters(), web.Options{
		Streams: 1,
		Authorize: func(r *http.Request, a web.Access) (string, error) {
			if who := r.Header.Get("Authorization"); who != "starter" || a.Action == web.Start {
				return who, nil
			}
			return "", errors.New("no")
		},
	})
	h, body := chat.New(offers), asked("Is chess a sport?", "")
	read(t, ask(t, h, http.MethodPost, completions, body, "Authorization", "starter"), http.StatusForbidden)
	_, release, err := offers.Hold(httptest.NewRequestWithContext(t.Context(), http.MethodPost, completions, http.NoBody))
	require.NoError(t, err)
	full := ask(t, h, http.MethodPost, completions, body, "Authorization", "ann")
	assert.NotEmpty(t, full.Header().Get("Retry-After"))
	assert.Empty(t, full.Header().Get("X-Should-Retry"), "it costs nothing to ask again")
	assert.Equal(t, "server_error", read(t, full, http.StatusServiceUnavailable).Error.Type)
	assertNone(t, engine)
	release()
	for range 2 { // each gives its stream back
		read(t, ask(t, h, http.MethodPost, completions, body, "Authorization", "ann"), http.StatusOK)
	}
}

// TestRightsOfTheHandlerHold: who asks is who is said to, and whoever only views learns no usage.
func TestRightsOfTheHandlerHold(t *testing.T) {
	h, engine := served(t, stage.TwoDebaters(), web.Options{
		Authorize: func(r *http.Request, a web.Access) (string, error) {
			switch token := r.Header.Get("Authorization"); {
			case token == "":
				return "", &web.DeniedError{Challenge: "Bearer", Err: errors.New("who are you?")}
			case token == "Bearer viewer" && a.Action == web.Start, a.Action == web.Inspect:
				return "", errors.New("no")
			default:
				return strings.TrimPrefix(token, "Bearer "), nil
			}
		},
		Scope: func(_ *http.Request, who string) map[string]string { return map[string]string{"tenant": who} },
	})
	answer := ask(t, h, http.MethodGet, "/v1/models", "")
	assert.Equal(t, "Bearer", answer.Header().Get("WWW-Authenticate"))
	assert.Equal(t, "authentication_error", read(t, answer, http.StatusUnauthorized).Error.Type)
	refused := ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", ""), "Authorization", "Bearer viewer")
	assert.Equal(t, "permission_error", read(t, refused, http.StatusForbidden).Error.Type)

	models := ask(t, h, http.MethodGet, "/v1/models", "", "Authorization", "Bearer ann")
	assert.JSONEq(t, `{"object":"list","data":[{"id":"two","object":"model","created":0,"owned_by":"debate"}]}`, models.Body.String())
	one := ask(t, h, http.MethodGet, "/v1/models/two", "", "Authorization", "Bearer ann")
	assert.JSONEq(t, `{"id":"two","object":"model","created":0,"owned_by":"debate"}`, one.Body.String())
	out := read(t, ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", ""), "Authorization", "Bearer ann"), http.StatusOK)
	assert.Nil(t, out.Usage)
	assert.Equal(t, "ann", stage.StoredRecord(t, engine, out.ID).Settings().Labels["tenant"])

	keyed := func(who string) string {
		body := asked("Is chess a sport?", "")
		answer := ask(t, h, http.MethodPost, completions, body, "Authorization", "Bearer "+who, "Idempotency-Key", "1")
		return read(t, answer, http.StatusOK).ID
	}
	first := keyed("ann")
	assert.Equal(t, first, keyed("ann"))
	assert.NotEqual(t, first, keyed("bob"), "each has keys of its own")
}
