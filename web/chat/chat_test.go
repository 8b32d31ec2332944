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
	return chat.New(h), engine
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
	whole := read(t, ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", ""), "Idempotency-Key", "k"), http.StatusOK)
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

// TestAFailureIsAnError: the client is told why, and not to try again, since it would pay again.
func TestAFailureIsAnError(t *testing.T) {
	h, _ := served(t, stage.TwoDebaters(), web.Options{}, provider.KindAuthentication)
	answer := ask(t, h, http.MethodPost, completions, asked("Is chess a sport?", ""))
	assert.Equal(t, "false", answer.Header().Get("X-Should-Retry"))
	out := read(t, answer, http.StatusConflict)
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
		`{`: {http.StatusUnprocessableEntity, ""},
		`{"model":"three","messages":[{"role":"user","content":"x"}]}`: {http.StatusNotFound, "model"},
		`{"model":"two"}`: {http.StatusUnprocessableEntity, "messages"},
		`{"model":"two","messages":[{"role":"assistant","content":"x"}]}`:               {http.StatusUnprocessableEntity, "messages"},
		`{"model":"two","messages":[{"role":"user","content":" "}]}`:                    {http.StatusUnprocessableEntity, "messages[0].content"},
		`{"model":"two","messages":[{"role":"user","content":[{"type":"image_url"}]}]}`: {http.StatusUnprocessableEntity, "messages[0].content"},
		asked("x", `,"n":2`):                                    {http.StatusUnprocessableEntity, "n"},
		asked("x", `,"tools":[{}]`):                             {http.StatusUnprocessableEntity, "tools"},
		asked("x", `,"functions":[{}]`):                         {http.StatusUnprocessableEntity, "functions"},
		asked("x", `,"response_format":{"type":"json_object"}`): {http.StatusUnprocessableEntity, "response_format"},
	} {
		out := read(t, ask(t, h, http.MethodPost, completions, body), want.status)
		require.NotNil(t, out.Error, body)
		assert.Equal(t, "invalid_request_error", out.Error.Type, body)
		assert.Equal(t, want.param, out.Error.Param, body)
		assert.NotEmpty(t, out.Error.Message, body)
	}
	read(t, ask(t, h, http.MethodPost, completions, asked("x", ""), "Content-Type", "text/plain"), http.StatusUnprocessableEntity)
	read(t, ask(t, h, http.MethodPost, completions, asked("x", ""), "Sec-Fetch-Site", "cross-site"), http.StatusForbidden)
	read(t, ask(t, h, http.MethodPost, completions, asked("x", ""), "X-Forwarded-For", "10.0.0.1"), http.StatusForbidden)
	read(t, ask(t, h, http.MethodGet, "/v1/embeddings", ""), http.StatusNotFound)
	for info, err := range engine.List(t.Context(), store.Filter{}) {
		t.Error("a conversation was started", info.ID, err)
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
}
