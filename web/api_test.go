package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// stands is where a conversation stands, as clients read it.
type stands struct {
	ID    string
	State flow.State
	Seq   int64
}

// reading is a conversation as clients read it.
type reading struct {
	Record    map[string]json.RawMessage
	Legal     []string
	Inputs    []string
	Questions []flow.Question
	Degraded  []string
	Owner     string
	Limit     float64
}

// TestAConversationOverHTTP: it is checked, priced, started once, read, listed, added up, exported, imported elsewhere, and deleted.
func TestAConversationOverHTTP(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "cars"
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	c := handler(t, engine, web.Options{Presets: []web.Preset{{Name: "Quick", Config: json.RawMessage(body(t, config))}}})
	sent := body(t, config)

	assert.Contains(t, c.post("validate", sent, http.StatusOK), "config")
	priced := c.post("estimate", sent, http.StatusOK)
	estimate, ok := priced["estimate"].(map[string]any)
	require.True(t, ok)
	assert.NotEmpty(t, estimate["steps"])
	assert.NotContains(t, priced, "remains")
	var list struct {
		Conversations []map[string]any
		Next          string
	}
	c.get("conversations", &list)
	assert.Empty(t, list.Conversations, "nothing has started")

	answer := c.ask(http.MethodPost, "conversations", sent)
	require.Equal(t, http.StatusCreated, answer.Code, answer.Body)
	assert.Equal(t, "conversations/cars", answer.Header().Get("Location"))
	session, err := engine.Open(t.Context(), "cars")
	require.NoError(t, err)
	record := stage.Ended(t, session)
	require.NoError(t, session.Close())
	assert.Equal(t, http.StatusOK, c.ask(http.MethodPost, "conversations", sent).Code, "the same is started once")
	other := config
	other.Topic = "Should cities ban dogs?"
	p := problemOf(t, c.ask(http.MethodPost, "conversations", body(t, other)))
	assert.Equal(t, []any{http.StatusConflict, "id: the id is taken: draw another"}, []any{p.Status, p.Detail})

	var read reading
	c.get("conversations/cars", &read)
	assert.JSONEq(t, `"completed"`, string(read.Record["state"]))
	assert.Contains(t, read.Record, "verdicts", "the flow writes its own JSON")
	assert.NotContains(t, read.Record, "schedule")
	assert.Equal(t, []string{"fork", "reopen", "exportJSON", "exportMarkdown", "exportHTML", "delete"}, read.Legal)
	var part reading
	c.get("conversations/cars?fields=state,topic", &part)
	assert.Len(t, part.Record, 2)

	c.get("conversations?state=completed&q=cars", &list)
	require.Len(t, list.Conversations, 1)
	assert.NotEmpty(t, list.Conversations[0]["result"])
	assert.NotNil(t, list.Conversations[0]["spent"])
	var sum struct {
		Sum  store.Sum
		Most flow.Money
	}
	c.get("sum", &sum)
	assert.Equal(t, []any{1, record.Spent().Cost}, []any{sum.Sum.Count, sum.Sum.Spent})

	log := c.ask(http.MethodGet, "conversations/cars/export.json", "")
	assert.Equal(t, `attachment; filename=cars.json`, log.Header().Get("Content-Disposition"))
	assert.Contains(t, c.ask(http.MethodGet, "conversations/cars/export.md", "").Body.String(), "# Should cities ban cars")
	page := c.ask(http.MethodGet, "conversations/cars/export.html", "")
	assert.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
	assert.Contains(t, page.Header().Get("Content-Security-Policy"), "frame-ancestors 'self'")
	elsewhere := handler(t, stage.Twin(engine), web.Options{})
	assert.Equal(t, http.StatusOK, elsewhere.ask(http.MethodPost, "import", log.Body.String()).Code, "it is there")
	away, _ := stage.Engine(config)
	away.Store = &store.Memory{}
	elsewhere = handler(t, away, web.Options{})
	imported := elsewhere.post("import", log.Body.String(), http.StatusCreated)
	assert.EqualValues(t, record.Seq, imported["seq"])

	answer = c.ask(http.MethodGet, "conversations/cars", "")
	asked := c
	for _, tag := range []string{`"older"`, "W/" + answer.Header().Get("ETag")} {
		asked.header = http.Header{"If-Match": {tag}}
		p := problemOf(t, asked.ask(http.MethodDelete, "conversations/cars", ""))
		assert.Equal(t, []any{http.StatusPreconditionFailed, "If-Match"}, []any{p.Status, p.Field}, tag)
	}
	asked.header = http.Header{"If-Match": {`"older"`, answer.Header().Get("ETag")}}
	assert.Equal(t, http.StatusPreconditionFailed, asked.ask(http.MethodPost, "conversations/cars/cancel", "{}").Code)
	answer = asked.ask(http.MethodDelete, "conversations/cars", "")
	assert.Equal(t, http.StatusNoContent, answer.Code, answer.Body)
	assert.Equal(t, http.StatusNotFound, c.ask(http.MethodGet, "conversations/cars", "").Code)
}

// TestARepeatedStartGoesOn: the process that stored the conversation may have ended before it opened it.
func TestARepeatedStartGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := labelled("cars", nil)
		engine, _ := stage.Engine(config)
		engine.Store = &store.Memory{}
		_, err := engine.Submit(t.Context(), config)
		require.NoError(t, err)
		handler(t, engine, web.Options{}).post("conversations", body(t, config), http.StatusOK)
		stage.Pass(time.Hour)
		assert.Equal(t, flow.StateCompleted, stage.StoredRecord(t, engine, "cars").State)
		require.NoError(t, engine.Shutdown(context.WithoutCancel(t.Context())))
	})
}

// TestWhatCanBeStarted: the flows with their schemas, the formats, and the presets.
func TestWhatCanBeStarted(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{Presets: []web.Preset{{Name: "Quick", About: "Two speak.", Config: json.RawMessage(`{"topic":"x"}`)}}})
	var flows struct {
		Flows []struct {
			Name, Mermaid string
			Schema        json.RawMessage
		}
		Options map[string]string
	}
	c.get("flows", &flows)
	require.Len(t, flows.Flows, 2)
	assert.Equal(t, []string{"debate", "notes"}, []string{flows.Flows[0].Name, flows.Flows[1].Name})
	assert.Contains(t, flows.Flows[0].Mermaid, "stateDiagram")
	assert.NotEmpty(t, flows.Flows[0].Schema)
	assert.Equal(t, flow.OptionRetry.Meaning(), flows.Options["retry"])
	var formats struct {
		Formats []struct {
			Format      debate.Format
			Least, Most int
		}
	}
	c.get("formats", &formats)
	least := make(map[string]int)
	for _, f := range formats.Formats {
		least[f.Format.Name] = f.Least
	}
	assert.Positive(t, least["oxford"])
	var presets struct{ Presets []web.Preset }
	c.get("presets", &presets)
	require.Len(t, presets.Presets, 1)
	assert.Equal(t, "Two speak.", presets.Presets[0].About)
}

// TestControlsOverHTTP: each is given with a reason, and answered with where the conversation stands. What a control puts back to work
// goes on here.
func TestControlsOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "cars"
		engine, source := stage.Engine(config)
		engine.Store = &store.Memory{}
		stage.Slowly(source)
		c := handler(t, engine, web.Options{Authorize: anybody}).as("pat")
		c.post("conversations", body(t, config), http.StatusCreated)
		stage.Pass(time.Second)
		var read reading
		c.get("conversations/cars", &read)
		assert.Contains(t, read.Record, "schedule", "who is next")
		assert.Equal(t, []string{
			"pause", "stop", "cancel", "amend", "say", "fork", "exportJSON", "exportMarkdown", "exportHTML", "delete",
		}, read.Legal)
		for _, id := range read.Legal {
			assert.True(t, slices.ContainsFunc(web.Rows(), func(row web.Row) bool { return row.ID == id }), id)
		}
		assert.Equal(t, "paused", c.post("conversations/cars/pause", `{"reason":"lunch"}`, http.StatusAccepted)["state"])
		stage.Pass(time.Second) // until the call that is aborted is recorded
		p := problemOf(t, c.ask(http.MethodPost, "conversations/cars/pause", ""))
		assert.Equal(t, []any{http.StatusConflict, "state", "paused"}, []any{p.Status, p.Kind, p.State})
		assert.Contains(t, p.Legal, "resume")
		assert.NotContains(t, p.Legal, "pause")

		said := c.post("conversations/cars/say", `{"id":"n1","text":"What of the trams?"}`, http.StatusAccepted)
		again := c.post("conversations/cars/say", `{"id":"n1","text":"What of the trams?"}`, http.StatusAccepted)
		assert.Equal(t, said["seq"], again["seq"], "the same note is said once")
		c.post("conversations/cars/amend", `{"rounds":2}`, http.StatusAccepted)
		p = problemOf(t, c.ask(http.MethodPost, "conversations/cars/amend", `{"rounds":2,"person":"eve"}`))
		assert.Equal(t, []any{http.StatusUnprocessableEntity, "person"}, []any{p.Status, p.Field})

		session, err := engine.Open(t.Context(), "cars")
		require.NoError(t, err)
		require.NoError(t, session.Close())
		require.NotEqual(t, "paused", c.post("conversations/cars/resume", "", http.StatusAccepted)["state"])
		stage.Pass(time.Minute)
		c.get("conversations/cars", &read)
		assert.JSONEq(t, `"completed"`, string(read.Record["state"]), "it goes on in this process")
		record := stage.StoredRecord(t, engine, "cars")
		assert.Equal(t, 2, record.Round)
		assert.Equal(t, "pat", record.Notes[0].Person)
		var paused *flow.Transition
		for _, e := range stage.Logged(t, engine, "cars") {
			if body, ok := e.Body.(*flow.Transition); ok && body.On == flow.TriggerPause {
				paused = body
			}
		}
		require.NotNil(t, paused)
		assert.Equal(t, "pat", paused.Person)
		assert.Contains(t, paused.Evidence, "lunch")
	})
}

// TestInputsOverHTTP: a flow's own are told, and sent.
func TestInputsOverHTTP(t *testing.T) {
	c := handler(t, world(t, nil), web.Options{})
	var read reading
	c.get("conversations/noted", &read)
	assert.Equal(t, []string{string(stage.Noted)}, read.Inputs)
	assert.Contains(t, read.Legal, "send")
	c.post("conversations/noted/send", `{"trigger":"noted","payload":{"x":1},"reason":"because"}`, http.StatusAccepted)
	c.get("conversations/noted?fields=inputs", &read)
	assert.Contains(t, string(read.Record["inputs"]), `"because"`)
}

// TestTheSecondAnswer: it learns who was first, and how.
func TestTheSecondAnswer(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{
		Authorize: anybody, Start: engine.Submit, // nobody goes on with it
	})
	var inbox struct {
		Questions []struct {
			Conversation stands
			Question     flow.Question
		}
	}
	c.get("questions", &inbox)
	require.Len(t, inbox.Questions, 1)
	asked := inbox.Questions[0]
	assert.Equal(t, "asks", asked.Conversation.ID)
	assert.Contains(t, asked.Question.Options, flow.OptionSkip)
	path := "conversations/asks/questions/" + url.PathEscape(asked.Question.ID)
	c.as("pat").post(path, `{"option":"retry"}`, http.StatusAccepted)
	p := problemOf(t, c.as("eve").ask(http.MethodPost, path, `{"option":"end"}`))
	require.NotNil(t, p.Answered)
	assert.Equal(t, []any{http.StatusConflict, "pat", "retry"}, []any{p.Status, p.Answered.Person, p.Answered.Option})
	assert.Contains(t, p.Detail, `"pat"`)
	c.get("questions", &inbox)
	assert.Empty(t, inbox.Questions)
}

// TestAPersonReadsAndSpeaks: a question to somebody who takes part comes with what that person may read, and no prompt.
func TestAPersonReadsAndSpeaks(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID, config.Judging = "seats", nil
	config.Participants[1] = debate.Participant{Name: "Ben", Side: debate.Against, Person: true}
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	stage.AwaitsInput(t, session)
	require.NoError(t, session.Close())
	c := handler(t, engine, web.Options{Start: engine.Submit})
	var read reading
	c.get("conversations/seats", &read)
	require.Len(t, read.Questions, 1)
	q := read.Questions[0]
	require.NotEmpty(t, q.Reads)
	assert.Equal(t, "Ada", q.Reads[0].Speaker)
	path := "conversations/seats/questions/" + url.PathEscape(q.ID)
	p := problemOf(t, c.ask(http.MethodPost, path, `{"text":" "}`))
	assert.Equal(t, []any{http.StatusUnprocessableEntity, "text"}, []any{p.Status, p.Field})
	p = problemOf(t, c.ask(http.MethodPost, path, `{"text":"No.","files":[{"url":"http://elsewhere/x"}]}`))
	assert.Equal(t, "files[0].url", p.Field, "nothing is fetched for an answer")
	c.post(path, `{"text":"No: price them."}`, http.StatusAccepted)
	record := stage.StoredRecord(t, engine, "seats")
	assert.Equal(t, "No: price them.", record.Turns[len(record.Turns)-1].Text)
}

// TestForkAndReopenOverHTTP: a fork has a patched config, and what follows a conclusion is a conversation of its own.
func TestForkAndReopenOverHTTP(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{})
	answer := c.ask(http.MethodPost, "conversations/done/fork", `{"seq":5,"id":"again","config":{"flow":"other","rounds":2,"patience":null}}`)
	require.Equal(t, http.StatusCreated, answer.Code, answer.Body)
	assert.Equal(t, "../again", answer.Header().Get("Location"))
	record := stage.StoredRecord(t, engine, "again")
	assert.Equal(t, []any{"done", 2}, []any{record.Parent().ID, record.Settings().Rounds})
	assert.Equal(t, flow.DefaultPatience, record.Settings().Patience, "null removes")
	p := problemOf(t, c.ask(http.MethodPost, "conversations/done/fork", `{"seq":5,"config":{"participants":[]}}`))
	assert.Equal(t, http.StatusUnprocessableEntity, p.Status)
	answer = c.ask(http.MethodPost, "conversations/done/reopen", `{"id":"more","rounds":1}`)
	require.Equal(t, http.StatusCreated, answer.Code, answer.Body)
	assert.Equal(t, "done", stage.StoredRecord(t, engine, "more").Parent().ID)
}

// TestFilesOverHTTP: pictures keep their types and are shown, and all others are bytes that a browser saves.
func TestFilesOverHTTP(t *testing.T) {
	config := stage.Illustrated()
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	c := handler(t, engine, web.Options{})
	for hash, want := range map[string][2]string{
		flow.HashOf(stage.PNG): {"image/png", "inline; filename=chart.png"},
		flow.HashOf(stage.PDF): {"application/octet-stream", "attachment; filename=study.pdf"},
	} {
		answer := c.ask(http.MethodGet, "conversations/illustrated/files/"+hash, "")
		require.Equal(t, http.StatusOK, answer.Code, answer.Body)
		assert.Equal(t, want, [2]string{answer.Header().Get("Content-Type"), answer.Header().Get("Content-Disposition")})
		assert.Equal(t, "nosniff", answer.Header().Get("X-Content-Type-Options"))
		assert.Contains(t, answer.Header().Get("Content-Security-Policy"), "sandbox")
	}
	assert.Equal(t, http.StatusNotFound, c.ask(http.MethodGet, "conversations/illustrated/files/"+strings.Repeat("0", 64), "").Code)
}

// TestPagesOfEvents: together they are the log, each fact once.
func TestPagesOfEvents(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{})
	var whole []int64
	for after, pages := int64(0), 0; ; pages++ {
		var page struct {
			Events     []flow.Event
			Last, Next int64
			Over       bool
		}
		c.get(fmt.Sprintf("conversations/done/events?limit=7&after=%d", after), &page)
		assert.True(t, page.Over)
		assert.LessOrEqual(t, len(page.Events), 7)
		for _, e := range page.Events {
			whole = append(whole, e.Seq)
		}
		if page.Next == 0 {
			assert.Len(t, whole, int(page.Last))
			assert.Positive(t, pages)
			break
		}
		after = page.Next
	}
	for i, seq := range whole {
		require.EqualValues(t, i+1, seq)
	}
}

// TestReadersAreNotSentWhatTheyHave: an answer has a tag, which changes with what is shown.
func TestReadersAreNotSentWhatTheyHave(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{Start: engine.Submit})
	for _, path := range []string{"conversations", "conversations/rests", "questions", "openapi.json"} {
		first := c.ask(http.MethodGet, path, "")
		for _, has := range [][]string{{`"other", W/` + first.Header().Get("ETag")}, {`"other"`, first.Header().Get("ETag")}, {"*"}} {
			c.header = http.Header{"If-None-Match": has}
			again := c.ask(http.MethodGet, path, "")
			assert.Equal(t, http.StatusNotModified, again.Code, path)
			assert.Empty(t, again.Body.String(), path)
		}
		c.header = nil
	}
	tag := c.ask(http.MethodGet, "conversations/rests", "").Header().Get("ETag")
	c.header = nil
	c.post("conversations/rests/resume", "", http.StatusAccepted)
	c.header = http.Header{"If-None-Match": {tag}}
	assert.Equal(t, http.StatusOK, c.ask(http.MethodGet, "conversations/rests", "").Code)
}

// TestManyReadersOfOneConversation: they read it while it goes on, and read what is there.
func TestManyReadersOfOneConversation(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID, config.Rounds = "cars", 20
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	c := handler(t, engine, web.Options{})
	c.post("conversations", body(t, config), http.StatusCreated)
	session, err := engine.Open(t.Context(), "cars")
	require.NoError(t, err)
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			var last stands
			for range 50 {
				answer := c.ask(http.MethodGet, "conversations/cars?fields=id,seq,state", "")
				var read struct{ Record stands }
				if assert.Equal(t, http.StatusOK, answer.Code) && assert.NoError(t, json.Unmarshal(answer.Body.Bytes(), &read)) {
					assert.GreaterOrEqual(t, read.Record.Seq, last.Seq)
					last = read.Record
				}
			}
		})
	}
	record := stage.Ended(t, session)
	require.NoError(t, session.Close())
	readers.Wait()
	var read struct{ Record stands }
	c.get("conversations/cars", &read)
	assert.Equal(t, record.Seq, read.Record.Seq)
}

// TestADeletionIsOfTheVersionThatItNames: what changes after the tag was compared is not deleted.
func TestADeletionIsOfTheVersionThatItNames(t *testing.T) {
	engine, once := world(t, nil), false
	c := handler(t, engine, web.Options{Authorize: func(r *http.Request, a web.Access) (string, error) {
		if r.Method == http.MethodDelete && a.Action == web.Inspect && !once { // the record with the tag has been read
			once = true
			note := flow.Note{ID: "note", Person: "Ann", Text: "Hear, hear."}
			assert.NoError(t, engine.Control(r.Context(), "rests", note))
		}
		return "ann", nil
	}})
	asked := c
	match := func() {
		asked.header = http.Header{"If-Match": {c.ask(http.MethodGet, "conversations/rests", "").Header().Get("ETag")}}
	}
	match()
	p := problemOf(t, asked.ask(http.MethodDelete, "conversations/rests", ""))
	assert.Equal(t, []any{http.StatusPreconditionFailed, "If-Match"}, []any{p.Status, p.Field})
	require.True(t, once)
	match()
	assert.Equal(t, http.StatusNoContent, asked.ask(http.MethodDelete, "conversations/rests", "").Code)
}
