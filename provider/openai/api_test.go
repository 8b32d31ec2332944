package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/openai"
)

// log notes the paths that a server was asked at.
type log struct {
	mu    sync.Mutex
	paths []string
}

func (l *log) add(r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paths = append(l.paths, strings.TrimPrefix(r.URL.Path, "/v1"))
}

func (l *log) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	paths := l.paths
	l.paths = nil
	return paths
}

// What servers answer at /responses, and whether it means that they have no such endpoint.
func TestTheChoice(t *testing.T) {
	tests := map[string]struct {
		status int
		body   string
		chat   bool
	}{
		"FastAPI (vLLM, LiteLLM, SGLang)":      {404, `{"detail":"Not Found"}`, true},
		"FastAPI with GET alone":               {405, `{"detail":"Method Not Allowed"}`, true},
		"vLLM's handler":                       {404, `{"error":{"message":"Not Found","type":"Not Found","param":null,"code":404}}`, true},
		"vLLM, a model that cannot":            {501, `{"error":{"message":"The model does not support Responses API","type":"NotImplementedError","code":501}}`, true},
		"Go (Ollama, gateways)":                {404, "404 page not found\n", true},
		"an empty body":                        {404, "", true},
		"a page":                               {404, "<html><head><title>404 Not Found</title></head><body>nginx</body></html>", true},
		"llama.cpp":                            {404, `{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`, true},
		"OpenAI's own router":                  {404, `{"error":{"message":"Invalid URL (POST /v1/responses)","type":"invalid_request_error","param":null,"code":null}}`, true},
		"a mounted copy of it":                 {404, `{"error":{"message":"Invalid URL (POST /openai/v1/x)","type":"invalid_request_error","param":"","code":""}}`, true},
		"Groq":                                 {404, `{"error":{"message":"Unknown request URL: POST /v1/x. Please check the URL","type":"invalid_request_error","code":"unknown_url"}}`, true},
		"Express":                              {404, "<pre>Cannot POST /v1/responses</pre>", true},
		"NestJS":                               {404, `{"message":"Cannot POST /v1/responses","error":"Not Found","statusCode":404}`, true},
		"Fastify":                              {404, `{"message":"Route POST:/v1/responses not found","code":"NOPE"}`, true},
		"Spring":                               {404, `{"timestamp":"2026-01-01","status":404,"error":"Not Found","path":"/v1/x"}`, true},
		"Kong":                                 {404, `{"message":"no Route matched with those values"}`, true},
		"Cloudflare":                           {404, `{"success":false,"errors":[{"code":7000,"message":"No route for that URI"}]}`, true},
		"Azure, wrong path":                    {404, `{"error":{"code":"404","message": "Resource not found"}}`, true},
		"method not implemented":               {501, "", true},
		"method not allowed":                   {405, "", true},
		"a link to the models":                 {404, `{"error":{"message":"No such route. See https://models.example/models."}}`, true},
		"OpenAI, unknown model":                {404, "{\"error\":{\"message\":\"The model `gpt-5` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}", false},
		"OpenAI, unknown model under 400":      {400, `{"error":{"message":"The requested model 'gpt-5' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}`, false},
		"a laconic one":                        {404, `{"error":{"message":"Not found","code":"model_not_found"}}`, false},
		"vLLM, unknown model":                  {404, "{\"object\":\"error\",\"message\":\"The model `gpt-5` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}", false},
		"Ollama, unknown model":                {404, `{"error":{"message":"model \"gpt-5\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, false},
		"OpenRouter, no endpoint of the model": {404, `{"error":{"message":"No endpoints found for gpt-5.","code":404}}`, false},
		"Google, unknown model":                {404, `[{"error":{"code":404,"message":"models/gpt-5 is not found for API version v1main","status":"NOT_FOUND"}}]`, false},
		"Azure, unknown deployment":            {404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, false},
		"a deployment under 405":               {405, `{"error":{"code":"DeploymentNotFound","message":"no"}}`, false},
		"a thought that was not stored":        {404, `{"error":{"message":"Item with id 'rs_1' not found. Items are not persisted when store is set to false.","type":"invalid_request_error","param":"input","code":null}}`, false},
		"a path with the model in it":          {404, `{"error":{"message":"/responses knows no gpt-5"}}`, false},
		"an unknown 404":                       {404, `{"error":{"message":"Gone fishing"}}`, true},
		"a 404 that says nothing":              {404, `{}`, true},
		"an unknown endpoint":                  {404, `{"error":{"message":"Unknown endpoint","type":"invalid_request_error"}}`, true},
		"no such route":                        {404, `{"error":{"message":"no such route"}}`, true},
		"gone":                                 {410, `{"detail":"Not Found"}`, true},
		"bad request":                          {400, `{"error":{"message":"Invalid URL (POST /v1/responses)"}}`, true},
		"LM Studio without a path":             {200, `{"error":"Unexpected endpoint or method. (POST /responses)"}`, true},
		"a proxy that cannot map it":           {400, `{"error":{"message":"litellm.BadRequestError: no LLM provider takes this call type","type":null,"param":null,"code":"400"}}`, true},
		"a proxy that breaks on it":            {500, `{"error":{"message":"'NoneType' object has no attribute 'responses'","code":500}}`, true},
		"a proxy that speaks of the model":     {400, `{"error":{"message":"gpt-5 is not a thing here"}}`, false},
		"a full window":                        {400, `{"error":{"message":"prompt is too long: 9000 tokens > 8192 maximum"}}`, false},
		"a filter":                             {400, `{"error":{"code":"content_filter","message":"no"}}`, false},
		"an empty account":                     {400, `{"error":{"code":"insufficient_balance","message":"no"}}`, false},
		"unauthorized":                         {401, `{"detail":"Not Found"}`, false},
		"forbidden":                            {403, "", true},
		"a gateway without the path":           {403, `{"message":"Missing Authentication Token"}`, true},
		"a firewall's page":                    {403, "<html>Blocked</html>", true},
		"a key that may not":                   {403, `{"error":{"message":"Insufficient permissions for this operation.","type":"invalid_request_error","code":"missing_scope"}}`, false},
		"a refused key without a code":         {403, `{"error":{"message":"Invalid API key"}}`, false},
		"a refused key of FastAPI":             {403, `{"detail":"Not authenticated"}`, false},
		"a gateway's words":                    {403, "RBAC: access denied", true},
		"unprocessable":                        {422, `{"detail":"Not Found"}`, true},
		"rate limit":                           {429, `{"error":{"message":"Not Found"}}`, false},
		"server error":                         {500, `{"detail":"Not Found"}`, true},
		"bad gateway":                          {502, "", true},
		"under 200":                            {200, `{"error":{"message":"Not Found","code":"404"}}`, true},
		"a page under 200":                     {200, "<html>Welcome</html>", true},
		"a chat completion's form":             {200, `{"object":"chat.completion","choices":[]}`, true},
		"redirect":                             {302, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var l log
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				l.add(r)
				if r.URL.Path == "/v1/chat/completions" {
					sayChat(w, "By the older way.")
					return
				}
				answerJSON(w, tt.status, tt.body)
			})
			for _, want := range [][]string{{"/responses", "/chat/completions"}, {"/chat/completions"}} {
				r, err := ask(t, p, request())
				if !tt.chat {
					require.Error(t, err)
					assert.Equal(t, []string{"/responses"}, l.take())
					continue
				}
				require.NoError(t, err)
				assert.Equal(t, "By the older way.", r.Text)
				assert.Equal(t, want, l.take(), "one request more, once")
			}
		})
	}
}

func TestTheHostChooses(t *testing.T) {
	var l log
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		l.add(r)
		http.NotFound(w, r)
	})
	p.API = openai.Responses
	_, err := ask(t, p, request())
	failure(t, err, provider.KindValidation)
	assert.Equal(t, []string{"/responses"}, l.take())
	p.API = openai.ChatCompletions
	_, err = ask(t, p, request())
	failure(t, err, provider.KindValidation)
	assert.Equal(t, []string{"/chat/completions"}, l.take())
}

// Once a server has answered at /responses, a 404 is a failure.
func TestTheChoiceIsKept(t *testing.T) {
	var l log
	var gone atomic.Bool
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		l.add(r)
		if gone.Load() {
			http.NotFound(w, r)
			return
		}
		say(w)
	})
	adaptertest.Answer(t, p, request())
	gone.Store(true)
	_, err := ask(t, p, request())
	failure(t, err, provider.KindValidation)
	assert.Equal(t, []string{"/responses", "/responses"}, l.take())
}

// A gateway that knows no path at all, because what stands behind it is not up yet, decides nothing.
func TestAServerWithNeither(t *testing.T) {
	var l log
	var up atomic.Bool
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		l.add(r)
		if !up.Load() {
			http.NotFound(w, r)
			return
		}
		say(w)
	})
	_, err := ask(t, p, request())
	failure(t, err, provider.KindValidation)
	assert.Equal(t, []string{"/responses", "/chat/completions"}, l.take())
	up.Store(true)
	adaptertest.Answer(t, p, request())
	assert.Equal(t, []string{"/responses"}, l.take())
}

// A server that fails at /responses and has nothing else is told by that failure.
func TestTheFirstFailureIsTold(t *testing.T) {
	var l log
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		l.add(r)
		if r.URL.Path == "/v1/responses" {
			answerJSON(w, 400, `{"error":{"message":"the instructions are blank","type":"invalid_request_error"}}`)
			return
		}
		http.NotFound(w, r)
	})
	_, err := ask(t, p, request())
	assert.Contains(t, failure(t, err, provider.KindValidation).Message, "the instructions are blank")
	assert.Equal(t, []string{"/responses", "/chat/completions"}, l.take())
}

// A failure of the older way is no reason to go back.
func TestAFailureByTheOlderWay(t *testing.T) {
	var l log
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		l.add(r)
		if r.URL.Path == "/v1/chat/completions" {
			answerJSON(w, 429, `{}`)
			return
		}
		http.NotFound(w, r)
	})
	for _, want := range [][]string{{"/responses", "/chat/completions"}, {"/chat/completions"}} {
		_, err := ask(t, p, request())
		failure(t, err, provider.KindRateLimit)
		assert.Equal(t, want, l.take())
	}
}

// What answers in the place of a server that is not up yet shows no endpoint: the next request tries again.
func TestNothingIsLearntFromAGateway(t *testing.T) {
	reset := func(w http.ResponseWriter) {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.Close()
		}
	}
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter)
		learnt bool
	}{
		"the connection breaks": {reset, false},
		"bad gateway":           {func(w http.ResponseWriter) { answerJSON(w, 502, "<html></html>") }, false},
		"unavailable":           {func(w http.ResponseWriter) { answerJSON(w, 503, "") }, false},
		"a page":                {func(w http.ResponseWriter) { answerJSON(w, 200, "<html></html>") }, false},
		"a redirect":            {func(w http.ResponseWriter) { answerJSON(w, 302, "") }, false},
		"no reply":              {func(w http.ResponseWriter) { answerJSON(w, 200, "{}") }, false},
		"nothing":               {func(http.ResponseWriter) {}, false},
		"no such endpoint":      {func(w http.ResponseWriter) { answerJSON(w, 405, "") }, false},
		"a door":                {func(w http.ResponseWriter) { answerJSON(w, 403, "") }, false},
		"a firewall":            {func(w http.ResponseWriter) { answerJSON(w, 403, "<html></html>") }, false},
		"a key that may not":    {func(w http.ResponseWriter) { answerJSON(w, 403, `{"error":{"code":"no_scope","message":"no"}}`) }, true},
		"a refused key":         {func(w http.ResponseWriter) { answerJSON(w, 403, `{"error":{"message":"Invalid API key"}}`) }, true},
		"a bad request":         {func(w http.ResponseWriter) { answerJSON(w, 400, `{"error":{"message":"max_tokens"}}`) }, true},
		"a wrong key":           {func(w http.ResponseWriter) { answerJSON(w, 401, "") }, true},
		"an unknown model":      {func(w http.ResponseWriter) { answerJSON(w, 404, `{"error":{"code":"model_not_found","message":"no"}}`) }, true},
		"an error under 200":    {func(w http.ResponseWriter) { answerJSON(w, 200, `{"error":{"message":"slower","code":429}}`) }, true},
		"cut after its words":   {func(w http.ResponseWriter) { stream(w, `{"choices":[{"index":0,"delta":{"content":"Ye"}}]}`) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			var l log
			p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				l.add(r)
				if r.URL.Path == "/v1/responses" {
					http.NotFound(w, r)
					return
				}
				tt.answer(w)
			})
			_, err := ask(t, p, request())
			require.Error(t, err)
			assert.Equal(t, []string{"/responses", "/chat/completions"}, l.take())
			_, err = ask(t, p, request())
			require.Error(t, err)
			if tt.learnt {
				assert.Equal(t, []string{"/chat/completions"}, l.take())
			} else {
				assert.Equal(t, []string{"/responses", "/chat/completions"}, l.take())
			}
		})
	}
}

// OpenAI has the endpoint, whatever a page of its edge says.
func TestOpenAIIsAskedNowhereElse(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com/v1": "/v1/responses", "https://EU.api.openai.com/v1": "/v1/responses",
		"https://me.openai.azure.com/v1": "/v1/chat/completions", "https://api.openai.com.example/v1": "/v1/chat/completions",
	} {
		p := openai.New(canary)
		p.BaseURL = base
		var paths []string
		p.Client = &http.Client{Transport: transport(func(r *http.Request) *http.Response {
			paths = append(paths, r.URL.Path)
			w := httptest.NewRecorder()
			switch {
			case len(paths) == 1:
				answerJSON(w, 404, "<html><title>404 Not Found</title></html>")
			case strings.HasSuffix(r.URL.Path, "/responses"):
				say(w)
			default:
				sayChat(w, "Yes.")
			}
			return w.Result()
		})}
		_, err := ask(t, p, request())
		if want == "/v1/responses" {
			failure(t, err, provider.KindValidation)
		}
		adaptertest.Answer(t, p, request())
		assert.Equal(t, want, paths[len(paths)-1], base)
	}
}

// door is a transport that asks a handler, and lets nobody through to /responses until it is opened.
type door struct {
	handler http.HandlerFunc
	open    chan struct{}
}

func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/v1/responses" {
		select {
		case <-d.open:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	w := httptest.NewRecorder()
	d.handler(w, r)
	return w.Result(), nil
}

// behind returns a provider whose requests go through a door.
func behind(handler http.HandlerFunc) (*openai.Provider, *door) {
	d := &door{handler: handler, open: make(chan struct{})}
	p := openai.New(canary)
	p.BaseURL, p.Client = "http://example.com/v1", &http.Client{Transport: d}
	return p, d
}

func TestTheChoiceIsMadeByOne(t *testing.T) {
	for name, lack := range map[string]bool{"has it": false, "lacks it": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var l log
				p, d := behind(func(w http.ResponseWriter, r *http.Request) {
					l.add(r)
					switch {
					case r.URL.Path == "/v1/chat/completions":
						sayChat(w, "Yes.")
					case lack:
						http.NotFound(w, r)
					default:
						say(w)
					}
				})
				var group sync.WaitGroup
				for range 16 {
					group.Go(func() {
						r, err := p.Generate(t.Context(), request(), func(provider.Chunk) {})
						if assert.NoError(t, err) {
							assert.Equal(t, "Yes.", r.Text)
						}
					})
				}
				synctest.Wait()
				assert.Empty(t, l.take())
				close(d.open)
				group.Wait()
				count := map[string]int{}
				for _, path := range l.take() {
					count[path]++
				}
				if lack {
					assert.Equal(t, map[string]int{"/responses": 1, "/chat/completions": 16}, count)
				} else {
					assert.Equal(t, map[string]int{"/responses": 16}, count)
				}
			})
		})
	}
}

// clock counts how often it stands.
type clock struct{ pauses, resumes atomic.Int32 }

func (c *clock) Pause() func() {
	c.pauses.Add(1)
	return func() { c.resumes.Add(1) }
}

// Who waits for the choice can give up, and its clock stands while it waits.
func TestWaitingForTheChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, d := behind(func(w http.ResponseWriter, _ *http.Request) { say(w) })
		var group sync.WaitGroup
		group.Go(func() {
			_, err := p.Generate(t.Context(), request(), func(provider.Chunk) {})
			assert.NoError(t, err)
		})
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := p.Generate(ctx, request(), func(provider.Chunk) {})
		e := failure(t, err, provider.KindTimeout)
		assert.True(t, e.NotSent)
		assert.Equal(t, 20*time.Millisecond, time.Since(start))

		var c clock
		group.Go(func() {
			_, err := p.Generate(context.WithValue(t.Context(), provider.ClockKey{}, &c), request(), func(provider.Chunk) {})
			assert.NoError(t, err)
		})
		synctest.Wait()
		assert.Equal(t, int32(1), c.pauses.Load())
		assert.Zero(t, c.resumes.Load())
		close(d.open)
		group.Wait()
		assert.Equal(t, int32(1), c.resumes.Load())
	})
}

// A server that takes long to begin holds the others up for a moment only: then they ask too.
func TestTheWaitForTheChoiceIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var asked []time.Duration
		start := time.Now()
		p := openai.New(canary)
		p.BaseURL = "http://example.com/v1"
		p.Client = &http.Client{Transport: adaptertest.Transport(func(*http.Request) (*http.Response, error) {
			mu.Lock()
			asked = append(asked, time.Since(start))
			mu.Unlock()
			time.Sleep(time.Second) //nolint:forbidigo // in a bubble nobody waits
			w := httptest.NewRecorder()
			say(w)
			return w.Result(), nil
		})}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				_, err := p.Generate(t.Context(), request(), func(provider.Chunk) {})
				assert.NoError(t, err)
			})
		}
		group.Wait()
		assert.Equal(t, []time.Duration{0, 50 * time.Millisecond, 50 * time.Millisecond}, asked)
	})
}

// While a server is down, one request does not wait for another's failure and then for the next one's.
func TestNothingIsLearntFromAServerThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		p, d := behind(func(http.ResponseWriter, *http.Request) { n.Add(1) })
		p.IdleTimeout = time.Minute
		start := time.Now()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				_, err := p.Generate(t.Context(), request(), func(provider.Chunk) {})
				failure(t, err, provider.KindTimeout)
			})
		}
		group.Wait()
		assert.Equal(t, time.Minute+50*time.Millisecond, time.Since(start))
		assert.Zero(t, n.Load())

		d.handler = func(w http.ResponseWriter, _ *http.Request) { say(w) }
		close(d.open)
		adaptertest.Answer(t, p, request())
	})
}

// OpenAI's own models refuse max_tokens, and many others know nothing else.
func TestTheLimitByTheOlderWay(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com/v1":                "max_completion_tokens",
		"https://eu.api.openai.com/v1":             "max_completion_tokens",
		"https://me.openai.azure.com/openai/v1":    "max_completion_tokens",
		"http://localhost:11434/v1":                "max_tokens",
		"https://api.openai.com.evil.example/v1":   "max_tokens",
		"https://notopenai.com/v1":                 "max_tokens",
		"https://gateway.example/api.openai.com/v": "max_tokens",
	} {
		p := openai.New(canary)
		p.BaseURL, p.API = base, openai.ChatCompletions
		p.Client = &http.Client{Transport: transport(func(r *http.Request) *http.Response {
			body, _ := io.ReadAll(r.Body)
			assert.Contains(t, string(body), `"`+want+`":100`)
			w := httptest.NewRecorder()
			sayChat(w, "Yes.")
			return w.Result()
		})}
		adaptertest.Answer(t, p, request())
	}
}

type transport func(*http.Request) *http.Response

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }
