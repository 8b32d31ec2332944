package debate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// sequence yields what a vendor's cache sees of a request: all but its last message.
func sequence(req *provider.Request) string {
	var b strings.Builder
	kept := *req
	kept.Last = provider.Message{}
	for role, text := range kept.Chat() {
		b.WriteString(string(role) + "\x00" + text + "\x00")
	}
	return b.String()
}

// drops counts for how many of the requests the beginning is not all of the one before of its speaker,
// and how many of these have what that one had left out.
func (d *talk) drops(names ...string) (drops, back, all int) {
	for _, name := range names {
		last, least := "", 0
		for _, req := range d.turnsOf(name) {
			now := sequence(&req)
			if !strings.HasPrefix(now, last) {
				drops++
			}
			second := 0
			if got := slices.DeleteFunc(heard(&req), func(call string) bool { return call == "summary" }); len(got) > 1 {
				_, _ = fmt.Sscanf(got[1], "r%d.", &second)
			}
			if second < least {
				back++
			}
			last, least, all = now, second, all+1
		}
	}
	return drops, back, all
}

func TestTheBeginningOfARequestStaysBetweenDrops(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*talk){
		"nothing to drop": func(d *talk) { d.windows(0, 0) },
		"hybrid":          func(*talk) {},
		"sliding":         func(d *talk) { d.config.Context = flow.ContextSliding },
		"truncate":        func(d *talk) { d.config.Context = flow.ContextTruncate },
		"summaries":       func(d *talk) { d.summarizes(true) },
		"simultaneous":    func(d *talk) { d.config.Mode = debate.Simultaneous },
		"true usage":      func(d *talk) { d.usage = d.truthful },
		"dense usage":     func(d *talk) { d.usage = dense(d) },
		"uneven usage": func(d *talk) { // a vendor's own vocabulary differs by text
			dice := rand.New(rand.NewPCG(1, 2))
			d.usage = func(req *provider.Request, reply string) provider.Usage {
				u := d.truthful(req, reply)
				u.Input = u.Input * (125 + dice.IntN(10)) / 100
				return u
			}
		},
	} {
		if fewer > 1 && name != "hybrid" && name != "summaries" && name != "uneven usage" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			d := newTalk(40, 9000)
			change(d)
			run(t, d.engine, d.config)
			drops, back, all := d.drops("Ada", "Ben")
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
