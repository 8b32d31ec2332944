package sql_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store"
)

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
