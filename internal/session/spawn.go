package session

import "time"

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

// signalDone reports that nothing of a closed session runs any more. The lock is held.
func (s *Session) signalDone() {
	if s.closed == nil || s.running > 0 {
		return
	}
	select {
	case <-s.done:
	default:
		close(s.done)
		if s.opening {
			_ = s.endOpening(nil)
		}
	}
}
