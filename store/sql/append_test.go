package sql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
)

// An append that still waits when its context ends is withdrawn; one that is being written goes on, and
// the caller is not told that it was kept before that is known.
func TestAnAppendsContextEnds(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		release := s.block(t)
		written, cancelWritten := context.WithCancel(t.Context())
		waiting, cancelWaiting := context.WithCancel(t.Context())
		outcomes := make([]chan error, 10)
		for i := range outcomes {
			outcomes[i] = make(chan error, 1)
			ctx := waiting
			if i < kept.Committers() {
				ctx = written
			}
			go func() { outcomes[i] <- kept.Append(ctx, fmt.Sprint("d", i), 0, "w", facts(0, 1)) }()
			eventually(t, func() bool { return kept.Waiting() == i+1 })
		}
		require.Equal(t, kept.Committers(), kept.Writing(), "each of the first alone, so that the others have to wait")
		cancelWaiting()
		eventually(t, func() bool { return kept.Waiting() == kept.Committers() })
		cancelWritten()
		release()
		eventually(t, func() bool { return kept.Waiting() == 0 })
		for i, outcome := range outcomes {
			id := fmt.Sprint("d", i)
			err := <-outcome
			_, missing := read(t, kept, id)
			switch {
			case err == nil:
				assert.NoError(t, missing, "what is acknowledged is there")
			case missing == nil:
				assert.ErrorContains(t, err, "it is unknown whether", "what is there must not be called withdrawn")
			default:
				assert.ErrorIs(t, err, context.Canceled)
			}
			require.NoError(t, kept.Append(t.Context(), id, 0, "w", facts(0, 1)), "the same writer's next try finds out")
			assert.Equal(t, 1, length(t, kept, id))
		}
	})
}

// Nor is one withdrawn that somebody else is writing, with others.
func TestTheContextOfOneOfManyEnds(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	kept := s.store(t)
	release := s.block(t)
	first, cancelFirst := context.WithCancel(t.Context())
	rest, cancelRest := context.WithCancel(t.Context())
	defer cancelRest()
	errs := make(chan error, 12)
	for i := range 2 { // as many as are written at once
		go func() { errs <- kept.Append(first, fmt.Sprint("first", i), 0, "w", facts(0, 1)) }()
	}
	eventually(t, func() bool { return kept.Writing() == 2 })
	for i := range 10 {
		go func() { errs <- kept.Append(rest, fmt.Sprint("d", i), 0, "w", facts(0, 1)) }()
	}
	eventually(t, func() bool { return kept.Waiting() == 12 })
	cancelFirst()
	eventually(t, func() bool { return kept.Writing() == 10 && kept.Waiting() == 10 })
	cancelRest()
	for range cap(errs) {
		err := <-errs
		require.ErrorIs(t, err, context.Canceled)
		assert.ErrorContains(t, err, "it is unknown whether")
	}
	release()
	require.NoError(t, kept.Close())
	assert.Subset(t, names(list(t, s.store(t), store.Filter{})), []string{"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"})
}

func TestAnAppendThatTakesTooLong(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		s.store(t) // the tables take longer than the timeout
		kept, err := s.open(t.Context(), sql.Options{Timeout: 100 * time.Millisecond})
		require.NoError(t, err)
		defer func() { assert.NoError(t, kept.Close()) }()
		release := s.block(t)
		err = kept.Append(t.Context(), "a", 0, "w", facts(0, 1))
		require.Error(t, err, "never success")
		release()
		eventually(t, func() bool { // on a busy machine an append may take longer than the timeout too
			return kept.Append(t.Context(), "a", 0, "w", facts(0, 1)) == nil
		})
		assert.Equal(t, 1, length(t, s.store(t), "a"))
	})
}

// Of many that share a transaction, one that the database refuses fails alone.
func TestABadAppendFailsAlone(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		if s.name == "SQLite" {
			s.execute(t, `CREATE TRIGGER picky BEFORE INSERT ON debate_commit WHEN new.writer = 'bad' BEGIN SELECT raise(ABORT, 'picky'); END`)
		} else {
			s.execute(t, `ALTER TABLE debate_commit ADD CONSTRAINT picky CHECK (writer <> 'bad')`)
		}
		require.NoError(t, kept.Append(t.Context(), "d7", 0, "w", facts(0, 1)))
		release := s.block(t)
		var appending sync.WaitGroup
		for i := range 30 {
			appending.Go(func() {
				id, writer, after := fmt.Sprint("d", i), "w", int64(0)
				if i == 7 {
					after = 1
				}
				if i%10 == 7 {
					writer = "bad"
				}
				err := kept.Append(t.Context(), id, after, writer, facts(after, 2))
				if writer == "bad" {
					assert.ErrorContains(t, err, "picky")
				} else {
					assert.NoError(t, err)
				}
			})
		}
		eventually(t, func() bool { return kept.Waiting() == 30 })
		release()
		appending.Wait()
		assert.Len(t, list(t, kept, store.Filter{}), 28)
		assert.Equal(t, 1, length(t, kept, "d7"), "what fails has changed nothing")
		assert.Equal(t, 27+1, s.count(t, "debate_commit"))
	})
}

// A host may have chosen the strictest level for all its transactions.
func TestSerializableTransactions(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	u := mustParse(t, s.url)
	query := u.Query()
	query.Set("default_transaction_isolation", "serializable")
	u.RawQuery = query.Encode()
	var stores []*sql.Store
	for range 3 {
		kept, err := sql.OpenPostgres(t.Context(), u.String())
		require.NoError(t, err)
		defer func() { assert.NoError(t, kept.Close()) }()
		stores = append(stores, kept)
	}
	var appending sync.WaitGroup
	for i := range 12 {
		appending.Go(func() {
			for after := range int64(5) {
				assert.NoError(t, stores[i%3].Append(t.Context(), fmt.Sprint("d", i), after, "w", facts(after, 1)))
			}
		})
	}
	appending.Wait()
	assert.Len(t, list(t, stores[0], store.Filter{}), 12)
}

func TestEventsMustBeNumbered(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		require.ErrorContains(t, kept.Append(t.Context(), "a", 0, "w", facts(1, 1)), "is numbered 2")
		require.ErrorContains(t, kept.Append(t.Context(), "a", 0, "w", append(facts(0, 1), facts(2, 1)...)), "event 2 is numbered 3")
		for _, at := range []time.Time{
			time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -7200)),
			time.Date(0, 1, 1, 0, 0, 0, 0, time.FixedZone("", 7200)),
		} {
			events := facts(0, 1)
			events[0].At = at
			require.ErrorContains(t, kept.Append(t.Context(), "a", 0, "w", events), "event 1: its time")
		}
		assert.Empty(t, list(t, kept, store.Filter{}))
	})
}

// Nothing of a deleted debate is left in any table.
func TestDeleteLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		for _, id := range []string{"a", "b"} {
			require.NoError(t, kept.Append(t.Context(), id, 0, "w", start("t", map[string]string{"tenant": id})))
			require.NoError(t, kept.Append(t.Context(), id, 1, "w", facts(1, 3)))
			require.NoError(t, kept.Lease(t.Context(), id, "me", time.Hour))
		}
		require.NoError(t, kept.Delete(t.Context(), "a"))
		tables := map[string]int{"debate": 1, "debate_commit": 2, "debate_label": 1, "debate_lease": 1}
		for table, rows := range tables {
			assert.Equal(t, rows, s.count(t, table), table)
		}
		require.NoError(t, kept.Delete(t.Context(), "b"))
		for table := range tables {
			assert.Zero(t, s.count(t, table), table)
		}
	})
}

// Appends and deletions of the same debates, from two stores: no log ever has a part of another.
func TestDeleteBesideAppends(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		stores := []*sql.Store{s.store(t), s.store(t)}
		var appending, deleting sync.WaitGroup
		deleted := make(chan struct{})
		for i := range 3 {
			id := fmt.Sprint("d", i)
			appending.Go(func() {
				over := false // nothing is deleted from now on
				for after := int64(0); ; {
					err := stores[0].Append(t.Context(), id, after, "w", facts(after, 1))
					if after++; err != nil {
						assert.ErrorIs(t, err, flow.ErrConflict)
						after = 0 // it was deleted
					}
					if over && after >= 10 {
						return
					}
					select {
					case <-deleted:
						over = true
					default:
					}
				}
			})
			deleting.Go(func() {
				for range 5 {
					assert.NoError(t, stores[1].Delete(t.Context(), id))
					for event, err := range stores[1].Read(t.Context(), id, 0) {
						if err != nil {
							assert.ErrorIs(t, err, flow.ErrNotFound)
							break
						}
						assert.Equal(t, fmt.Sprint(event.Seq), body.As[flow.Dropped](event).Participant)
					}
				}
			})
		}
		deleting.Wait()
		close(deleted)
		appending.Wait()
		total := 0
		for i := range 3 {
			total += length(t, stores[0], fmt.Sprint("d", i))
		}
		assert.Equal(t, total, s.count(t, "debate_commit"), "nothing lies about")
	})
}

// A transaction that PostgreSQL breaks off because of others is tried again, though not for ever.
func TestATransactionIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newPostgres(t)
	kept := s.store(t)
	for _, code := range []string{"40001", "40P01"} {
		s.execute(t, `DROP SEQUENCE IF EXISTS faults`)
		s.execute(t, `CREATE SEQUENCE faults`) // which no rollback sets back
		s.execute(t, `CREATE OR REPLACE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('faults') <= 3 THEN RAISE EXCEPTION 'somebody was in the way' USING ERRCODE = '`+code+`'; END IF;
			RETURN new;
		END $$`)
		s.execute(t, `CREATE OR REPLACE TRIGGER fault BEFORE INSERT ON debate_commit FOR EACH ROW EXECUTE FUNCTION fault()`)
		require.NoError(t, kept.Append(t.Context(), "a"+code, 0, "w", facts(0, 1)))
		require.NoError(t, kept.Append(t.Context(), "a"+code, 1, "w", facts(1, 1)))
		s.execute(t, `ALTER SEQUENCE faults RESTART MINVALUE -1000 START -1000`)
		require.ErrorContains(t, kept.Append(t.Context(), "a"+code, 2, "w", facts(2, 1)), "somebody was in the way")
		assert.Equal(t, 2, length(t, kept, "a"+code))
	}
}

// A disk that is full keeps what is there, and no more until there is room.
func TestTheDiskIsFull(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	kept := s.store(t)
	require.NoError(t, kept.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	require.NoError(t, kept.MaxPages(t.Context(), 1)) // fewer than there are: no more
	long := strings.Repeat("x", 10_000)
	for range 3 {
		require.ErrorContains(t, kept.Append(t.Context(), "a", 1, "w", turn(2, long)), "full")
		require.ErrorContains(t, kept.Append(t.Context(), "b", 0, "w", turn(1, long)), "full")
	}
	assert.Equal(t, 1, length(t, kept, "a"))
	require.NoError(t, kept.Lease(t.Context(), "a", "me", time.Hour), "what takes no room goes on")
	require.NoError(t, kept.MaxPages(t.Context(), 1<<20))
	require.NoError(t, kept.Append(t.Context(), "a", 1, "w", turn(2, long)))
	require.NoError(t, kept.Append(t.Context(), "b", 0, "w", turn(1, long)))
	assert.Equal(t, 2, length(t, kept, "a"))
	assert.Equal(t, []string{"a", "b"}, names(list(t, kept, store.Filter{})))
}

// A raw message is anything that a vendor has sent.
func TestARawMessageThatIsNotUTF8(t *testing.T) {
	each(t, func(t *testing.T, s *storage) {
		kept := s.store(t)
		events := turn(1, "t")
		body.As[flow.Turn](events[0]).Data = json.RawMessage("{\"a\":\"\xff\",\n\"b\":\"\\u0000\"}")
		require.NoError(t, kept.Append(t.Context(), "a", 0, "w", events))
		events, err := read(t, kept, "a")
		require.NoError(t, err)
		assert.JSONEq(t, "{\"a\":\"\ufffd\",\"b\":\"\\u0000\"}", string(body.As[flow.Turn](events[0]).Data))
		body.As[flow.Turn](events[0]).Data = json.RawMessage("{")
		require.ErrorContains(t, kept.Append(t.Context(), "b", 0, "w", events), "event 1")
	})
}

// Those that share a transaction are judged one by one.
func TestConflictsAmongMany(t *testing.T) {
	t.Parallel()
	kinds := []struct {
		name   string
		after  int64
		writer string
		want   error
		length int // of the log afterwards
	}{
		{"the next events", 4, "w", nil, 5},
		{"an earlier try has succeeded", 3, "w", nil, 4},
		{"somebody else was faster", 3, "other", flow.ErrConflict, 4},
		{"that would leave a gap", 5, "w", flow.ErrConflict, 4},
		{"that is long past", 0, "w", flow.ErrConflict, 4},
	}
	for name, mix := range map[string][]int{"all": {0, 1, 2, 3, 4}, "gaps": {0, 3}} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, s *storage) {
				kept := s.store(t)
				const debates = 20
				for i := range debates {
					require.NoError(t, kept.Append(t.Context(), fmt.Sprint("d", i), 0, "w", facts(0, 3)))
					require.NoError(t, kept.Append(t.Context(), fmt.Sprint("d", i), 3, "w", facts(3, 1)))
				}
				release := s.block(t)
				var appending sync.WaitGroup
				for i := range debates {
					kind := kinds[mix[i%len(mix)]]
					appending.Go(func() {
						err := kept.Append(t.Context(), fmt.Sprint("d", i), kind.after, kind.writer, facts(kind.after, 1))
						assert.ErrorIs(t, err, kind.want, kind.name)
					})
				}
				eventually(t, func() bool { return kept.Waiting() == debates })
				release()
				appending.Wait()
				for i := range debates {
					kind := kinds[mix[i%len(mix)]]
					assert.Equal(t, kind.length, length(t, kept, fmt.Sprint("d", i)), kind.name)
				}
				assert.Equal(t, 2*debates+debates/len(mix), s.count(t, "debate_commit"))
			})
		})
	}
}
