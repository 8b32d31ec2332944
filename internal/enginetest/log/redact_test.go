package log_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// words are what somebody may want to have removed: a few words in a row.
var words = regexp.MustCompile(`[\pL]+( [\pL]+){1,4}`)

// textsOf returns texts that stand in a log.
func textsOf(log []debate.Event) []string {
	var all []string
	for _, e := range log {
		switch body := e.Body.(type) {
		case *flow.Turn:
			all = append(append(all, body.Text), words.FindAllString(body.Text, -1)...)
		case *flow.Start:
			all = append(append(all, body.Settings.Topic), words.FindAllString(body.Settings.Topic, -1)...)
		case *flow.Summarized:
			all = append(all, words.FindAllString(body.Text, -1)...)
		case *flow.ToolResult:
			all = append(all, body.Text)
		}
	}
	const with = "[redacted]"
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < 8 || strings.Contains(with, s) })
}

// TestARedactedLogFoldsAsBefore removes random texts from all golden logs.
func TestARedactedLogFoldsAsBefore(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	rng, removed := rand.New(rand.NewPCG(1, 2)), 0
	logs := storedLogs(t)
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		data := logs[name]
		var log struct{ Events []debate.Event }
		require.NoError(t, json.Unmarshal(data, &log))
		texts := textsOf(log.Events)
		for range longform.Sized(10, 2, 1) {
			part := texts[rng.IntN(len(texts))]
			t.Run(name, func(t *testing.T) {
				kept := &store.Memory{}
				engine := &debate.Engine{Store: kept, Flows: map[string]*debate.Flow{"notes": stage.Notes(), "workshop": stage.Workshop(5)}}
				id, err := engine.Import(t.Context(), bytes.NewReader(data))
				require.NoError(t, err)
				before := stage.StoredRecord(t, engine, id)

				fact, err := engine.Redact(t.Context(), id, flow.Redaction{Texts: []string{part}, By: "the officer", Reason: "asked for"})
				require.NoError(t, err, "%q", part)
				require.Len(t, fact.Texts, 1)
				assert.Equal(t, flow.HashOf([]byte(part)), fact.Texts[0].Hash)
				assert.Equal(t, len(part), fact.Texts[0].Size)
				assert.Positive(t, fact.Texts[0].Count)
				removed += fact.Texts[0].Count

				after := stage.StoredRecord(t, engine, id)
				assert.Equal(t, before.Seq+1, after.Seq)
				assert.Equal(t, append(before.Redactions, *fact), after.Redactions)
				assert.Equal(t, before.Spent(), after.Spent())
				assert.Equal(t, before.SpentByModel(), after.SpentByModel())
				shown := strings.Trim(stage.JSON(part), `"`)
				assert.Equal(t, strings.ReplaceAll(stage.Canonical(t, before), shown, fact.With), stage.Canonical(t, after))

				seq := int64(0)
				for event, err := range kept.Read(t.Context(), id, 0) {
					require.NoError(t, err)
					seq++
					assert.Equal(t, seq, event.Seq)
					if seq <= before.Seq {
						assert.Equal(t, log.Events[seq-1].At, event.At)
						assert.Equal(t, log.Events[seq-1].Kind(), event.Kind())
					}
					if len(fact.Kept) == 0 {
						line, err := json.Marshal(event)
						require.NoError(t, err)
						assert.NotContains(t, string(line), shown)
					}
				}
				again, err := engine.Redact(t.Context(), id, flow.Redaction{Texts: []string{part}})
				require.NoError(t, err, "a second time it is done already")
				assert.Equal(t, fact, again)
			})
		}
	}
	fmt.Printf("removed texts at %d places of golden logs\n", removed)
}

// TestARunningDebateGoesOnWithoutARedactedText removes the topic and the first turn while Ben is speaking: the rest of the
// requests have neither, and the debate ends as it would have.
func TestARunningDebateGoesOnWithoutARedactedText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		kept := &store.Memory{}
		engine.Store = kept
		var sent []string
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			sent = append(sent, stage.JSON(req.Messages)+req.System)
			return reply(req)
		}
		session := stage.Started(t, engine, config)
		stage.Pass(1500 * time.Millisecond) // Ben is speaking
		record := stage.SessionRecord(t, session)
		require.Len(t, record.Turns, 1)
		said := record.Turns[0].Text
		before := len(sent)

		other := &debate.Engine{Store: kept} // another process, which has no provider
		var seen []flow.EventKind
		read := make(chan struct{})
		go func() {
			defer close(read)
			for event, err := range other.Events(t.Context(), session.ID(), 0) {
				if assert.NoError(t, err) && event.Kind() != flow.EventChunk {
					seen = append(seen, event.Kind())
				}
			}
		}()
		fact, err := other.Redact(t.Context(), session.ID(), flow.Redaction{Texts: []string{config.Topic, said}, With: "[gone]"})
		require.NoError(t, err)
		assert.Len(t, fact.Texts, 2)
		record = stage.Ended(t, session)
		<-read
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.Equal(t, "[gone]", record.Turns[0].Text)
		assert.Equal(t, "[gone]", record.Settings().Topic)
		assert.Equal(t, 10, p.Calls(), "no call is repeated")
		require.Greater(t, len(sent), before)
		for _, request := range sent[before:] {
			assert.NotContains(t, request, said)
			assert.NotContains(t, request, config.Topic)
		}
		assert.Contains(t, strings.Join(sent[before:], ""), "[gone]")
		assert.Len(t, seen, int(record.Seq), "a reader in the other process has had each fact once")
		assert.Contains(t, seen, flow.EventRedacted)
	})
}
