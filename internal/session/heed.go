package session

import (
	"context"
	"errors"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// heedInterval is how often a session with the lease looks whether others have appended, while it appends nothing itself.
// Twice that and the delay of a store's Watch are a second at most, unless a notification of a database is lost.
const heedInterval = 300 * time.Millisecond

// heed has the session act on what others append while it has the lease, such as a pause from another process. An append
// of its own meets that as a conflict. While its calls take long, the session looks whether the store has seen the log
// grow, and reads it only then. A store that cannot watch logs is read with each renewal of the lease. The lock is held.
func (s *Session) heed() {
	w, ok := s.host.Store.(store.Watcher)
	if !ok {
		return
	}
	ctx, stop := context.WithCancel(s.life)
	var heeding *time.Timer
	heeding = s.after(heedInterval, func() {
		grown := w.Watch(ctx, s.ID) // not before: many conversations are over by now
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.leased && s.heeding == heeding && s.leaseLasts() {
			s.actOnGrowth(ctx) // what came before Watch
		}
		if s.leased && s.heeding == heeding {
			s.scheduleHeed(grown)
		}
	})
	s.heeding, s.stopHeeding = heeding, stop
}

// scheduleHeed looks at a watched log for as long as the session has the lease.
func (s *Session) scheduleHeed(grown <-chan struct{}) {
	seq := s.savedSeq.Load()
	var heeding *time.Timer
	heeding = s.after(heedInterval, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.leased || s.heeding != heeding {
			return
		}
		// If the session has appended, the store reports that. If its lease is over, whoever appends may have another one: the
		// renewal reads the log.
		if s.savedSeq.Load() == seq && s.leaseLasts() {
			select {
			case <-grown:
				s.actOnGrowth(s.life)
			default:
			}
		}
		if s.leased && s.heeding == heeding {
			s.scheduleHeed(grown)
		}
	})
	s.heeding = heeding
}

// unheed ends heed. The lock is held.
func (s *Session) unheed() {
	s.stop(s.heeding)
	s.heeding = nil
	if s.stopHeeding != nil {
		s.stopHeeding()
	}
}

// actOnGrowth steps what others have appended without a lease: answers and controls.
func (s *Session) actOnGrowth(ctx context.Context) {
	grew, err := s.catchUp(ctx)
	if grew {
		err = s.stepGrowth(context.Background())
	}
	if errors.Is(err, flow.ErrNotFound) {
		s.closeWith(err)
	}
}

// stepGrowth does what follows from events of others that were folded: the calls that they have begun are lost to this session.
func (s *Session) stepGrowth(ctx context.Context) error {
	if err := s.reportLost(ctx); err != nil {
		return err
	}
	return s.control(ctx, flow.Tick{})
}
