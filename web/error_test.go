package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// wrong is a request that an operation refuses.
type wrong struct {
	path, body string
	who        string // "poor": there is a quota
}

// refusals are requests that operations refuse, by their ids and the status. Those with 503 are the same for all: the store fails.
func refusals(t *testing.T, engine *debate.Engine) map[string]map[int]wrong {
	t.Helper()
	const line = `{"reason":"two\nlines"}`
	other := body(t, labelled("done", map[string]string{"of": "SECRET"}))
	dear := labelled("dear", nil)
	dear.Budget = &debate.Budget{Soft: 1000 * debate.USD, Hard: 1000 * debate.USD}
	exported := string(stage.Exported(t, engine, "done"))
	asked := "conversations/asks/questions/" + question(t, engine)
	out := map[string]map[int]wrong{
		"start": {
			http.StatusConflict: {body: other}, http.StatusUnprocessableEntity: {body: `{"topic":"x"}`},
			http.StatusPaymentRequired: {body: body(t, dear), who: "poor"},
		},
		"validate": {http.StatusUnprocessableEntity: {body: `{"topic":"x","participants":[{"name":"Ada"}]}`}},
		"estimate": {http.StatusUnprocessableEntity: {body: `{"flow":"unknown"}`}},
		"import": {
			http.StatusConflict:            {body: strings.Replace(exported, `"id":"done"`, `"id":"rests"`, 1)},
			http.StatusUnprocessableEntity: {body: `{"version":1,"id":"x","events":[]}`},
			http.StatusPaymentRequired:     {body: strings.Replace(exported, `"id":"done"`, `"id":"elsewhere"`, 1), who: "poor"},
		},
		"amend": {
			http.StatusConflict:            {path: "conversations/done/amend", body: `{"rounds":9}`},
			http.StatusUnprocessableEntity: {path: "conversations/rests/amend", body: `{}`},
			http.StatusPaymentRequired:     {path: "conversations/rich/amend", body: `{"budget":{"hard":1000}}`, who: "poor"},
		},
		"send": {
			http.StatusConflict:            {path: "conversations/rests/send", body: `{"trigger":"noted"}`},
			http.StatusUnprocessableEntity: {path: "conversations/noted/send", body: `{"trigger":"noted","reason":"two\nlines"}`},
		},
		"answer": {
			http.StatusConflict:            {path: "conversations/asks/questions/nothing", body: `{"option":"retry"}`},
			http.StatusUnprocessableEntity: {path: asked, body: `{"option":"approve"}`},
		},
		"say": {
			http.StatusConflict:            {path: "conversations/done/say", body: `{"text":"Too late."}`},
			http.StatusUnprocessableEntity: {path: "conversations/rests/say", body: `{"text":""}`},
		},
		"fork": {
			http.StatusConflict:            {path: "conversations/done/fork", body: `{"seq":3,"id":"rests"}`},
			http.StatusUnprocessableEntity: {path: "conversations/done/fork", body: `{"seq":100000}`},
			http.StatusPaymentRequired:     {path: "conversations/rich/fork", body: `{"seq":1,"config":{"budget":{"hard":1000}}}`, who: "poor"},
		},
		"reopen": {
			http.StatusConflict:            {path: "conversations/rests/reopen", body: `{"rounds":1}`},
			http.StatusUnprocessableEntity: {path: "conversations/done/reopen", body: `{}`},
			http.StatusPaymentRequired:     {path: "conversations/done/reopen", body: `{"rounds":1,"budget":{"hard":1000}}`, who: "poor"},
		},
		"delete": {http.StatusConflict: {path: "conversations/held"}},
	}
	for name, state := range map[string]string{"pause": "done", "resume": "asks", "stop": "done", "cancel": "done", "retry": "rests"} {
		out[name] = map[int]wrong{http.StatusConflict: {path: "conversations/" + state + "/" + name}}
		able := map[string]string{"pause": "asks", "retry": "asks"}[name]
		if able == "" {
			able = "rests"
		}
		out[name][http.StatusUnprocessableEntity] = wrong{path: "conversations/" + able + "/" + name, body: line}
	}
	return out
}

// TestEveryErrorOfEveryOperation: each row has the errors that it says, as documents that say what helps, and a store that fails is told
// from a wrong request. A row with a new error needs a case.
func TestEveryErrorOfEveryOperation(t *testing.T) {
	engine := world(t, nil)
	rich := labelled("rich", nil)
	rich.Budget = &debate.Budget{Soft: debate.USD, Hard: debate.USD}
	for _, config := range []debate.Config{rich, labelled("held", nil)} {
		_, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, engine.Control(t.Context(), config.ID, flow.Pause{}))
	}
	require.NoError(t, engine.Store.Lease(t.Context(), "held", "another", 1e12))
	trusts := func(_ *http.Request, _ string, c flow.Config) (flow.Config, error) { return c, nil }
	c := handler(t, engine, web.Options{Authorize: anybody, Policy: trusts})
	poor := handler(t, engine, web.Options{
		Authorize: anybody, Policy: trusts, Quota: func(map[string]string) flow.Money { return 1 },
	})
	failing := stage.Twin(engine)
	failing.Store = broken{engine.Store}
	stuck := handler(t, failing, web.Options{
		Authorize: anybody, Policy: trusts, Quota: func(map[string]string) flow.Money { return debate.USD },
	})
	cases := refusals(t, engine)
	for _, row := range web.Rows() {
		for _, status := range row.Errors {
			t.Run(fmt.Sprintf("%s %d", row.ID, status), func(t *testing.T) {
				one, ok := cases[row.ID][status]
				asks := c
				switch {
				case status == http.StatusServiceUnavailable:
					asks = stuck
					one = wrong{path: strings.NewReplacer("{id}", "done", "{question}", "q", "{hash}", "0").Replace(row.Path)}
					switch row.ID {
					case "start", "estimate":
						one.body = body(t, rich)
					case "import":
						one.body = string(stage.Exported(t, engine, "done"))
					}
				case !ok:
					t.Fatal("there is no case for this error")
				case one.who == "poor":
					asks = poor
				}
				if one.path == "" {
					one.path = row.Path
				}
				asks.t = t
				answer := asks.ask(row.Method, one.path, one.body)
				require.Equal(t, status, answer.Code, answer.Body)
				described(t).answered(row, answer)
				p := problemOf(t, answer)
				assert.NotEmpty(t, p.Detail)
				assert.NotEmpty(t, p.Hint)
				assert.NotContains(t, answer.Body.String(), "SECRET", "nobody learns of another conversation, or of the store")
				if status == http.StatusServiceUnavailable {
					assert.Positive(t, p.RetryAfter)
					assert.NotEmpty(t, answer.Header().Get("Retry-After"))
				}
			})
		}
	}
}

// TestBodiesAreReadStrictly: what is no JSON, JSON of another kind, too large, or says something unknown is refused, with its place.
func TestBodiesAreReadStrictly(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{Bodies: 1000})
	tests := map[string]struct {
		path, body, media string
		status            int
		field             string
	}{
		"no JSON":           {"conversations/rests/pause", `{"reason":`, "", http.StatusBadRequest, "reason"},
		"text behind it":    {"conversations/rests/pause", `{} {}`, "", http.StatusBadRequest, ""},
		"no UTF-8":          {"conversations/rests/pause", "{\"reason\":\"\xff\"}", "", http.StatusBadRequest, ""},
		"a config, no JSON": {"validate", `{"topic":`, "", http.StatusBadRequest, ""},
		"an unknown key":    {"conversations/rests/pause", `{"reasn":""}`, "", http.StatusUnprocessableEntity, "reasn"},
		"another case":      {"conversations/rests/pause", `{"Reason":""}`, "", http.StatusUnprocessableEntity, "Reason"},
		"a key twice":       {"conversations/rests/pause", `{"reason":"a","reason":"b"}`, "", http.StatusUnprocessableEntity, "reason"},
		"another type":      {"conversations/rests/pause", `{"drain":"yes"}`, "", http.StatusUnprocessableEntity, "drain"},
		"who it is":         {"conversations/rests/pause", `{"person":"eve"}`, "", http.StatusUnprocessableEntity, "person"},
		"too large":         {"conversations", `{"topic":"` + strings.Repeat("x", 1000) + `"}`, "", http.StatusRequestEntityTooLarge, ""},
		"text":              {"conversations", `{}`, "text/plain", http.StatusUnsupportedMediaType, ""},
		"a form":            {"conversations", `topic=x`, "application/x-www-form-urlencoded", http.StatusUnsupportedMediaType, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			own := client{t: t, handler: c.handler}
			if tt.media != "" {
				own.header = http.Header{"Content-Type": {tt.media}}
			}
			p := problemOf(t, own.ask(http.MethodPost, tt.path, tt.body))
			assert.Equal(t, []any{tt.status, tt.field}, []any{p.Status, p.Field}, p.Detail)
		})
	}
	packed := client{t: t, handler: c.handler, header: http.Header{"Content-Encoding": {"gzip"}}}.ask(http.MethodPost, "validate", `{}`)
	assert.Equal(t, http.StatusUnsupportedMediaType, problemOf(t, packed).Status)
	assert.Equal(t, "identity", packed.Header().Get("Accept-Encoding"))
	larger := c.ask(http.MethodPost, "import", string(stage.Exported(t, engine, "done")))
	assert.Equal(t, http.StatusOK, larger.Code, "an import may be larger: %s", larger.Body)
}

// TestQueriesAreReadStrictly: a misspelt parameter is no parameter that is left out.
func TestQueriesAreReadStrictly(t *testing.T) {
	c := handler(t, world(t, nil), web.Options{})
	for path, field := range map[string]string{
		"conversations?limt=5":               "limt",
		"conversations?limit=many":           "limit",
		"conversations?limit=101":            "limit",
		"conversations?limit=-1":             "limit",
		"conversations?asking=yes":           "asking",
		"conversations?after=a&after=b":      "after",
		"conversations/done/events?after=-1": "after",
		"flows?x=1":                          "x",
		"conversations?q=%zz":                "",
	} {
		p := problemOf(t, c.ask(http.MethodGet, path, ""))
		assert.Equal(t, []any{http.StatusBadRequest, field}, []any{p.Status, p.Field}, path)
	}
	var list struct{ Conversations []stands }
	c.get("conversations?state=paused&state=completed&limit=100&label.x=", &list)
	assert.Empty(t, list.Conversations)
	c.get("conversations?state=paused&state=completed&unfinished=false", &list)
	assert.Len(t, list.Conversations, 3)
	c.get("conversations?unfinished=true&asking=true", &list)
	assert.Equal(t, "asks", list.Conversations[0].ID)
}

// TestAddressesThatAreNotServed: another method is told, and so is that nothing is there.
func TestAddressesThatAreNotServed(t *testing.T) {
	c := handler(t, &debate.Engine{Store: &store.Memory{}}, web.Options{})
	answer := c.ask(http.MethodPut, "conversations/x", "")
	assert.Equal(t, http.StatusMethodNotAllowed, problemOf(t, answer).Status)
	assert.Equal(t, "GET, HEAD, DELETE", answer.Header().Get("Allow"))
	page := httptest.NewRecorder()
	c.handler.ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/style.css", http.NoBody))
	assert.Equal(t, http.StatusMethodNotAllowed, problemOf(t, page).Status)
	assert.Equal(t, "GET, HEAD", page.Header().Get("Allow"))
	assert.Equal(t, http.StatusNotFound, problemOf(t, c.ask(http.MethodGet, "unknown", "")).Status)
}

// TestAllProblemsAtOnce: a config with several mistakes is answered with all of them.
func TestAllProblemsAtOnce(t *testing.T) {
	c := handler(t, world(t, nil), web.Options{})
	answer := c.ask(http.MethodPost, "validate", `{"topic":"","rounds":-1,"participants":[{"name":"Ada","model":"test/debater"}]}`)
	p := problemOf(t, answer)
	require.Equal(t, http.StatusUnprocessableEntity, p.Status)
	var fields []string
	for _, one := range p.Problems {
		fields = append(fields, one.Field)
	}
	assert.Contains(t, fields, "topic")
	assert.Greater(t, len(fields), 1)
	var raw map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &raw))
	assert.JSONEq(t, `"about:blank"`, string(raw["type"]))
}
