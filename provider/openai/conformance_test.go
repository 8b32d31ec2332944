package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
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
				server := httptest.NewServer(vendor{Scenario: s, lack: way.lack, older: older})
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
	providertest.Scenario

	lack  bool // it is a server such as vLLM, with a list of its models
	older bool // it has chat completions
}

func (v vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch what := r.Method + " " + r.URL.Path; {
	case what == "POST /v1/chat/completions" && v.older:
		v.chat(w, r)
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
		v.fail(w)
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
		v.fail(w)
		return
	}
	list := make([]string, len(v.Models))
	for i, id := range v.Models {
		list[i] = described(id)
	}
	answerJSON(w, http.StatusOK, `{"object":"list","data":[`+strings.Join(list, ",")+`]}`)
}

type signal struct {
	status int
	code   string
}

var signals = map[provider.Kind]signal{
	provider.KindRateLimit:       {429, "rate_limit_exceeded"},
	provider.KindQuota:           {429, "insufficient_quota"},
	provider.KindAPI:             {500, "server_error"},
	provider.KindTimeout:         {504, ""},
	provider.KindContextOverflow: {400, "context_length_exceeded"},
	provider.KindAuthentication:  {401, "invalid_api_key"},
	provider.KindContentFilter:   {400, "content_filter"},
	provider.KindValidation:      {404, "model_not_found"},
}

func (v vendor) fail(w http.ResponseWriter) {
	s := signals[v.Fail]
	if v.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(v.RetryAfter.Seconds())))
	}
	w.WriteHeader(s.status)
	data, _ := json.Marshal(map[string]any{"error": map[string]any{"message": "not with " + v.Key, "code": s.code}})
	flush(w, string(data))
}

func flush(w io.Writer, text string) {
	_, _ = io.WriteString(w, text)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
