package sql

import (
	stdsql "database/sql"
	"errors"
	"sync"
	"time"

	"github.com/agonist-dev/debate"
)

// Store keeps debates in a database. It is safe for concurrent use, and any number of stores, in as many
// processes, may have one database open.
type Store struct {
	dialect *dialect
	read    *stdsql.DB
	write   *stdsql.DB
	lend    *stdsql.DB // one of the two: where leases are written
	timeout time.Duration
	poll    time.Duration

	queue      *queue
	committers sync.WaitGroup
	watch      watch
	close      func() error
}

var (
	_ debate.Store   = (*Store)(nil)
	_ debate.Watcher = (*Store)(nil)
)

// start starts as many committers.
func (s *Store) start(committers int) {
	s.queue = newQueue(committers)
	for range committers {
		s.committers.Go(s.run)
	}
	s.close = sync.OnceValue(func() error {
		s.queue.close()
		s.committers.Wait()
		s.watch.close()
		return errors.Join(s.read.Close(), s.write.Close())
	})
}

// Close writes what is still to be written, stops the store's goroutines, waits for them and closes its
// connections. What is asked of the store later fails; to close it once more does nothing.
func (s *Store) Close() error { return s.close() }
