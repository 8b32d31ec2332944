package sql_test

import (
	"testing"

	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/storetest"
)

func TestSQLiteConforms(t *testing.T)   { conforms(t, newSQLite) }
func TestPostgresConforms(t *testing.T) { conforms(t, newPostgres) }

func conforms(t *testing.T, fresh func(t testing.TB) *storage) {
	t.Helper()
	t.Parallel()
	storetest.Run(t, func(t testing.TB) storetest.Storage {
		s := fresh(t)
		storage := storetest.Storage{
			Open:   func(t testing.TB) store.Store { return s.store(t) },
			Damage: func(t testing.TB, id string) { s.execute(t, "UPDATE debate SET about = '{' WHERE id = '"+id+"'") },
		}
		if s.path != "" {
			storage.Holds = s.holds
		}
		return storage
	})
}
