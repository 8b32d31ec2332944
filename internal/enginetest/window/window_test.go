package window_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestTruncateLeavesOutTheOldest(t *testing.T) {
	d := stage.NewTalk(16, 6000)
	d.Config.Context = flow.ContextTruncate
	stage.Run(t, d.Engine, d.Config)
	requests := d.TurnsOf()
	last := stage.Heard(&requests[len(requests)-1])
	assert.NotContains(t, last, stage.Oldest)
	assert.Equal(t, "r16.closing.Ada", last[len(last)-1])
	assert.Less(t, len(last), 31)
}

func TestSlidingKeepsTheOpeningOfEachSideAndTheNewest(t *testing.T) {
	d := stage.NewTalk(16, 6000)
	d.Config.Context = flow.ContextSliding
	record := stage.Run(t, d.Engine, d.Config)
	all := d.TurnsOf()
	for i := range all {
		got := stage.Heard(&all[i])
		if i == 0 {
			continue
		}
		require.Equal(t, stage.Oldest, got[0], all[i].ID)
		newest := record.Turns[i-1].Call
		require.Equal(t, newest, got[len(got)-1], all[i].ID)
		if len(got) < i {
			assert.Equal(t, record.Turns[1].Call, got[1], all[i].ID)
			assert.NotEqual(t, record.Turns[2].Call, got[2], "the third goes first")
		}
	}
	assert.Less(t, len(stage.Heard(&all[31])), 31)
}

func TestHybridSendsEverythingThatFitsAndSlidesFromThere(t *testing.T) {
	d := stage.NewTalk(16, 6000)
	assert.Empty(t, d.Config.Context, "hybrid is the default")
	record := stage.Run(t, d.Engine, d.Config)
	cut := 0
	all := d.TurnsOf()
	for i := range all {
		got := stage.Heard(&all[i])
		if len(got) == i {
			assert.Zero(t, cut, "%s: once cut, never whole again", all[i].ID)
			assert.LessOrEqual(t, d.Sent(&all[i]), 5600, all[i].ID)
			continue
		}
		if cut == 0 {
			cut = i
			assert.Greater(t, d.Share(&all[i-1], 6000)+8, 100, "%s was not cut too early", all[i].ID)
		}
		assert.Equal(t, stage.Oldest, got[0], "the opening stays")
		assert.Equal(t, record.Turns[i-1].Call, got[len(got)-1])
	}
	assert.Positive(t, cut)
	assert.Subset(t, kindsOf(record), []string{"context-80 Ada", "context-80 Ben", "context-90 Ada", "context-90 Ben", "context Ada", "context Ben"})
}

func TestEverybodyHasItsOwnWindow(t *testing.T) {
	d := stage.NewTalk(16, 6000)
	d.Config.Participants[1].Model = "test/wide"
	d.Engine.Models["test/wide"] = debate.Model{Priced: true, Window: 200_000}
	record := stage.Run(t, d.Engine, d.Config)
	narrow, wide := d.TurnsOf("Ada"), d.TurnsOf("Ben")
	assert.Less(t, len(narrow[15].Messages), 30)
	assert.Len(t, wide[15].Messages, 31)
	for _, w := range record.Warnings {
		assert.Equal(t, "Ada", w.By)
	}
}

// sizesOf draws how long turns are: all alike, or short with a long one now and then.
func sizesOf(dice *rand.Rand) func(*provider.Request) int {
	if dice.IntN(2) == 0 {
		n := 20 + dice.IntN(350)
		return func(*provider.Request) int { return n }
	}
	often := 2 + dice.IntN(20)
	return func(req *provider.Request) int {
		if n := len(req.Messages); n > 0 && n%often == 0 {
			return stage.ReplyTokens
		}
		return 20
	}
}

// Whatever the window, the manager and the length of the turns: no request and no reply to it is
// larger than the window, the newest turn is always in it, and the debate comes to its verdict.
func TestNothingIsSentThatDoesNotFit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40 / longform.Fewer()) {
		dice := rand.New(rand.NewPCG(seed, 1))
		size := 3500 + dice.IntN(6000)
		d := stage.NewTalk(6+dice.IntN(12), size)
		d.Said = sizesOf(dice)
		d.Config.Context = []string{flow.ContextTruncate, flow.ContextSliding, flow.ContextSummarize, ""}[dice.IntN(4)]
		if dice.IntN(2) == 0 {
			d.Config.Mode = debate.Simultaneous
		}
		if dice.IntN(2) == 0 {
			d.Summarizes(dice.IntN(2) == 0)
		}
		honestly := dice.IntN(2) == 0
		if honestly {
			d.Usage = d.Truthful
		}
		if dice.IntN(2) == 0 {
			d.Windows(size, 5000+dice.IntN(4000))
		}
		record := stage.Run(t, d.Engine, d.Config)
		name := fmt.Sprintf("seed %d, window %d, %q, %s, honest %t, summarizer %q", seed, size, d.Config.Context, d.Config.Mode, honestly, d.Config.Summarizer)
		require.NotNil(t, stage.View(record).Verdict, name)
		require.Len(t, record.Turns, 2*d.Config.Rounds, name)
		for _, req := range d.Provider.Requests() {
			window := d.Engine.Models["test/"+req.Model].Window
			if window == 0 {
				continue
			}
			require.LessOrEqual(t, d.Sent(&req), window-stage.ReplyTokens, "%s: %s", name, req.ID)
			assert.Contains(t, req.System, d.Config.Topic, "%s: %s", name, req.ID)
		}
	}
}

// Many short turns have less around them than is counted for it; that must not make room for long turns,
// whose count is right.
func TestLongTurnsAfterManyShortOnesFit(t *testing.T) {
	t.Parallel()
	for _, manager := range []string{flow.ContextSliding, flow.DefaultContext} {
		t.Run(manager, func(t *testing.T) {
			d := stage.NewTalk(36, 12_500)
			d.Config.Context, d.Config.Mode, d.Usage = manager, debate.Simultaneous, d.Truthful
			d.Config.MaxTokens, d.Config.Reserve = 2500, 2500
			stage.Abiding(d.Provider)
			for _, name := range []string{"Cyd", "Dan"} {
				d.Config.Participants = append(d.Config.Participants, debate.Participant{Name: name, Side: debate.For, Model: "test/debater"})
			}
			d.Said = func(req *provider.Request) int {
				if strings.Contains(req.ID, "/r33.") {
					return 2400
				}
				return 10
			}
			stage.Run(t, d.Engine, d.Config)
			for _, req := range d.TurnsOf() {
				require.LessOrEqual(t, d.Sent(&req), 10_000, req.ID)
			}
		})
	}
}
