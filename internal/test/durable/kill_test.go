package durable_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/store"
)

// shortLease lets a store that cannot see processes give the debate of a dead one away soon. On a busy machine
// it may run out under a process that lives; that process then begins again, as if it had been killed.
const shortLease = time.Second

// tally is what the trials of one store have found.
type tally struct {
	mu                                        sync.Mutex
	kills, survived                           int
	repeats, lost, uncharged, most, excessive int
	died                                      []string // the kinds of failpoints at which processes were killed
}

// trial plays one debate whose processes are killed.
type trial struct {
	place  place
	store  store.Store // of the same place, to read
	play   string
	id     string
	starts bool    // by Engine.Start, and not by Engine.Open
	kills  []death // of one process after the other
	want   string  // the canonical record of the undisturbed debate
}

// TestKill kills processes at their failpoints, before and after every write and every call, and compares
// what the provider was asked, and the end, with the log at each death.
func TestKill(t *testing.T) { // beside the other tests there would be too many processes, and connections
	longform.Lone(t)
	for _, kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			place := newPlace(t, kind)
			store := opened(t, place)
			sum := &tally{}
			var trials []trial
			reached := make(map[string]bool) // kinds of failpoints, by the first play that has them, whose order is sure
			for i, play := range []string{sequential, simultaneous, troubled, summarized} {
				if (play == summarized || play == simultaneous) && kind != inFile && !*killAll {
					continue // the kinds of failpoints are those of the others, and a tokenizer takes longer to load than all the rest
				}
				want, points := undisturbed(t, play), dryRun(t, place, play)
				t.Logf("%s: %d failpoints", play, len(points))
				dice := rand.New(rand.NewPCG(uint64(len(kind)), uint64(i)))
				picked := sample(points, reached, play == simultaneous, dice)
				if play == summarized && !*killAll {
					picked = picked[:1]
				}
				for _, k := range picked {
					first := deathAt(points, k)
					trials = append(trials, trial{place, store, play, fmt.Sprintf("%s.%d", play, k), k%2 == 0, []death{first}, want})
					if *killAll || play != summarized && len(trials)%4 == 0 {
						second := 1 + dice.Int64N(max(1, int64(len(points))-k))
						both := []death{first, {Number: second}}
						trials = append(trials, trial{place, store, play, fmt.Sprintf("%s.%d.%d", play, k, second), k%2 == 0, both, want})
					}
				}
			}
			sum.run(t, trials)
			figuref("kill -9, %s: survived %d/%d, kills %d, repeats %d, lost %d, duplicates per crash <= in flight (max %d)",
				kind, sum.survived, len(trials), sum.kills, sum.repeats, sum.lost, sum.most)
			assert.Equal(t, len(trials), sum.survived, "survived") // one that was broken off has not
			assert.Subset(t, sum.died, slices.Collect(maps.Keys(reached)), "kinds of failpoints")
			assert.Len(t, reached, 9, "kinds of failpoints")
			assert.Zero(t, sum.repeats, "repeats")
			assert.Zero(t, sum.lost, "lost")
			assert.Zero(t, sum.excessive, "more duplicates than calls in flight")
			assert.Zero(t, sum.uncharged, "calls in flight that are not reported and charged")
			assert.Positive(t, sum.most, "no call in flight was ever repeated: the test finds nothing")
			assert.GreaterOrEqual(t, sum.kills, len(trials), "nobody was killed")
		})
	}
}

// undisturbed is the canonical record of a play that nobody disturbs.
func undisturbed(t *testing.T, play string) string {
	t.Helper()
	ledger, err := openLedger(filepath.Join(t.TempDir(), "ledger"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, ledger.file.Close()) }()
	engine := engineOn(nil, &voice{points: &failpoints{}, ledger: ledger})
	session, err := engine.Start(t.Context(), configOf(play, play))
	require.NoError(t, err)
	defer session.Close()
	record := stage.Ended(t, session)
	require.Equal(t, play == summarized, len(record.Summaries) > 0)
	return stage.Canonical(t, record)
}

// sample picks failpoints, all with -kill.all. Without it these are one of each kind that none was
// picked of before, and one of the others, or else of a quarter of them.
func sample(points []string, reached map[string]bool, others bool, dice *rand.Rand) (picked []int64) {
	of := make(map[string][]int64)
	for i, kind := range points {
		of[kind] = append(of[kind], int64(i+1))
	}
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		switch all := of[kind]; {
		case *killAll:
			picked = append(picked, all...)
		case !reached[kind] || others || dice.IntN(4) == 0:
			picked = append(picked, all[dice.IntN(len(all))])
		}
		reached[kind] = true
	}
	return picked
}

// deathAt returns the death at the failpoint with a number, from 1.
func deathAt(points []string, number int64) death {
	d := death{Kind: points[number-1]}
	for _, kind := range points[:number] {
		if kind == d.Kind {
			d.Number++
		}
	}
	return d
}

// dryRun returns the kinds of the failpoints of a play.
func dryRun(t *testing.T, place place, play string) []string {
	t.Helper()
	o := order{
		Task: "play", Place: place, Ledger: filepath.Join(t.TempDir(), "ledger"), Play: play, IDs: []string{play},
		Lease: time.Minute, Latency: latencyOf(play),
	}
	last, killed := process.Launch(t, o).Wait(t)
	require.False(t, killed)
	return strings.Split(last, separator)
}

// latencyOf is that of the calls of a play.
func latencyOf(play string) time.Duration {
	if play == simultaneous {
		return 2 * time.Millisecond // or they would hardly be in flight at the same time
	}
	return 0
}

// run runs trials, some at a time: they mostly wait for disks and leases.
func (s *tally) run(t *testing.T, trials []trial) {
	t.Helper()
	var running sync.WaitGroup
	todo := make(chan trial)
	for range 4 {
		running.Go(func() {
			for trial := range todo {
				t.Run(trial.id, func(t *testing.T) { trial.run(t, s) })
			}
		})
	}
	for _, trial := range trials {
		todo <- trial
	}
	close(todo)
	running.Wait()
}

// run kills one process after the other, lets the last one finish, and looks at what they have done.
func (r trial) run(t *testing.T, sum *tally) {
	o := order{
		Task: "play", Place: r.place, Ledger: filepath.Join(t.TempDir(), "ledger"), Play: r.play, IDs: []string{r.id},
		Lease: shortLease, Latency: latencyOf(r.play), Starts: r.starts,
	}
	s := tally{}
	defer sum.add(&s)       // also if the test is broken off
	var logs [][]flow.Event // before each process, and at the end
	var shifts [][]entry    // what each process has done
	for n, over, lines := 0, false, 0; !over; n++ {
		if o.Kill = (death{}); n < len(r.kills) {
			o.Kill = r.kills[n]
		}
		logs = append(logs, logOf(t, r.store, r.id))
		p := process.Launch(t, o)
		last, killed := p.Wait(t)
		if over = !killed; killed {
			s.kills++
			s.died = append(s.died, last)
			r.place.outlive(t, p.PID())
		}
		all := readLedger(t, o.Ledger)
		shifts, lines = append(shifts, all[lines:]), len(all)
	}
	final := logOf(t, r.store, r.id)
	logs = append(logs, final)
	for n, own := range shifts {
		again := audit(slices.Concat(shifts[:n]...), own, logs[n], logs[n+1])
		s.lost += missing(t, logs[n], final)
		s.uncharged += len(uncharged(logs[n], final))
		s.repeats += again.repeats
		s.most = max(s.most, again.duplicates)
		if again.duplicates > len(historyOf(logs[n]).open) {
			s.excessive++
		}
	}
	record := stage.StoredRecord(t, engineOn(r.store, nil), r.id)
	if assert.Equal(t, r.want, stage.Canonical(t, record)) && s.repeats+s.lost+s.excessive+s.uncharged == 0 {
		s.survived = 1
	}
	total, known := charged(slices.Concat(shifts...), final)
	spent := record.Spent()
	assert.Equal(t, known, spent.Cost, "what is known to be spent")
	assert.LessOrEqual(t, total, spent.Cost+spent.AtMost, "what the provider has charged")
	assert.Zero(t, s.repeats, "repeats")
	assert.Zero(t, s.lost, "lost")
	assert.Zero(t, s.uncharged, "not charged")
}

func (s *tally) add(o *tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kills, s.survived, s.died = s.kills+o.kills, s.survived+o.survived, append(s.died, o.died...)
	s.repeats, s.lost, s.uncharged = s.repeats+o.repeats, s.lost+o.lost, s.uncharged+o.uncharged
	s.most, s.excessive = max(s.most, o.most), s.excessive+o.excessive
}
