package sql

import (
	"crypto/rand"
	stdsql "database/sql"
	"errors"
	"sync"
	"time"

	"github.com/agonist-dev/debate/internal/bell"
	"github.com/agonist-dev/debate/store"
)

// Store stores conversations in a database. It is safe for concurrent use. Any number of Stores, in any number
// of processes, may have one database open.
type Store struct {
	dialect *dialect
	read    *stdsql.DB
	write   *stdsql.DB
	lend    *stdsql.DB // read or write, whichever writes leases
	later   bool       // see Options.VacuumLater
	timeout time.Duration
	poll    time.Duration
	wake    wake
	life    *life     // nil: the database tells nothing of owners
	work    bell.Bell // its source also looks at the watched logs
	notices notices

	queue      *queue
	committers sync.WaitGroup
	watch      watch
	close      func() error
}

var (
	_ store.Store     = (*Store)(nil)
	_ store.Watcher   = (*Store)(nil)
	_ store.Announcer = (*Store)(nil)
	_ store.Blobs     = (*Store)(nil)
	_ store.Redactor  = (*Store)(nil)
	_ store.Clock     = (*Store)(nil)
	_ store.Describer = (*Store)(nil)

	_ store.Quarantines = (*Store)(nil)
)

// start starts that many committers.
func (s *Store) start(committers int) {
	s.queue = newQueue(committers)
	s.notices.sender, s.notices.closing = rand.Text(), make(chan struct{})
	for range committers {
		s.committers.Go(s.run)
	}
	s.close = sync.OnceValue(func() error {
		s.queue.close()
		s.committers.Wait()
		s.notices.close()
		s.work.Close()
		err := errors.Join(s.read.Close(), s.write.Close())
		s.watch.close()
		s.life.close()
		return err
	})
}

// Close writes everything that is queued, stops the store's goroutines, waits for them and closes its
// connections. It wakes all who watch. Later calls fail with [ErrClosed]. A second Close does nothing.
func (s *Store) Close() error { return s.close() }
