package file_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

var powerSeeds = flag.Uint64("power.seeds", powerRuns, "how many seeds TestPowerLoss plays")

// plan is what is to be appended to a debate, commit by commit.
type plan [][]flow.Event

// planned returns commits of some events each, from a few bytes to a few sectors.
func planned(rng *rand.Rand, commits int) plan {
	var p plan
	seq := int64(0)
	for range commits {
		var events []flow.Event
		for range 1 + rng.IntN(3) {
			seq++
			events = append(events, flow.Event{
				Seq: seq, At: time.Unix(seq, 0).UTC(),
				Body: &flow.Turn{Speaker: "Ada", Text: strings.Repeat("word ", rng.IntN(150))},
			})
		}
		p = append(p, events)
	}
	return p
}

// trial appends to debates while its drive loses its power after each operation: what is left is then
// looked at, and gone on with.
type trial struct {
	rng    *rand.Rand
	mode   file.Sync
	plans  map[string]plan
	acked  map[string]int // commits
	images int            // after each operation
	deeper int            // of so many images one gets a trial of its own; 0: none

	looked, sound, lost int
	problem             error // the first
}

func (p *trial) ids() []string {
	var ids []string
	for id := range p.plans {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// run appends all that is not there, one commit of each debate at a time. What fails is tried again.
func (p *trial) run(d *drive) error {
	s := &file.Store{Dir: "x", Sync: p.mode}
	s.SetDisk(d)
	d.after = func(int) { p.lose(d) }
	defer func() { d.after = nil }()
	for n := range p.plans["a"] {
		for _, id := range p.ids() {
			if n < p.acked[id] {
				continue
			}
			events := p.plans[id][n]
			err := errors.New("never tried")
			for try := 0; err != nil; try++ {
				if try == 20 {
					return fmt.Errorf("commit %d of %s: %w", n, id, err)
				}
				err = s.Append(context.Background(), id, events[0].Seq-1, fmt.Sprint("w", n), events)
			}
			p.acked[id] = n + 1
		}
	}
	return s.Close()
}

// lose makes images of a drive and looks at them.
func (p *trial) lose(d *drive) {
	yes, no := func() bool { return true }, func() bool { return false }
	either := func() bool { return p.rng.IntN(2) == 0 }
	picks := []*drive{d.image(nothing, no), d.image(nothing, yes), d.image(everything, no), d.image(everything, yes)}
	for len(picks) < p.images {
		picks = append(picks, d.image(part(p.rng.Float64()), yes), d.image(mixture(p.rng), either))
	}
	for _, image := range picks {
		p.looked++
		missing, err := p.look(image)
		p.lost += missing
		if err == nil && missing == 0 {
			p.sound++
		} else if p.problem == nil {
			p.problem = fmt.Errorf("%d commits are missing, %w", missing, err)
		}
	}
}

// look opens what a loss of power has left.
func (p *trial) look(image *drive) (missing int, err error) {
	s := &file.Store{Dir: "x"}
	s.SetDisk(image)
	again := &trial{rng: p.rng, mode: p.mode, plans: p.plans, acked: map[string]int{}, images: p.images / 2}
	for _, id := range p.ids() {
		n, err := whole(s, id, p.plans[id])
		if err != nil {
			return 0, err
		}
		missing += max(0, p.acked[id]-n)
		again.acked[id] = n
	}
	if err := again.listed(s); err != nil || missing > 0 {
		return missing, err
	}
	if p.deeper == 0 || p.rng.IntN(p.deeper) > 0 {
		again.images = 0
	}
	if again.images == 0 {
		return 0, again.goOn(s)
	}
	if err := again.run(image); err != nil {
		return 0, err
	}
	p.looked, p.sound, p.lost = p.looked+again.looked, p.sound+again.sound, p.lost+again.lost
	return 0, again.problem
}

// goOn appends the next commit of one of the debates.
func (p *trial) goOn(s *file.Store) error {
	id := p.ids()[p.rng.IntN(len(p.plans))]
	n := p.acked[id]
	if n == len(p.plans[id]) {
		return nil
	}
	events := p.plans[id][n]
	if err := s.Append(context.Background(), id, events[0].Seq-1, "next", events); err != nil {
		return fmt.Errorf("%s does not go on after %d commits: %w", id, n, err)
	}
	if now, err := whole(s, id, p.plans[id]); err != nil || now != n+1 {
		return fmt.Errorf("%s has %d commits, %w, after one was appended to %d", id, now, err, n)
	}
	return nil
}

// listed compares List with what is there.
func (p *trial) listed(s *file.Store) error {
	there := map[string]int64{}
	for info, err := range s.List(context.Background(), store.Filter{}) {
		if err != nil {
			return err
		}
		there[info.ID] = info.Seq
	}
	for id, n := range p.acked {
		want := int64(len(slices.Concat(p.plans[id][:n]...)))
		if there[id] != want {
			return fmt.Errorf("List says that %s ends at event %d, and it ends at %d", id, there[id], want)
		}
	}
	return nil
}

// whole counts the commits that a debate has, and wants them to be the first of its plan.
func whole(s *file.Store, id string, p plan) (int, error) {
	var events []flow.Event
	for event, err := range s.Read(context.Background(), id, 0) {
		if err != nil && !errors.Is(err, flow.ErrNotFound) {
			return 0, err
		}
		if err == nil {
			events = append(events, event)
		}
	}
	n, rest := 0, events
	for ; n < len(p) && len(rest) >= len(p[n]); n++ {
		if !assert.ObjectsAreEqual(p[n], rest[:len(p[n])]) {
			return 0, fmt.Errorf("commit %d of %s is another one", n, id)
		}
		rest = rest[len(p[n]):]
	}
	if len(rest) > 0 {
		return 0, fmt.Errorf("%s ends with %d events that are no whole commit", id, len(rest))
	}
	return n, nil
}

func newTrial(seed uint64, debates, commits int) *trial {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := &trial{rng: rng, plans: map[string]plan{}, acked: map[string]int{}, images: 16}
	for i := range debates {
		p.plans[string(rune('a'+i))] = planned(rng, commits)
	}
	return p
}

// The long form: go test ./store/file -run Power -power.seeds 500.
//
// Whatever a loss of power takes of what was not synced, every commit that was acknowledged is there, what
// is there is whole commits from the first on, and it can be gone on with; also if the power is lost again.
func TestPowerLoss(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	looked, sound, lost := 0, 0, 0
	for seed := range *powerSeeds {
		p := newTrial(seed, 3, 4)
		p.deeper = powerDeeper
		require.NoError(t, p.run(newDrive()))
		assert.NoError(t, p.problem, "seed %d", seed)
		looked, sound, lost = looked+p.looked, sound+p.sound, lost+p.lost
	}
	t.Logf("power loss: images %d/%d, acknowledged commits lost %d", sound, looked, lost)
	assert.Equal(t, looked, sound)
	assert.Zero(t, lost)
	assert.Greater(t, looked, 400)
}

// The test would notice: without syncs commits are lost.
func TestPowerLossIsNoticed(t *testing.T) {
	p := newTrial(0, 3, 4)
	p.mode = file.SyncNever
	_ = p.run(newDrive())
	assert.Positive(t, p.lost)
	assert.Error(t, p.problem)
}

// Each operation fails once, twice, … in each way; what the power takes after that is no more than before.
func TestTroubleAndPowerLoss(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	looked, sound, lost, runs := 0, 0, 0, 0
	steps := 0
	for _, how := range []error{syscall.EIO, errShort} {
		for times := range 3 {
			for first := 0; first == 0 || first < steps; first += troubleStep {
				p, d := newTrial(uint64(first), 2, 3), newDrive()
				p.images = 6
				d.trouble = func(step int, _ string) error {
					if step >= first && step <= first+times {
						return how
					}
					return nil
				}
				require.NoError(t, p.run(d), "operation %d fails with %v", first, how)
				assert.NoError(t, p.problem, "operation %d fails with %v", first, how)
				for id, plan := range p.plans {
					n, err := whole(stored(d), id, plan)
					assert.NoError(t, err)
					assert.Equal(t, len(plan), n)
				}
				runs, steps = runs+1, d.steps
				looked, sound, lost = looked+p.looked, sound+p.sound, lost+p.lost
			}
		}
	}
	t.Logf("power loss after %d runs with trouble: images %d/%d, acknowledged commits lost %d", runs, sound, looked, lost)
	assert.Equal(t, looked, sound)
	assert.Zero(t, lost)
}

// A process dies after each operation, another one goes on with what the system still has in memory, and
// then the power is lost: what the first one had not synced must be on the disk before the second builds on it.
func TestKillAndPowerLoss(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	looked, sound, lost, steps := 0, 0, 0, 0
	for first := 0; first == 0 || first < steps; first += troubleStep {
		p, d := newTrial(uint64(first), 2, 3), newDrive()
		p.images = 10
		d.trouble = func(step int, _ string) error {
			if step >= first {
				return syscall.EIO
			}
			return nil
		}
		_ = p.run(d)
		d.trouble = nil
		require.NoError(t, p.run(d), "killed before operation %d", first)
		assert.NoError(t, p.problem, "killed before operation %d", first)
		looked, sound, lost, steps = looked+p.looked, sound+p.sound, lost+p.lost, d.steps
	}
	t.Logf("power loss after a kill: images %d/%d, acknowledged commits lost %d", sound, looked, lost)
	assert.Equal(t, looked, sound)
	assert.Zero(t, lost)
}

func stored(d *drive) *file.Store {
	s := &file.Store{Dir: "x"}
	s.SetDisk(d)
	return s
}
