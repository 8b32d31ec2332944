package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// shares bounds what all callers use of something at a time. One caller has at most a quarter of it, so that nobody can use it up alone.
// Whoever uses nothing gets what is larger than a quarter, too. It is safe for concurrent use.
type shares struct {
	most int64

	mu   sync.Mutex
	used int64
	by   map[string]int64 // by caller
}

func newShares(most int64) *shares { return &shares{most: most, by: make(map[string]int64)} }

// take takes n for a caller; release gives it back. Callers that nothing tells apart have no quarter.
func (s *shares) take(c Caller, n int64) (release func(), err error) {
	p := s.part(c)
	if err := p.grow(n); err != nil {
		return nil, err
	}
	return p.release, nil
}

// part is what one use has of shares. Only one goroutine may use it.
type part struct {
	of  *shares
	who string
	n   int64
}

// part begins a use that has nothing yet.
func (s *shares) part(c Caller) *part { return &part{of: s, who: c.key()} }

// grow takes n more. It never waits, so that uses that grow together cannot block each other: the one that finds no room is refused and
// gives back what it has, and the others go on. A use that is alone always finds room, and so does the only one of its caller while all
// callers leave enough.
func (p *part) grow(n int64) error {
	s := p.of
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.by[p.who]
	if s.used > p.n && s.used+n > s.most || p.who != "" && mine > p.n && mine+n > s.most/4 {
		err := errors.New("too much is under way, for all or for you: try again")
		return &refusal{status: http.StatusServiceUnavailable, after: 10 * time.Second, err: err}
	}
	p.n += n
	s.used += n
	s.by[p.who] += n
	return nil
}

// release gives back all that was taken.
func (p *part) release() {
	s := p.of
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= p.n
	if s.by[p.who] -= p.n; s.by[p.who] == 0 {
		delete(s.by, p.who)
	}
	p.n = 0
}

// growing reads what takes room as it arrives: what is announced and does not come takes none.
type growing struct {
	io.Reader
	room *part
}

// Read refuses what has no room, even if the beginning had.
func (g *growing) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	if n > 0 {
		if full := g.room.grow(int64(n)); full != nil {
			return 0, full
		}
	}
	return n, err
}

// key tells callers apart. "": nothing does.
func (c Caller) key() string {
	if c.Who == "" && len(c.Labels) == 0 {
		return ""
	}
	labels, err := json.Marshal(c.Labels) // in the order of the keys
	if err != nil {                       // they are texts
		return c.Who
	}
	return c.Who + "\n" + string(labels) // a name has one line
}
