package window_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestTheBeginningOfARequestStaysBetweenDrops(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*stage.Talk){
		"nothing to drop": func(d *stage.Talk) { d.Windows(0, 0) },
		"hybrid":          func(*stage.Talk) {},
		"sliding":         func(d *stage.Talk) { d.Config.Context = flow.ContextSliding },
		"truncate":        func(d *stage.Talk) { d.Config.Context = flow.ContextTruncate },
		"summaries":       func(d *stage.Talk) { d.Summarizes(true) },
		"simultaneous":    func(d *stage.Talk) { d.Config.Mode = debate.Simultaneous },
		"true usage":      func(d *stage.Talk) { d.Usage = d.Truthful },
		"dense usage":     func(d *stage.Talk) { d.Usage = dense(d) },
		"uneven usage": func(d *stage.Talk) { // a vendor's own vocabulary differs by text
			dice := rand.New(rand.NewPCG(1, 2))
			d.Usage = func(req *provider.Request, reply string) provider.Usage {
				u := d.Truthful(req, reply)
				u.Input = u.Input * (125 + dice.IntN(10)) / 100
				return u
			}
		},
	} {
		if longform.Fewer() > 1 && name != "hybrid" && name != "summaries" && name != "uneven usage" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := stage.NewTalk(40, 9000)
			change(d)
			stage.Run(t, d.Engine, d.Config)
			drops, back, all := d.Drops("Ada", "Ben")
			require.Equal(t, 80, all)
			assert.Zero(t, back, "what was left out comes back, and the whole request is read anew, twice")
			if name == "nothing to drop" {
				assert.Zero(t, drops)
				return
			}
			// 40 rounds are 27,000 tokens with what is counted around them, or half as many again where the
			// vendor says so; a drop leaves out a fifth of the window at least.
			said := 27_000
			if name == "dense usage" || name == "uneven usage" {
				said += said / 2
			}
			assert.Positive(t, drops)
			assert.LessOrEqual(t, drops, 2*said/(8600/5))
		})
	}
}
