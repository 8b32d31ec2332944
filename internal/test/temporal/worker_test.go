package temporal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/internal/stage/process"
)

// troupe returns conversations of all flows, some of each. A debate waits between its rounds. All have a limit of half an hour, in turn a
// hard one, which fails them, and a soft one, which ends them early.
func troupe(name string, of int) (all []flow.Config, ids []string) {
	hard, soft := &flow.Budget{HardTime: 30 * time.Minute}, &flow.Budget{SoftTime: 30 * time.Minute}
	for i := range of {
		ids = append(ids, fmt.Sprintf("%s-debate-%d", name, i), fmt.Sprintf("%s-deliberation-%d", name, i), fmt.Sprintf("%s-arbiter-%d", name, i))
		debate, deliberation, arbitration := flows.Debate(ids[3*i]), flows.Deliberation(ids[3*i+1]), flows.Arbitration(ids[3*i+2])
		stage.Pausing(&debate, time.Second)
		debate.Budget, deliberation.Budget, arbitration.Budget = hard, soft, hard
		all = append(all, debate, deliberation, arbitration)
		hard, soft = soft, hard
	}
	return all, ids
}

// begin starts the workflows of conversations.
func (c *cluster) begin(t *testing.T, configs []flow.Config) {
	t.Helper()
	for _, config := range configs {
		_, err := c.client.Start(t.Context(), config)
		require.NoError(t, err)
	}
}

// end waits until conversations are over, and holds them to those that nobody disturbs.
func (c *cluster) end(t *testing.T, configs []flow.Config, ids []string) *tally {
	t.Helper()
	for _, id := range ids {
		status, err := c.client.Wait(t.Context(), id)
		require.NoError(t, err, id)
		require.Equal(t, flow.StateCompleted, status.State, id)
	}
	sum := c.tally(t)
	for i, id := range ids {
		sum.add(t, id, configs[i])
	}
	assert.Zero(t, sum.Faults(), "%s", &sum.Audit)
	return sum
}

// A worker whose clock is an hour off, either way, carries conversations through, alone and with others. It loses no call, what waits for
// a time waits no longer, and limits of time end nothing.
func TestAClockThatIsOff(t *testing.T) {
	t.Parallel()
	process.NeedsClock(t)
	some := longform.Or(4, 1)
	c := newCluster(t, order{Latency: 20 * time.Millisecond, Lease: usual})
	began := time.Now()
	ahead := c.worker(t, func(o *order) { o.Off = time.Hour })
	alone, names := troupe("alone", 1)
	c.begin(t, alone)
	assert.Zero(t, c.end(t, alone, names).Broken)
	c.worker(t, func(o *order) { o.Off = -time.Hour })
	shared, others := troupe("shared", some)
	c.begin(t, shared)
	assert.Zero(t, c.end(t, shared, others).Broken)
	ahead.Kill()
	c.worker(t)
	later, last := troupe("later", some)
	c.begin(t, later)
	assert.Zero(t, c.end(t, later, last).Broken)

	for _, id := range names {
		for _, a := range c.tally(t).asked[id] { // the ledger has the times of the process
			assert.Greater(t, a.At.Sub(began), 30*time.Minute, "no clock was off: the test finds nothing")
		}
	}
	for _, id := range slices.Concat(names, others, last) {
		log := flows.Log(t, c.client.Engine, id) // it has the times of the store
		assert.Less(t, log[len(log)-1].At.Sub(began), 30*time.Minute, id)
	}
}

// A worker without the key of a provider keeps no conversation from its end beside one that has it. Nothing is charged for it, and no
// call is made twice.
func TestAWorkerWithoutAKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: 20 * time.Millisecond, Lease: usual})
	c.worker(t, func(o *order) { o.Poor = true })
	configs, ids := troupe("poor", 3)
	c.begin(t, configs)
	for _, id := range ids { // it has all tasks as long as it is alone
		until(t, "the worker says what it lacks", func() bool { return strings.Contains(c.pending(t, id), "no provider") })
	}
	right := c.worker(t)
	sum := c.end(t, configs, ids)
	assert.Zero(t, sum.Broken)
	refused := 0
	for _, id := range ids {
		refused += c.refusals(t, id)
		assert.False(t, slices.ContainsFunc(sum.asked[id], func(a flows.Asked) bool { return a.By != right.Order.Name }))
	}
	figuref("a worker without a key beside one with it: %d conversations, %d tasks refused, %s", len(ids), refused, &sum.Audit)
}
