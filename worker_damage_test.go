package debate_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/file"
)

// The loop of a worker passes a debate whose journal is damaged, and finishes the others.
func TestAWorkerPassesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int64{"the header": 3, "the start": 200, "the end": -5} {
		t.Run(name, func(t *testing.T) {
			dir, ctx := t.TempDir(), t.Context()
			first, err := file.Open(dir)
			require.NoError(t, err)
			slow := &scripted.Provider{Replies: map[string][]scripted.Reply{"Ben": {{Delay: time.Hour}}}}
			host := &debate.Engine{Store: first, Providers: map[string]debate.Provider{"acme": slow}}
			for _, id := range []string{"a", "b", "c"} {
				_, err := host.Start(ctx, debate.Config{
					ID: id, Topic: "Should cities ban cars?", Rounds: 1,
					Participants: []debate.Participant{{Name: "Ada", Model: "acme/talker"}, {Name: "Ben", Model: "acme/talker"}},
				})
				require.NoError(t, err)
			}
			require.NoError(t, stage.Abort(host))
			require.NoError(t, first.Close())
			journal := filepath.Join(dir, "b.log")
			text, err := os.ReadFile(journal)
			require.NoError(t, err)
			text[(at+int64(len(text)))%int64(len(text))] ^= 1
			require.NoError(t, os.WriteFile(journal, text, 0o600))

			kept, err := file.Open(dir)
			require.NoError(t, err)
			worker := &debate.Engine{Store: kept, Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
			failed := map[string]error{}
			for info, err := range worker.List(ctx, debate.Filter{Working: true, Idle: true}) {
				require.NoError(t, err)
				session, err := worker.Open(ctx, info.ID)
				if errors.Is(err, debate.ErrLeased) {
					continue
				}
				if err != nil {
					failed[info.ID] = err
					require.Error(t, info.Err)
					continue
				}
				record, err := session.Wait(ctx)
				require.NoError(t, err)
				assert.Equal(t, flow.StateCompleted, record.State)
			}
			require.Len(t, failed, 1)
			corrupt := new(file.CorruptError)
			assert.ErrorAs(t, failed["b"], &corrupt)
			require.NoError(t, stage.Abort(worker))
			require.NoError(t, kept.Close())
		})
	}
}
