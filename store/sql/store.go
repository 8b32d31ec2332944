package sql

import (
	"context"
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
	path    string     // PostgreSQL: the schemas that the tables are found in
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

	_ store.Quarantines  = (*Store)(nil)
	_ store.Alarms       = (*Store)(nil)
	_ store.Summer       = (*Store)(nil)
	_ store.StateCounter = (*Store)(nil)
)

// reads returns what runs a statement that reads: the connections for that, or the host program's transaction that ctx has.
func (s *Store) reads(ctx context.Context) statements {
	if host := hostedBy(ctx); host != nil {
		return guest{host, s}
	}
	return standard{s.read}
}

// alone runs a statement that writes: in a transaction of its own, or in the host program's that ctx has.
func (s *Store) alone(ctx context.Context, statement string, args ...any) error {
	if host := hostedBy(ctx); host != nil {
		_, err := guest{host, s}.exec(ctx, statement, args...)
		return err
	}
	return s.transact(ctx, func(ctx context.Context) error {
		_, err := s.dialect.alone(ctx, s.write, statement, args...)
		return err
	})
}

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
