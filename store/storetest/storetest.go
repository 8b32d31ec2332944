// Package storetest is the conformance suite for implementations of [store.Store]:
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t testing.TB) storetest.Storage {
//			dir := t.TempDir()
//			return storetest.Storage{Open: func(t testing.TB) store.Store {
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
// Each check is a subtest with the name of the clause of the contract that it tests. Run the suite with
// the race detector too, which finds what the suite cannot. With
// DEBATE_LONG_TESTS=1 in the environment there are more conversations and longer ones.
package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/agonist-dev/debate/store"
)

// patience is how long a store may take for what it should do at once. It is generous, because a slow
// machine is not the store's fault.
const patience = 5 * time.Minute

// Storage is one place that holds logs.
type Storage struct {
	// Open opens one more handle to the storage, as another process would, and registers its closing with
	// t.Cleanup. Several handles are open at once. The suite closes some in the middle of a test and
	// opens others later. It closes one itself if that has a method Close, before the cleanup does so again. Whether a
	// lease ends with the handle that acquired it is the store's choice. A store that exists only in its
	// handle, as [store.Memory] does, returns the same handle each time.
	Open func(t testing.TB) store.Store
	// Damage changes the stored bytes of a conversation past the store, so that List cannot describe it any more. The
	// id is in lower case. Nil: there are no such bytes, and the checks that need them are skipped.
	Damage func(t testing.TB, id string)
	// Holds returns the names of the storage's files in which a text stands. Nil: there are no such files, or the store cannot
	// reach them, and the check that needs them is skipped.
	Holds func(t testing.TB, text string) []string
}

// Run tests a store with every check. Each check is a subtest with an empty storage of its own, which
// fresh creates; fresh registers its removal with t.Cleanup. If the store is a [store.Watcher], a [store.Announcer], a
// [store.Quarantines], a [store.Alarms], a [store.Clock], a [store.Describer], a [store.Summer], a [store.StateCounter], a [store.Blobs]
// or a [store.Redactor], Run tests that too. For other stores, only those checks are skipped.
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
		appendChecks(), readChecks(), eventChecks(), crowdChecks(), idChecks(), deleteChecks(), blobChecks(), redactChecks(), leaseChecks(),
		listChecks(), damageChecks(), searchChecks(), watchChecks(), workChecks(), quarantineChecks(), alarmChecks(), clockChecks(),
		describeChecks(), sumChecks(), countChecks(), randomChecks(),
	)
}
