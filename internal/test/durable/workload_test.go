package durable_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
)

// workload returns the config of workload W1, so many rounds of it: three debaters who say 1,800 characters
// each, and a judge whose assessments of each round have about 600 bytes. Everybody reads all, and each
// call's worst case is reserved.
func workload(id string, rounds int) debate.Config {
	return debate.Config{
		ID: id, Topic: "Should cities ban cars from their centres?", Rounds: rounds,
		Participants: []debate.Participant{
			{Name: "Ada", Side: format.For, Model: "test/debater", Position: "Yes, ban them."},
			{Name: "Ben", Side: format.Against, Model: "test/debater", Position: "No, price them."},
			{Name: "Cy", Side: format.Neutral, Model: "test/debater", Position: "Start with the trucks."},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/judge"}}},
		Budget:  &flow.Budget{Hard: 1_000_000 * flow.USD},
	}
}

// debaters are those of the workload.
func debaters() []string { return []string{"Ada", "Ben", "Cy"} }

// steps is the number of calls of a workload.
func steps(rounds int) int { return (len(debaters())+1)*rounds + 1 }

// speechBytes is the length of what a debater says.
const speechBytes = 1800

// speaker is the provider of the workload: it does no more than a model's client must.
type speaker struct {
	latency time.Duration
	last    *gate // holds verdicts; nil: nothing is held
}

// Generate implements [debate.Provider].
func (s *speaker) Generate(ctx context.Context, req *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
	if s.latency > 0 {
		timer := time.NewTimer(s.latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	reply := &provider.Response{Stop: provider.StopEnd, Usage: provider.Usage{Input: 450 * (len(req.Messages) + 1), Output: 450}}
	switch {
	case req.Schema == nil:
		reply.Text = speech(req.Self, len(req.Messages))
	case req.Schema.Name == "verdict":
		s.last.pass()
		reply.Text = strings.Clone(wholeVerdict)
	default:
		reply.Text = strings.Clone(wholeJudgement)
	}
	return reply, nil
}

// What the judge of the workload says, and what a debater fills a speech with.
var (
	wholeJudgement = judgement(debaters(), "what Ada, Ben and Cy have said, and what each of them has left out")
	wholeVerdict   = verdict(debaters(), "all")
	filler         = strings.Repeat("A claim, its reason, and the evidence for it. ", speechBytes/46+1)
)

// speech is what somebody says after so many messages.
func speech(who string, messages int) string {
	begin := fmt.Sprintf("%s speaks after %d messages. ", who, messages)
	return begin + filler[:speechBytes-len(begin)]
}

// gate holds a crowd until all of it is there and somebody has looked at it. A nil gate holds nobody.
type gate struct {
	missing atomic.Int64
	full    chan struct{}
	open    chan struct{}
}

func newGate(crowd int) *gate {
	g := &gate{full: make(chan struct{}), open: make(chan struct{})}
	g.missing.Store(int64(crowd))
	return g
}

func (g *gate) pass() {
	if g == nil {
		return
	}
	if g.missing.Add(-1) == 0 {
		close(g.full)
	}
	<-g.open
}

// conclude plays a workload to its end.
func conclude(t testing.TB, engine *debate.Engine, id string, rounds int) {
	t.Helper()
	session, err := engine.Start(t.Context(), workload(id, rounds))
	require.NoError(t, err)
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, flow.StateCompleted, record.State)
	session.Close()
}
