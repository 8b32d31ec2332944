package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
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

// granting lets somebody do these actions, whose name is in the header Who.
func granting(actions ...web.Action) func(*http.Request, web.Access) (string, error) {
	return func(r *http.Request, a web.Access) (string, error) {
		if !slices.Contains(actions, a.Action) {
			return "", fmt.Errorf("%s is not for you", a.Action)
		}
		return r.Header.Get("Who"), nil
	}
}

// tenants binds callers to the label "tenant" with their names.
func tenants(_ *http.Request, who string) map[string]string { return map[string]string{"tenant": who} }

// actions are all that there are.
var actions = []web.Action{
	web.View, web.Inspect, web.Answer, web.Approve, web.Operate, web.Say, web.Start, web.Export, web.Delete,
}

// good is a request that an operation does, on a conversation of world.
type good struct{ path, body string }

// requests are those that the operations do. A row without one fails the test.
func requests(t *testing.T, engine *debate.Engine) map[string]good {
	t.Helper()
	config := body(t, labelled("", nil))
	hash := flow.HashOf(stage.PNG)
	return map[string]good{
		"start": {body: config}, "validate": {body: config}, "estimate": {body: config},
		"import": {body: string(stage.Exported(t, engine, "done"))},
		"list":   {}, "sum": {}, "inbox": {}, "flows": {}, "formats": {}, "presets": {}, "openapi": {},
		"read": {path: "done"}, "events": {path: "done"}, "stream": {path: "done"}, "exportJSON": {path: "done"},
		"exportMarkdown": {path: "done"}, "exportHTML": {path: "done"}, "file": {path: "illustrated/files/" + hash},
		"pause": {path: "asks"}, "resume": {path: "rests"}, "stop": {path: "rests"}, "cancel": {path: "rests"}, "retry": {path: "failed"},
		"amend": {"rests", `{"rounds":2}`}, "send": {"noted", `{"trigger":"noted"}`}, "say": {"rests", `{"text":"Hear, hear."}`},
		"answer": {"asks/questions/" + question(t, engine), `{"option":"retry"}`},
		"fork":   {"done", `{"seq":3}`}, "reopen": {"done", `{"rounds":1}`}, "delete": {path: "rests"},
	}
}

// filed is world with an illustrated conversation and one that has failed.
func filed(t *testing.T, labels map[string]string) *debate.Engine {
	t.Helper()
	engine := world(t, labels)
	config := stage.Illustrated()
	config.Labels = labels
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	failed := labelled("failed", labels)
	other, source := stage.Engine(failed)
	other.Store = engine.Store
	stage.Befall(source, "refusal", stage.Said("Ben", 1))
	session, err := other.Start(t.Context(), failed)
	require.NoError(t, err)
	_, err = session.Wait(t.Context())
	require.Error(t, err)
	require.NoError(t, session.Close())
	return engine
}

// address returns where an operation is asked.
func address(row web.Row, one good) string {
	id, rest, _ := strings.Cut(one.path, "/")
	path := strings.Replace(row.Path, "{id}", id, 1)
	if rest != "" {
		path = "conversations/" + id + "/" + rest
	}
	return path
}

// TestEveryOperationNeedsItsRight: with all other rights it is refused, with its own alone it is done, and to somebody of
// another scope the conversation is as unknown. A new row needs a request.
func TestEveryOperationNeedsItsRight(t *testing.T) {
	for _, row := range web.Rows() {
		t.Run(row.ID, func(t *testing.T) {
			engine := filed(t, map[string]string{"tenant": "acme"})
			one, ok := requests(t, engine)[row.ID]
			require.True(t, ok, "there is no request for this operation")
			path := address(row, one)
			asks := func(who string, rights ...web.Action) *httptest.ResponseRecorder {
				c := handler(t, engine, web.Options{
					Authorize: granting(rights...), Scope: tenants, Start: engine.Submit,
					Policy: func(_ *http.Request, _ string, c flow.Config) (flow.Config, error) { return c, nil },
				})
				return c.as(who).ask(row.Method, path, one.body)
			}
			others := slices.DeleteFunc(slices.Clone(actions), func(a web.Action) bool { return a == row.Action || slices.Contains(row.Or, a) })
			answer := asks("acme", others...)
			assert.Equal(t, http.StatusForbidden, problemOf(t, answer).Status, answer.Body)

			if strings.Contains(row.Path, "{id}") {
				foreign := asks("globex", actions...)
				assert.Equal(t, http.StatusNotFound, foreign.Code)
				id, _, _ := strings.Cut(one.path, "/")
				path = strings.Replace(path, "/"+id, "/unknown", 1)
				unknown := asks("globex", actions...)
				assert.Equal(t, unknown.Body.String(), foreign.Body.String())
				assert.Equal(t, unknown.Header(), foreign.Header())
				path = address(row, one)
			}
			answer = asks("acme", row.Action)
			if row.ID == "import" && answer.Code == http.StatusOK { // it is there
				return
			}
			assert.Equal(t, row.Status, answer.Code, answer.Body)
		})
	}
}

// TestListsHoldNothingOfOthers: neither conversations, nor sums, nor questions, whatever the query says.
func TestListsHoldNothingOfOthers(t *testing.T) {
	engine := world(t, map[string]string{"tenant": "acme"})
	c := handler(t, engine, web.Options{Authorize: anybody, Scope: tenants})
	var list struct{ Conversations []stands }
	var sum struct{ Sum store.Sum }
	var inbox struct{ Questions []any }
	for who, n := range map[string]int{"acme": 4, "globex": 0} {
		c.as(who).get("conversations", &list)
		assert.Len(t, list.Conversations, n, who)
		c.as(who).get("conversations?q=cars", &list)
		assert.Len(t, list.Conversations, n, who)
		c.as(who).get("conversations?label.tenant=acme", &list)
		assert.Len(t, list.Conversations, n, who)
		c.as(who).get("sum?label.tenant=acme", &sum)
		assert.Equal(t, n, sum.Sum.Count, who)
		c.as(who).get("questions", &inbox)
		assert.Len(t, inbox.Questions, n/4, who)
	}
}

// TestTenThousandForeignIDs: the answer to each is that to an unknown one, byte by byte.
func TestTenThousandForeignIDs(t *testing.T) {
	s := &store.Memory{}
	config := labelled("c-0", map[string]string{"tenant": "acme"})
	engine, _ := stage.Engine(config)
	engine.Store = s
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	var log []flow.Event
	for e, err := range s.Read(t.Context(), "c-0", 0) {
		require.NoError(t, err)
		log = append(log, e)
	}
	for n := 1; n < 10_000; n++ {
		require.NoError(t, s.Append(t.Context(), fmt.Sprintf("c-%d", n), 0, "test", log))
	}
	c := handler(t, engine, web.Options{Authorize: anybody, Scope: tenants}).as("globex")
	of := func(row web.Row, id string) string {
		return strings.NewReplacer("{id}", id, "{question}", "q", "{hash}", "0").Replace(row.Path)
	}
	rows := slices.DeleteFunc(web.Rows(), func(row web.Row) bool { return !strings.Contains(row.Path, "{id}") })
	want := make(map[string]string)
	for _, row := range rows {
		want[row.ID] = c.ask(row.Method, of(row, "nothing"), "{}").Body.String()
		require.Contains(t, want[row.ID], "no such conversation")
	}
	for n := range 10_000 {
		row := rows[n%len(rows)]
		answer := c.ask(row.Method, of(row, fmt.Sprintf("c-%d", n)), "{}")
		if answer.Code != http.StatusNotFound || answer.Body.String() != want[row.ID] {
			t.Fatalf("%s of c-%d: %d %s", row.ID, n, answer.Code, answer.Body)
		}
	}
	assert.Equal(t, http.StatusOK, c.as("acme").ask(http.MethodGet, "conversations/c-77", "").Code)
}

// TestNothingIsReplayedToOthers: a number of an event opens no conversation of another scope.
func TestNothingIsReplayedToOthers(t *testing.T) {
	engine := world(t, map[string]string{"tenant": "acme"})
	c := handler(t, engine, web.Options{Authorize: anybody, Scope: tenants})
	for seq := range stage.StoredRecord(t, engine, "done").Seq + 2 {
		c.header = http.Header{"Who": {"globex"}, "Last-Event-Id": {fmt.Sprint(seq)}}
		answer := c.ask(http.MethodGet, "conversations/done/stream", "")
		require.Equal(t, http.StatusNotFound, answer.Code, seq)
		require.NotContains(t, answer.Body.String(), "data:")
	}
}

// TestNewConversationsAreOfTheScope: a start gets its labels, one with others is refused, and an id of another scope is taken.
func TestNewConversationsAreOfTheScope(t *testing.T) {
	engine := world(t, map[string]string{"tenant": "acme"})
	c := handler(t, engine, web.Options{Authorize: anybody, Scope: tenants, Start: engine.Submit})
	id, _ := c.as("globex").post("conversations", body(t, labelled("", map[string]string{"mine": "yes"})), http.StatusCreated)["id"].(string)
	assert.Equal(t, map[string]string{"tenant": "globex", "mine": "yes"}, stage.StoredRecord(t, engine, id).Settings().Labels)
	p := problemOf(t, c.as("globex").ask(http.MethodPost, "conversations", body(t, labelled("", map[string]string{"tenant": "acme"}))))
	assert.Equal(t, []any{http.StatusUnprocessableEntity, "labels.tenant"}, []any{p.Status, p.Field})

	foreign := c.as("globex").ask(http.MethodPost, "conversations", body(t, labelled("done", nil)))
	own := c.as("acme").ask(http.MethodPost, "conversations", body(t, labelled("done", map[string]string{"x": "y"})))
	assert.Equal(t, http.StatusConflict, foreign.Code)
	assert.Equal(t, own.Body.String(), foreign.Body.String(), "nobody learns whose it is")
	fork := c.as("acme").post("conversations/done/fork", `{"seq":3,"config":{"labels":null}}`, http.StatusCreated)
	assert.Equal(t, "acme", stage.StoredRecord(t, engine, fmt.Sprint(fork["id"])).Settings().Labels["tenant"])
	log := string(stage.Exported(t, engine, "done"))
	away := handler(t, engine, web.Options{
		Authorize: anybody, Scope: tenants, Policy: func(_ *http.Request, _ string, c flow.Config) (flow.Config, error) { return c, nil },
	})
	p = problemOf(t, away.as("globex").ask(http.MethodPost, "import", strings.Replace(log, `"id":"done"`, `"id":"copy"`, 1)))
	assert.Equal(t, "events[0].body.config.labels", p.Field)
}

// TestWhoAnswersWhat: a person is bound to a seat, and the approval of a tool is a right of its own.
func TestWhoAnswersWhat(t *testing.T) {
	engine := world(t, nil)
	record := stage.StoredRecord(t, engine, "asks")
	var seen []web.Access
	c := handler(t, engine, web.Options{Start: engine.Submit, Authorize: func(r *http.Request, a web.Access) (string, error) {
		seen = append(seen, a)
		if a.Action == web.View || a.Action == web.Answer && (a.To == "" && a.ID == "" || a.To == r.Header.Get("Who")) {
			return r.Header.Get("Who"), nil
		}
		return "", errors.New("no")
	}})
	var inbox struct{ Questions []any }
	c.as("Ada").get("questions", &inbox)
	assert.Empty(t, inbox.Questions, "it is put to Ben")
	path := "conversations/asks/questions/" + record.Inquiries[0].ID
	assert.Equal(t, http.StatusForbidden, c.as("Ada").ask(http.MethodPost, path, `{"option":"retry"}`).Code)
	c.as("Ben").get("questions", &inbox)
	assert.Len(t, inbox.Questions, 1)
	c.as("Ben").post(path, `{"option":"retry"}`, http.StatusAccepted)
	p := problemOf(t, c.as("Ben").ask(http.MethodPost, path, `{"option":"retry"}`))
	require.NotNil(t, p.Answered, "a second window of the same person is told")
	assert.Contains(t, seen, web.Access{Action: web.Answer, ID: "asks", To: "Ben"})
}

// asksForApproval is an engine, and a conversation in which Ada's model asks for a tool that needs approval.
func asksForApproval(t *testing.T) (*debate.Engine, flow.Config) {
	t.Helper()
	tools := map[string]debate.Tool{"add": (&stage.Tally{}).Of(t, flow.ToolInfo{Approval: true})}
	engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(stage.OneSum(1)...)), 10, tools)
	engine.Store = &store.Memory{}
	return engine, stage.InFlow(engine, stage.ToolUsers())
}

// waitsForApproval is a conversation that waits for the approval.
func waitsForApproval(t *testing.T) (*debate.Engine, string) {
	t.Helper()
	engine, config := asksForApproval(t)
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	stage.AwaitsInput(t, session)
	require.NoError(t, session.Close())
	return engine, session.ID()
}

// TestTheUseOfAToolIsApprovedByRight: whoever may answer questions may not approve what has effects.
func TestTheUseOfAToolIsApprovedByRight(t *testing.T) {
	engine, id := waitsForApproval(t)
	record := stage.StoredRecord(t, engine, id)
	require.NotNil(t, record.Inquiries[0].Use)
	path := "conversations/" + id + "/questions/" + record.Inquiries[0].ID
	refused := handler(t, engine, web.Options{Authorize: granting(web.View, web.Answer), Start: engine.Submit})
	assert.Equal(t, http.StatusForbidden, refused.ask(http.MethodPost, path, `{"option":"approve"}`).Code)
	var read reading
	refused.get("conversations/"+id, &read)
	assert.Empty(t, read.Questions)
	approves := handler(t, engine, web.Options{Authorize: granting(web.View, web.Approve), Start: engine.Submit})
	approves.get("conversations/"+id, &read)
	assert.Len(t, read.Questions, 1)
	var inbox struct{ Questions []any }
	handler(t, engine, web.Options{Authorize: granting(web.Approve)}).get("questions", &inbox)
	assert.Len(t, inbox.Questions, 1, "the inbox is theirs too")
	approves = handler(t, engine, web.Options{Authorize: granting(web.Approve), Start: engine.Submit})
	approves.post(path, `{"option":"approve"}`, http.StatusAccepted)
}

// TestWhyNot: Authorize says how a client can show who it is, or hides the conversation.
func TestWhyNot(t *testing.T) {
	engine := world(t, nil)
	with := func(err error) *httptest.ResponseRecorder {
		c := handler(t, engine, web.Options{Authorize: func(*http.Request, web.Access) (string, error) { return "", err }})
		return c.ask(http.MethodGet, "conversations/done", "")
	}
	asked := with(&web.DeniedError{Challenge: `Basic realm="debates"`})
	assert.Equal(t, http.StatusUnauthorized, problemOf(t, asked).Status)
	assert.Equal(t, `Basic realm="debates"`, asked.Header().Get("WWW-Authenticate"))
	assert.Equal(t, "ask Pat", problemOf(t, with(errors.New("ask Pat"))).Detail)
	assert.Equal(t, http.StatusForbidden, with(errors.New("ask Pat")).Code)
	assert.Equal(t, http.StatusNotFound, with(fmt.Errorf("hidden: %w", flow.ErrNotFound)).Code)
}

// TestOnlyThisMachineIsServed: without Authorize, whoever comes from elsewhere, through a proxy, or by a name that is given this machine's
// address is refused, and told what to set.
func TestOnlyThisMachineIsServed(t *testing.T) {
	h, err := web.New(world(t, nil), web.Options{})
	require.NoError(t, err)
	tests := map[string]struct {
		peer, host, header string
		status             int
	}{
		"this machine":       {"127.0.0.1:1", "localhost", "", http.StatusOK},
		"by IPv6":            {"[::1]:1", "[::1]:8080", "", http.StatusOK},
		"by a mapped one":    {"[::ffff:127.0.0.1]:1", "127.0.0.1:80", "", http.StatusOK},
		"another machine":    {"192.0.2.1:1", "localhost", "", http.StatusForbidden},
		"no address":         {"@", "localhost", "", http.StatusForbidden},
		"a name of a page":   {"127.0.0.1:1", "evil.example", "", http.StatusForbidden},
		"a name like ours":   {"127.0.0.1:1", "localhost.evil.example:80", "", http.StatusForbidden},
		"no host":            {"127.0.0.1:1", "", "", http.StatusForbidden},
		"a proxy":            {"127.0.0.1:1", "localhost", "X-Forwarded-For", http.StatusForbidden},
		"a proxy's host":     {"127.0.0.1:1", "localhost", "X-Forwarded-Host", http.StatusForbidden},
		"a standard proxy":   {"127.0.0.1:1", "localhost", "Forwarded", http.StatusForbidden},
		"a proxy's address":  {"127.0.0.1:1", "localhost", "X-Real-IP", http.StatusForbidden},
		"a silent proxy":     {"127.0.0.1:1", "127.0.0.1:8080", "", http.StatusForbidden},
		"a gateway":          {"127.0.0.1:1", "localhost", "Via", http.StatusForbidden},
		"any header of ours": {"127.0.0.1:1", "localhost", "X-Request-Id", http.StatusOK},
	}
	for name, tt := range tests {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/conversations", http.NoBody)
		request.RemoteAddr, request.Host = tt.peer, tt.host
		if tt.header != "" {
			request.Header.Set(tt.header, "1")
		}
		if name == "a silent proxy" {
			request.Proto, request.ProtoMinor = "HTTP/1.0", 0
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, request)
		assert.Equal(t, tt.status, answer.Code, name)
		if tt.status != http.StatusOK {
			assert.Contains(t, problemOf(t, answer).Detail, "web.Options.Authorize", name)
		}
	}
}

// TestNoPageOfAnotherOriginActs: what a form or a foreign page can send changes nothing, on any row that changes something.
func TestNoPageOfAnotherOriginActs(t *testing.T) {
	engine := filed(t, nil)
	all := requests(t, engine)
	c := handler(t, engine, web.Options{Authorize: anybody, Start: engine.Submit})
	for _, row := range web.Rows() {
		if row.Method == http.MethodGet {
			continue
		}
		path := address(row, all[row.ID])
		for name, header := range map[string]http.Header{
			"another site":   {"Sec-Fetch-Site": {"cross-site"}},
			"a sister":       {"Sec-Fetch-Site": {"same-site"}},
			"another origin": {"Origin": {"https://evil.example"}},
		} {
			c.header = header
			assert.Equal(t, http.StatusForbidden, c.ask(row.Method, path, all[row.ID].body).Code, "%s: %s", row.ID, name)
		}
		if row.Method == http.MethodDelete {
			continue // no form sends it
		}
		for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""} {
			c.header = http.Header{"Content-Type": {media}}
			assert.Equal(t, http.StatusUnsupportedMediaType, c.ask(row.Method, path, all[row.ID].body).Code, "%s: %q", row.ID, media)
		}
	}
	c.header = http.Header{"Sec-Fetch-Site": {"same-origin"}}
	assert.Equal(t, http.StatusAccepted, c.ask(http.MethodPost, "conversations/rests/say", `{"text":"Yes."}`).Code)
}
