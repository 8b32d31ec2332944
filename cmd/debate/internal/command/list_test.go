package command_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// tabs starts a debate of Ada and Ben in a store of the program, whose model has this price of a token that it writes.
func tabs(
	t *testing.T, price flow.Money, unattended bool, reply func(*provider.Request) scripted.Reply,
) (place string, kept *file.Store, engine *debate.Engine, session *debate.Session) {
	t.Helper()
	place = filepath.Join(t.TempDir(), "kept") + "/"
	kept, err := file.Open(place)
	require.NoError(t, err)
	engine = &debate.Engine{
		Store: kept, Models: map[string]debate.Model{"demo/script": {Window: 1_000_000, Priced: true, Output: price}},
		Providers: map[string]debate.Provider{"demo": &scripted.Provider{Reply: reply}},
	}
	session, err = engine.Start(t.Context(), debate.Config{
		ID: "tabs", Topic: "Tabs", Rounds: 1, Unattended: unattended, Participants: []debate.Participant{
			{Name: "Ada", Model: "demo/script"}, {Name: "Ben", Model: "demo/script"},
		},
	})
	require.NoError(t, err)
	return place, kept, engine, session
}

// benThinks is a reply of Ada, and one of Ben that takes an hour.
func benThinks(req *provider.Request) scripted.Reply {
	if req.Self == "Ben" {
		return scripted.Reply{Text: "No.", Delay: time.Hour}
	}
	return scripted.Reply{Text: "Yes."}
}

// TestTheListKnowsWhatWasSpentUntilNow: the store knows only what had been spent when the state changed last.
func TestTheListKnowsWhatWasSpentUntilNow(t *testing.T) {
	place, kept, engine, session := tabs(t, debate.USD/100, false, benThinks)
	for event, err := range session.Events(t.Context(), 0) {
		require.NoError(t, err)
		if in, ok := event.Body.(*flow.Intent); ok && in.By == "Ben" {
			break
		}
	}
	require.NoError(t, session.Close())
	record, err := engine.Record(t.Context(), session.ID())
	require.NoError(t, err)
	spent := record.Spent().Cost
	require.Positive(t, spent)
	abandoned := record.Abandoned()
	require.Equal(t, 1, abandoned.BrokenOff, "Ben's call is in flight, and its process has ended")
	for info, err := range engine.List(t.Context(), debate.Filter{}) {
		require.NoError(t, err)
		info.Recount(record)
		assert.Equal(t, spent, info.Spent)
		assert.Equal(t, abandoned, info.Unsettled)
		info.Owner = "another process"
		info.Recount(record)
		assert.Equal(t, flow.Unsettled{}, info.Unsettled, "its process makes the call")
	}
	require.NoError(t, kept.Close())

	got := run(t, place, "list", "--json")
	require.Zero(t, got.code, got.err)
	var listed []struct {
		Spent flow.Money `json:"spent"`
		flow.Unsettled
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &listed))
	require.Len(t, listed, 1)
	assert.Equal(t, spent, listed[0].Spent)
	assert.Equal(t, abandoned, listed[0].Unsettled)
	assert.Contains(t, run(t, place, "list").out, " "+abandoned.Short(spent)+" ")
	assert.Contains(t, run(t, place, "show").out, abandoned.Beside(spent))
}

// TestWhatWasBrokenOffIsShownApart: the list, the conversation, its report and JSON say the same of a call whose end nobody knows.
func TestWhatWasBrokenOffIsShownApart(t *testing.T) {
	place, kept, _, session := tabs(t, debate.USD/1_000_000, false, benThinks)
	for event, err := range session.Events(t.Context(), 0) {
		require.NoError(t, err)
		if in, ok := event.Body.(*flow.Intent); ok && in.By == "Ben" {
			break
		}
	}
	require.NoError(t, session.Cancel(t.Context()))
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	spent := record.Spent()
	require.Positive(t, spent.Cost)
	require.Positive(t, spent.AtMost)
	require.NoError(t, kept.Close())

	assert.Contains(t, spent.String(), " for 1 call that was broken off")
	assert.Contains(t, run(t, place, "list").out, " "+spent.Short(spent.Cost)+" ")
	assert.Contains(t, run(t, place, "show").out, " "+spent.String()+"; in all 2 calls: ")
	assert.Contains(t, run(t, place, "report", "tabs").out, spent.String())
	page := filepath.Join(t.TempDir(), "tabs.html")
	require.Zero(t, run(t, place, "report", "tabs", "--output", page).code)
	written, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(written), spent.String())
	for _, args := range [][]string{{"list", "--json"}, {"show", "tabs", "--json"}} {
		got := run(t, place, args...)
		assert.Contains(t, strings.ReplaceAll(got.out, " ", ""), `"atMost":`+strings.TrimPrefix(spent.AtMost.String(), "$"), args)
		assert.Contains(t, strings.ReplaceAll(got.out, " ", ""), `"brokenOff":1`, args)
	}
}

// TestTheListCountsWhatAForkHasCopiedOnce: a fork's cost in the list is what it has spent itself, so that a sum over the lines counts
// nothing twice.
func TestTheListCountsWhatAForkHasCopiedOnce(t *testing.T) {
	place, kept, engine, session := tabs(t, debate.USD/1_000_000, true, func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: "Yes.", Usage: provider.Usage{Input: 10, Output: map[string]int{"Ada": 7, "Ben": 11}[req.Self]}}
	})
	_, err := session.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, session.Close())
	var spoken int64
	for event, err := range kept.Read(t.Context(), "tabs", 0) {
		require.NoError(t, err)
		if turn, ok := event.Body.(*flow.Turn); ok && turn.Speaker == "Ada" {
			spoken = event.Seq
		}
	}
	fork, err := engine.Fork(t.Context(), "tabs", spoken, debate.Editing(func(c *debate.Config) { c.ID = "again" }))
	require.NoError(t, err)
	record, err := fork.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, fork.Close())
	require.NoError(t, kept.Close())

	assert.Equal(t, 18*debate.USD/1_000_000, record.Spent().Cost, "with what was copied")
	costs := map[string]string{}
	for line := range strings.Lines(run(t, place, "list").out) {
		for _, cost := range []string{"$0.000018", "$0.000011"} {
			if fields := strings.Fields(line); strings.Contains(line, " "+cost+" ") {
				costs[fields[0]] = cost
			}
		}
	}
	assert.Equal(t, map[string]string{"tabs": "$0.000018", "again": "$0.000011"}, costs)
	assert.Contains(t, run(t, place, "show", "again").out, "$0.000018", "a conversation alone has cost all of it")
}

// TestAForkIsListedAtItsOwnTime: its log begins at the time of what it continues, and its id says when it was made.
func TestAForkIsListedAtItsOwnTime(t *testing.T) {
	made := time.Date(2026, 11, 30, 20, 27, 0, 0, time.UTC)
	milliseconds := made.UnixMilli()
	id := fmt.Sprintf("%08x-%04x-7420-8001-cafe12345678", milliseconds>>16, milliseconds&0xffff)
	start := made.Add(-14 * time.Minute)
	for one, want := range map[string]time.Time{id: made, strings.Replace(id, "-7420", "-4420", 1): start, "tabs": start} {
		var out bytes.Buffer
		require.NoError(t, command.ListTable(&out, 0, store.Info{ID: one, StartedAt: start}))
		assert.Contains(t, out.String(), want.Local().Format("Jan 02 15:04"), one) //nolint:gosmopolitan // the list has the time of its place
	}
}
