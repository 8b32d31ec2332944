package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	w1 "github.com/agonist-dev/debate/internal/bench"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
	"github.com/agonist-dev/debate/store/sql"
)

// The workloads.
const (
	workPlain   = "W1"
	workStream  = "W1s"
	workDurable = "W1c"
	workCrowd   = "crowd"
)

const (
	streamRounds = 50
	streamPieces = 100
	crowdLatency = 50 * time.Millisecond
)

// bench measures what its fields name.
type bench struct {
	work      []string
	sides     []string
	rounds    []int
	time      time.Duration // of each side in each column
	crowd     int           // debates at once
	crowdLaps int
	dir       string // where durable debates are kept
	schemas   schemas
	out       output
}

func (b *bench) run(ctx context.Context) error {
	if err := b.out.head(); err != nil {
		return err
	}
	for _, work := range b.work {
		var err error
		switch work {
		case workPlain:
			err = b.each(ctx, b.plain)
		case workStream:
			err = b.stream(ctx)
		case workDurable:
			err = errors.Join(b.each(ctx, b.sqlite), b.each(ctx, b.file))
		case workCrowd:
			err = b.crowds(ctx)
		default:
			err = fmt.Errorf("unknown workload %q", work)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) each(ctx context.Context, measure func(ctx context.Context, rounds int) error) error {
	for _, rounds := range b.rounds {
		if err := measure(ctx, rounds); err != nil {
			return err
		}
	}
	return nil
}

// contenders makes the sides that play without a disk.
func (b *bench) contenders(s *w1.Script, rounds int) (list []contender, stop func(context.Context) error, err error) {
	a, err := newAnswers(b.schemas)
	if err != nil {
		return nil, nil, err
	}
	g, err := newGraph(s, a, rounds)
	if err != nil {
		return nil, nil, err
	}
	d := newArena(s, &store.Memory{}, rounds)
	list = []contender{
		{sideFloor, newFloor(s, a, rounds).play},
		{sideEino, g.play},
		{sideDebate, d.play},
	}
	if s.Pieces > 0 {
		list = []contender{
			{sideFloor, func(ctx context.Context) (*played, error) { return playToReader(ctx, s, a, rounds) }},
			{sideEino, g.playToReader},
			{sideDebate, d.playToReader},
		}
	}
	return slices.DeleteFunc(list, b.left), d.close, nil
}

// left reports a side that is not to be measured.
func (b *bench) left(c contender) bool { return !slices.Contains(b.sides, c.side) }

func (b *bench) plain(ctx context.Context, rounds int) error {
	laps, err := b.race(ctx, w1.NewScript(), rounds)
	if err != nil {
		return err
	}
	return b.report(fmt.Sprintf("W1, R = %d", rounds), laps)
}

// race measures sides that play without a disk.
func (b *bench) race(ctx context.Context, s *w1.Script, rounds int) (map[string][]lap, error) {
	list, stop, err := b.contenders(s, rounds)
	if err != nil {
		return nil, err
	}
	laps, err := race{rounds, s.Pieces > 0, b.time}.run(ctx, list)
	return laps, errors.Join(err, stop(ctx))
}

// report writes a column of wall time and one of processor time.
func (b *bench) report(name string, laps map[string][]lap) error {
	wall := figures(laps, func(l lap) float64 { return millis(l.wall) })
	cpu := figures(laps, func(l lap) float64 { return millis(l.cpu) })
	return errors.Join(b.out.column(column{name, "ms", wall}), b.out.column(column{name + ", processor", "ms", cpu}))
}

func (b *bench) stream(ctx context.Context) error {
	s := w1.NewScript()
	s.Pieces = streamPieces
	laps, err := b.race(ctx, s, streamRounds)
	if err != nil {
		return err
	}
	pieces := float64(streamRounds * len(w1.Debaters()) * streamPieces)
	rates := figures(laps, func(l lap) float64 { return pieces / l.wall.Seconds() / 1e6 })
	return b.out.column(column{"W1s", "M chunks/s", rates})
}

func (b *bench) sqlite(ctx context.Context, rounds int) error {
	return b.durable(ctx, "SQLite", rounds, func(dir string) (closingStore, error) {
		return sql.OpenSQLite(ctx, filepath.Join(dir, "debate.db"))
	})
}

func (b *bench) file(ctx context.Context, rounds int) error {
	return b.durable(ctx, "file", rounds, func(dir string) (closingStore, error) { return file.Open(dir) })
}

type closingStore interface {
	store.Store
	Close() error
}

// durable measures debates each of whose steps is on the disk before the next. Beside debate there is the
// floor alone: eino's checkpoints write the whole state at each step.
func (b *bench) durable(ctx context.Context, name string, rounds int, open func(dir string) (closingStore, error)) (err error) {
	dir, err := os.MkdirTemp(b.dir, "peers")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	kept, err := openRows(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	a, err := newAnswers(b.schemas)
	if err != nil {
		return err
	}
	s := w1.NewScript()
	f, d := newFloor(s, a, rounds), newArena(s, store, rounds)
	laps, err := race{rounds, false, b.time}.run(ctx, slices.DeleteFunc([]contender{
		{sideFloor, func(ctx context.Context) (*played, error) { return kept.play(ctx, f) }},
		{sideDebate, d.play},
	}, b.left))
	if err := errors.Join(err, d.close(ctx)); err != nil {
		return err
	}
	return b.report(fmt.Sprintf("W1c on %s, R = %d", name, rounds), laps)
}

// crowds lets the sides play a crowd in turn, each time in a new process.
func (b *bench) crowds(ctx context.Context) error {
	cpu, memory, live, wall := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for range b.crowdLaps {
		for _, side := range b.sides {
			c, err := crowdElsewhere(ctx, side, b.crowd)
			if err != nil {
				return err
			}
			cpu[side] = append(cpu[side], millis(c.CPU))
			memory[side] = append(memory[side], float64(c.Memory)/1024)
			live[side] = append(live[side], float64(c.Live)/1024)
			wall[side] = append(wall[side], c.Wall.Seconds())
		}
	}
	name := fmt.Sprintf("crowd of %d", b.crowd)
	return errors.Join(
		b.out.column(column{name + ", processor", "ms per debate", cpu}),
		b.out.column(column{name + ", peak memory", "KiB per debate", memory}),
		b.out.column(column{name + ", heap and stacks of the waiting", "KiB per debate", live}),
		b.out.column(column{name + ", all of it", "s", wall}),
	)
}

// crowdHere plays a crowd of one side in this process.
func (b *bench) crowdHere(ctx context.Context, side string) (crowd, error) {
	s := w1.NewScript()
	b.sides = []string{side}
	list, stop, err := b.contenders(s, crowdRounds)
	if err != nil {
		return crowd{}, err
	}
	if len(list) != 1 {
		return crowd{}, fmt.Errorf("unknown side %q", side)
	}
	c, err := playCrowd(ctx, s, crowdLatency, b.crowd, list[0])
	if err == nil {
		c.Live, err = waiting(ctx, s, b.crowd, list[0])
	}
	return c, errors.Join(err, stop(ctx))
}
