package simulation_test

import (
	"context"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
)

// calms reports whether nothing fails any more.
func (s *storeSim) calms() bool {
	select {
	case <-s.calm:
		return true
	default:
		return false
	}
}

// cannot reports whether a process is in a time in which it cannot do something, or enters one.
func (p *process) cannot(what string, rarely int, most time.Duration) bool {
	p.sim.mu.Lock()
	defer p.sim.mu.Unlock()
	if time.Now().Before(p.until[what]) {
		return true
	}
	if p.sim.chance.Below(rarely) > 0 {
		return false
	}
	p.until[what] = time.Now().Add(p.sim.chance.UpTo(most))
	return true
}

// does is what becomes of an operation of the store.
func (p *process) does(ctx context.Context, op string, do func() error) error {
	s := p.sim
	if op == "lease" {
		lease := do
		do = func() error {
			err := lease()
			if err == nil {
				s.taken(p)
			}
			return err
		}
	}
	if s.calms() {
		return do()
	}
	if op == "append" && p.cannot("append", 60, simLease) {
		s.count(func(n *mishaps) { n.Full++ })
		return stage.ErrBroken
	}
	if op != "read" && p.cannot("write", 120, 3*simLease) {
		s.count(func(n *mishaps) { n.ReadOnly++ })
		return stage.ErrBroken
	}
	switch s.chance.Below(60) {
	case 0, 1:
		s.count(func(n *mishaps) { n.Before++ })
		return stage.ErrBroken
	case 2, 3:
		s.count(func(n *mishaps) { n.After++ })
		if err := do(); err != nil {
			return err
		}
		s.doubt(p, op)
		return stage.ErrBroken
	case 4, 5:
		s.count(func(n *mishaps) { n.Slow++ })
		stage.Pass(s.chance.UpTo(3 * time.Second))
		return do()
	case 6:
		s.count(func(n *mishaps) { n.Hung++ })
		select {
		case <-ctx.Done():
			if s.chance.Below(2) == 0 {
				if do() == nil { // nobody waits for it, but it comes to pass
					s.doubt(p, op)
				}
			}
			return ctx.Err()
		case <-s.calm:
			return stage.ErrBroken
		}
	default:
		return do()
	}
}

// hears is what becomes of the signs that a log has grown.
func (p *process) hears(ctx context.Context, grown <-chan struct{}) <-chan struct{} {
	s := p.sim
	heard := make(chan struct{}, 1)
	s.ends.Go(func() {
		for {
			select {
			case <-grown:
			case <-ctx.Done():
				return
			}
			switch {
			case s.calms() || s.chance.Below(4) > 0:
				select {
				case heard <- struct{}{}:
				default:
				}
			case s.chance.Below(8) == 0:
				s.count(func(n *mishaps) { n.Unwatched++ })
				close(heard)
				return
			default:
				s.count(func(n *mishaps) { n.Unheard++ })
			}
		}
	})
	return heard
}

// taken notes who has the lease now. What was in flight when it changes hands is lost.
func (s *storeSim) taken(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := tenure{p, p.opened}
	if s.holder == now {
		return
	}
	s.holder = now
	if record, err := s.Reader.Record(s.ctx, s.id); err == nil {
		s.lost += record.InFlight()
	}
}

// checkSaved notes calls that are begun by who has not got the lease any more: those are lost too.
func (s *storeSim) checkSaved(m *stage.Member, events []debate.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun := 0
	for i := range events {
		if body.As[flow.Intent](events[i]) != nil {
			begun++
		}
	}
	if p := s.holder.process; p == nil || p.Member != m || s.holder.session != p.opened {
		s.lost += begun
	} else {
		p.begun = begun
	}
}

// doubt notes that a process does not know whether it has begun calls.
func (s *storeSim) doubt(p *process, op string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if op == "append" {
		s.lost += p.begun
		p.begun = 0
	}
}

// reads is after how many events a read breaks off.
func (p *process) reads() int {
	if p.sim.calms() || p.sim.chance.Below(40) > 0 {
		return -1
	}
	p.sim.count(func(n *mishaps) { n.Half++ })
	return p.sim.chance.Below(20)
}
