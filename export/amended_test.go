package export_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A document tells the rounds in force, the phases in which the rounds were held, and who has ended the debate early.
func TestADocumentOfAnAmendedDebate(t *testing.T) {
	var mended atomic.Bool
	source := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if strings.Contains(req.ID, "/r2.") && !mended.Load() || strings.Contains(req.ID, "/r4.") {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
		}
		return scripted.Reply{Text: "Well."}
	}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"test": source}, SkipModelCheck: true}
	session := stage.Started(t, engine, debate.Config{
		Topic: "Trams?", Format: format.StructuredRounds, Rounds: 2, Unattended: true,
		Participants: []debate.Participant{
			{Name: "Ada", Model: "test/a", Position: "Yes."}, {Name: "Ben", Model: "test/b", Position: "No."},
		},
	})
	_, err := session.Wait(t.Context())
	require.Error(t, err)
	require.NoError(t, session.Control(t.Context(), flow.Amendment{Rounds: new(5)}))
	mended.Store(true)
	require.NoError(t, session.Retry(t.Context()))
	_, err = session.Wait(t.Context())
	require.Error(t, err)
	require.NoError(t, session.Stop(t.Context()))
	record := stage.Ended(t, session)

	var out bytes.Buffer
	require.NoError(t, export.Markdown(&out, record))
	for _, line := range []string{
		"- **Rounds:** 4 of at most 5\n", "- **Ended by:** host\n", "- **Decided by:** host\n",
		"## Round 1: opening\n", "## Round 2: closing\n", "## Round 3: rebuttal\n",
		"- Missing: in round 4 the speeches of Ada, Ben.\n", "- Missing: round 5.\n",
	} {
		assert.Contains(t, out.String(), line)
	}
}
