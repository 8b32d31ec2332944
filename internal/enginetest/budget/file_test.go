package budget_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// The files of an answer are in no reserve. Those that the conclusion could not read within the hard limit are refused, and so no limit ends
// a conversation without a conclusion because a person has handed in a file: whether all read the file at once or once everybody has
// spoken, and whether the conclusion has a view.
func TestAFileThatTheConclusionCannotReadIsRefused(t *testing.T) {
	t.Parallel()
	file := flow.File{Name: "notes.txt", Type: "text/plain", Data: bytes.Repeat([]byte("notes. "), 5_000)}
	picture := flow.File{Name: "a.png", Data: append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 100)...)}
	for _, hidden := range []bool{false, true} {
		for _, view := range []flow.View{{}, {None: true}} {
			t.Run(fmt.Sprintf("hidden %t, no view %t", hidden, view.None), func(t *testing.T) {
				t.Parallel()
				handed, refused := 0, 0
				for tokens := 40_000; tokens <= 400_000; tokens += 12_000 {
					f := stage.OneState(stage.CallsOf(func(c *flow.Call) { c.Performer, c.Hidden = flow.ByPerson, hidden }))
					f.Steps[flow.StateCompleting] = flow.Step{Calls: func(r *debate.Record) []*flow.Call {
						if r.Done("end") {
							return nil
						}
						return []*flow.Call{{ID: "end", Kind: "end", By: "judge", Model: "test/debater", Needed: true, View: view}}
					}}
					engine, _, config := stage.WithFlow(f)
					engine.Store = &store.Memory{}
					row := engine.Models["test/debater"]
					row.ImageTokens = 30_000
					engine.Models["test/debater"] = row
					config.Unattended, config.MaxTokens = false, 1_000
					config.Budget = &debate.Budget{HardTokens: tokens, SoftTokens: tokens - 1}
					session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
					require.NoError(t, err)
					var record *debate.Record
					for {
						record, err = session.Wait(t.Context())
						if len(record.Inquiries) == 0 {
							break
						}
						id := record.Inquiries[0].ID
						if err := session.Answer(t.Context(), flow.Answer{Inquiry: id, Text: "See this.", Attachments: []flow.File{file, picture}}); err != nil {
							refused++
							var failure *flow.Error
							require.ErrorAs(t, err, &failure)
							assert.Equal(t, []any{provider.KindValidation, "attachments"}, []any{failure.Kind, failure.Field})
							assert.Regexp(t, `no room for the files: \d+ of \d+ tokens, with what the conclusion may take$`, failure.Err.Error())
							assert.Contains(t, failure.Hint(), "amend budget.hardTokens to a higher limit first")
							require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: id, Text: strings.Repeat("a", 5_000)}))
							continue
						}
						handed++
					}
					require.NoError(t, err, "%d tokens", tokens)
					assert.True(t, record.Done("end"), "%d tokens", tokens)
					require.NoError(t, session.Close())
				}
				assert.Positive(t, handed)
				assert.Positive(t, refused)
			})
		}
	}
}
