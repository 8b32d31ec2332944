package durable_test

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store/file"
)

// growthRounds are the rounds of the debate of TestEachStepWritesTheSame.
var growthRounds = longform.Or(500, 110)

// growing is a store that measures what is written in each round.
type growing struct {
	storage

	t      testing.TB
	place  place
	steps  int64         // so far
	bytes  int64         // of the events as JSON, so far
	rounds map[int]level // as the rounds began
}

// level is how much was written at a time.
type level struct {
	steps, bytes, disk int64
}

// Append implements [store.Store].
func (g *growing) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	if err := g.storage.Append(ctx, id, after, writer, events); err != nil {
		return err
	}
	for i := range events {
		data, err := json.Marshal(events[i])
		if err != nil {
			return err
		}
		g.bytes += int64(len(data))
		if spend, outcome := settled(&events[i]); spend != nil && outcome == done {
			g.steps++
		}
		if body.As[flow.Round](events[i]) == nil {
			continue
		}
		switch n := body.As[flow.Round](events[i]).N; n {
		case 2, 12, 52, growthRounds - 50, growthRounds - 10, growthRounds:
			g.rounds[n] = level{g.steps, g.bytes, g.place.size(g.t)}
		default:
		}
	}
	return nil
}

// TestEachStepWritesTheSame: a debate of many rounds writes no more for a step at its end than at its
// beginning, neither to the store nor to the disk.
func TestEachStepWritesTheSame(t *testing.T) {
	longform.Lone(t)
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			place := newPlace(t, kind)
			var store storage
			switch kind { // without waiting for the disk, where that can be had: it changes no byte
			case inFile:
				store = &file.Store{Dir: place.At, Sync: file.SyncNever}
			case inPostgres:
				place.At += "&options=-c%20synchronous_commit%3Doff"
				fallthrough
			default:
				var err error
				store, err = place.open(t.Context())
				require.NoError(t, err)
			}
			defer func() { assert.NoError(t, store.Close()) }()
			g := &growing{storage: store, t: t, place: place, rounds: make(map[int]level)}
			conclude(t, g, "growing", growthRounds)
			events := g.compare(10, func(l level) int64 { return l.bytes })
			disk := g.compare(50, func(l level) int64 { return l.disk }) // which grows by pages
			figuref("bytes per step, %s: %.0f in the first rounds, %.0f in the last of %d: %.2f x; on the disk %.0f and %.0f: %.2f x",
				kind, events[0], events[1], growthRounds, events[1]/events[0], disk[0], disk[1], disk[1]/disk[0])
			assert.InDelta(t, 1.025, events[1]/events[0], 0.225, "of 0.8 to 1.25")
			assert.InDelta(t, 1.025, disk[1]/disk[0], 0.225, "of 0.8 to 1.25")
		})
	}
}

// compare returns what a step has written in so many of the first rounds, and of the last.
func (g *growing) compare(rounds int, of func(level) int64) [2]float64 {
	mean := func(from, to int) float64 {
		a, b := g.rounds[from], g.rounds[to]
		return float64(of(b)-of(a)) / float64(b.steps-a.steps)
	}
	return [2]float64{mean(2, 2+rounds), mean(growthRounds-rounds, growthRounds)}
}

// size is how much a place has on the disk.
func (p place) size(t testing.TB) (bytes int64) {
	t.Helper()
	switch p.Kind {
	case inFile:
		require.NoError(t, filepath.WalkDir(p.At, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				bytes += info.Size()
			}
			return err
		}))
	case inSQLite:
		query(t, "sqlite", "file:"+p.At+"?_pragma=busy_timeout(10000)", `PRAGMA wal_checkpoint(TRUNCATE)`, nil)
		info, err := os.Stat(p.At)
		require.NoError(t, err)
		bytes = info.Size()
	default:
		query(t, "pgx", p.At, `SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relkind = 'r' AND relname LIKE 'debate%'`, &bytes)
	}
	return bytes
}

// query asks a database one thing.
func query(t testing.TB, driver, name, text string, result *int64) {
	t.Helper()
	db, err := stdsql.Open(driver, name)
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	if result == nil {
		_, err = db.ExecContext(t.Context(), text)
	} else {
		err = db.QueryRowContext(t.Context(), text).Scan(result)
	}
	require.NoError(t, err)
}
