package temporal_test

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/proto"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

var rounds = flag.Int("rounds", longform.Or(500, 20), "of the debate of TestALongDebate; its calls take 100 ms from 500 rounds on, and 10 ms otherwise")

// What the server warns of: events and bytes of one history, and bytes of one payload.
const (
	warnEvents  = 10 * 1024
	warnHistory = 10 << 20
	warnPayload = 256 << 10
)

// A long debate takes as long for its last rounds as for its first, and no history and no payload comes near what the server warns of.
func TestALongDebate(t *testing.T) {
	t.Parallel()
	o := order{Latency: 10 * time.Millisecond, Long: 6 * *rounds}
	if *rounds >= 500 {
		o = order{Latency: 100 * time.Millisecond}
	}
	c := newCluster(t, o)
	c.worker(t)
	config := stage.TwoDebaters()
	config.ID, config.Rounds, config.Judging = "long", *rounds, nil
	id, err := c.client.Start(t.Context(), config)
	require.NoError(t, err)
	status, err := c.client.Wait(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, flow.StateCompleted, status.State)

	var turns []time.Time
	for event, err := range c.client.Engine.Store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		if _, ok := event.Body.(*flow.Turn); ok {
			turns = append(turns, event.At)
		}
	}
	require.Len(t, turns, 2**rounds)
	some := *rounds / 10
	first, last := spanOf(turns[:2*some]), spanOf(turns[2*(*rounds-some):])
	all := c.histories(t, id)
	figuref("%d rounds with calls of %s: %d runs; the longest history has %d events and %d bytes, the largest payload %d bytes; "+
		"the first %d rounds took %s, the last %d took %s", *rounds, o.Latency, all.runs, all.events, all.bytes, all.payload, some, first, some, last)
	assert.Greater(t, all.runs, 1)
	assert.Less(t, all.events, warnEvents/2)
	assert.Less(t, all.bytes, warnHistory/2)
	assert.Less(t, all.payload, warnPayload/100)
	if *rounds >= 500 { // a shorter one measures the machine
		assert.Less(t, last, first*5/4)
	}
}

func spanOf(turns []time.Time) time.Duration {
	return turns[len(turns)-1].Sub(turns[0]).Round(time.Millisecond)
}

// size is that of the histories of a workflow: how many there are, and the largest of each kind.
type size struct{ runs, events, bytes, payload int }

// histories measures all runs of a workflow.
func (c *cluster) histories(t testing.TB, id string) (s size) {
	t.Helper()
	for run := ""; ; {
		s.runs++
		bytes, events := 0, c.history(t, id, run)
		for _, event := range events {
			bytes += proto.Size(event)
			s.payload = max(s.payload, payloadOf(event))
		}
		s.events, s.bytes = max(s.events, len(events)), max(s.bytes, bytes)
		if run = before(events); run == "" {
			return s
		}
	}
}

// history returns the events of one run of a workflow; "": of the last one.
func (c *cluster) history(t testing.TB, id, run string) (events []*history.HistoryEvent) {
	t.Helper()
	all := c.client.Temporal.GetWorkflowHistory(t.Context(), id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		event, err := all.Next()
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}

// before returns the run that was continued as new by the one with these events; "": none was.
func before(events []*history.HistoryEvent) string {
	return events[0].GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId()
}

// payloadOf is the size of an event that carries an input or a result, which is hardly more than that.
func payloadOf(event *history.HistoryEvent) int {
	switch event.GetEventType() {
	case enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enums.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, enums.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
		enums.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED:
		return proto.Size(event)
	default:
		return 0
	}
}

// refusals counts the calls in the histories of a workflow that a worker has left to another one.
func (c *cluster) refusals(t testing.TB, id string) (n int) {
	t.Helper()
	for run := ""; ; {
		events := c.history(t, id, run)
		for _, event := range events {
			if event.GetEventType() == enums.EVENT_TYPE_ACTIVITY_TASK_FAILED {
				n++
			}
		}
		if run = before(events); run == "" {
			return n
		}
	}
}
