package session

import (
	"slices"
	"time"
)

// spawn runs f on a goroutine of the session. Close waits for it. The lock is held.
func (s *Session) spawn(f func()) {
	s.running++
	go s.run(f)
}

// after runs f on a goroutine of the session once d has passed, unless the timer is stopped before. Close waits
// for both. The lock is held.
func (s *Session) after(d time.Duration, f func()) *time.Timer {
	s.running++
	return time.AfterFunc(d, func() { s.run(f) })
}

// stop stops a timer that after has made; nil: there is none. The lock is held.
func (s *Session) stop(timer *time.Timer) {
	if timer != nil && timer.Stop() {
		s.running--
	}
}

// run runs f and counts it out. f may take the lock.
func (s *Session) run(f func()) {
	s.host.crew.enter()
	defer func() {
		s.host.crew.leave()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
		s.signalDone()
	}()
	f()
}

// visit runs f under the lock, on a goroutine of the host. Close does not wait for a visitor who waits for the lock: such a one finds
// a session that is closed.
func (s *Session) visit(f func()) {
	s.host.crew.enter()
	defer s.host.crew.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	s.signalDone()
}

// signalDone reports that nothing of a closed session runs any more. The lock is held.
func (s *Session) signalDone() {
	if s.closed == nil || s.running > 0 {
		return
	}
	select {
	case <-s.done:
	default:
		for _, f := range slices.Clone(s.flights) { // its code has panicked on the goroutine of a caller, who may have recovered
			s.land(f, nil)
		}
		close(s.done)
		if s.opening {
			_ = s.endOpening(nil)
		}
	}
}
