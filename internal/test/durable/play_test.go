package durable_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// The debates that are played.
const (
	sequential   = "sequential"
	simultaneous = "simultaneous"
	troubled     = "troubled"   // the first attempts at Ben's turns fail
	summarized   = "summarized" // the window is small
	lengthy      = "lengthy"    // more rounds
	endless      = "endless"    // more than there is time for, and nobody judges
	asking       = "asking"     // a person judges
	hardTimed    = "hardTimed"  // it fails after half an hour
	softTimed    = "softTimed"  // it ends early after half an hour
)

// playLabel tells the provider which play it is in.
const playLabel = "play"

// configOf returns the config of a play: two rounds, three debaters and a judge, unless it says otherwise.
func configOf(play, id string) debate.Config {
	c := debate.Config{
		ID: id, Topic: "Should cities ban cars from their centres?", Format: format.RoundLimited, Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: format.For, Model: "test/debater", Position: "Yes, ban them."},
			{Name: "Ben", Side: format.Against, Model: "test/debater", Position: "No, price them."},
			{Name: "Cy", Side: format.Neutral, Model: "test/debater", Position: "Start with the trucks."},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/judge"}}},
		Budget:  &flow.Budget{Hard: 1_000 * flow.USD},
		Retry:   &flow.RetryPolicy{Base: time.Millisecond, Jitter: 1},
		Labels:  map[string]string{playLabel: play}, Patience: time.Millisecond,
	}
	switch play {
	case simultaneous:
		c.Mode = debate.Simultaneous
	case troubled:
		c.Participants = c.Participants[:2]
	case summarized:
		c.Participants, c.Rounds = c.Participants[:2], 6
		c.Context, c.Summarizer, c.MaxTokens, c.Reserve = flow.ContextSummarize, "test/summarizer", 200, 200
		c.Participants[0].Model, c.Participants[1].Model = "test/forgetful", "test/forgetful"
		c.Judging.When = debate.AtEnd
	case lengthy:
		c.Rounds = 6
	case endless:
		c.Participants, c.Rounds, c.Judging = c.Participants[:2], 1000, nil
	case asking:
		c.Participants = c.Participants[:2]
		c.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Person: true}}}
	case hardTimed:
		c.Budget.HardTime = 30 * time.Minute
	case softTimed:
		c.Budget.SoftTime = 30 * time.Minute
	default:
	}
	return c
}

// engineOn returns an engine of this package's provider.
func engineOn(store store.Store, voice debate.Provider) *debate.Engine {
	return &debate.Engine{
		Store:     store,
		Providers: map[string]debate.Provider{"test": voice},
		Models:    prices(),
		Seed:      func() string { return "the same for all" },
	}
}

func prices() map[string]flow.Model {
	return map[string]flow.Model{
		"test/debater":    {Priced: true, Input: 1_000_000, Output: 2_000_000},
		"test/judge":      {Priced: true, Input: 3_000_000, Output: 9_000_000},
		"test/summarizer": {Priced: true, Input: 500_000, Output: 500_000},
		"test/forgetful":  {Priced: true, Input: 1_000_000, Output: 2_000_000, Window: 2_600},
	}
}

// voice is a provider whose answer is a pure function of the request without its id: whoever is asked
// anything else than in the undisturbed debate says something else.
type voice struct {
	points  *failpoints
	ledger  *ledger
	latency time.Duration
}

// Generate implements [debate.Provider].
func (v *voice) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	v.points.pass(beforeCall)
	if err := v.ledger.call(began, req.ID, 0); err != nil {
		return nil, err
	}
	if v.latency > 0 {
		timer := time.NewTimer(v.latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if req.Labels[playLabel] == troubled && req.Self == "Ben" && strings.HasSuffix(req.ID, "/1") {
		v.points.pass(beforeFailure)
		return nil, &provider.Error{Kind: provider.KindNetwork, Message: "cut off"}
	}
	text := answer(req)
	emit(provider.Chunk{Text: text[:len(text)/2]})
	usage := provider.Usage{Input: 100 + 60*len(req.Messages), Output: 60}
	if err := v.ledger.call(ended, req.ID, prices()["test/"+req.Model].Cost(usage)); err != nil {
		return nil, err
	}
	v.points.pass(beforeAnswer)
	return &provider.Response{Text: text, Stop: provider.StopEnd, Usage: usage}, nil
}

// answer is what is said to a request.
func answer(req *provider.Request) string {
	mark := markOf(req)
	var names []string
	for _, p := range configOf(req.Labels[playLabel], "").Participants {
		names = append(names, p.Name)
	}
	switch {
	case req.Schema == nil:
		return fmt.Sprintf("%s has read %s. %s", req.Self, mark, strings.Repeat("A point of its own. ", 24))
	case req.Schema.Name == "verdict":
		return strings.Replace(stage.Verdict(names), "A close debate.", "The judge has read "+mark+".", 1)
	default:
		return strings.Replace(stage.Judgement(names, true), "Both made their case.", "The judge has read "+mark+".", 1)
	}
}

// markOf is what stands for all that a request says.
func markOf(req *provider.Request) string {
	h := fnv.New64a()
	write := func(texts ...string) {
		for _, text := range texts {
			_, _ = io.WriteString(h, text+"|") // never fails
		}
	}
	write(req.Model, req.System, req.Self, req.Last.Text)
	for i := range req.Messages {
		write(req.Messages[i].Speaker, req.Messages[i].Fence, req.Messages[i].Text)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
