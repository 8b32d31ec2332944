package durable_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/provider"
)

// The works that are done, by who decides about a use whose outcome is unknown.
const (
	personTells  = "a person tells the model"
	personAgain  = "a person makes it again"
	policyTells  = "the policy tells the model"
	policyAgain  = "the policy makes it again"
	policyFails  = "the policy fails"
	nobodyNeeded = "nobody, since the tool is idempotent"
)

// workOf returns the config of arbitrated work in which Ada uses a tool once.
func workOf(play, id string) arbiter.Config {
	c := arbiter.Config{
		ID: id, Task: "Put a line into the book.", Arbiter: arbiter.Arbiter{Model: "test/arbiter"},
		Agents:     []arbiter.Agent{{Name: "Ada", Model: "test/agent", Tools: []string{"note"}}},
		Unattended: play != personTells && play != personAgain,
	}
	switch play {
	case policyAgain:
		c.ToolPolicy.Unknown = flow.OptionAgain
	case policyFails:
		c.ToolPolicy.Unknown = flow.OptionFail
	default: // the policy tells
	}
	return c
}

// act brings arbitrated work to its end, from wherever it is. It tells the kinds of the failpoints that it has passed.
func (w *worker) act(ctx context.Context) error {
	var ledger *ledger
	if store, ok := w.engine.Store.(*watchful); ok {
		ledger = store.ledger
	}
	note, err := flow.NewTool(flow.ToolInfo{Description: "puts a line into the book", Idempotent: w.Play == nobodyNeeded},
		func(_ context.Context, use flow.ToolUse, _ struct{}) (string, error) {
			w.points.pass(beforeEffect)
			err := ledger.note(entry{What: affected, Debate: use.Conversation, Call: use.Call, Attempt: use.Attempt})
			w.points.pass(afterEffect)
			return "It is in the book.", err
		})
	if err != nil {
		return err
	}
	w.engine.Providers = map[string]debate.Provider{"test": clerk{}}
	w.engine.Flows = map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()}
	w.engine.Tools = map[string]debate.Tool{"note": note}
	session, err := w.engine.Open(ctx, w.IDs[0])
	if errors.Is(err, flow.ErrNotFound) {
		session, err = w.engine.Start(ctx, workOf(w.Play, w.IDs[0]))
	}
	if err != nil {
		return err
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	for errors.Is(err, flow.ErrAwaitingInput) {
		option := flow.OptionTell
		if w.Play == personAgain {
			option = flow.OptionAgain
		}
		if err := session.Answer(ctx, flow.Answer{Inquiry: record.Inquiries[0].ID, Option: option}); err != nil {
			return err
		}
		record, err = session.Wait(ctx)
	}
	if err != nil && (w.Play != policyFails || record == nil || record.State != flow.StateError) {
		return err
	}
	fmt.Println(strings.Join(w.points.passed, separator))
	return nil
}

// clerk is a provider whose arbiter selects Ada once, and whose Ada uses her tool once.
type clerk struct{}

// Generate implements [debate.Provider].
func (clerk) Generate(_ context.Context, req *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
	out := &provider.Response{Stop: provider.StopEnd}
	used := slices.ContainsFunc(req.Messages, func(m provider.Message) bool { return m.ToolResult != nil })
	switch {
	case len(req.Tools) > 0 && !used:
		out.Stop = provider.StopTool
		out.Calls = []provider.ToolCall{{ID: "1", Name: "note", Arguments: json.RawMessage(`{}`)}}
	case len(req.Tools) > 0:
		out.Text = stage.JSON(arbiter.Result{Success: true, Output: "It is done."})
	case strings.Contains(req.Last.Text, "Nobody has acted yet."):
		out.Text = stage.JSON(arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{"Ada"}, Reason: "It is hers."})
	default:
		out.Text = stage.JSON(arbiter.Ruling{Move: arbiter.MoveComplete, Agents: []string{}, Summary: "It is in the book."})
	}
	return out, nil
}

// TestKillAroundAnEffect kills processes at each moment around the use of a tool that changes something, and lets others
// continue. No effect of a tool that is not idempotent is made twice, unless somebody has chosen that.
func TestKillAroundAnEffect(t *testing.T) {
	longform.Lone(t)
	plays := []string{personTells, personAgain, policyTells, policyAgain, policyFails, nobodyNeeded}
	place := newPlace(t, inFile)
	points := pointsOf(t, place, plays[0])
	at := int64(slices.Index(points, beforeEffect)) + 1
	require.Positive(t, at)
	reached := slices.Compact(slices.Sorted(slices.Values(points[at-5 : at+3])))
	assert.Subset(t, reached, []string{beforeAppend, afterAppend, beforeEffect, afterEffect})
	var mu sync.Mutex
	kills, twice, unchosen := 0, 0, 0
	t.Run("kills", func(t *testing.T) {
		for _, play := range plays {
			picked := []int64{at - 2, at + 1} // before the intent is stored, and right after the effect
			if play == plays[0] {             // from before the reply that asks for the use to after the commit of its result
				picked = []int64{at - 4, at - 3, at - 2, at - 1, at, at + 1, at + 2, at + 3}
			}
			for _, k := range picked {
				t.Run(fmt.Sprintf("%s/%s.%d", play, points[k-1], k), func(t *testing.T) {
					t.Parallel()
					made, chosen := killAt(t, place, play, k)
					mu.Lock()
					defer mu.Unlock()
					kills++
					if made > 1 {
						twice++
					}
					if made > 1+chosen {
						unchosen++
					}
				})
			}
		}
	})
	figuref("kill -9 around an effect: %d kills, made twice %d, of these without anybody's choice %d", kills, twice, unchosen)
	assert.Zero(t, unchosen)
	assert.Equal(t, 3, twice, "by a person's choice, by the policy's, and of an idempotent tool")
}

// pointsOf returns the kinds of the failpoints of undisturbed work.
func pointsOf(t *testing.T, place place, play string) []string {
	t.Helper()
	o := order{Task: "act", Place: place, Ledger: filepath.Join(t.TempDir(), "ledger"), Play: play, IDs: []string{"undisturbed"}, Lease: time.Hour}
	last, killed := process.Launch(t, o).Wait(t)
	require.False(t, killed)
	return strings.Split(last, separator)
}

// killAt kills work at a failpoint, lets another process continue it, and looks at the effects, and at who has decided. It
// returns how often the effect was made, and how often somebody has chosen to make it again, or the tool allowed that.
func killAt(t *testing.T, place place, play string, k int64) (made, chosen int) {
	t.Helper()
	id := fmt.Sprintf("%s.%d", strings.NewReplacer(" ", "-", ",", "").Replace(play), k)
	o := order{Task: "act", Place: place, Ledger: filepath.Join(t.TempDir(), "ledger"), Play: play, IDs: []string{id}, Kill: death{Number: k}}
	o.Lease = time.Hour // no renewal comes between, and a file store frees the lease of a dead process at once
	_, killed := process.Launch(t, o).Wait(t)
	require.True(t, killed)
	before := effectsIn(t, o.Ledger)
	unknown := usesInFlight(t, place, id)
	o.Kill = death{}
	_, killed = process.Launch(t, o).Wait(t)
	require.False(t, killed)
	made = effectsIn(t, o.Ledger)

	engine := engineOn(opened(t, place), nil)
	engine.Flows = map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()}
	record := stage.StoredRecord(t, engine, id)
	for _, a := range record.Answers {
		assert.Equal(t, strings.HasPrefix(play, "the policy"), a.Rule)
		if a.Option == flow.OptionAgain {
			chosen++
		}
	}
	asked := len(record.Answers)
	switch {
	case unknown == 0: // the use was not begun, or its outcome is recorded: nobody has to decide
		assert.Zero(t, asked)
		assert.Equal(t, 1, made)
	case play == nobodyNeeded:
		assert.Zero(t, asked)
		assert.Equal(t, before+1, made)
		chosen++
	case play == personAgain, play == policyAgain:
		assert.Equal(t, 1, asked)
		assert.Equal(t, before+1, made)
	case play == policyFails:
		assert.Equal(t, flow.StateError, record.State)
		assert.Equal(t, before, made)
		return made, chosen
	default:
		assert.Equal(t, 1, asked)
		assert.Equal(t, before, made)
	}
	assert.Equal(t, flow.StateCompleted, record.State)
	return made, chosen
}

// effectsIn counts the effects that a ledger has noted.
func effectsIn(t *testing.T, ledger string) (n int) {
	t.Helper()
	for _, e := range readLedger(t, ledger) {
		if e.What == affected {
			n++
		}
	}
	return n
}

// usesInFlight counts the uses of tools that a log has begun, and of which it has no result.
func usesInFlight(t *testing.T, place place, id string) (n int) {
	t.Helper()
	f := arbiter.Flow()
	for event, err := range opened(t, place).Read(t.Context(), id, 0) {
		require.NoError(t, err)
		event, err = f.DecodeEvent(event)
		require.NoError(t, err)
		switch body := event.Body.(type) {
		case *flow.Intent:
			if body.Tool != "" {
				n++
			}
		case *flow.ToolResult:
			n--
		}
	}
	return n
}
