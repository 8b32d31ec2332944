package budget_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// long makes the speeches and results of a piece about 3,000 tokens long, of the 4,096 that they may have. Verdicts, decisions and
// solutions stay as short as they usually are. Nothing is summarized.
func long(p piece) piece {
	config, reply := p.config, p.reply
	p.config = func(model string, rounds int, b *flow.Budget) flow.Config {
		c := config(model, rounds, b)
		if d, ok := c.(deliberation.Config); ok {
			d.Summaries.Off = true
			return d
		}
		return c
	}
	p.reply = func(rounds int) func(req *provider.Request) string {
		usual := reply(rounds)
		return func(req *provider.Request) string {
			tokens := 2_400 + 2*lengthOf(req)
			switch {
			case req.Schema == nil:
				return words(tokens)
			case req.Schema.Name == "result":
				return stage.JSON(arbiter.Result{Success: true, Output: words(tokens)})
			default:
				return usual(req)
			}
		}
	}
	return p
}

// A limit that covers the cost lets a conversation run also where replies are many times as long as the typical one, and the conclusion is
// not.
func TestALimitThatCoversLongRepliesLetsThemRun(t *testing.T) {
	t.Parallel()
	for name, p := range pieces() {
		p := long(p)
		for _, model := range []string{"openai/gpt-4.1", "openai/gpt-5"}[:longform.Sized(2, 2, 1)] {
			for _, rounds := range longform.Sized([]int{2, 5}, []int{2, 5}, []int{2}) {
				t.Run(fmt.Sprintf("%s %s %d", name, model, rounds), func(t *testing.T) {
					if name == "deliberation" {
						longform.Lone(t) // its calls are those of TestALimitThatCoversTheCostLetsItRun, with longer replies to count
					}
					t.Parallel()
					free, _, _ := played(t, p, model, rounds, nil)
					require.Empty(t, p.whole(free, rounds))
					require.Empty(t, p.concluded(free, rounds))
					cost := free.Spent().Cost
					enough := cost + cost*3/10
					record, most, refused := played(t, p, model, rounds, &flow.Budget{Soft: enough, Hard: enough})
					require.NoError(t, refused)
					assert.Empty(t, record.CutShort())
					assert.Empty(t, p.whole(record, rounds))
					assert.Empty(t, p.concluded(record, rounds))
					assert.LessOrEqual(t, most, enough)

					record, most, refused = played(t, p, model, rounds, &flow.Budget{Soft: cost, Hard: cost})
					require.NoError(t, refused)
					assert.Equal(t, flow.StateCompleted, record.State, "%v", record.Failure)
					assert.Empty(t, p.concluded(record, rounds), record.CutShort())
					assert.LessOrEqual(t, most, cost)
				})
			}
		}
	}
}
