package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// TestAReplyThatIsContinuedIsOneTextFarAwayToo: a reader from its beginning gets each byte once, and one from its middle all of it.
func TestAReplyThatIsContinuedIsOneTextFarAwayToo(t *testing.T) {
	first, rest := strings.Repeat("the first part, ", 4), strings.Repeat("and the rest ", 4)
	for name, late := range map[string]time.Duration{"from its beginning": 0, "from its middle": 1550 * time.Millisecond} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			f := stage.OneState(stage.CallsOf(func(call *flow.Call) { call.Continues = 2 }))
			engine, p, config := stage.WithFlow(f)
			p.Reply = func(req *provider.Request) scripted.Reply {
				switch {
				case req.Self != "Ada":
					return scripted.Reply{Text: "A word."}
				case strings.HasSuffix(req.ID, "/1"):
					return scripted.Reply{Text: first, Stop: provider.StopLength}
				default:
					return scripted.Reply{Text: rest}
				}
			}
			stage.Slowly(p)
			engine.Store, engine.Bus = &store.Memory{}, &bus.Local{}
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			stage.Pass(late)
			watcher := &debate.Engine{Store: engine.Store, Flows: engine.Flows, Bus: engine.Bus}
			text, parts, replaced := "", map[int]bool{}, 0
			for event, err := range watcher.Events(t.Context(), session.ID(), 0) {
				require.NoError(t, err)
				switch body := event.Body.(type) {
				case *flow.Chunk:
					if body.Call == "say.Ada" {
						assert.Zero(t, body.Missing)
						replaced += len(text) - body.Offset
						text, parts[body.Attempt] = text[:body.Offset]+body.Text, true
					}
				case *flow.Turn:
					if body.Call == "say.Ada" {
						assert.Equal(t, first+rest, body.Text)
						assert.Equal(t, body.Text, text)
					}
				}
			}
			assert.Equal(t, first+rest, text)
			assert.Zero(t, replaced)
			assert.True(t, parts[2], "the second part is heard as it is spoken")
		}))
	}
}
