package log_test

import (
	"bytes"
	"context"
	"errors"
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
	"github.com/agonist-dev/debate/store"
)

// TestFilesAreRemoved removes an image and a PDF while the first turn is spoken: the debate goes on with files that say nothing.
func TestFilesAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Illustrated()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		engine.Store = &store.Memory{}
		var last []provider.Part
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			last = nil
			for _, m := range req.Messages {
				last = append(last, m.Parts...)
			}
			return reply(req)
		}
		session := stage.Started(t, engine, config)
		stage.Pass(500 * time.Millisecond)
		fact, err := engine.Redact(t.Context(), session.ID(), flow.Redaction{Files: []string{flow.HashOf(stage.PNG), flow.HashOf(stage.PDF)}})
		require.NoError(t, err)
		require.Len(t, fact.Files, 2)
		assert.Equal(t, len(stage.PNG), fact.Files[0].Size)
		assert.Equal(t, len(stage.PDF), fact.Files[1].Size)
		record := stage.Ended(t, session)
		require.Equal(t, flow.StateCompleted, record.State)
		require.Len(t, last, 2)
		for i, part := range last {
			assert.Equal(t, fact.Files[i].As, part.Hash)
			assert.Equal(t, flow.HashOf(part.Data), part.Hash)
		}
		assert.Equal(t, "image/png", last[0].Type)
		assert.Equal(t, "application/pdf", last[1].Type)
		for _, data := range [][]byte{stage.PNG, stage.PDF} {
			_, err := engine.File(t.Context(), session.ID(), flow.HashOf(data))
			require.ErrorIs(t, err, flow.ErrNoFile)
		}
		var out bytes.Buffer
		require.NoError(t, engine.Export(t.Context(), session.ID(), &out))
		other, _ := stage.Engine(config)
		_, err = other.Import(t.Context(), &out)
		require.NoError(t, err, "it is whole")
		again, err := engine.Redact(t.Context(), session.ID(), flow.Redaction{Files: []string{flow.HashOf(stage.PNG)}})
		require.NoError(t, err, "it is done already")
		assert.Equal(t, fact, again)
	})
}

// TestAFileThatIsRemovedLeavesWhatWasFound: a quotation from it stays as it was checked, and counts as no file.
func TestAFileThatIsRemovedLeavesWhatWasFound(t *testing.T) {
	const study = "It is not possible to close the plant before the end of the year."
	config := stage.TwoDebaters()
	config.Judging, config.Rounds = nil, 1
	config.Documents = []flow.Document{{Files: []flow.File{{Name: "report.txt", Type: "text/plain", Data: []byte(study)}}}}
	counts := make(map[bool]int)
	for _, quotes := range []bool{false, true} {
		config.Quotes = quotes
		engine, p := stage.Engine(config)
		p.Reply = func(*provider.Request) scripted.Reply {
			return scripted.Reply{Text: `<quote document="report.txt">It is not possible to close the plant</quote>`}
		}
		before := stage.Run(t, engine, config)
		fact, err := engine.Redact(t.Context(), before.ID, flow.Redaction{Files: []string{flow.HashOf([]byte(study))}})
		require.NoError(t, err)
		require.Len(t, fact.Files, 1)
		counts[quotes] = fact.Files[0].Count
		after := stage.StoredRecord(t, engine, before.ID)
		require.Len(t, after.Turns, 2)
		for i, turn := range after.Turns {
			assert.Equal(t, before.Turns[i].Quotations, turn.Quotations)
			assert.Equal(t, quotes, len(turn.Quotations) == 1 && turn.Quotations[0].Status == flow.QuoteVerified)
		}
		assert.Equal(t, fact.Files[0].As, after.Settings().Documents[0].Files[0].Hash)
	}
	assert.Equal(t, counts[false], counts[true])
}

func TestAStoreThatCannotRewriteLogsSaysSo(t *testing.T) {
	engine := &debate.Engine{Store: stage.Fileless{Store: &store.Memory{}}}
	_, err := engine.Redact(t.Context(), "a", flow.Redaction{Texts: []string{"a text"}})
	require.ErrorContains(t, err, "it is no store.Redactor")
	_, err = (&debate.Engine{Store: &store.Memory{}}).Redact(t.Context(), "a", flow.Redaction{Texts: []string{"a text"}})
	require.ErrorIs(t, err, debate.ErrNotFound)
}

// halfway is a store that fails once after it has rewritten a log.
type halfway struct {
	*store.Memory

	failed bool
}

func (u *halfway) Redact(ctx context.Context, id string, after int64, events []flow.Event, blobs []string) error {
	err := u.Memory.Redact(ctx, id, after, events, blobs)
	if err == nil && !u.failed {
		u.failed = true
		return errors.New("the disk is full")
	}
	return err
}

// TestAStoreThatFailsAfterItHasRewrittenALog is asked again: nothing is removed twice, and nothing is missing.
func TestAStoreThatFailsAfterItHasRewrittenALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, of := range []flow.Redaction{{Events: []int64{6}}, {Texts: []string{"from the centre"}}} {
			config := stage.TwoDebaters()
			engine, p := stage.Engine(config)
			p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "Cars must go from the centre."} }
			config.Judging = nil
			kept := &halfway{Memory: &store.Memory{}}
			engine.Store = kept
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			before := stage.Ended(t, session)
			fact, err := engine.Redact(t.Context(), session.ID(), of)
			require.NoError(t, err)
			require.True(t, kept.failed)
			after := stage.StoredRecord(t, engine, session.ID())
			assert.Equal(t, before.Seq+1, after.Seq)
			assert.Equal(t, []flow.Redacted{*fact}, after.Redactions)
		}
	})
}
