package web_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// late is a body before which something happens.
type late struct {
	io.Reader

	once   sync.Once
	before func()
}

func (l *late) Read(p []byte) (int, error) {
	l.once.Do(l.before)
	return l.Reader.Read(p)
}

// TestAnIDThatIsGivenAgain: while the body of a request arrives, its conversation is deleted, and somebody else gets the id. Nothing is
// done with theirs.
func TestAnIDThatIsGivenAgain(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	engine.Store = &store.Memory{}
	begin := func(tenant string) {
		_, err := engine.Submit(t.Context(), labelled("x", map[string]string{"tenant": tenant}))
		require.NoError(t, err)
		require.NoError(t, engine.Control(t.Context(), "x", flow.Pause{}))
	}
	c := handler(t, engine, web.Options{Authorize: anybody, Scope: tenants, Start: engine.Submit})
	for path, text := range map[string]string{
		"fork":        `{"seq":1,"config":{"labels":{"tenant":"ann"}}}`,
		"cancel":      `{}`,
		"resume":      `{}`,
		"amend":       `{"rounds":2}`,
		"say":         `{"text":"Hear me."}`,
		"reopen":      `{"rounds":1}`,
		"questions/q": `{"option":"retry"}`,
	} {
		begin("ann")
		var read reading
		c.as("ann").get("conversations/x", &read)
		var theirs string
		body := &late{Reader: strings.NewReader(text), before: func() {
			require.NoError(t, engine.Delete(t.Context(), "x"))
			begin("ben")
			theirs = string(stage.Exported(t, engine, "x"))
		}}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/conversations/x/"+path, body)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Who", "ann")
		answer := httptest.NewRecorder()
		c.handler.ServeHTTP(answer, request)
		assert.Equal(t, http.StatusNotFound, answer.Code, "%s: %s", path, answer.Body)
		assert.Equal(t, theirs, string(stage.Exported(t, engine, "x")), path)
		var list struct{ Conversations []any }
		c.as("ann").get("conversations", &list)
		assert.Empty(t, list.Conversations, path)
		require.NoError(t, engine.Delete(t.Context(), "x"))
	}
}

// TestTheRecordOfADeletedConversation: it is not shown in place of the one that has its id now, however alike the two are.
func TestTheRecordOfADeletedConversation(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	engine.Store = &store.Memory{}
	c := handler(t, engine, web.Options{Authorize: anybody, Scope: tenants})
	var ends []int64
	for _, who := range []string{"ann", "ben"} {
		config := labelled("x", map[string]string{"tenant": who})
		config.Topic = "The topic of " + who
		record, err := stage.Twin(engine).Play(t.Context(), config)
		require.NoError(t, err)
		ends = append(ends, record.Seq)
		var read reading
		c.as(who).get("conversations/x?fields=topic", &read)
		assert.JSONEq(t, `"The topic of `+who+`"`, string(read.Record["topic"]))
		require.NoError(t, stage.Twin(engine).Delete(t.Context(), "x"))
	}
	assert.Equal(t, ends[0], ends[1], "nothing else tells them apart")
}

// TestAQuestionThatComesInBetween: who may answer for nobody in particular does not decide about a tool that is asked about only once the
// right was given.
func TestAQuestionThatComesInBetween(t *testing.T) {
	other, id := waitsForApproval(t)
	question := stage.StoredRecord(t, other, id).Inquiries[0].ID
	engine, config := asksForApproval(t)
	id, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	var once sync.Once
	c := handler(t, engine, web.Options{Start: engine.Submit, Authorize: func(_ *http.Request, a web.Access) (string, error) {
		switch a.Action {
		case web.View:
		case web.Answer:
			once.Do(func() {
				session := stage.Reopen(t, engine, id)
				stage.AwaitsInput(t, session)
				require.NoError(t, session.Close())
			})
		default:
			return "", errors.New("no")
		}
		return "Pat", nil
	}})
	path := "conversations/" + id + "/questions/"
	answer := c.ask(http.MethodPost, path+question, `{"option":"approve"}`)
	assert.Equal(t, http.StatusForbidden, answer.Code, answer.Body)
	record := stage.StoredRecord(t, engine, id)
	require.Len(t, record.Inquiries, 1)
	assert.Equal(t, question, record.Inquiries[0].ID, "it is still open")

	p := problemOf(t, c.ask(http.MethodPost, path+"nothing", `{"option":"approve"}`))
	assert.Equal(t, http.StatusConflict, p.Status)
	assert.NotContains(t, p.Detail+p.Hint, question, "nobody learns which others are open")
}

// TestAForkIsMadeOnce: whoever has not got the answer asks again. With workers elsewhere nothing runs here.
func TestAForkIsMadeOnce(t *testing.T) {
	engine := world(t, nil)
	for name, options := range map[string]web.Options{"here": {}, "elsewhere": {Start: engine.Submit}} {
		c := handler(t, engine, options)
		for path, fields := range map[string]string{"fork": `"seq":5`, "reopen": `"rounds":1`} {
			id := path + "-" + name
			text := `{"id":"` + id + `",` + fields + `}`
			first := c.post("conversations/done/"+path, text, http.StatusCreated)
			assert.Equal(t, id, first["id"])
			again := c.ask(http.MethodPost, "conversations/done/"+path, text)
			require.Equal(t, http.StatusOK, again.Code, "%s: %s", id, again.Body)
			assert.Equal(t, "../"+id, again.Header().Get("Location"))
			other := strings.NewReplacer(`"seq":5`, `"seq":5,"config":{"topic":"Another"}`, `"rounds":1`, `"rounds":2`).Replace(text)
			p := problemOf(t, c.ask(http.MethodPost, "conversations/done/"+path, other))
			assert.Equal(t, []any{http.StatusConflict, "id"}, []any{p.Status, p.Field}, id)
		}
	}
	var idle []string
	for info, err := range engine.List(t.Context(), debate.Filter{Working: true, Idle: true}) {
		require.NoError(t, err)
		idle = append(idle, info.ID)
	}
	assert.Equal(t, []string{"fork-elsewhere", "reopen-elsewhere"}, idle)
}
