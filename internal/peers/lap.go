package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// The sides.
const (
	sideFloor  = "floor"
	sideEino   = "eino"
	sideDebate = "debate"
)

// contender is a side that plays whole debates.
type contender struct {
	side string
	play func(context.Context) (*played, error)
}

// lap is what one debate of a block took on average.
type lap struct {
	wall, cpu time.Duration
}

// race lets the contenders play blocks of debates in turn, until so much time has passed for each and each
// has played at least three blocks. Noise of the machine then falls on all of them. A block begins after a
// collection, so that nobody pays for another's garbage.
type race struct {
	rounds   int
	streamed bool
	time     time.Duration
}

// blockTime is how long a block should take, roughly.
const blockTime = 60 * time.Millisecond

func (r race) run(ctx context.Context, contenders []contender) (map[string][]lap, error) {
	sizes := make([]int, len(contenders))
	for i := range contenders {
		if _, err := r.block(ctx, contenders[i], 1); err != nil { // caches are cold
			return nil, err
		}
		trial, err := r.block(ctx, contenders[i], 1)
		if err != nil {
			return nil, err
		}
		sizes[i] = max(1, int(blockTime/max(trial.wall, 1)))
	}
	laps := make(map[string][]lap, len(contenders))
	began := time.Now()
	for turn := 0; turn < 3 || time.Since(began) < r.time*time.Duration(len(contenders)); turn++ {
		for i := range contenders {
			next := (turn + i) % len(contenders)
			l, err := r.block(ctx, contenders[next], sizes[next])
			if err != nil {
				return nil, err
			}
			side := contenders[next].side
			laps[side] = append(laps[side], l)
		}
	}
	return laps, nil
}

func (r race) block(ctx context.Context, c contender, size int) (lap, error) {
	outs := make([]*played, 0, size)
	runtime.GC()
	cpu, began := processorTime(), time.Now()
	for range size {
		out, err := c.play(ctx)
		if err != nil {
			return lap{}, fmt.Errorf("%s, %d rounds: %w", c.side, r.rounds, err)
		}
		outs = append(outs, out)
	}
	l := lap{time.Since(began) / time.Duration(size), (processorTime() - cpu) / time.Duration(size)}
	for _, out := range outs {
		if err := out.check(r.rounds, r.streamed); err != nil {
			return lap{}, fmt.Errorf("%s, %d rounds: %w", c.side, r.rounds, err)
		}
	}
	return l, nil
}

// figures turns laps into one number for each.
func figures(laps map[string][]lap, of func(lap) float64) map[string][]float64 {
	all := make(map[string][]float64, len(laps))
	for side, list := range laps {
		for _, l := range list {
			all[side] = append(all[side], of(l))
		}
	}
	return all
}

func millis(d time.Duration) float64 { return d.Seconds() * 1e3 }

// quantile returns the value below which a part of the values lies; 0 if there are none.
func quantile(values []float64, part float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(part*float64(len(sorted)-1)+0.5)]
}

// ratio returns the median of the ratios of laps that ran one after the other; 0 if there is none.
func ratio(over, under []float64) float64 {
	var ratios []float64
	for i := range min(len(over), len(under)) {
		if under[i] > 0 {
			ratios = append(ratios, over[i]/under[i])
		}
	}
	return quantile(ratios, 0.5)
}
