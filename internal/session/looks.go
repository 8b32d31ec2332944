package session

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/callctx"
	"github.com/agonist-dev/debate/store"
)

// lookInterval is how often a host looks at what its sessions wait for. Twice that and the delay of a store's Watch are a second at most:
// so soon a session hears what others append, unless a notification of a database is lost. It is half of callctx.Near.
const lookInterval = callctx.Near / 2

// looks is what a host looks after, by one timer while there is anything:
//
//   - sessions with a lease: have others appended to their log?
//   - their calls: is the time of one over, and is it to be given up?
//
// What is due before two looks are over gets a timer of its own, so that it happens on time. Few calls need one, since most return long
// before. Looks is safe for concurrent use. Its lock may be taken under that of a session, and not the other way.
type looks struct {
	grace   time.Duration
	watcher store.Watcher // nil: the store cannot watch logs

	mu       sync.Mutex
	timer    *time.Timer // nil: there is nothing to look after
	sessions []*Session
	flights  []*flight
}

// heed is what looks know of a session with a lease.
type heed struct {
	at    int             // where the session is listed, from 1; 0: nowhere
	since time.Time       // when it was listed
	seq   int64           // the last event that was saved at the last look
	grown <-chan struct{} // has a value when the store has seen the log grow; nil: the log is not watched yet
	hears bool            // a goroutine does what the last look has asked for
}

// join looks after a session that has acquired a lease.
func (l *looks) join(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions = append(l.sessions, s)
	s.heed = heed{at: len(l.sessions), since: time.Now(), seq: s.savedSeq.Load()}
	l.start()
}

// leave ends join.
func (l *looks) leave(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, last := s.heed.at-1, len(l.sessions)-1; at >= 0 {
		l.sessions[at] = l.sessions[last]
		l.sessions[at].heed.at = at + 1
		l.sessions[last], l.sessions = nil, l.sessions[:last]
		s.heed = heed{}
		l.stop()
	}
}

// heard says that a session has done what a look has asked for. If grown is not nil, it tells from now on that the log has grown.
func (l *looks) heard(s *Session, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.heed.hears = false
	if grown != nil && s.heed.at != 0 {
		s.heed.grown = grown
	}
}

// add looks after a call. Its context was not used yet.
func (l *looks) add(f *flight) {
	f.ctx.Tend()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flights = append(l.flights, f)
	f.at = int32(len(l.flights)) //nolint:gosec // there are not as many
	l.start()
	l.setTimer(f, time.Now())
}

// drop ends add.
func (l *looks) drop(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, last := f.at-1, len(l.flights)-1; at >= 0 {
		l.flights[at] = l.flights[last]
		l.flights[at].at = at + 1
		l.flights[last], l.flights = nil, l.flights[:last]
		f.at = 0
		l.stop()
	}
}

// hurry looks at a call whose context may have ended.
func (l *looks) hurry(f *flight) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.at != 0 {
		f.timed = false // the timer may be late for it now
		l.setTimer(f, time.Now())
	}
}

// start sets the timer if there is none. The lock is held.
func (l *looks) start() {
	if l.timer != nil {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(lookInterval, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.timer == timer { // else it was stopped too late
			l.look(time.Now())
			timer.Reset(lookInterval)
		}
	})
	l.timer = timer
}

// stop stops the timer if there is nothing to look after any more. The lock is held.
func (l *looks) stop() {
	if len(l.sessions) == 0 && len(l.flights) == 0 {
		l.timer.Stop()
		l.timer = nil
	}
}

// look looks at everything. It waits for no session: goroutines do what takes longer. The lock is held.
func (l *looks) look(now time.Time) {
	for _, s := range l.sessions {
		if l.watcher != nil && !s.heed.hears && l.toHear(s, now) {
			s.heed.hears = true
			go s.hear()
		}
	}
	for _, f := range l.flights {
		f.ctx.Look()
		l.setTimer(f, now)
	}
}

// toHear reports whether a session is to read its log, because others may have appended. The log is not watched before the first look
// at it, since many conversations are over by then; what came before is read.
//
// If the session has appended since the last look, the store reports that too. If its lease is over, whoever appends may have another
// one: the renewal reads the log.
func (l *looks) toHear(s *Session, now time.Time) bool {
	seq := s.savedSeq.Load()
	quiet := seq == s.heed.seq
	s.heed.seq = seq
	if s.heed.grown == nil {
		return now.Sub(s.heed.since) >= lookInterval
	}
	if !quiet || !s.leaseLasts() {
		return false
	}
	select {
	case <-s.heed.grown:
		return true
	default:
		return false
	}
}

// setTimer sets a timer for a call that is to be given up before two looks are over, unless there is one. The lock is held.
func (l *looks) setTimer(f *flight, now time.Time) {
	if end, known := f.ctx.End(); known && !f.timed && !f.home.Load() {
		if left := end.Add(l.grace).Sub(now); left <= callctx.Near {
			f.timed = true
			time.AfterFunc(left, func() { l.giveUp(f) })
		}
	}
}

// giveUp has a call given up, unless it has returned, or its time stood meanwhile.
func (l *looks) giveUp(f *flight) {
	l.mu.Lock()
	now := time.Now()
	end, known := f.ctx.End()
	over := f.at != 0 && known && !end.Add(l.grace).After(now)
	if f.timed = over; !over && f.at != 0 {
		l.setTimer(f, now)
	}
	l.mu.Unlock()
	if over {
		f.session.giveUp(f)
	}
}

// A session with the lease acts on what others append, such as a pause from another process. An append of its own meets that as a
// conflict. While its calls take long, the host looks whether the store has seen the log grow, and only then the session reads it. A
// store that cannot watch logs is read with each renewal of the lease.

// hear reads the log, and acts on what others have appended. The first time it has the store watch the log before, without the lock, for
// the store may ask a database. The host calls it, on a goroutine of its own.
func (s *Session) hear() {
	var watch context.Context
	s.visit(func() {
		if s.leased && s.stopWatch == nil {
			watch, s.stopWatch = context.WithCancel(s.life) //nolint:fatcontext // it is the only one of the session
		}
	})
	var grown <-chan struct{}
	if watch != nil {
		grown = s.host.looks.watcher.Watch(watch, s.ID)
	}
	s.visit(func() {
		if !s.leased {
			return
		}
		if watch != nil && watch.Err() != nil {
			grown = nil // the lease is another one by now, with a watch of its own
		}
		if s.leaseLasts() {
			s.actOnGrowth(s.life)
		}
		s.host.looks.heard(s, grown)
	})
}

// unheed ends that the session acts on what others append. The lock is held.
func (s *Session) unheed() {
	s.host.looks.leave(s)
	if s.stopWatch != nil {
		s.stopWatch()
		s.stopWatch = nil
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
