package debates_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// TestAnOldLogOfAComposedFlowIsAskedAsBefore: a flow that is made of that of debates has a version of its own, which says nothing of the
// texts in its logs. Judges who read old texts are given the old schema.
func TestAnOldLogOfAComposedFlowIsAskedAsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		court := debate.DebateFlow()
		court.Name, court.Version = "court", 1001
		flows := map[string]*debate.Flow{court.Name: court}
		config := stage.TwoDebaters()
		engine, first := stage.Engine(config)
		engine.Flows, engine.Store = flows, &store.Memory{}
		stage.Slowly(first)
		events := stage.Logged(t, engine, stage.Run(t, engine, flow.Named(court.Name, config)).ID)
		n := slices.IndexFunc(events, func(e debate.Event) bool {
			in := body.As[flow.Intent](e)
			return in != nil && in.Kind == debate.KindAssessment
		})
		for n > 1 && events[n].At.Equal(events[n-1].At) { // of one commit
			n--
		}
		start := *body.As[flow.Start](events[0])
		texts := maps.Clone(start.Texts)
		maps.DeleteFunc(texts, func(name, _ string) bool { return strings.HasPrefix(name, "ask.") })
		texts["assess.judge"], texts["verdict.judge"] = "Assess as of old.", start.Texts["ask.verdict"]
		start.Texts = texts
		events[0].Body = &start

		other, p := stage.Engine(config)
		other.Flows = flows
		reply, asked := p.Reply, 0
		p.Reply = func(req *provider.Request) scripted.Reply {
			if req.Schema != nil && stage.KindOf(req) == debate.KindAssessment {
				asked++ // one judge, so one request at a time
				assert.True(t, strings.HasPrefix(req.Last.Text, "Assess as of old."), req.Last.Text)
				assert.Contains(t, string(req.Schema.JSON), `"recommendations"`)
				assert.Contains(t, string(req.Schema.JSON), `"convergenceReached"`, "from the first round on")
			}
			return reply(req)
		}
		session, err := stage.Restore(t.Context(), other, stage.Snapshot(t, "former", events[:n]))
		require.NoError(t, err)
		defer session.Close()
		record := stage.Ended(t, session)
		assert.Empty(t, record.Rejections)
		assert.Equal(t, 3, asked)
	})
}
