package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	w1 "github.com/agonist-dev/debate/internal/bench"
)

const crowdRounds = 10

// crowd is what many debates at once took, each of whose calls takes the latency.
type crowd struct {
	Wall   time.Duration `json:"wall"`
	CPU    time.Duration `json:"cpu"`    // of one debate
	Memory int64         `json:"memory"` // bytes of one debate, at the peak of what was resident; 0: unknown
	Live   int64         `json:"live"`   // bytes of one debate, of the live heap and the stacks while all wait for their verdicts
}

// playCrowd plays so many debates at once in this process. The peak is that of the process: whoever measures
// memory plays one crowd in a process.
func playCrowd(ctx context.Context, s *w1.Script, latency time.Duration, size int, c contender) (crowd, error) {
	for range 20 { // caches are cold
		if _, err := c.play(ctx); err != nil {
			return crowd{}, err
		}
	}
	debug.FreeOSMemory()
	before, _ := residentMemory()
	s.Latency = latency
	defer func() { s.Latency = 0 }()
	cpu, began := processorTime(), time.Now()
	errs := make([]error, size)
	var playing sync.WaitGroup
	for i := range size {
		playing.Go(func() {
			out, err := c.play(ctx)
			if err == nil {
				err = out.check(crowdRounds, false)
			}
			errs[i] = err
		})
	}
	playing.Wait()
	wall, used := time.Since(began), processorTime()-cpu
	_, peak := residentMemory()
	for _, err := range errs {
		if err != nil {
			return crowd{}, fmt.Errorf("%s in a crowd: %w", c.side, err)
		}
	}
	return crowd{Wall: wall, CPU: used / time.Duration(size), Memory: (peak - before) / int64(size)}, nil
}

// waiting plays so many debates until all of them wait for their verdicts, and returns what one of them then takes: bytes of the live heap
// and of the stacks. The calls take no time.
func waiting(ctx context.Context, s *w1.Script, size int, c contender) (int64, error) {
	var missing, playing sync.WaitGroup
	missing.Add(size)
	open, full := make(chan struct{}), make(chan struct{})
	s.Hold = func() {
		missing.Done()
		<-open
	}
	defer func() { s.Hold = nil }()
	before := liveMemory()
	errs := make([]error, size)
	for i := range size {
		playing.Go(func() { _, errs[i] = c.play(ctx) })
	}
	go func() {
		missing.Wait()
		close(full)
	}()
	var taken int64
	select {
	case <-full:
		taken = liveMemory() - before
	case <-ctx.Done():
	}
	close(open)
	playing.Wait()
	return taken / int64(size), errors.Join(errs...)
}

// liveMemory returns the bytes that are reachable, and the stacks.
func liveMemory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools held back
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse) //nolint:gosec // no machine has more
}

// crowdElsewhere plays a crowd in a process of its own, by this program.
func crowdElsewhere(ctx context.Context, side string, size int) (crowd, error) {
	program, err := os.Executable()
	if err != nil {
		return crowd{}, err
	}
	command := exec.CommandContext(ctx, program, "-crowd-of", side, "-crowd", strconv.Itoa(size)) //nolint:gosec // this program
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		return crowd{}, fmt.Errorf("a crowd of %s: %w", side, err)
	}
	var c crowd
	return c, json.Unmarshal(text, &c)
}
