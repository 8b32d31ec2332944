package debate_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// All that a contribution has taken stands in one place: its replies, its time and the uses of tools.
func TestTheWorkOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &tally{}
		asks := []provider.ToolCall{toolCall("1", "add", `{"a":1,"b":2}`), toolCall("2", "sing", `{}`), toolCall("3", "add", `{"a":-1,"b":2}`)}
		engine := workshopEngine(adaAlone(worker(asks)), 3, map[string]debate.Tool{"add": slow.of(t, flow.ToolInfo{Approval: true})})
		session, err := engine.Start(t.Context(), inFlow(engine, workers()))
		require.NoError(t, err)
		defer session.Close()
		record := waits(t, session)
		work, ok := record.Work("work.Ada")
		require.True(t, ok)
		assert.True(t, work.Uses[0].Pending)
		assert.Zero(t, work.Uses[0].Attempts)
		<-time.After(time.Hour)
		require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionApprove))
		require.NoError(t, session.Choose(t.Context(), record.Inquiries[1].ID, flow.OptionDeny, "No."))
		record = ends(t, session)

		work, _ = record.Work("work.Ada")
		assert.Equal(t, 2, work.Attempts)
		assert.Equal(t, 1, work.Exchanges)
		assert.True(t, work.UsedUp)
		assert.Equal(t, time.Hour, work.EndedAt.Sub(work.BeganAt))
		for _, of := range record.SpentByParticipant() {
			if of.Name == "Ada" {
				assert.Equal(t, of.Usage, work.Usage, "of both replies")
				assert.Equal(t, of.Cost, work.Cost)
			}
		}
		require.Len(t, work.Uses, 3)
		first := work.Uses[0]
		assert.Equal(t, flow.UsedTool{
			Use: "work.Ada.tool.1", Tool: "add", Arguments: json.RawMessage(`{"a":1,"b":2}`), Text: "3", Attempts: 1,
			BeganAt: first.BeganAt, EndedAt: first.EndedAt,
		}, first)
		assert.False(t, first.EndedAt.IsZero())
		assert.True(t, work.Uses[1].Denied)
		assert.Equal(t, "There is no tool of this name.", work.Uses[1].Text)
		assert.True(t, work.Uses[2].Denied)
		assert.Equal(t, "This use was denied: No.", work.Uses[2].Text)
		_, ok = record.Work("work.Eve")
		assert.False(t, ok)
	})
}

// A re-ask is work of the call that it asks again for.
func TestTheWorkOfACallHasItsReAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(debate.KindVerdict, false, scripted.Reply{Text: "nonsense"}, scripted.Reply{Text: good(debate.KindVerdict)})
		_, record, err := b.start(t)
		require.NoError(t, err)
		require.Len(t, record.Rejections, 1)
		rejected := record.Rejections[0]
		first, _ := record.Call(rejected.Call)
		again, _ := record.Call(rejected.Call + ".again")
		work, ok := record.Work(rejected.Call)
		require.True(t, ok)
		assert.Equal(t, 2, work.Attempts)
		assert.Equal(t, first.BeganAt, work.BeganAt)
		assert.Equal(t, again.EndedAt, work.EndedAt)
		assert.Greater(t, work.Usage.Output, rejected.Usage.Output)
		same, _ := record.Work(rejected.Call + ".again")
		assert.Equal(t, work, same)
	})
}
