package debate_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// full is what a vendor says of a request that is larger than a window.
var errFull = &provider.Error{Kind: provider.KindContextOverflow, Status: 400, Message: "too many tokens"}

// bursting makes the vendor refuse the debaters' requests of more than so many tokens, and yields how
// often it has.
func (d *talk) bursting(tokens int) *atomic.Int64 {
	refused := new(atomic.Int64)
	reply := d.p.Reply
	d.p.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil && !isSummary(req) && d.sent(req) > tokens {
			refused.Add(1)
			return scripted.Reply{Err: errFull}
		}
		return reply(req)
	}
	return refused
}

func TestAnUnknownWindowIsNoLimitUntilTheVendorSaysOverflow(t *testing.T) {
	for name, summarizer := range map[string]bool{"truncated": false, "summarised": true} {
		t.Run(name, func(t *testing.T) {
			d := newTalk(24, 0)
			if summarizer {
				d.summarizes(false)
			}
			refused := d.bursting(5000)
			record := run(t, d.engine, d.config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Len(t, record.Turns, 48)
			assert.Positive(t, refused.Load())
			assert.Less(t, refused.Load(), int64(6), "what one has learned of a model holds for all who use it")
			require.NotEmpty(t, record.Answers)
			for _, a := range record.Answers {
				assert.True(t, a.Unattended)
			}
			want := flow.OptionTruncate
			if summarizer {
				want = flow.OptionSummarize
				assert.NotEmpty(t, record.Summaries)
			}
			assert.Equal(t, want, record.Answers[0].Option)
			var whole bool
			for _, req := range d.turnsOf() {
				if got := heard(&req); len(got) > 0 {
					assert.Equal(t, oldest, got[0], "the opening stays: %s", req.ID)
				}
				if d.sent(&req) > 4500 && !strings.HasSuffix(req.ID, "/1") {
					whole = true
				}
			}
			assert.False(t, whole, "the second attempt is smaller")
		})
	}
}

func TestAnOverflowIsAQuestionWhereSomebodyIsThere(t *testing.T) {
	for name, test := range map[string]struct {
		summarizer bool
		options    []debate.Option
		choose     debate.Option
		model      []string
	}{
		"truncate":  {false, []debate.Option{"truncate", "model", "end"}, flow.OptionTruncate, nil},
		"summarize": {true, []debate.Option{"summarize", "truncate", "model", "end"}, flow.OptionSummarize, nil},
		"model":     {false, []debate.Option{"truncate", "model", "end"}, flow.OptionModel, []string{"test/wide"}},
		"end":       {false, []debate.Option{"truncate", "model", "end"}, flow.OptionEnd, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTalk(12, 0)
			d.config.Unattended = nil
			d.engine.Models["test/wide"] = debate.Model{Priced: true, Context: 200_000}
			if test.summarizer {
				d.summarizes(false)
			}
			const most = 4000
			reply := d.p.Reply
			d.p.Reply = func(req *provider.Request) scripted.Reply {
				if req.Model == "debater" && d.sent(req) > most {
					return scripted.Reply{Err: errFull}
				}
				return reply(req)
			}
			session, err := d.engine.Start(t.Context(), d.config)
			require.NoError(t, err)
			defer session.Close()
			asked := 0
			record, err := session.Wait(t.Context())
			for ; errors.Is(err, debate.ErrAwaitingInput); record, err = session.Wait(t.Context()) {
				require.Len(t, record.Inquiries, 1)
				q := record.Inquiries[0]
				assert.Equal(t, test.options, q.Options)
				assert.NotEmpty(t, q.About)
				assert.Equal(t, provider.KindContextOverflow, q.Failure.Kind)
				assert.Equal(t, q.To, q.Failure.Participant)
				assert.Error(t, session.Answer(t.Context(), q.ID, "make it so"), "an option is to be chosen")
				require.NoError(t, session.Choose(t.Context(), q.ID, test.choose, test.model...))
				asked++
				require.Less(t, asked, 9, "each answer helps")
			}
			require.NoError(t, err)
			assert.Positive(t, asked)
			assert.NotNil(t, view(record).Verdict)
			assert.Len(t, record.Answers, asked)
			if test.choose == flow.OptionEnd {
				assert.Less(t, len(record.Turns), 24)
				assert.Equal(t, flow.EndHost, record.Reason)
				return
			}
			assert.Len(t, record.Turns, 24)
			assert.Equal(t, test.choose == flow.OptionSummarize, len(record.Summaries) > 0)
			for _, req := range d.turnsOf() {
				if req.Model == "wide" && strings.Contains(req.ID, "/r12.") {
					assert.GreaterOrEqual(t, len(req.Messages), 22, "the wide window holds everything")
				}
			}
		})
	}
}
