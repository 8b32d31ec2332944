package sql_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// facts returns n events numbered from after+1.
func facts(after int64, n int) []flow.Event {
	events := make([]flow.Event, n)
	for i := range events {
		seq := after + int64(i) + 1
		events[i] = flow.Event{
			Seq: seq, At: time.Unix(seq, 0).UTC(),
			Body: &flow.Dropped{Participant: fmt.Sprint(seq)},
		}
	}
	return events
}

// start returns the first event of a debate.
func start(topic string, labels map[string]string) []flow.Event {
	return []flow.Event{{
		Seq: 1, At: time.Unix(1, 0).UTC(),
		Body: &flow.Start{Version: 1, Settings: flow.Settings{Topic: topic, Labels: labels}},
	}}
}

// turn returns one event with a text.
func turn(seq int64, text string) []flow.Event {
	return []flow.Event{{Seq: seq, At: time.Unix(seq, 0).UTC(), Body: &flow.Turn{Text: text}}}
}

// read returns the log of a debate, and the error that ends it.
func read(t testing.TB, store store.Store, id string) (events []flow.Event, err error) {
	t.Helper()
	for event, err := range store.Read(t.Context(), id, 0) {
		if err != nil {
			return events, err
		}
		require.Equal(t, int64(len(events)+1), event.Seq)
		events = append(events, event)
	}
	return events, nil
}

// length returns how many events a log has.
func length(t testing.TB, store store.Store, id string) int {
	t.Helper()
	events, err := read(t, store, id)
	require.NoError(t, err)
	return len(events)
}

// list returns the debates that a filter selects.
func list(t testing.TB, store store.Store, filter store.Filter) (infos []store.Info) {
	t.Helper()
	for info, err := range store.List(t.Context(), filter) {
		require.NoError(t, err)
		infos = append(infos, info)
	}
	return infos
}

// names returns their ids.
func names(infos []store.Info) (ids []string) {
	for _, info := range infos {
		ids = append(ids, info.ID)
	}
	return ids
}
