package session

import (
	"container/list"
	"context"
	"sync"

	"github.com/agonist-dev/debate/flow"
)

// defaultFolded bounds what cores keeps, unless the engine sets another bound.
const defaultFolded = 64 << 20

// What things take in a core, about: measured on debates of the formats, see TestFoldedLogsTakeTheirBound.
const (
	coreBytes  = 8 << 10 // the machine and the format
	startTimes = 4       // each byte of the start, at most: it stands in the config, in the settings and in prompts
	eventBytes = 512     // an event without its texts
)

// cores keeps the folded logs of conversations that are advanced without a session, so that the next signal reads only the events
// that are new. Those that were used least lately make room.
type cores struct {
	limit int64 // bytes

	mu    sync.Mutex
	byID  map[string]*list.Element // of *folded
	used  list.List                // the last is the one to go first
	bytes int64
	held  int // of these, how many have a lease
}

// folded is one conversation of cores. Whoever has entered it owns it.
type folded struct {
	id     string
	owner  gate
	core   *flow.Core // nil: the log has to be read
	writer string
	held   string // the owner under whom this process has acquired the lease, and not released it; "": none

	stopwatch stopwatch // for the times of events
	refused   bool      // the conversation may be in quarantine on account of this core

	users  int   // who have entered or wait to; guarded by cores
	bytes  int64 // guarded by cores
	leased bool  // it counts in cores.held; guarded by cores
}

func newCores(limit int64) *cores { return &cores{limit: limit, byID: make(map[string]*list.Element)} }

func (h *Host) newFolded(id string) *folded {
	return &folded{id: id, owner: newGate(), writer: h.newWriter(), stopwatch: stopwatch{clock: &h.clock}}
}

// enter waits until nobody else advances the conversation in this process. The caller has to leave.
func (c *cores) enter(ctx context.Context, id string, anew func(id string) *folded) (*folded, error) {
	c.mu.Lock()
	at := c.byID[id]
	if at == nil {
		at = c.used.PushFront(anew(id))
		c.byID[id] = at
	}
	c.used.MoveToFront(at)
	f := at.Value.(*folded) //nolint:forcetypeassert // the list holds nothing else
	f.users++
	c.mu.Unlock()
	if err := f.owner.enter(ctx); err != nil {
		c.leave(f, func() {})
		return nil, err
	}
	return f, nil
}

// exit lets the next one in.
func (c *cores) exit(f *folded) { c.leave(f, f.owner.Unlock) }

func (c *cores) leave(f *folded, unlock func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.users--; f.users == 0 {
		size := f.size()
		c.bytes, f.bytes = c.bytes+size-f.bytes, size
		c.count(f, f.held != "")
	}
	unlock()
	if f.users == 0 && f.core == nil {
		c.remove(c.byID[f.id])
	}
	for at := c.used.Back(); at != nil && c.bytes > c.limit; {
		before := at.Prev()
		if at.Value.(*folded).users == 0 { //nolint:forcetypeassert // the list holds nothing else
			c.remove(at)
		}
		at = before
	}
}

// forget forgets a conversation that nobody advances now. Who advances it learns from the log that it was rewritten.
func (c *cores) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.byID[id]; at != nil && at.Value.(*folded).users == 0 { //nolint:forcetypeassert // the list holds nothing else
		c.remove(at)
	}
}

func (c *cores) remove(at *list.Element) {
	f := c.used.Remove(at).(*folded) //nolint:forcetypeassert // the list holds nothing else
	delete(c.byID, f.id)
	c.bytes -= f.bytes
	c.count(f, false)
}

// count counts whether a conversation has a lease. The lock is held.
func (c *cores) count(f *folded, leased bool) {
	switch {
	case leased && !f.leased:
		c.held++
	case !leased && f.leased:
		c.held--
	}
	f.leased = leased
}

// open returns how many conversations have a lease.
func (c *cores) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}

// size is about how many bytes the core takes.
func (f *folded) size() int64 {
	if f.core == nil {
		return 0
	}
	r := f.core.Record()
	size := coreBytes + startTimes*startSize(r.Start()) + r.Seq*eventBytes
	for _, t := range r.Turns {
		size += int64(len(t.Text) + len(t.Data))
	}
	return size
}

// startSize is about how many bytes the start has as JSON: its config, what its flow has frozen, its prompts and its tools. A store in
// memory keeps the first two as Go values, which the core shares with it.
func startSize(s *flow.Start) int64 {
	size := len(s.Config.JSON) + len(s.Frozen.JSON) + len(s.Settings.Topic)
	for name, text := range s.Texts {
		size += len(name) + len(text)
	}
	for name, tool := range s.Tools {
		size += len(name) + len(tool.Description) + len(tool.Parameters)
	}
	return int64(size)
}
