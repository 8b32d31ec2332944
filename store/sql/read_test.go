package sql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/store"
)

// A damaged log gives what stands before the damage, then an error that says what is wrong.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, damage string
		want         int
		message      string
	}{
		{"the first commit is gone", `DELETE FROM debate_commit WHERE last = 2`, 0, "event 1 is missing"},
		{"one is gone", `DELETE FROM debate_commit WHERE last = 4`, 2, "event 3 is missing"},
		{"the last is gone", `DELETE FROM debate_commit WHERE last = 6`, 4, "event 5 is missing"},
		{"all are gone", `DELETE FROM debate_commit`, 0, "event 1 is missing"},
		{"no JSON", `UPDATE debate_commit SET body = substr(body, 1, 20) WHERE last = 4`, 2, "event 3"},
		{"nothing", `UPDATE debate_commit SET body = '' WHERE last = 4`, 2, "event 3"},
		{"other events", `UPDATE debate_commit SET body = (SELECT body FROM debate_commit WHERE last = 2) WHERE last = 4`, 2, "event 3 is numbered 1"},
		{"too few", `UPDATE debate_commit SET last = 5 WHERE last = 4`, 2, "2 events in place of events 3 to 5"},
		{"backwards", `UPDATE debate_commit SET last = 1 WHERE last = 2`, 0, "2 events in place of events 1 to 1"},
		{"as if of the end", `UPDATE debate_commit SET last = 4000000000 WHERE last = 4`, 2, "2 events in place of events 3 to 4000000000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, s *storage) {
				kept := s.store(t)
				for after := int64(0); after < 6; after += 2 {
					require.NoError(t, kept.Append(t.Context(), "a", after, "w", facts(after, 2)))
				}
				s.execute(t, tt.damage)
				events, err := read(t, kept, "a")
				assert.Len(t, events, tt.want)
				require.ErrorContains(t, err, "damaged")
				assert.ErrorContains(t, err, tt.message)
				assert.NotErrorIs(t, err, flow.ErrNotFound)
				assert.Empty(t, list(t, kept, store.Filter{Text: "x"}), "a search passes over it")
			})
		})
	}
}

// A log that is longer than what is read at once, in commits and in bytes, from every place.
func TestPages(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		var after int64
		for n := 1; after < 900; n = n%5 + 1 {
			require.NoError(t, kept.Append(t.Context(), "small", after, "w", facts(after, n)))
			after += int64(n)
		}
		for seq := range int64(5) {
			require.NoError(t, kept.Append(t.Context(), "large", seq, "w", turn(seq+1, strings.Repeat("x", 700<<10))))
		}
		assert.Equal(t, int(after), length(t, kept, "small"))
		assert.Equal(t, 5, length(t, kept, "large"))
		for from := int64(0); from <= after; from += 97 {
			next := from
			for event, err := range kept.Read(t.Context(), "small", from) {
				require.NoError(t, err)
				next++
				require.Equal(t, fmt.Sprint(next), body.As[flow.Dropped](event).Participant)
			}
			assert.Equal(t, after, next)
		}
	})
}

// Whoever reads a log that is deleted meanwhile is told that it is gone.
func TestALogIsDeletedUnderItsReader(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		for _, begun := range []bool{false, true} {
			kept := s.store(t)
			for after := range int64(300) {
				require.NoError(t, kept.Append(t.Context(), "a", after, "w", facts(after, 1)))
			}
			n := 0
			var last error
			for _, err := range kept.Read(t.Context(), "a", 0) {
				if last = err; err != nil {
					break
				}
				if n++; n == 1 {
					require.NoError(t, kept.Delete(t.Context(), "a"))
					if begun {
						require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
					}
				}
			}
			assert.ErrorIs(t, last, flow.ErrNotFound)
			assert.Less(t, n, 300)
		}
	})
}
