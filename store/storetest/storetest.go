// Package storetest is the conformance suite for implementations of [debate.Store]:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t testing.TB) storetest.Storage {
//			dir := t.TempDir()
//			return storetest.Storage{Open: func(t testing.TB) debate.Store {
//				store, err := newstore.Open(dir)
//				if err != nil {
//					t.Fatal(err)
//				}
//				t.Cleanup(func() { _ = store.Close() })
//				return store
//			}}
//		})
//	}
//
// Each check is a subtest that is named after the clause of the contract which it tries. Run them with
// the race detector too, which sees what the suite cannot. With DEBATE_LONG_TESTS=1 in the environment there
// are more debates and longer ones.
package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/agonist-dev/debate"
)

// patience is how long a store may take for what it should do at once. It is generous: a slow machine
// is no fault of the store's.
const patience = 20 * time.Second

// Storage is one place where logs are kept.
type Storage struct {
	// Open opens one more handle onto the storage, as one more process would, and has it closed in
	// t.Cleanup. Several are open at once, and the suite closes some in the middle of a test, to open
	// others after them; whether a lease ends with the handle that took it is the store's choice. A store
	// that lives in its handle alone, as [debate.MemoryStore] does, yields the same one each time.
	Open func(t testing.TB) debate.Store
}

// Run puts a store through every check, each in a subtest of its own and on an empty storage of its own,
// which fresh makes; t.Cleanup is where fresh removes it. A [debate.Watcher] is tried as one too; of
// another store those checks are skipped, and nothing else is.
func Run(t *testing.T, fresh func(t testing.TB) Storage) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			c.run(&exam{TB: t, storage: fresh(t), patience: patience})
		})
	}
}

// check is one clause of the contract.
type check struct {
	name string
	run  func(x *exam)
}

func checks() []check {
	return slices.Concat(
		appendChecks(), readChecks(), eventChecks(), crowdChecks(), idChecks(), deleteChecks(), leaseChecks(),
		listChecks(), searchChecks(), watchChecks(), randomChecks(),
	)
}
