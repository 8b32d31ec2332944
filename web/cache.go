package web

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

const (
	mostCached = 128             // more than two pages of the inbox have
	cachedFor  = 2 * time.Second // that somebody waits in a queue is no fact, so that the log does not tell
)

// cache holds the records of conversations as they were read last, so that many readers of one cost one fold for each fact. It is safe for
// concurrent use. The zero value is empty.
type cache struct {
	mu  sync.Mutex
	all map[string]*cached // by id
}

// cached is the record of one conversation.
type cached struct {
	used time.Time // the cache's lock is for it

	mu    sync.Mutex // held while the record is read: all others wait for it
	owner string
	at    time.Time
	fold  *fold
}

// fold is a record, with its JSON once somebody asks for it. The record is read only.
type fold struct {
	*flow.Record

	once sync.Once
	data []byte
	err  error
}

// JSON returns the record's JSON as its flow writes it. It is read only.
func (f *fold) JSON() ([]byte, error) {
	f.once.Do(func() {
		var of any = f.Record
		if own, ok := f.Projection().(json.Marshaler); ok {
			of = own
		}
		f.data, f.err = json.Marshal(of)
	})
	return f.data, f.err
}

// entry returns the entry of a conversation. The one that was used longest ago makes room for it.
func (c *cache) entry(id string) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.all[id]
	if e == nil {
		if c.all == nil {
			c.all = make(map[string]*cached)
		}
		oldest := ""
		for other := range c.all {
			if oldest == "" || c.all[other].used.Before(c.all[oldest].used) {
				oldest = other
			}
		}
		if len(c.all) >= mostCached {
			delete(c.all, oldest)
		}
		e = &cached{}
		c.all[id] = e
	}
	e.used = time.Now()
	return e
}

// forget removes a conversation.
func (c *cache) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, id)
}

// record returns the record of a conversation that a store describes so. A conversation is its id and its first event: another one that has
// the id by now is not found.
func (c *cache) record(ctx context.Context, e *debate.Engine, info *store.Info) (*fold, error) {
	entry := c.entry(info.ID)
	entry.mu.Lock()
	defer entry.mu.Unlock()
	if f := entry.fold; f != nil && f.Seq == info.Seq && f.StartedAt.Equal(info.StartedAt) && entry.owner == info.Owner {
		if still := f.State.Idle() && f.InFlight() == 0; still || time.Since(entry.at) < cachedFor { // nothing waits in a queue then
			return f, nil
		}
	}
	record, err := e.Record(flow.Expecting(ctx, info.ID, flow.Expected{StartedAt: info.StartedAt}), info.ID)
	if err != nil {
		return nil, err
	}
	entry.fold, entry.owner, entry.at = &fold{Record: record}, info.Owner, time.Now()
	return entry.fold, nil
}
