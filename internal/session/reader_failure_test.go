package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A reader in another process whose store fails is told so once, with kind store. It resumes after the last event that it has had.
func TestAReaderResumesAfterItsStoreHasFailed(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s, reader := join().Begun(), join()
		var seqs []int64
		read := func() (failed error) {
			after := int64(0)
			if len(seqs) > 0 {
				after = seqs[len(seqs)-1]
			}
			for event, err := range reader.Events(t.Context(), s.ID(), after) {
				if err != nil {
					assert.NoError(t, failed, "the error is the last that comes")
					failed = err
					continue
				}
				if event.Kind() == flow.EventChunk {
					continue
				}
				seqs = append(seqs, event.Seq)
				if len(seqs) == 5 {
					reader.Goes(func(_ context.Context, op string, do func() error) error {
						if op == "read" {
							return stage.ErrBroken
						}
						return do()
					})
				}
			}
			return failed
		}
		err := read()
		require.ErrorIs(t, err, stage.ErrBroken)
		stage.RequireKind(t, err, provider.KindStore)
		stage.Pass(time.Second)
		reader.Goes(func(_ context.Context, _ string, do func() error) error { return do() })
		require.NoError(t, read())
		log := c.Log(s.ID())
		require.Len(t, seqs, len(log))
		for i, seq := range seqs {
			assert.EqualValues(t, i+1, seq)
		}
	})
}
