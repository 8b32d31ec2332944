package session

import (
	"errors"
	"sync/atomic"

	"github.com/agonist-dev/debate/flow"
)

// Counts are what a host has done with stored conversations since it was made.
type Counts struct {
	Opened  atomic.Int64 // they were opened
	Rested  atomic.Int64 // they came to need no process, or none for long, and were left
	Leased  atomic.Int64 // they were not opened: another process had them
	Refused atomic.Int64 // they were not opened, or not continued: the fault is theirs, or this host lacks something
	Drained atomic.Int64 // they were left unfinished, with the host or a worker
}

// opened counts an attempt to open a conversation by how it has ended. Those that are refused count in refused.
func (c *Counts) opened(err error) {
	switch {
	case err == nil:
		c.Opened.Add(1)
	case errors.Is(err, flow.ErrLeased):
		c.Leased.Add(1)
	}
}

// closed counts a session that closes for a reason while it has the lease, and its conversation has work.
func (c *Counts) closed(reason error) {
	if _, left := errors.AsType[shutError](reason); left {
		c.Drained.Add(1)
	}
}

// OpenNow returns how many conversations are open: those of sessions, and those whose lease Advance has acquired and not released.
func (h *Host) OpenNow() int64 {
	h.mu.Lock()
	open := len(h.sessions)
	h.mu.Unlock()
	return int64(open + h.cores.open())
}
