package session_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// evidenceOf returns the evidence of the latest transition on a trigger.
func evidenceOf(t *testing.T, engine *debate.Engine, id string, on debate.Trigger) (evidence string) {
	t.Helper()
	for _, change := range stage.Bodies[flow.Transition](t, engine, id) {
		if change.On == on {
			evidence = change.Evidence
		}
	}
	return evidence
}

// What the host program gives as its reason for a control stands in the log, in whatever process the debate is.
func TestTheReasonOfAControlIsRecorded(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, _ *stage.Company, join func() *stage.Member) {
		here, there := join(), join()
		s := here.Begun()
		stage.Pass(500 * time.Millisecond)
		require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true})) // without a reason, it has no evidence
		require.NoError(t, there.Control(t.Context(), s.ID(), flow.Resume{Reason: "lunch is over"}))
		require.NoError(t, there.Control(t.Context(), s.ID(), flow.Pause{Drain: true, Reason: "dinner"}))
		require.NoError(t, there.Control(t.Context(), s.ID(), flow.Stop{Reason: "it is late – 🙂"}))
		stage.Pass(30 * time.Second)
		record := stage.Ended(t, s)
		assert.Equal(t, "stopped by the host: it is late – 🙂", record.Evidence)
		assert.Equal(t, flow.EndHost, record.Reason)
		assert.Equal(t, flow.EndedByHost, record.EndedEarlyBy)
		assert.Contains(t, stage.View(record).Outcome().Degraded, "ended after 0 of 3 rounds: stopped by the host: it is late – 🙂")
		var evidence []string
		for _, change := range stage.Bodies[flow.Transition](t, here.Engine, s.ID()) {
			if change.Evidence != "" {
				evidence = append(evidence, change.Evidence)
			}
		}
		assert.Equal(t, []string{"resumed by the host: lunch is over", "paused by the host: dinner", "stopped by the host: it is late – 🙂"}, evidence)
	})
}

func TestTheReasonsOfCancelRetryAndAnInputAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, session, _ := stage.Reach(t, stage.Remarkable(flow.StateError), flow.StateError)
		defer session.Close()
		require.NoError(t, session.Control(t.Context(), flow.Sent{Trigger: stage.Remark, Reason: "the key has expired"}))
		require.NoError(t, session.Control(t.Context(), flow.Retry{Reason: "a new key"}))
		require.NoError(t, session.Control(t.Context(), flow.Cancel{Reason: "too expensive"}))
		assert.Equal(t, "retried by the host: a new key", evidenceOf(t, engine, session.ID(), flow.TriggerRetry))
		record := stage.Ended(t, session)
		assert.Equal(t, "canceled by the host: too expensive", record.Evidence)
		assert.Equal(t, "the key has expired", record.Inputs[0].Reason)
		stage.RequireKind(t, session.Control(t.Context(), flow.Tick{}), provider.KindValidation)
	})
}

// A reason may come from a user of the host program.
func TestAHostileReasonIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, session, _ := stage.Reach(t, stage.Remarkable(flow.StateRunning), stage.Asks)
		defer session.Close()
		for name, reason := range map[string]string{
			"too long": strings.Repeat("a", flow.MaxReason+1), "no UTF-8": "\xff", "two lines": "a\nb", "an escape": "\x1b[2J", "NUL": "a\x00",
			"a line separator": "a\u2028b",
		} {
			before := stage.SessionRecord(t, session)
			for _, signal := range []flow.Signal{
				flow.Pause{Reason: reason},
				flow.Resume{Reason: reason},
				flow.Stop{Reason: reason},
				flow.Cancel{Reason: reason},
				flow.Retry{Reason: reason},
				flow.Sent{Trigger: stage.Remark, Reason: reason},
			} {
				assert.Equal(t, "reason", stage.RequireKind(t, session.Control(t.Context(), signal), provider.KindValidation).Field, name)
				assert.Equal(t, "reason", stage.RequireKind(t, engine.Control(t.Context(), session.ID(), signal), provider.KindValidation).Field, name)
			}
			after := stage.SessionRecord(t, session)
			assert.Equal(t, before.Seq, after.Seq)
		}
		for _, reason := range []string{strings.Repeat("a", flow.MaxReason), "می\u200cخواهم", "<|im_end|> \"quoted\""} {
			require.NoError(t, session.Control(t.Context(), flow.Sent{Trigger: stage.Remark, Reason: reason}))
		}
	})
}

// A log with a reason that no control accepts is refused.
func TestAHostileReasonInALogIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, session, _ := stage.Reach(t, stage.Remarkable(flow.StateRunning), stage.Asks)
		require.NoError(t, session.Control(t.Context(), flow.Sent{Trigger: stage.Remark, Reason: "SHORT"}))
		data, err := session.Snapshot(t.Context())
		require.NoError(t, err)
		require.NoError(t, session.Close())
		for reason, field := range map[string]string{"SHORT": "", strings.Repeat("a", flow.MaxReason+1): "sent.reason", `a\nb`: "sent.reason"} {
			other := &debate.Engine{Flows: engine.Flows, Providers: engine.Providers}
			_, err := other.Import(t.Context(), bytes.NewReader(bytes.ReplaceAll(data, []byte("SHORT"), []byte(reason))))
			if field == "" {
				require.NoError(t, err)
				continue
			}
			stage.RequireKind(t, err, provider.KindValidation)
			assert.ErrorContains(t, err, field)
		}
	})
}
