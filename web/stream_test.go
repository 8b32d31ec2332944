package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
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
	"github.com/agonist-dev/debate/web/agui"
	"github.com/agonist-dev/debate/web/chat"
)

// TestAStreamEndsWhereNothingFollows: it has each fact once from any number on; 204 where none can follow, and 400 beyond the end.
func TestAStreamEndsWhereNothingFollows(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{})
	record := stage.StoredRecord(t, engine, "done")
	whole := c.ask(http.MethodGet, "conversations/done/stream", "")
	require.Equal(t, http.StatusOK, whole.Code)
	assert.Equal(t, "text/event-stream", whole.Header().Get("Content-Type"))
	assert.Equal(t, "text/event-stream", c.ask(http.MethodHead, "conversations/done/stream", "").Header().Get("Content-Type"))
	assert.True(t, strings.HasSuffix(whole.Body.String(), "event: end\ndata:\n\n"))
	assert.Equal(t, int(record.Seq), strings.Count(whole.Body.String(), "\nid: ")+1)
	after := func(n any) *httptest.ResponseRecorder {
		c.header = http.Header{"Last-Event-Id": {fmt.Sprint(n)}}
		return c.ask(http.MethodGet, "conversations/done/stream", "")
	}
	rest := after(record.Seq - 3)
	assert.Equal(t, 3, strings.Count(rest.Body.String(), "id: "))
	assert.True(t, strings.HasSuffix(whole.Body.String(), rest.Body.String()))
	last := after(record.Seq)
	assert.Equal(t, http.StatusNoContent, last.Code)
	assert.Empty(t, last.Body.String())
	for _, n := range []any{record.Seq + 1, -1, "six"} {
		assert.Equal(t, http.StatusBadRequest, problemOf(t, after(n)).Status, n)
	}
}

// served is a handler on a connection.
func served(t *testing.T, engine *debate.Engine, o web.Options) *httptest.Server {
	t.Helper()
	h, err := web.New(engine, o)
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

// opened is a stream that has begun.
func opened(t *testing.T, url string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// TestAStreamFollows: a reader on a connection sees what happens, and the end.
func TestAStreamFollows(t *testing.T) {
	engine := world(t, nil)
	server := served(t, engine, web.Options{Streams: 1})
	response := opened(t, server.URL+"/api/conversations/rests/stream")
	require.Equal(t, http.StatusOK, response.StatusCode)
	lines := bufio.NewScanner(response.Body)
	require.True(t, lines.Scan())
	assert.Equal(t, "id: 1", lines.Text())

	second := opened(t, server.URL+"/api/conversations/rests/stream")
	assert.Equal(t, http.StatusServiceUnavailable, second.StatusCode, "one at a time")
	assert.Equal(t, "10", second.Header.Get("Retry-After"))

	require.NoError(t, engine.Control(t.Context(), "rests", flow.Cancel{}))
	ended := false
	for lines.Scan() {
		ended = ended || lines.Text() == "event: end"
	}
	assert.True(t, ended)
}

// TestServeEndsStreamsAndWaits: when the server stops, readers are told at once, and a request that changes something finishes.
func TestServeEndsStreamsAndWaits(t *testing.T) {
	engine := world(t, nil)
	began, goOn := make(chan struct{}), make(chan struct{})
	h, err := web.New(engine, web.Options{Start: func(ctx context.Context, config flow.Config) (string, error) {
		close(began)
		<-goOn
		return engine.Submit(ctx, config)
	}})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- web.Serve(ctx, listener, h, time.Minute) }()
	url := "http://" + listener.Addr().String() + "/api/conversations"
	stream := opened(t, url+"/rests/stream")
	started, late := make(chan int, 1), body(t, labelled("late", nil))
	go func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(late))
		if err == nil {
			request.Header.Set("Content-Type", "application/json")
			var response *http.Response
			if response, err = http.DefaultClient.Do(request); err == nil {
				_ = response.Body.Close()
				started <- response.StatusCode
			}
		}
		if err != nil {
			started <- 0
		}
	}()
	<-began
	stop()
	_, err = io.Copy(io.Discard, stream.Body) // ends
	assert.NoError(t, err)
	select {
	case err := <-served:
		t.Fatalf("a request is still served: %v", err)
	default:
	}
	close(goOn)
	assert.Equal(t, http.StatusCreated, <-started)
	require.NoError(t, <-served)
	assert.Equal(t, "late", stage.StoredRecord(t, engine, "late").ID)
}

// TestServeBreaksOff: what lasts longer than the time to drain is broken off, and said to be.
func TestServeBreaksOff(t *testing.T) {
	began := make(chan struct{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served, asked := make(chan error, 1), make(chan error, 1)
	go func() {
		served <- web.Serve(ctx, listener, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(began)
			<-r.Context().Done()
		}), time.Millisecond)
	}()
	go func() {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String(), http.NoBody)
		if err == nil {
			var response *http.Response
			if response, err = http.DefaultClient.Do(request); err == nil {
				err = errors.Join(errors.New("it was answered"), response.Body.Close())
			}
		}
		asked <- err
	}()
	<-began
	stop()
	require.ErrorIs(t, <-served, context.DeadlineExceeded)
	assert.NotContains(t, (<-asked).Error(), "it was answered")
}

// pipe is a listener with one connection in memory, whose times are those of a bubble.
type pipe struct {
	one    chan net.Conn
	closed chan struct{}
}

func (p pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.one:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipe) Close() error {
	close(p.closed)
	return nil
}

func (p pipe) Addr() net.Addr { return &net.TCPAddr{} }

// TestASlowBodyIsNotWaitedFor: the client is told, and the connection is closed, also where nobody would read the body.
func TestASlowBodyIsNotWaitedFor(t *testing.T) {
	for head, status := range map[string]int{
		"POST /api/validate HTTP/1.1\r\nContent-Type: application/json": http.StatusRequestTimeout,
		"POST /api/validate HTTP/1.1\r\nContent-Type: text/plain":       http.StatusUnsupportedMediaType,
		"POST /api/unknown HTTP/1.1\r\nContent-Type: application/json":  http.StatusNotFound,
		// Other protocols too: here for a caller who is refused.
		"POST /v1/chat/completions HTTP/1.1\r\nOrigin: http://elsewhere.example": http.StatusForbidden,
		"POST /agui HTTP/1.1\r\nOrigin: http://elsewhere.example":                http.StatusForbidden,
	} {
		synctest.Test(t, func(t *testing.T) {
			h, err := web.New(&debate.Engine{Store: &store.Memory{}}, web.Options{Authorize: anybody})
			require.NoError(t, err)
			mux := http.NewServeMux()
			mux.Handle("/", h)
			mux.Handle("/v1/", chat.New(h))
			mux.Handle("/agui", agui.New(h))
			listener := pipe{make(chan net.Conn), make(chan struct{})}
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- web.Serve(ctx, listener, mux, time.Minute) }()
			mine, theirs := net.Pipe()
			listener.one <- theirs
			began := time.Now()
			_, err = io.WriteString(mine, head+"\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
			require.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(mine), nil)
			require.NoError(t, err)
			assert.Equal(t, status, response.StatusCode, head)
			_, err = io.Copy(io.Discard, mine)
			require.NoError(t, err, "the connection is closed")
			assert.InDelta(t, 30, time.Since(began).Seconds(), 2)
			require.NoError(t, response.Body.Close())
			stop()
			require.NoError(t, <-served)
			require.NoError(t, mine.Close())
		})
	}
}

// TestAPersonWhoDebatesReadsNoHiddenTurn: whoever may view and answer gets what the other says at the same time once both have spoken, then
// each fact in its order. Whoever may inspect reads it at once.
func TestAPersonWhoDebatesReadsNoHiddenTurn(t *testing.T) {
	engine, session, record := blind(t)
	secret := record.Waiting().Text
	h, err := web.New(engine, web.Options{Authorize: granting(web.View, web.Answer)})
	require.NoError(t, err)
	debates := client{t: t, handler: h}
	inspects := handler(t, engine, web.Options{Authorize: granting(web.View, web.Inspect)})
	const events = "conversations/blind/events"
	var page struct {
		Events     []struct{ Seq int64 }
		Last, Next int64
	}
	debates.get(events, &page)
	require.NotEmpty(t, page.Events)
	assert.Zero(t, page.Next)
	assert.Less(t, page.Last, record.Seq, "the log ends before what is hidden")
	assert.NotContains(t, debates.ask(http.MethodGet, events, "").Body.String(), secret)
	assert.NotContains(t, debates.ask(http.MethodGet, "conversations/blind", "").Body.String(), secret)
	assert.Contains(t, inspects.ask(http.MethodGet, events, "").Body.String(), secret)
	var read reading
	debates.get("conversations/blind?fields=schedule,outcome", &read)
	assert.Contains(t, string(read.Record["schedule"]), "Ada", "who is next")
	assert.NotContains(t, read.Record, "outcome")
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	for e, err := range h.Events(request, "blind", 0, time.Millisecond) {
		require.NoError(t, err)
		require.NotEqual(t, flow.EventTurn, e.Kind())
		require.LessOrEqual(t, e.Seq, page.Last)
		if e.Kind() == flow.EventHeartbeat && e.Seq == page.Last {
			break
		}
	}

	debates.post("conversations/blind/questions/"+record.Inquiries[0].ID, `{"text":"Streets are for people."}`, http.StatusAccepted)
	stage.Ended(t, session)
	require.NoError(t, session.Close())
	last := page.Last
	debates.get(fmt.Sprintf("%s?after=%d&limit=1", events, last), &page)
	require.Greater(t, len(page.Events), 1, "what is shown together is in one page")
	assert.Equal(t, last+1, page.Events[0].Seq)
	rest := debates.ask(http.MethodGet, fmt.Sprintf("conversations/blind/stream?after=%d", last), "").Body.String()
	assert.Contains(t, rest, secret)
	assert.Contains(t, rest, "Streets are for people.")
	seen := last
	for line := range strings.SplitSeq(rest, "\n") {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			n, err := strconv.ParseInt(id, 10, 64)
			require.NoError(t, err)
			assert.Greater(t, n, seen)
			seen = n
		}
	}
}

// blind is a conversation in which Ben has spoken, which nobody may read before Ada has: she is a person, and is asked.
func blind(t *testing.T) (*debate.Engine, *debate.Session, *debate.Record) {
	t.Helper()
	config := labelled("blind", nil)
	config.Mode, config.Rounds, config.Judging, config.Unattended = debate.Simultaneous, 1, nil, false
	config.Participants[0] = debate.Participant{Name: "Ada", Side: debate.For, Position: "Yes, ban them.", Person: true}
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	stage.AwaitsInput(t, session)
	record := stage.StoredRecord(t, engine, "blind")
	require.NotNil(t, record.Waiting(), "Ben has spoken")
	return engine, session, record
}

// TestARedactionLosesNoHiddenTurn: spectators are told of it at once, and once more in its place, behind what was hidden before it. Whoever
// comes later gets all too.
func TestARedactionLosesNoHiddenTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, session, record := blind(t)
		secret := record.Waiting().Text
		h, err := web.New(engine, web.Options{Authorize: granting(web.View, web.Answer)})
		require.NoError(t, err)
		debates := client{t: t, handler: h}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		asked, redactions, seen, said := false, 0, int64(0), ""
		for e, err := range h.Events(request, "blind", 0, time.Second) {
			require.NoError(t, err)
			switch body := e.Body.(type) {
			case *flow.Chunk:
				continue
			case *flow.Heartbeat:
				if !asked {
					asked = true
					_, err := engine.Redact(t.Context(), "blind", flow.Redaction{Texts: []string{"Yes, ban them."}})
					require.NoError(t, err)
				}
				continue
			case *flow.Redacted:
				if redactions++; redactions == 1 {
					assert.Less(t, e.Seq, record.Seq, "whoever continues after it gets what is hidden")
					path := "conversations/blind/questions/" + record.Inquiries[0].ID
					debates.post(path, `{"text":"Streets are for people."}`, http.StatusAccepted)
					continue
				}
			case *flow.Turn:
				said += body.Text
			}
			assert.Greater(t, e.Seq, seen)
			seen = e.Seq
		}
		assert.Equal(t, 2, redactions)
		assert.Contains(t, said, secret)
		stage.Ended(t, session)
		require.NoError(t, session.Close())
		for _, path := range []string{"conversations/blind/events", "conversations/blind/stream"} {
			assert.Contains(t, debates.ask(http.MethodGet, path, "").Body.String(), secret, path)
		}
	})
}

// TestARightThatComesBack: a spectator who may inspect again gets what was kept back meanwhile, before what follows it.
func TestARightThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, session, record := blind(t)
		defer session.Close()
		inspects := false
		h, err := web.New(engine, web.Options{Authorize: func(_ *http.Request, a web.Access) (string, error) {
			if a.Action == web.Inspect && !inspects {
				return "", errors.New("not now")
			}
			return "ann", nil
		}})
		require.NoError(t, err)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		began, seen, said := time.Now(), int64(0), ""
		for e, err := range h.Events(request, "blind", 0, time.Second) {
			require.NoError(t, err)
			require.Less(t, time.Since(began), time.Minute, "the turn does not come")
			switch body := e.Body.(type) {
			case *flow.Heartbeat, *flow.Chunk:
				inspects = inspects || e.Kind() == flow.EventHeartbeat
				continue
			case *flow.Turn:
				said += body.Text
			}
			assert.Greater(t, e.Seq, seen)
			if seen = e.Seq; seen == record.Seq {
				break
			}
		}
		assert.Equal(t, record.Seq, seen)
		assert.Contains(t, said, record.Waiting().Text)
	})
}

// TestASpectatorsStreamIsNotSilentBesideHiddenTurns: it has heartbeats while models speak whom nobody may read yet.
func TestASpectatorsStreamIsNotSilentBesideHiddenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := labelled("blind", nil)
		config.Mode, config.Rounds, config.Judging = debate.Simultaneous, 1, nil
		engine, source := stage.Engine(config)
		engine.Store = &store.Memory{}
		stage.Altered(source, func(_ *provider.Request, r *scripted.Reply) { r.Interval, r.Chunks = 5*time.Second, 12 })
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		h, err := web.New(engine, web.Options{Authorize: granting(web.View)})
		require.NoError(t, err)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		last, turns := time.Now(), 0
		for e, err := range h.Events(request, "blind", 0, 15*time.Second) {
			require.NoError(t, err)
			assert.LessOrEqual(t, time.Since(last), 20*time.Second)
			assert.NotEqual(t, flow.EventChunk, e.Kind())
			if last = time.Now(); e.Kind() == flow.EventTurn {
				turns++
			}
		}
		assert.Equal(t, 2, turns)
		stage.Ended(t, session)
		require.NoError(t, session.Close())
	})
}

// TestSpectatorsSeeWhatWasSaid: without the right to inspect, nothing of models, prices, labels and prompts, on any way.
func TestSpectatorsSeeWhatWasSaid(t *testing.T) {
	config := labelled("cars", map[string]string{"tenant": "SECRET-label"})
	config.Participants[0].Instructions = "SECRET-instruction"
	config.Participants[1].Metadata = map[string]string{"user": "SECRET-user"}
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	_, err = session.Say(t.Context(), flow.Note{Text: "What of the trams?", Person: "SECRET-person"})
	if err != nil { // it may be over by now
		stage.RequireKind(t, err, "state")
	}
	stage.Ended(t, session)
	require.NoError(t, session.Close())
	views := func(inspects bool) client {
		return handler(t, engine, web.Options{Authorize: func(_ *http.Request, a web.Access) (string, error) {
			if a.Action == web.View || inspects && a.Action == web.Inspect {
				return "", nil
			}
			return "", errors.New("no")
		}})
	}
	all := ""
	for _, path := range []string{"conversations", "conversations/cars", "conversations/cars/events", "conversations/cars/stream"} {
		seen := views(false).ask(http.MethodGet, path, "")
		require.Equal(t, http.StatusOK, seen.Code, path)
		assert.Contains(t, seen.Body.String(), "Should cities ban cars", path)
		for _, secret := range []string{"SECRET", "test/debater", `"usage"`, `"cost"`, `"spent"`, `"labels"`} {
			assert.NotContains(t, seen.Body.String(), secret, path)
		}
		all += views(true).ask(http.MethodGet, path, "").Body.String()
	}
	for _, shown := range []string{"SECRET-label", "SECRET-instruction", "test/debater", `"cost"`} {
		assert.Contains(t, all, shown)
	}
	var read struct {
		Record struct {
			State        flow.State
			Participants []struct{ Name, Side, Status string }
			Outcome      struct {
				Winner string
				Votes  []struct{ Name string }
			}
			Schedule []any
		}
		Legal []string
	}
	seen := views(false).ask(http.MethodGet, "conversations/cars", "")
	require.NoError(t, json.Unmarshal(seen.Body.Bytes(), &read))
	assert.Equal(t, flow.StateCompleted, read.Record.State)
	require.Len(t, read.Record.Participants, 2)
	assert.Equal(t, "for", read.Record.Participants[0].Side)
	require.NotEmpty(t, read.Record.Outcome.Votes, "how it was decided")
	assert.Equal(t, read.Record.Outcome.Winner, read.Record.Outcome.Votes[0].Name)
	assert.Empty(t, read.Record.Schedule)
	assert.Empty(t, read.Legal)
	assert.Equal(t, http.StatusForbidden, views(false).ask(http.MethodGet, "conversations?q=cars", "").Code, "a search reads all")
	assert.Equal(t, http.StatusForbidden, views(false).ask(http.MethodGet, "conversations?label.tenant=x", "").Code, "they could be guessed")
}
