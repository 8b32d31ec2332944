package otel_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// noon is the time of a listed store.
var noon = time.Unix(43200, 0)

// listed is a store that has a list, a clock, and nothing else.
type listed struct {
	store.Store

	infos []store.Info
	err   error
}

func (l *listed) List(_ context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		if l.err != nil {
			yield(store.Info{}, l.err)
			return
		}
		for _, info := range l.infos {
			if filter.Matches(info) && !yield(info, nil) {
				return
			}
		}
	}
}

func (*listed) Time(context.Context) (time.Time, error) { return noon, nil }

// several are conversations of one tenant in different states, and one of another tenant.
func several() *listed {
	l := &listed{infos: []store.Info{
		{State: debate.StateAwaitingResponses, Since: noon.Add(-90 * time.Second), LastAt: noon.Add(-40 * time.Second)},
		{State: debate.StateAwaitingResponses, Since: noon.Add(-5 * time.Minute), Alarm: flow.Duration(time.Hour)},
		{State: debate.StateAwaitingResponses, Since: noon.Add(-time.Minute), Owner: "pod-7"},
		{State: debate.StateAwaitingResponses, Since: noon.Add(-time.Second), Quarantine: store.Quarantine{Left: 1}},
		{State: flow.StateError, Since: noon.Add(-time.Hour)},
		{State: flow.StateError, Since: noon.Add(-2 * time.Hour)},
		{State: flow.StateAwaitingInput, Since: noon.Add(-time.Minute), Alarm: -1},
		{State: flow.StateCompleted, Since: noon.Add(-time.Hour)},
		{State: debate.StateAwaitingResponses, Since: noon.Add(-24 * time.Hour)},
	}}
	for i := range l.infos {
		l.infos[i].ID, l.infos[i].Seq, l.infos[i].Labels = fmt.Sprint("c", i), 1, map[string]string{"tenant": "acme"}
	}
	l.infos[len(l.infos)-1].Labels = nil
	return l
}

// Unfinished conversations are counted by state, and those that need a process by themselves.
func TestTheMetricsOfConversations(t *testing.T) {
	r, s := newRecorder(), several()
	stop, err := r.Conversations(s, store.Filter{Labels: map[string]string{"tenant": "acme"}}, attribute.String("at", "one"))
	require.NoError(t, err)
	assert.Equal(t, strings.TrimPrefix(`
debate.conversations [{debate}] {at=one debate.held=false debate.quarantined=false debate.state=awaitingInput} 1
debate.conversations [{debate}] {at=one debate.held=false debate.quarantined=false debate.state=awaitingResponses} 2
debate.conversations [{debate}] {at=one debate.held=false debate.quarantined=false debate.state=error} 2
debate.conversations [{debate}] {at=one debate.held=false debate.quarantined=true debate.state=awaitingResponses} 1
debate.conversations [{debate}] {at=one debate.held=true debate.quarantined=false debate.state=awaitingResponses} 1
debate.conversations.age [s] {at=one debate.held=false debate.quarantined=false debate.state=awaitingInput} 60
debate.conversations.age [s] {at=one debate.held=false debate.quarantined=false debate.state=awaitingResponses} 300
debate.conversations.age [s] {at=one debate.held=false debate.quarantined=false debate.state=error} 7200
debate.conversations.age [s] {at=one debate.held=false debate.quarantined=true debate.state=awaitingResponses} 1
debate.conversations.age [s] {at=one debate.held=true debate.quarantined=false debate.state=awaitingResponses} 60
debate.due [{debate}] {at=one} 2
debate.due.age [s] {at=one} 40
`, "\n"), r.measured(t))

	s.infos = nil
	assert.Equal(t, "debate.due [{debate}] {at=one} 0\ndebate.due.age [s] {at=one} 0\n", r.measured(t), "an alert sees that nothing waits")

	s.err = errors.New("the database is gone")
	var all metricdata.ResourceMetrics
	require.ErrorIs(t, r.reader.Collect(t.Context(), &all), s.err)
	assert.Empty(t, all.ScopeMetrics)

	require.NoError(t, stop())
	assert.Equal(t, "\n", r.measured(t))
}

// Flows that make up states make no series without end, and no conversation is missing.
func TestTheStatesAreBounded(t *testing.T) {
	r, s := newRecorder(), &listed{}
	for i := range 1000 {
		s.infos = append(s.infos, store.Info{ID: fmt.Sprint("c", i), Seq: 1, State: flow.State(fmt.Sprint("made-up-", i)), Since: noon})
	}
	_, err := r.Conversations(s, store.Filter{})
	require.NoError(t, err)
	measured := r.measured(t)
	assert.Equal(t, 65, strings.Count(measured, "debate.conversations ["))
	assert.Contains(t, measured, "debate.state=_OTHER} 936\n")
	assert.Contains(t, measured, "debate.due [{debate}] {} 1000\n")
}
