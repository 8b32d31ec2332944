package deliberation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// A structured answer is unwrapped: the places of its citations move with the JSON, and those in what is not kept are
// dropped. Any log that comes of it can be read again.
func TestCitationsMoveWithAStructuredAnswer(t *testing.T) {
	const page = "https://example.com/"
	wrapped := map[string]struct{ before, after string }{
		"bare": {}, "with a newline": {after: "\n"}, "with spaces": {" \n", "  "}, "in a fence": {"```json\n", "\n```"},
	}
	for name, around := range wrapped {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			engine, p := engineFor(nil)
			engine.Store = &store.Memory{}
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if req.Schema == nil {
					return
				}
				whole, from := around.before+r.Text+around.after, len(around.before)
				r.Citations = []provider.Citation{
					{Title: "inside", URL: page, Start: from + 1, End: from + 8},
					{Title: "all", URL: page, End: len(whole)},
					{Title: "behind", URL: page, Start: len(whole) - 1, End: len(whole)},
					{Title: "nowhere", URL: page, Start: -5, End: 1 << 40},
				}
				r.Text = whole
			})
			session, err := engine.Start(t.Context(), three())
			require.NoError(t, err)
			record := stage.Ended(t, session)
			session.Close()
			again := stage.Reopen(t, engine, record.ID)
			defer again.Close()
			checked := 0
			for _, turn := range record.Turns {
				if turn.Data == nil {
					continue
				}
				checked++
				require.Len(t, turn.Citations, 4)
				assert.Equal(t, provider.Citation{Title: "inside", URL: page, Start: 1, End: 8}, turn.Citations[0])
				assert.Equal(t, provider.Citation{Title: "nowhere", URL: page}, turn.Citations[3])
				for _, c := range turn.Citations {
					assert.LessOrEqual(t, c.End, len(turn.Text))
					assert.True(t, c.Start < c.End || c.Start == 0 && c.End == 0)
				}
			}
			assert.Positive(t, checked)
		}))
	}
}
