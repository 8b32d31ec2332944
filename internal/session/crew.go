package session

import (
	"errors"
	"runtime"
	"sync"

	"github.com/agonist-dev/debate/flow"
)

// crowd is how many goroutines of sessions must run before a host has a crew. Below that it costs more to wake a
// worker than to let a stack grow.
const crowd = 64

// crew steps answers to schemas while many sessions run: one worker for each processor. Validation needs a deep stack.
// The stack of a goroutine that waits for a model shrinks again, so that each of thousands of sessions would let its
// own grow by copying, answer after answer. The stack of a worker has grown. The workers end with the last
// goroutine of a session.
type crew struct {
	mu      sync.Mutex
	users   int       // the goroutines of sessions
	jobs    chan *job // nil: there is no worker
	workers sync.WaitGroup
}

// job is a step that a worker makes.
type job struct {
	core *flow.Core
	in   flow.Input
	out  flow.Output
	err  error
	done sync.Mutex // held until the step is made; a channel could not leave a synctest bubble
}

// enter counts a goroutine of a session in.
func (c *crew) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users++; c.users <= crowd || c.jobs != nil {
		return
	}
	jobs := make(chan *job)
	for range runtime.GOMAXPROCS(0) {
		c.workers.Go(func() { c.work(jobs) })
	}
	c.jobs = jobs
}

// work makes steps until there are no more. If a function of the flow ends the goroutine, another one takes over.
func (c *crew) work(jobs chan *job) {
	ended := true
	defer func() {
		if ended {
			c.workers.Go(func() { c.work(jobs) })
		}
	}()
	for j := range jobs {
		j.make()
	}
	ended = false
}

// make makes the step.
func (j *job) make() {
	j.err = errors.New("a function of the flow has ended the goroutine")
	defer j.done.Unlock()
	j.out, j.err = j.core.Step(j.in)
}

// leave counts a goroutine of a session out.
func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users > 0 || c.jobs == nil {
		return
	}
	close(c.jobs) // nobody is left who could send
	c.jobs = nil
	c.workers.Wait()
}

// step steps the core. The step of an answer is made by a worker, if there are any. A caller that brings an answer was
// counted in.
func (c *crew) step(core *flow.Core, in flow.Input) (flow.Output, error) {
	c.mu.Lock()
	jobs := c.jobs
	c.mu.Unlock()
	if jobs == nil || !core.Validates(in.Signal) {
		return core.Step(in)
	}
	j := &job{core: core, in: in}
	j.done.Lock()
	jobs <- j
	j.done.Lock()
	return j.out, j.err
}
