package sse_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/sse"
	"github.com/agonist-dev/debate/store"
)

// sent is an event as a browser gets it.
type sent struct{ id, name, data string }

// parse reads a stream as a browser does. Comments are events without a name.
func parse(t *testing.T, stream string) (all []sent) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		var e sent
		for line := range strings.SplitSeq(block, "\n") {
			field, value, _ := strings.Cut(line, ":")
			switch value = strings.TrimPrefix(value, " "); field {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data = value
			case "":
			default:
				t.Errorf("unknown line %q", line)
			}
		}
		all = append(all, e)
	}
	return all
}

// debated plays a debate that has what a spectator must not see.
func debated(t *testing.T) (*debate.Engine, string) {
	t.Helper()
	config := stage.TwoDebaters()
	config.ID, config.Labels = "cars", map[string]string{"tenant": "SECRET-label"}
	config.Judging.Instructions = "SECRET-instruction"
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	_, err := engine.Play(t.Context(), config)
	require.NoError(t, err)
	return engine, config.ID
}

// get serves one request, as a browser that has the events up to last makes it.
func get(t *testing.T, s sse.Stream, source sse.Source, id, last string) (*httptest.ResponseRecorder, error) {
	t.Helper()
	request, page := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), httptest.NewRecorder()
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	err := s.Serve(page, request, source, id)
	return page, err
}

// full shows all but the seed and the prompts.
func full(e flow.Event) (flow.Event, bool) { return e.Public(), true }

// TestAStreamHasEachFactOnceAndResumes: from any number on, it is the rest of the whole.
func TestAStreamHasEachFactOnceAndResumes(t *testing.T) {
	engine, id := debated(t)
	page, err := get(t, sse.Stream{View: full}, engine, id, "")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, page.Code)
	assert.Equal(t, "text/event-stream", page.Header().Get("Content-Type"))
	assert.Equal(t, "no-store", page.Header().Get("Cache-Control"))
	whole := parse(t, page.Body.String())
	assert.Equal(t, sent{name: "end"}, whole[len(whole)-1])
	for i, e := range whole[:len(whole)-1] {
		var event flow.Event
		require.NoError(t, json.Unmarshal([]byte(e.data), &event))
		assert.EqualValues(t, i+1, event.Seq)
		assert.Equal(t, string(event.Kind()), e.name)
		rest, err := get(t, sse.Stream{View: full}, engine, id, e.id)
		require.NoError(t, err)
		assert.Equal(t, whole[i+1:], parse(t, rest.Body.String()), "after %s", e.id)
	}
}

// TestASpectatorSeesWhatWasSaid: and nothing of how that was done, unless the host program asks for it.
func TestASpectatorSeesWhatWasSaid(t *testing.T) {
	engine, id := debated(t)
	page, err := get(t, sse.Stream{}, engine, id, "")
	require.NoError(t, err)
	count := map[string]int{}
	for _, e := range parse(t, page.Body.String()) {
		count[e.name]++
	}
	assert.Equal(t, 6, count["turn"])
	assert.Equal(t, 1, count["verdict"])
	assert.Equal(t, 1, count["start"])
	all, err := get(t, sse.Stream{View: full}, engine, id, "")
	require.NoError(t, err)
	for _, secret := range []string{"SECRET", "test/debater", "test/judge", `"usage"`, `"cost"`, `"tenant"`, "Yes, ban them."} {
		assert.NotContains(t, page.Body.String(), secret)
		assert.Contains(t, all.Body.String(), secret)
	}
}

// script is a source of given events, each a while after the last.
type script struct {
	events []flow.Event
	pause  time.Duration
	err    error
}

func (s script) Events(ctx context.Context, _ string, _ int64, _ ...time.Duration) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		for _, e := range s.events {
			stage.Pass(s.pause)
			if ctx.Err() != nil || !yield(e, nil) {
				break
			}
		}
		if err := errors.Join(s.err, ctx.Err()); err != nil {
			yield(flow.Event{}, err)
		}
	}
}

// TestAStreamIsNeverSilentForLong: neither while nothing happens, nor while only that happens which the reader may not see.
func TestAStreamIsNeverSilentForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unseen := flow.Event{Seq: 1, Body: &flow.Chunk{Call: "c", Schema: "judgement", Text: "{"}}
		page, err := get(t, sse.Stream{}, script{
			events: []flow.Event{{Seq: 1, Body: &flow.Heartbeat{}}, unseen, unseen, unseen, unseen, unseen, unseen, unseen},
			pause:  5 * time.Second,
		}, "id", "")
		require.NoError(t, err)
		assert.Equal(t, ":\n\n:\n\n:\n\nevent: end\ndata:\n\n", page.Body.String(), "after 5, 20 and 35 s")
	})
	config := stage.TwoDebaters()
	config.ID = "paused"
	synctest.Test(t, func(t *testing.T) {
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		require.NoError(t, session.Pause(t.Context()))
		request, page := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?after=1", nil), httptest.NewRecorder()
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			stage.Pass(46 * time.Second)
			leave()
		}()
		require.ErrorIs(t, sse.Stream{}.Serve(page, request.WithContext(ctx), engine, config.ID), context.Canceled)
		assert.Equal(t, 3, strings.Count(page.Body.String(), ":\n\n"))
		assert.NotContains(t, page.Body.String(), "event: end")
	})
}

// TestWhatIsSaidAtOnceIsHiddenFromSpectators: until all have spoken, unless the host program shows it. Meanwhile the stream is not silent.
func TestWhatIsSaidAtOnceIsHiddenFromSpectators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := script{pause: 20 * time.Second, events: []flow.Event{
			{Seq: 1, Body: &flow.Intent{Call: "ada", By: "Ada", Hidden: true}},
			{Seq: 1, Body: &flow.Chunk{Call: "ada", Text: "Secret", Hidden: true}},
			{Seq: 2, Body: &flow.Turn{Speaker: "Ada", Text: "Secret.", Hidden: true}},
			{Seq: 3, Body: &flow.Transition{From: "debating", To: flow.StatePaused}},
		}}
		page, err := get(t, sse.Stream{}, said, "id", "")
		require.NoError(t, err)
		assert.NotContains(t, page.Body.String(), "Secret")
		assert.Contains(t, page.Body.String(), `"hidden":true`, "the page can say that Ada's words are hidden")
		assert.Equal(t, 4, strings.Count(page.Body.String(), ":\n\n"), "three comments, and the end")
		all, err := get(t, sse.Stream{View: full}, said, "id", "")
		require.NoError(t, err)
		assert.Contains(t, all.Body.String(), "Secret")

		said.events = append(said.events, flow.Event{Seq: 4, Body: &flow.Transition{From: flow.StatePaused, To: flow.StateCanceled}})
		page, err = get(t, sse.Stream{}, said, "id", "")
		require.NoError(t, err)
		ids := ""
		for _, e := range parse(t, page.Body.String()) {
			ids += e.id
		}
		assert.Equal(t, "1234", ids, "in their order")
		assert.Contains(t, page.Body.String(), "Secret.")
	})
}

// TestAStreamThatCannotBeginSaysWhy: by the status. Once it has begun it has none, and just ends.
func TestAStreamThatCannotBeginSaysWhy(t *testing.T) {
	engine, id := debated(t)
	broken := errors.New("SECRET: the disk is gone")
	for name, c := range map[string]struct {
		source sse.Source
		id     string
		last   string
		status int
	}{
		"a text for a number":  {engine, id, "six", http.StatusBadRequest},
		"a negative number":    {engine, id, "-1", http.StatusBadRequest},
		"no such conversation": {engine, "other", "", http.StatusNotFound},
		"a store that fails":   {script{err: broken}, id, "", http.StatusServiceUnavailable},
		"one that fails later": {script{events: []flow.Event{{Seq: 1, Body: &flow.Round{N: 1}}}, err: broken}, id, "", http.StatusOK},
	} {
		page, err := get(t, sse.Stream{}, c.source, c.id, c.last)
		require.Error(t, err, name)
		assert.Equal(t, c.status, page.Code, name)
		assert.NotContains(t, page.Body.String(), "SECRET", name)
		assert.NotContains(t, page.Body.String(), "event: end", name)
	}
}

// endless yields events for as long as they are taken.
type endless struct{ left chan error }

func (s endless) Events(ctx context.Context, _ string, _ int64, _ ...time.Duration) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		text := strings.Repeat("word ", 2000)
		for seq := int64(1); ctx.Err() == nil; seq++ {
			if !yield(flow.Event{Seq: seq, Body: &flow.Turn{Speaker: "Ada", Text: text}}, nil) {
				return
			}
		}
		yield(flow.Event{}, ctx.Err())
	}
}

// TestAReaderThatIsGoneEndsItsStream: one that reads nothing more, when the write has lasted too long, and one that has left.
func TestAReaderThatIsGoneEndsItsStream(t *testing.T) {
	source := endless{left: make(chan error, 1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		source.left <- sse.Stream{Timeout: 100 * time.Millisecond}.Serve(w, r, source, "id")
	}))
	defer server.Close()
	for name, leave := range map[string]bool{"leaves": true, "stands still": false} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		require.NoError(t, err)
		response, err := server.Client().Do(request)
		require.NoError(t, err, name)
		line, err := bufio.NewReader(io.LimitReader(response.Body, 100)).ReadString('\n')
		require.NoError(t, err, name)
		assert.Equal(t, "id: 1\n", line, name)
		if leave {
			require.NoError(t, response.Body.Close())
		}
		require.Error(t, <-source.left, name)
		require.NoError(t, response.Body.Close())
	}
}

// TestAStreamOutlastsTheServersTimeout: the write timeout of a server is for whole responses; that of a stream is for each write. The
// next request of the connection has that of the server again.
func TestAStreamOutlastsTheServersTimeout(t *testing.T) {
	source := script{pause: 30 * time.Millisecond}
	for seq := range int64(10) {
		source.events = append(source.events, flow.Event{Seq: seq + 1, Body: &flow.Round{N: 1}})
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.NoError(t, sse.Stream{Timeout: time.Minute}.Serve(w, r, source, "id"))
	}))
	server.Config.WriteTimeout = 100 * time.Millisecond
	server.Start()
	defer server.Close()
	for range 2 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
		require.NoError(t, err)
		response, err := server.Client().Do(request)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Len(t, parse(t, string(text)), 11)
	}
}
