package command_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// shelf is a store that only lists ids.
type shelf struct {
	store.Store

	ids []string
}

func (s shelf) List(context.Context, store.Filter) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		for _, id := range s.ids {
			if !yield(store.Info{ID: id}, nil) {
				return
			}
		}
	}
}

// TestShortIDs: ids that are made in the same minute begin alike, and are known by their ends. Those that end alike are named.
func TestShortIDs(t *testing.T) {
	const many, alike = 5000, 8
	kept, ends := shelf{}, make(map[string][]string)
	for i := range many {
		id := fmt.Sprintf("01a21fa7-80a8-7420-%04x-cafe%08x", 0x8000+i, (i%(many-alike))*857)
		kept.ids = append(kept.ids, id)
		ends[command.ShortID(id)] = append(ends[command.ShortID(id)], id)
	}
	require.Len(t, ends, many-alike)
	tried := 0
	for short, ids := range ends {
		require.Len(t, short, 8)
		if len(ids) == 1 && tried > 500 {
			continue
		}
		tried++
		found, err := command.Find(t.Context(), kept, short)
		if len(ids) == 1 {
			require.NoError(t, err)
			require.Equal(t, ids[0], found)
		} else {
			require.ErrorContains(t, err, "several ids begin or end with "+short+": "+strings.Join(ids, ", "))
		}
	}
	found, err := command.Find(t.Context(), kept, kept.ids[7])
	require.NoError(t, err)
	assert.Equal(t, kept.ids[7], found)
	found, err = command.Find(t.Context(), kept, kept.ids[7][:23])
	require.NoError(t, err)
	assert.Equal(t, kept.ids[7], found)
	_, err = command.Find(t.Context(), kept, "01a21fa7")
	require.ErrorContains(t, err, "several ids begin or end with 01a21fa7")
	short := command.ShortID(kept.ids[many/2])
	for _, own := range []string{short, short + "-x"} { // no other id takes the place of the one that lists show
		ids := append(slices.Clone(kept.ids), own)
		slices.Sort(ids) // as a store lists them
		_, err = command.Find(t.Context(), shelf{ids: ids}, short)
		require.ErrorContains(t, err, "several ids begin or end with "+short)
	}
	for _, own := range []string{"work", "b-long-id", "01a21fa7+80a8-7420-8000-cafe00000000"} {
		assert.Equal(t, own, command.ShortID(own))
	}
}

// TestTheListFitsATerminal: a row takes one line, whatever the topic is. What goes into a pipe has whole ids, and the flow.
func TestTheListFitsATerminal(t *testing.T) {
	const id = "01a21fa7-80a8-7420-8001-cafe12345678"
	infos := []store.Info{
		{ID: id, Flow: "deliberation", State: flow.StateAwaitingInput, Topic: strings.Repeat("Design a rate limiter ", 20)},
		{ID: id, Flow: "debate", State: "debating", Owner: "somebody", Round: 12, Topic: strings.Repeat("限速器", 50)},
		{ID: "own-id", Flow: "debate", State: "debating", Quarantine: store.Quarantine{Count: 1}, Topic: "Tabs\nand\x1b[31m more"},
		{ID: id, State: flow.StateError},
		{ID: id, State: flow.StateCompleted},
		{ID: id, State: flow.StatePaused},
		{ID: id, State: flow.StateCanceled},
	}
	for i := range infos {
		infos[i].StartedAt = time.Date(2026, 11, 30, 10, 8, 0, 0, time.Local) //nolint:gosmopolitan // the list has the time of its place
	}
	for _, width := range []int{80, 100, 200} {
		var out bytes.Buffer
		require.NoError(t, command.ListTable(&out, width, infos...))
		assert.Equal(t, len(infos)+1, strings.Count(out.String(), "\n"))
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, ansi.StringWidth(strings.TrimRight(line, "\n")), width, line)
		}
		assert.Contains(t, out.String(), "\n12345678  Nov 30 10:08  ")
		assert.Equal(t, width >= 100, strings.Contains(out.String(), "FLOW"))
		for _, word := range []string{"waits", "running", "idle!", "failed", "done", "paused", "canceled"} {
			assert.Contains(t, out.String(), " "+word+" ")
		}
	}
	var tables bytes.Buffer
	require.NoError(t, command.Tables(&tables, 80))
	for line := range strings.Lines(tables.String()) {
		assert.LessOrEqual(t, ansi.StringWidth(strings.TrimRight(line, "\n")), 80, line)
	}
	assert.NotContains(t, tables.String(), "CACHED")
	tables.Reset()
	require.NoError(t, command.Tables(&tables, 0))
	assert.Contains(t, tables.String(), "CACHED")
	var out bytes.Buffer
	require.NoError(t, command.ListTable(&out, 0, infos...))
	assert.Contains(t, out.String(), "\n"+id+"  ")
	assert.Contains(t, out.String(), "FLOW")
}
