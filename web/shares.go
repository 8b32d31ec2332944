package web

import (
	"encoding/json"
	"errors"
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
	who := c.key()
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.by[who]
	if s.used > 0 && s.used+n > s.most || who != "" && mine > 0 && mine+n > s.most/4 {
		err := errors.New("too much is under way, for all or for you: try again")
		return nil, &refusal{status: http.StatusServiceUnavailable, after: 10 * time.Second, err: err}
	}
	s.used += n
	s.by[who] += n
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.used -= n
		if s.by[who] -= n; s.by[who] == 0 {
			delete(s.by, who)
		}
	}, nil
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
