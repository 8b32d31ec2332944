package simulation_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

var simStoreSeeds = flag.Uint64("sim.store.seeds", uint64(120/fewer), "how many seeds TestSimulationOfStores plays")

// TestSimulationOfStores plays each seed's debate by processes that share a store which fails: before and
// after what it was asked for took effect, slowly, not at all, for a while, without a word. They are
// paused, closed, killed and begun anew meanwhile. The debate must end as it does undisturbed, with every
// result once in its log, nothing asked twice, and nothing told that was not saved.
func TestSimulationOfStores(t *testing.T) {
	const shards = 2
	var seen [shards]mishaps
	t.Run("seeds", func(t *testing.T) {
		for shard := range uint64(shards) {
			t.Run(fmt.Sprintf("%d of %d", shard+1, shards), func(t *testing.T) {
				t.Parallel()
				for seed := shard; seed < *simStoreSeeds && !t.Failed(); seed += shards {
					synctest.Test(t, func(t *testing.T) { add(&seen[shard], newStoreSim(t, seed).play()) })
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	for i := range seen[1:] {
		add(&seen[0], seen[i+1])
	}
	n := seen[0]
	t.Logf("runs %d/%d, repeats %d, lost events %d; through %+v", *simStoreSeeds, *simStoreSeeds, n.Repeated, n.Vanished, n)
	assert.Zero(t, n.Repeated+n.Vanished)
	if *simStoreSeeds < 120 {
		return // too few to meet everything
	}
	for name, times := range map[string]int{
		"kill": n.Killed, "closed session": n.Closed, "shutdown": n.ShutDown, "drop": n.Dropped, "lost call": n.Lost,
		"broken off call": n.BrokenOff, "pause": n.Paused, "answer": n.Answered, "acknowledgement": n.Acknowledged, "retry": n.Retried,
		"error before": n.Before, "error after": n.After, "slow operation": n.Slow, "hanging operation": n.Hung,
		"full disk": n.Full, "read-only time": n.ReadOnly, "half a read": n.Half, "lost notification": n.Unheard, "broken watch": n.Unwatched,
	} {
		assert.Positive(t, times, "%s: the simulation no longer meets one", name)
	}
}

// mishaps count what the debates went through.
type mishaps struct {
	Events, Lost, BrokenOff, Paused, Answered, Acknowledged, Retried    int // in the logs
	Killed, Closed, ShutDown, Dropped                                   int // sessions
	Before, After, Slow, Hung, Full, ReadOnly, Half, Unheard, Unwatched int // operations of stores
	Repeated                                                            int // attempts that were made more than once
	Vanished                                                            int // events that were told and are not in the log
}

// add adds counts, each of which is a number in a field of its own.
func add[T any](n *T, m T) {
	sum, more := reflect.ValueOf(n).Elem(), reflect.ValueOf(m)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}

// note counts one event.
func (n *mishaps) note(e *debate.Event) {
	n.Events++
	switch {
	case body.As[flow.Failure](*e) != nil && body.As[flow.Failure](*e).Void && body.As[flow.Failure](*e).Error.Kind == provider.KindNetwork:
		n.Lost++
	case body.As[flow.Failure](*e) != nil && body.As[flow.Failure](*e).Void:
		n.BrokenOff++
	case body.As[flow.Answer](*e) != nil && body.As[flow.Answer](*e).Option == flow.OptionContinue:
		n.Acknowledged++
	case body.As[flow.Answer](*e) != nil:
		n.Answered++
	case body.As[flow.Transition](*e) == nil:
	case body.As[flow.Transition](*e).On == flow.TriggerPause:
		n.Paused++
	case body.As[flow.Transition](*e).On == flow.TriggerRetry:
		n.Retried++
	}
}

// storeConfig draws a debate of up to three, whose end nothing that happens to stores may change.
func storeConfig(dice *rand.Rand, seed uint64) debate.Config {
	config := stage.TwoDebaters()
	config.Unattended, config.Patience = chance(dice, 2), oneOf(dice, 0, time.Nanosecond) // otherwise a person is asked
	config.ID = fmt.Sprintf("stored-%d", seed)
	if chance(dice, 2) {
		config.Mode = debate.Simultaneous
	}
	if chance(dice, 3) {
		config.Participants = append(config.Participants, debate.Participant{Name: "Cem", Side: debate.Against, Model: "test/debater"})
	}
	if chance(dice, 3) {
		config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Model: "test/judge"})
	}
	if chance(dice, 2) {
		config.RoundTimeout = 24 * time.Hour // breaks are recorded
	}
	if chance(dice, 3) {
		stage.Pausing(&config, 3*time.Second)
	}
	if chance(dice, 3) {
		config.Budget, config.Unattended = &debate.Budget{Warn: debate.USD / 200, Confirm: true}, false
	}
	return config
}
