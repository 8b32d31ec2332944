package web_test

import (
	"context"
	"io"
	"iter"
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

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// TestNobodyTakesAllStreams: one caller gets a quarter of them, and the others the rest.
func TestNobodyTakesAllStreams(t *testing.T) {
	h, err := web.New(world(t, nil), web.Options{Authorize: anybody, Streams: 8})
	require.NoError(t, err)
	open := func(who string) error {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/other", http.NoBody)
		r.Header.Set("Who", who)
		next, stop := iter.Pull2(h.Events(r, "done", 0))
		t.Cleanup(stop)
		_, err, _ := next()
		return err
	}
	for _, who := range []string{"ann", "ben", "cyd", "dan"} {
		require.NoError(t, open(who))
		require.NoError(t, open(who))
		if who != "dan" { // for whom there is none left
			assert.Equal(t, http.StatusServiceUnavailable, web.Explain(open(who)).Status, who)
		}
	}
	assert.Equal(t, http.StatusServiceUnavailable, web.Explain(open("eve")).Status)
}

// held is a body that arrives when it is let.
type held struct {
	once       sync.Once
	begun, let chan struct{}
	then       *strings.Reader
}

func (b *held) Read(p []byte) (int, error) {
	b.once.Do(func() {
		close(b.begun)
		<-b.let
	})
	return b.then.Read(p)
}

// TestBodiesHaveRoom: what one caller sends at a time is bounded, and another is served meanwhile. The room is free again afterwards.
func TestBodiesHaveRoom(t *testing.T) {
	c := handler(t, world(t, nil), web.Options{Authorize: anybody, Bodies: 1000})
	slow := &held{begun: make(chan struct{}), let: make(chan struct{}), then: strings.NewReader(`{}`)}
	arrives := io.MultiReader(strings.NewReader(strings.Repeat(" ", 4000)), slow)
	done := make(chan int)
	go func() {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/conversations/rests/amend", arrives)
		r.Header = http.Header{"Content-Type": {"application/json"}, "Who": {"ann"}}
		answer := httptest.NewRecorder()
		c.handler.ServeHTTP(answer, r)
		done <- answer.Code
	}()
	<-slow.begun
	says := `{"text":"Hear, hear."}`
	assert.Equal(t, http.StatusServiceUnavailable, c.as("ann").ask(http.MethodPost, "conversations/rests/say", says).Code)
	c.as("ben").post("conversations/rests/say", says, http.StatusAccepted)
	close(slow.let)
	assert.Equal(t, http.StatusUnprocessableEntity, <-done)
	c.as("ann").post("conversations/rests/say", says, http.StatusAccepted)

	for range 20 { // sixteen have room at a time
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/other", strings.NewReader(`{"text":"`+strings.Repeat("x", 900)+`"}`))
		r.Header = http.Header{"Content-Type": {"application/json"}}
		_, err := c.handler.(*web.Handler).Body(httptest.NewRecorder(), r)
		require.NoError(t, err, "other protocols give it back too")
	}
}

// TestWhatHasNotArrivedTakesNoRoom: to announce bodies, or to begin them, keeps nobody else away, and not the caller's own.
func TestWhatHasNotArrivedTakesNoRoom(t *testing.T) {
	c := handler(t, world(t, nil), web.Options{Authorize: anybody, Bodies: 1000})
	let, done := make(chan struct{}), make(chan int)
	const most = 20 // more than there is room for at their full size
	for range most {
		slow := &held{begun: make(chan struct{}), let: let, then: strings.NewReader(`{}`)}
		go func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/other", slow)
			r.ContentLength = 1000 // so it says
			r.Header = http.Header{"Content-Type": {"application/json"}, "Who": {"ann"}}
			_, err := c.handler.(*web.Handler).Body(httptest.NewRecorder(), r)
			if err != nil {
				done <- web.Explain(err).Status
				return
			}
			done <- http.StatusOK
		}()
		select {
		case <-slow.begun:
		case status := <-done:
			require.Fail(t, "a body is refused that has not arrived", "status %d", status)
		}
	}
	says := `{"text":"Hear, hear."}`
	c.as("ben").post("conversations/rests/say", says, http.StatusAccepted)
	c.as("ann").post("conversations/rests/say", says, http.StatusAccepted)
	close(let)
	for range most {
		assert.Equal(t, http.StatusOK, <-done)
	}
}

// TestImportsThatDripTakeNoRoom: two that do not arrive keep no third away.
func TestImportsThatDripTakeNoRoom(t *testing.T) {
	c := handler(t, world(t, nil), web.Options{Authorize: anybody})
	let, done, callers := make(chan struct{}), make(chan int), []string{"ann", "ben", "cyd"}
	for _, who := range callers {
		slow := &held{begun: make(chan struct{}), let: let, then: strings.NewReader(`{}`)}
		go func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/import", slow)
			r.ContentLength = debate.MaxSnapshot // so it says
			r.Header = http.Header{"Content-Type": {"application/json"}, "Who": {who}}
			answer := httptest.NewRecorder()
			c.handler.ServeHTTP(answer, r)
			done <- answer.Code
		}()
		select {
		case <-slow.begun:
		case status := <-done:
			require.Fail(t, "an import is refused that has not arrived", "status %d", status)
		}
	}
	close(let)
	for range callers {
		assert.Equal(t, http.StatusUnprocessableEntity, <-done)
	}
}

// TestBodiesOfAnotherProtocolAreOfTheirCaller: one caller gets a quarter of the room there too, and is told when to try again.
func TestBodiesOfAnotherProtocolAreOfTheirCaller(t *testing.T) {
	c := handler(t, world(t, nil), web.Options{Authorize: anybody, Bodies: 1000})
	send := func(who string, body io.Reader) error {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/other", body)
		r.Header = http.Header{"Content-Type": {"application/json"}, "Who": {who}}
		_, err := c.handler.(*web.Handler).Body(httptest.NewRecorder(), r)
		return err
	}
	let, done := make(chan struct{}), make(chan error)
	large := func() io.Reader { return strings.NewReader(strings.Repeat(" ", 900)) }
	for range 4 {
		slow := &held{begun: make(chan struct{}), let: let, then: strings.NewReader(`{}`)}
		go func() { done <- send("ann", io.MultiReader(large(), slow)) }()
		<-slow.begun
	}
	err := send("ann", io.MultiReader(large(), strings.NewReader(`{}`)))
	require.Error(t, err)
	p := web.Explain(err)
	assert.Equal(t, http.StatusServiceUnavailable, p.Status)
	assert.Positive(t, p.RetryAfter)
	require.NoError(t, send("ben", io.MultiReader(large(), strings.NewReader(`{}`))))
	close(let)
	for range 4 {
		require.NoError(t, <-done)
	}
}

// TestControlsAreSmall: nobody sends twenty megabytes to say why.
func TestControlsAreSmall(t *testing.T) {
	c := handler(t, world(t, nil), web.Options{})
	long := `{"reason":"` + strings.Repeat("x", 64<<10) + `"}`
	for _, name := range []string{"pause", "resume", "stop", "cancel", "retry"} {
		answer := c.ask(http.MethodPost, "conversations/rests/"+name, long)
		assert.Equal(t, http.StatusRequestEntityTooLarge, problemOf(t, answer).Status, name)
	}
}

// TestALogIsReadUntilItIsNone: its place is told, and what follows is not read.
func TestALogIsReadUntilItIsNone(t *testing.T) {
	c := handler(t, world(t, nil), web.Options{})
	for body, want := range map[string]struct {
		status int
		field  string
	}{
		`{"events":[{"seq":1,"at":"2026-01-31T12:00:00Z","kind":"turn","body":0},0,0]}`: {http.StatusUnprocessableEntity, "events[0].body"},

		`{"id":"x","events":{}}`: {http.StatusUnprocessableEntity, ""},
		`{"id":7}`:               {http.StatusUnprocessableEntity, ""},
		`[]`:                     {http.StatusUnprocessableEntity, ""},
		`{"id":"x","events":[`:   {http.StatusBadRequest, ""},
		`{"id":`:                 {http.StatusBadRequest, ""},
		``:                       {http.StatusBadRequest, ""},
	} {
		p := problemOf(t, c.ask(http.MethodPost, "import", body))
		assert.Equal(t, []any{want.status, want.field, 0}, []any{p.Status, p.Field, len(p.Problems)}, body)
	}
}

// unwanted is a part of a body that nobody should wait for.
type unwanted struct{ t *testing.T }

func (u unwanted) Read([]byte) (int, error) {
	u.t.Error("the body is read further")
	return 0, io.EOF
}

// TestAnImportIsRefusedBeforeItHasArrived: its beginning is enough where the policy accepts no log.
func TestAnImportIsRefusedBeforeItHasArrived(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{Authorize: anybody})
	log := string(stage.Exported(t, engine, "done"))
	begins, _, _ := strings.Cut(log, ",\n")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/import", io.MultiReader(strings.NewReader(begins), unwanted{t}))
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	c.handler.ServeHTTP(answer, r)
	p := problemOf(t, answer)
	assert.Equal(t, http.StatusUnprocessableEntity, p.Status)
	assert.Contains(t, p.Detail, "logs from elsewhere")
}

// reads counts how often logs are read.
type reads struct {
	store.Store

	n atomic.Int64
}

func (s *reads) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	s.n.Add(1)
	return s.Store.Read(ctx, id, after)
}

// TestWhatWaitsIsReadOnce: a conversation that waits for a person is not folded for each look at the inbox.
func TestWhatWaitsIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := world(t, nil)
		counted := &reads{Store: engine.Store}
		other := stage.Twin(engine)
		other.Store = counted
		c := handler(t, other, web.Options{})
		c.get("questions", new(object))
		once := counted.n.Load()
		require.Positive(t, once)
		for range 3 {
			stage.Pass(time.Minute)
			c.get("questions", new(object))
		}
		assert.Equal(t, once, counted.n.Load())
	})
}

// TestAnswersWithoutARightFoldNothing: the log is read once, however often somebody tries.
func TestAnswersWithoutARightFoldNothing(t *testing.T) {
	engine := world(t, nil)
	counted := &reads{Store: engine.Store}
	other := stage.Twin(engine)
	other.Store = counted
	c := handler(t, other, web.Options{Authorize: func(_ *http.Request, a web.Access) (string, error) {
		if a.Action == web.Answer && a.ID != "" { // a question of this conversation
			return "", &web.DeniedError{}
		}
		return "pat", nil
	}})
	c.get("conversations/asks", new(object))
	once := counted.n.Load()
	require.Positive(t, once)
	for range 3 {
		assert.Equal(t, http.StatusForbidden, c.ask(http.MethodPost, "conversations/asks/questions/none", `{"text":"x"}`).Code)
	}
	assert.Equal(t, once, counted.n.Load())
}

// TestFilesAreForThoseWhoReadThem: whoever inspects, and a person who is asked something to which they belong.
func TestFilesAreForThoseWhoReadThem(t *testing.T) {
	config := stage.Illustrated()
	config.Judging = nil
	config.Participants[1] = debate.Participant{Name: "Ben", Side: debate.Against, Person: true}
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	stage.AwaitsInput(t, session)
	require.NoError(t, session.Close())
	path := "conversations/illustrated/files/" + flow.HashOf(stage.PNG)
	for want, rights := range map[int][]web.Action{
		http.StatusForbidden: {web.View}, http.StatusOK: {web.View, web.Answer}, http.StatusNotModified: {web.View, web.Inspect},
	} {
		c := handler(t, engine, web.Options{Authorize: granting(rights...), Start: engine.Submit})
		if want == http.StatusNotModified {
			c.header = http.Header{"If-None-Match": {c.ask(http.MethodGet, path, "").Header().Get("ETag")}}
		}
		assert.Equal(t, want, c.ask(http.MethodGet, path, "").Code)
	}
}
