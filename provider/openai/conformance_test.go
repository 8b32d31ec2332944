package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openai"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestConformance(t *testing.T) {
	for name, way := range map[string]struct {
		api  openai.API
		lack bool // the server has no /responses
	}{
		"auto":              {openai.Auto, false},
		"responses":         {openai.Responses, false},
		"chat completions":  {openai.ChatCompletions, false},
		"without responses": {openai.Auto, true},
	} {
		t.Run(name, func(t *testing.T) {
			connect := func(t *testing.T, s providertest.Scenario) provider.Provider {
				t.Helper()
				older := way.lack || way.api == openai.ChatCompletions || s.Name == "seed" || s.Name == "stop" // which are options of it alone
				server := httptest.NewServer(vendor{Chat: adaptertest.Chat{Scenario: s}, lack: way.lack, older: older})
				t.Cleanup(server.Close)
				p := openai.New(s.Key)
				p.BaseURL, p.Client, p.API = server.URL+"/v1", server.Client(), way.api
				return p
			}
			providertest.Run(t, connect)
			providertest.RunAbilities(t, connect)
			providertest.RunThoughts(t, connect)
		})
	}
}

// vendor acts a scenario in OpenAI's words, by either API.
type vendor struct {
	adaptertest.Chat

	lack  bool // it is a server such as vLLM, with a list of its models
	older bool // it has chat completions
}

func (v vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch what := r.Method + " " + r.URL.Path; {
	case what == "POST /v1/chat/completions" && v.older:
		v.Chat.ServeHTTP(w, r)
	case what == "POST /v1/responses" && !v.lack:
		v.respond(w, r)
	case what == "GET /v1/models" && v.lack:
		v.list(w)
	case strings.HasPrefix(what, "GET /v1/models/") && !v.lack:
		v.model(w, strings.TrimPrefix(r.URL.Path, "/v1/models/"))
	default:
		answerJSON(w, http.StatusNotFound, `{"detail":"Not Found"}`)
	}
}

// model describes a model.
func (v vendor) model(w http.ResponseWriter, id string) {
	switch {
	case v.Fail != "":
		v.Refuse(w)
	case slices.Contains(v.Models, id):
		answerJSON(w, http.StatusOK, described(id))
	default:
		answerJSON(w, http.StatusNotFound, `{"error":{"message":"The model '`+id+
			`' does not exist","type":"invalid_request_error","param":"model","code":"model_not_found"}}`)
	}
}

func described(id string) string {
	return `{"id":"` + id + `","object":"model","created":1741476777,"owned_by":"system"}`
}

// list describes all models.
func (v vendor) list(w http.ResponseWriter) {
	if v.Fail != "" {
		v.Refuse(w)
		return
	}
	list := make([]string, len(v.Models))
	for i, id := range v.Models {
		list[i] = described(id)
	}
	answerJSON(w, http.StatusOK, `{"object":"list","data":[`+strings.Join(list, ",")+`]}`)
}

func TestFaults(t *testing.T) {
	adaptertest.Faults(t, providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := openai.New(s.Key)
			p.BaseURL, p.Client, p.API = s.URL+"/v1", s.Client, openai.Responses
			p.IdleTimeout, p.MaxBody = s.IdleTimeout, s.MaxBody
			if s.MaxLine > 0 {
				p.MaxLine = s.MaxLine
			}
			return p
		},
		NoSignal: map[string]string{
			"budget-in-flight": "OpenAI takes no budget in advance",
			"moderation":       "OpenAI gives no reasons for a 403; what it filters is told as content_filter or as a policy",
		},
	})
}

// Every code that the API description names for a reply that failed, and those of OpenAI's policies, which
// nobody else has: they mean the same wherever they are told.
func TestCodes(t *testing.T) {
	for code, want := range map[string]provider.Kind{
		"invalid_prompt":                 provider.KindContentFilter,
		"bio_policy":                     provider.KindContentFilter,
		"cyber_policy":                   provider.KindContentFilter,
		"misalignment_policy_violation":  provider.KindContentFilter,
		"image_content_policy_violation": provider.KindContentFilter,
		"data_residency_mismatch":        provider.KindValidation,
		"invalid_image":                  provider.KindValidation,
		"invalid_image_format":           provider.KindValidation,
		"invalid_base64_image":           provider.KindValidation,
		"invalid_image_url":              provider.KindValidation,
		"image_too_large":                provider.KindValidation,
		"image_too_small":                provider.KindValidation,
		"image_parse_error":              provider.KindValidation,
		"invalid_image_mode":             provider.KindValidation,
		"image_file_too_large":           provider.KindValidation,
		"unsupported_image_media_type":   provider.KindValidation,
		"empty_image_file":               provider.KindValidation,
		"failed_to_download_image":       provider.KindValidation,
		"image_file_not_found":           provider.KindValidation,
		"vector_store_timeout":           provider.KindTimeout,
	} {
		said := `"error":{"code":"` + code + `","message":"no"}`
		t.Run(code, func(t *testing.T) {
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, http.StatusBadRequest, "{"+said+"}") })
			_, err := ask(t, p, request())
			assert.Equal(t, code, failure(t, err, want).Code, "a reply")

			p = answering(t, delta("0", "Half"), `{"type":"response.failed","response":{"status":"failed",`+said+`}}`)
			_, err = ask(t, p, request())
			assert.Equal(t, code, failure(t, err, want).Code, "in a stream")
		})
	}
}

// What is sent to /responses is what OpenAI describes, and nothing else.
func TestRequestsAreAsPublished(t *testing.T) {
	reply := adaptertest.Published(t, "responses.json", "CreateResponse", "*.golden")
	require.ErrorContains(t, reply.Check([]byte(`{"model":"gpt-5","max_tokens":7}`)), "max_tokens", "another API's field is found")
	require.Error(t, reply.Check([]byte(`{"model":"gpt-5","tools":[{"type":"function","name":"x","strict":"yes","parameters":{}}]}`)))
}

// OpenAI's own types know each field of what is sent, and lose none of it.
func TestRequestsAreOfOpenAIsTypes(t *testing.T) {
	for _, pattern := range []string{"request/*.golden", "option/*.golden"} {
		paths, err := filepath.Glob(filepath.Join("testdata", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			if filepath.Base(path) == "extra.golden" { // its fields are the config's
				continue
			}
			sent, err := os.ReadFile(path)
			require.NoError(t, err)
			var body map[string]any
			require.NoError(t, json.Unmarshal(sent, &body), path)
			delete(body, "stream") // which the client adds
			items, ok := body["input"].([]any)
			require.True(t, ok, path)
			for _, item := range items {
				if fields, ok := item.(map[string]any); assert.True(t, ok) && fields["type"] == nil {
					fields["type"] = "message" // the types read no message that leaves it out, as the API does
				}
			}
			want, err := json.Marshal(body)
			require.NoError(t, err)
			var params responses.ResponseNewParams
			require.NoError(t, json.Unmarshal(want, &params), path)
			got, err := json.Marshal(params)
			require.NoError(t, err, path)
			assert.JSONEq(t, string(want), string(got), path)
		}
	}
}

// refused answers all requests with status 400.
const refused = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"

// The same of what is sent to OpenAI's /chat/completions.
func TestChatRequestsAreAsPublished(t *testing.T) {
	chat := adaptertest.Published(t, "chat.json", "CreateChatCompletionRequest")
	for name, req := range requests() {
		sent := &adaptertest.Playback{Answer: refused}
		p := openai.New(canary)
		p.API, p.Client = openai.ChatCompletions, &http.Client{Transport: sent}
		_, err := ask(t, p, &req)
		require.Error(t, err)
		require.NotEmpty(t, sent.Body)
		assert.NoError(t, chat.Check(sent.Body), "%s: %s", name, sent.Body)
	}
}
