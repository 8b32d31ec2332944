package sql_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store"
)

// Labels of any length and content are told apart, though the index has room for the beginning alone.
func TestLabels(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		long := strings.Repeat("é", 5000)
		labels := []map[string]string{
			{"a": "1"},
			{"a": "1", "b": "2"},
			{"a": "2"},
			{"a\x00b": "c"},
			{"a": "\x00b"},
			{`a","b`: `x`},
			{"a": `","b`},
			{"long": long + "1"},
			{"long": long + "2"},
			{"long": long},
			{"": ""},
			{"%": "_"},
			nil,
		}
		for i, l := range labels {
			require.NoError(t, kept.Append(t.Context(), fmt.Sprintf("d%02d", i), 0, "w", start("t", l)))
		}
		for i, wanted := range labels {
			var want []string
			for j, l := range labels {
				if (store.Filter{Labels: wanted}).Matches(store.Info{Labels: l}) {
					want = append(want, fmt.Sprintf("d%02d", j))
				}
			}
			infos := list(t, kept, store.Filter{Labels: wanted})
			assert.Equal(t, want, names(infos), "%d", i)
		}
	})
}

// A limit counts what is given, not what the database has found.
func TestPagesOfDebates(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		var appending sync.WaitGroup
		long := strings.Repeat("x", 600)
		for i := range 300 {
			appending.Go(func() {
				label := long // alike as far as the index goes
				if i%100 == 99 {
					label += "!"
				}
				assert.NoError(t, kept.Append(t.Context(), fmt.Sprintf("d%03d", i), 0, "w", start("t", map[string]string{"l": label})))
			})
		}
		appending.Wait()
		rare := store.Filter{Labels: map[string]string{"l": long + "!"}}
		assert.Equal(t, []string{"d099", "d199", "d299"}, names(list(t, kept, rare)))
		rare.Limit = 2
		assert.Equal(t, []string{"d099", "d199"}, names(list(t, kept, rare)))
		rare.After = "d099"
		assert.Equal(t, []string{"d199", "d299"}, names(list(t, kept, rare)))
		rare.Newest, rare.After = true, "d299\x00" // no id, and yet a place in the order
		assert.Equal(t, []string{"d299", "d199"}, names(list(t, kept, rare)))
		assert.Len(t, list(t, kept, store.Filter{}), 300)
		assert.Len(t, list(t, kept, store.Filter{Limit: 200}), 200)
	})
}

func TestAListThatCannotGoOn(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		for i := range 3 {
			require.NoError(t, kept.Append(t.Context(), fmt.Sprint("d", i), 0, "w", start("cars", nil)))
		}
		for _, filter := range []store.Filter{{}, {Text: "cars"}} {
			ctx, cancel := context.WithCancel(t.Context())
			var given, failed int
			for _, err := range kept.List(ctx, filter) {
				if err != nil {
					assert.ErrorIs(t, err, context.Canceled)
					failed++
					continue
				}
				given++
				cancel()
			}
			assert.Equal(t, [2]int{1, 1}, [2]int{given, failed})
			cancel()
		}
		damages := []string{`UPDATE debate SET about = '{'`, `UPDATE debate SET about = '{}', started = 'once'`, `UPDATE debate SET started = at, at = ''`}
		if s.name == "SQLite" { // whose columns hold anything
			damages = append(damages, `UPDATE debate SET round = 'x'`)
		}
		for _, damage := range damages {
			s.execute(t, damage)
			infos := list(t, kept, store.Filter{})
			assert.Len(t, infos, 3)
			for _, info := range infos {
				require.ErrorContains(t, info.Err, "sql: the description of "+info.ID+" is damaged")
			}
		}
	})
}

// Times are compared as times, to the nanosecond, in whatever zone they are told.
func TestListByTime(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		zone := time.FixedZone("", 3600)
		times := []time.Time{
			{},
			time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(2026, 3, 1, 0, 30, 0, 0, zone),
			time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 1, 0, 0, 0, 1, time.UTC), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		}
		for i, at := range times {
			events := start("t", nil)
			events[0].At = at
			require.NoError(t, kept.Append(t.Context(), fmt.Sprint("d", i), 0, "w", events))
		}
		bounds := append(slices.Clone(times), time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-3, 1, 1, 0, 0, 0, 0, time.UTC))
		for _, from := range bounds {
			for _, until := range bounds {
				filter := store.Filter{From: from, Until: until}
				var want []string
				for i, at := range times {
					if filter.Matches(store.Info{ID: "x", StartedAt: at}) {
						want = append(want, fmt.Sprint("d", i))
					}
				}
				assert.Equal(t, want, names(list(t, kept, filter)), "from %v until %v", from, until)
			}
		}
		for i, info := range list(t, kept, store.Filter{}) {
			assert.True(t, info.StartedAt.Equal(times[i]) && info.LastAt.Equal(times[i]), "%v", info)
		}
	})
}
