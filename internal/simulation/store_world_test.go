package simulation_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// storeSim is a world of one debate: its store, and the processes that want to go on with it.
type storeSim struct {
	*stage.Company

	seed   uint64
	chance *stage.Dice
	id     string
	ctx    context.Context
	calm   chan struct{}  // closed when nothing fails any more
	group  sync.WaitGroup // what goes on beside the play
	ends   sync.WaitGroup // sessions that are being closed

	mu        sync.Mutex
	processes []*process
	seen      mishaps
	holder    tenure
	lost      int // how many calls may be lost: those in flight where the debate has changed hands
}

// tenure is the time in which a process's session, one after the other, has the lease.
type tenure struct {
	process *process
	session int
}

// process is one that runs an engine until it ends or is killed.
type process struct {
	*stage.Member

	sim     *storeSim
	session *debate.Session
	opened  int                  // sessions so far
	begun   int                  // how many calls the last append has begun
	until   map[string]time.Time // how long it cannot do what
}

// simLease is shorter than some of the troubles of a store, and longer than others.
const simLease = 2 * time.Second

func newStoreSim(t *testing.T, seed uint64) *storeSim {
	t.Helper()
	dice := rand.New(rand.NewPCG(seed, 5))
	s := &storeSim{Company: stage.NewCompany(t, storeConfig(dice, seed)), seed: seed, chance: stage.NewDice(dice), calm: make(chan struct{})}
	s.id, s.Apart = s.Config.ID, true
	s.Reply = s.replying()
	return s
}

// replying makes replies take up to three seconds, and the first attempts at some calls fail.
func (s *storeSim) replying() func(*provider.Request) scripted.Reply {
	_, p := stage.Engine(s.Config)
	return func(req *provider.Request) scripted.Reply {
		r := p.Reply(req)
		r.Delay, r.Chunks = s.chance.UpTo(time.Second), 3
		r.Interval = s.chance.UpTo(time.Second)
		h := fnv.New64a()
		_, _ = h.Write([]byte(req.ID))
		if _, attempt := stage.CutAttempt(req.ID); attempt != "1" {
			return r
		}
		fate := h.Sum64() % 16
		if (len(s.Config.Participants) > 2 || !strings.Contains(req.ID, "/r1.")) && req.Schema == nil {
			fate %= 2 // who fails otherwise takes no further part, if the debate can go on without
		}
		switch fate {
		case 0:
			r.Err = &provider.Error{Kind: provider.KindNetwork, NotSent: true}
		case 2:
			r.Err = &provider.Error{Kind: provider.KindAuthentication, Status: 401}
		case 3:
			r.Err = &provider.Error{Kind: provider.KindQuota, Status: 429}
		default:
		}
		return r
	}
}

// play plays the seed.
func (s *storeSim) play() mishaps {
	ctx, cancel := context.WithTimeout(s.T.Context(), 2*time.Hour)
	defer cancel()
	s.ctx = ctx
	for range 3 {
		s.processes = append(s.processes, s.process())
	}
	s.Asks, s.Saved = s.checkCall, s.checkSaved
	readers := []*subscriber{{sim: s}, {sim: s}}
	for _, r := range readers {
		s.group.Go(r.read)
	}
	for until := time.Now().Add(45 * time.Second); time.Now().Before(until); {
		stage.Pass(s.chance.UpTo(2 * time.Second))
		s.disturb(s.processes[s.chance.Below(len(s.processes))])
	}
	close(s.calm)
	for !s.over() {
		if ctx.Err() != nil || len(s.Log(s.id)) > 1000 {
			s.T.Errorf("seed %d: the debate does not end", s.seed)
			cancel()
			break
		}
		stage.Pass(time.Second)
		s.further(s.processes[s.chance.Below(len(s.processes))])
	}
	s.group.Wait()
	for _, p := range s.processes {
		s.end(p.session)
	}
	s.ends.Wait()
	stage.Pass(4 * time.Second) // what a session that was dropped gives back, nobody waits for
	s.check(readers)
	return s.seen
}

func (s *storeSim) process() *process {
	p := &process{Member: s.Member(s.chance.Below(2) == 0), sim: s, until: make(map[string]time.Time)}
	p.Lease = simLease
	p.Goes(p.does)
	p.Heard, p.Half = p.hears, p.reads
	return p
}

// over reports whether the debate has come to its end.
func (s *storeSim) over() bool {
	for info, err := range s.Store.List(s.ctx, debate.Filter{}) {
		require.NoError(s.T, err)
		if info.State == flow.StateCompleted {
			return s.Record(s.id).InFlight() == 0
		}
	}
	return false
}

// end closes a session, in its own time.
func (s *storeSim) end(session *debate.Session) {
	if session != nil {
		s.ends.Go(func() { _ = session.Close() })
	}
}

// present makes a process have a session.
func (p *process) present() bool {
	ctx, cancel := context.WithTimeout(p.sim.ctx, 20*time.Second)
	defer cancel()
	if p.session != nil {
		if !p.dropped() {
			return true
		}
		p.sim.count(func(n *mishaps) { n.Dropped++ })
		p.session = nil
	}
	p.sim.mu.Lock()
	p.opened++ // read by appends, which may come late from an earlier session
	p.sim.mu.Unlock()
	session, err := p.Open(ctx, p.sim.id)
	if errors.Is(err, debate.ErrNotFound) || err == nil && p.sim.chance.Below(8) == 0 {
		session, err = p.Start(ctx, p.sim.Config)
	}
	p.sim.tolerable(err)
	if err != nil {
		return false
	}
	p.session = session
	return true
}

// dropped reports whether the process's session has ended before its debate.
func (p *process) dropped() bool {
	now, cancel := context.WithTimeout(p.sim.ctx, time.Nanosecond)
	defer cancel()
	for _, err := range p.session.Events(now, 1<<40) {
		if err != nil {
			return !errors.Is(err, context.DeadlineExceeded)
		}
	}
	return false
}

// tolerable fails on errors that no fault explains.
func (s *storeSim) tolerable(err error) {
	s.T.Helper()
	tolerable(s.T, s.seed, err, context.DeadlineExceeded, debate.ErrLeased, flow.ErrClosed, debate.ErrNotFound, debate.ErrConflict)
}

// tolerable fails on errors that neither a fault explains, nor that a debate has gone on meanwhile, and that are no others of those that
// may be met.
func tolerable(t *testing.T, seed uint64, err error, others ...error) {
	t.Helper()
	met := func(other error) bool { return errors.Is(err, other) }
	var failure *debate.Error
	switch {
	case err == nil, met(stage.ErrBroken), met(stage.ErrDead), slices.ContainsFunc(others, met):
	case errors.As(err, &failure) && failure.Kind == provider.KindState:
	default:
		require.NoError(t, err, "seed %d", seed)
	}
}

// owed returns what somebody has to do so that a debate goes on; nil: nothing.
func owed(r *debate.Record) flow.Signal {
	switch {
	case r.State == flow.StatePaused:
		return flow.Resume{}
	case r.State == flow.StateError:
		return flow.Retry{}
	case len(r.Inquiries) == 0:
		return nil
	case r.Inquiries[0].ID == flow.InquiryCost:
		return flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}
	default:
		return flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionRetry}
	}
}

// disturb does something with a process.
func (s *storeSim) disturb(p *process) {
	if !p.present() {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.chance.UpTo(8*time.Second))
	defer cancel()
	switch s.chance.Below(14) {
	case 0:
		p.Die()
		s.count(func(n *mishaps) { n.Killed++ })
		s.replace(p)
	case 1:
		s.end(p.session)
		s.count(func(n *mishaps) { n.Closed++ })
		p.session = nil
	case 2:
		s.ends.Go(func() { _ = p.Shutdown(s.ctx) })
		s.count(func(n *mishaps) { n.ShutDown++ })
		s.replace(p)
	case 3, 4:
		s.tolerable(p.control(ctx, flow.Pause{Drain: s.chance.Below(2) == 0}))
	case 5, 6, 7:
		s.tolerable(p.control(ctx, flow.Resume{}))
	default:
		s.further(p)
	}
}

// replace lets another process take a process's place.
func (s *storeSim) replace(p *process) {
	s.end(p.session)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.processes[slices.Index(s.processes, p)] = s.process()
}

// control brings a control in one of the ways that there are.
func (p *process) control(ctx context.Context, signal flow.Signal) error {
	if p.sim.chance.Below(2) == 0 {
		return p.Control(ctx, p.sim.id, signal)
	}
	switch signal := signal.(type) {
	case flow.Pause:
		if signal.Drain {
			return p.session.Control(ctx, flow.Pause{Drain: true})
		}
		return p.session.Pause(ctx)
	case flow.Resume:
		return p.session.Resume(ctx)
	case flow.Retry:
		return p.session.Retry(ctx)
	case flow.Answer:
		return p.session.Answer(ctx, signal)
	default:
		return stage.ErrBroken
	}
}

// further does what somebody has to do so that the debate goes on.
func (s *storeSim) further(p *process) {
	if !p.present() {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, 20*time.Second)
	defer cancel()
	record, err := s.Reader.Record(ctx, s.id)
	if err != nil {
		return // it has not begun
	}
	if signal := owed(record); signal != nil {
		s.tolerable(p.control(ctx, signal))
	}
}

func (s *storeSim) count(what func(*mishaps)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what(&s.seen)
}
