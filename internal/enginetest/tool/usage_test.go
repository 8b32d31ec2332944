package tool_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// All that a contribution has taken stands in one place: its replies, its time and the uses of tools.
func TestTheUsageOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &stage.Tally{}
		asks := []provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`), stage.ToolCall("2", "sing", `{}`), stage.ToolCall("3", "add", `{"a":-1,"b":2}`)}
		engine := stage.WorkshopEngine(stage.AdaAlone(stage.ToolAsker(asks)), 3, map[string]debate.Tool{"add": slow.Of(t, flow.ToolInfo{Approval: true})})
		session := stage.Started(t, engine, stage.InFlow(engine, stage.ToolUsers()))
		record := stage.AwaitsInput(t, session)
		taken, ok := record.CallUsage("work.Ada")
		require.True(t, ok)
		assert.True(t, taken.Uses[0].Pending)
		assert.Zero(t, taken.Uses[0].Attempts)
		<-time.After(time.Hour)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionApprove}))
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[1].ID, Option: flow.OptionDeny, Text: "No."}))
		record = stage.Ended(t, session)

		taken, _ = record.CallUsage("work.Ada")
		assert.Equal(t, 2, taken.Attempts)
		assert.Equal(t, 1, taken.Exchanges)
		assert.True(t, taken.UsedUp)
		assert.Equal(t, time.Hour, taken.EndedAt.Sub(taken.BeganAt))
		for _, of := range record.SpentByParticipant() {
			if of.Name == "Ada" {
				assert.Equal(t, of.Usage, taken.Usage, "of both replies")
				assert.Equal(t, of.Cost, taken.Cost)
			}
		}
		require.Len(t, taken.Uses, 3)
		first := taken.Uses[0]
		assert.Equal(t, flow.UsedTool{
			Use: "work.Ada.tool.1", Tool: "add", Arguments: json.RawMessage(`{"a":1,"b":2}`), Text: "3", Attempts: 1,
			BeganAt: first.BeganAt, EndedAt: first.EndedAt,
		}, first)
		assert.False(t, first.EndedAt.IsZero())
		assert.True(t, taken.Uses[1].Denied)
		assert.Equal(t, "There is no tool of this name.", taken.Uses[1].Text)
		assert.True(t, taken.Uses[2].Denied)
		assert.Equal(t, "This use was denied: No.", taken.Uses[2].Text)
		_, ok = record.CallUsage("work.Eve")
		assert.False(t, ok)
	})
}

// What is asked for again is work of the same call.
func TestTheUsageOfACallHasItsRejectedAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := stage.NewBench(debate.KindVerdict, false, scripted.Reply{Text: "nonsense"}, scripted.Reply{Text: stage.WellFormed(debate.KindVerdict)})
		_, record, err := b.Start(t)
		require.NoError(t, err)
		require.Len(t, record.Rejections, 1)
		rejected := record.Rejections[0]
		taken, ok := record.CallUsage(rejected.Call)
		require.True(t, ok)
		assert.Equal(t, 2, taken.Attempts)
		assert.Equal(t, debate.KindVerdict, taken.Kind)
		assert.Equal(t, rejected.By, taken.By)
		assert.Equal(t, 2*time.Second, taken.EndedAt.Sub(taken.BeganAt))
		assert.Greater(t, taken.Usage.Output, rejected.Usage.Output)
	})
}
