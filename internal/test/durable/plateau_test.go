package durable_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
)

var (
	plateauDays = flag.Int("plateau.days", longform.Or(12, 7), "how many days TestTheStoreStopsGrowing plays")
	plateauSize = flag.Int("plateau.debates", longform.Or(60, 10), "how many debates a day")
)

// plateauKept is for how many days a debate is kept in the simulation.
const plateauKept = 3

// commits is a store that records how a log came to be.
type commits struct {
	store.Memory

	all [][]flow.Event
}

// Append implements [store.Store].
func (c *commits) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	c.all = append(c.all, slices.Clone(events))
	return c.Memory.Append(ctx, id, after, writer, events)
}

// TestTheStoreStopsGrowing simulates days of a service that keeps its debates for some days: each day brings as many debates of
// three rounds, commit by commit, and deletes those that are too old. The store must stop growing, and a day at the end must not
// take longer than one at the beginning. docs/internal/scaling.md multiplies what this prints.
func TestTheStoreStopsGrowing(t *testing.T) {
	longform.Lone(t)
	var recorded commits
	conclude(t, &recorded, "model", 3)
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			place := newPlace(t, kind)
			if kind == inPostgres {
				place.At += "&options=-c%20synchronous_commit%3Doff" // it changes no byte
			}
			kept := opened(t, place)
			engine := &debate.Engine{Store: kept}
			var ends []time.Time   // of the days
			var sizes []int64      // at their ends
			var works []float64    // ms a debate
			prunes, gone := 0.0, 0 // ms in all
			for day := range *plateauDays {
				began := time.Now()
				for n := range *plateauSize {
					recorded.replay(t, kept, fmt.Sprintf("day-%03d-%06d", day, n))
				}
				works = append(works, time.Since(began).Seconds()*1000/float64(*plateauSize))
				ends = append(ends, time.Now())
				if day >= plateauKept {
					began = time.Now()
					// The logs have the times of the one that was recorded, so that a day is known by its ids.
					for info, err := range engine.List(t.Context(), debate.Filter{Limit: *plateauSize}) {
						require.NoError(t, err)
						require.Contains(t, info.ID, fmt.Sprintf("day-%03d-", day-plateauKept))
						break
					}
					for pruned, err := range engine.Prune(t.Context(), store.Retention{Before: ends[day], Limit: *plateauSize}) {
						require.NoError(t, err)
						require.NoError(t, pruned.Err)
						gone++
					}
					prunes += time.Since(began).Seconds() * 1000
				}
				vacuum(t, place)
				sizes = append(sizes, place.size(t))
			}
			full, last := sizes[plateauKept+1], sizes[len(sizes)-1]
			perDebate := float64(sizes[plateauKept-1]) / float64(plateauKept**plateauSize)
			figuref("store growth, %s: %.1f KiB a debate of 3 rounds; %d days kept: %.1f MiB after %d days, %.1f MiB after %d (%.2f x); "+
				"%.2f ms to write a debate on day 1, %.2f at the end; %.2f ms to delete one", kind, perDebate/1024, plateauKept,
				float64(full)/(1<<20), plateauKept+2, float64(last)/(1<<20), len(sizes), float64(last)/float64(full),
				works[0], works[len(works)-1], prunes/float64(max(gone, 1)))
			assert.Equal(t, (*plateauDays-plateauKept)**plateauSize, gone)
			assert.Less(t, float64(last), 1.25*float64(full), "the store still grows")
		})
	}
}

// replay appends the recorded commits under another id.
func (c *commits) replay(t *testing.T, to store.Store, id string) {
	t.Helper()
	after := int64(0)
	for _, events := range c.all {
		require.NoError(t, to.Append(t.Context(), id, after, "w", events))
		after = events[len(events)-1].Seq
	}
}

// vacuum does what PostgreSQL's autovacuum does in the course of a day.
func vacuum(t *testing.T, p place) {
	t.Helper()
	if p.Kind == inPostgres {
		query(t, "pgx", p.At, `VACUUM`, nil)
	}
}
