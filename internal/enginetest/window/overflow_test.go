package window_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestAnUnknownWindowIsNoLimitUntilTheVendorSaysOverflow(t *testing.T) {
	t.Parallel()
	for name, summarizer := range map[string]bool{"truncated": false, "summarised": true} {
		t.Run(name, func(t *testing.T) {
			d := stage.NewTalk(24, 0)
			if summarizer {
				d.Summarizes(false)
			}
			refused := d.Bursting(5000)
			record := stage.Run(t, d.Engine, d.Config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Len(t, record.Turns, 48)
			assert.Positive(t, refused.Load())
			assert.Less(t, refused.Load(), int64(6), "what one has learned of a model holds for all who use it")
			require.NotEmpty(t, record.Answers)
			for _, a := range record.Answers {
				assert.True(t, a.Rule)
			}
			want := flow.OptionTruncate
			if summarizer {
				want = flow.OptionSummarize
				assert.NotEmpty(t, record.Summaries)
			}
			assert.Equal(t, want, record.Answers[0].Option)
			var whole bool
			for _, req := range d.TurnsOf() {
				if got := stage.Heard(&req); len(got) > 0 {
					assert.Equal(t, stage.Oldest, got[0], "the opening stays: %s", req.ID)
				}
				if d.Sent(&req) > 4500 && !strings.HasSuffix(req.ID, "/1") {
					whole = true
				}
			}
			assert.False(t, whole, "the second attempt is smaller")
		})
	}
}

func TestAnOverflowIsAQuestionWhereSomebodyIsThere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		summarizer bool
		smaller    []debate.Option
		choose     debate.Option
		model      string
	}{
		"truncate":  {false, []debate.Option{flow.OptionTruncate}, flow.OptionTruncate, ""},
		"summarize": {true, []debate.Option{flow.OptionSummarize, flow.OptionTruncate}, flow.OptionSummarize, ""},
		"model":     {false, []debate.Option{flow.OptionTruncate}, flow.OptionModel, "test/wide"},
		"end":       {false, []debate.Option{flow.OptionTruncate}, flow.OptionEnd, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := stage.NewTalk(12, 0)
			d.Config.Unattended = false
			d.Engine.Models["test/wide"] = debate.Model{Priced: true, Window: 200_000}
			if test.summarizer {
				d.Summarizes(false)
			}
			const most = 4000
			reply := d.Provider.Reply
			d.Provider.Reply = func(req *provider.Request) scripted.Reply {
				if req.Model == "debater" && d.Sent(req) > most {
					return scripted.Reply{Err: stage.ErrFull}
				}
				return reply(req)
			}
			session := stage.Started(t, d.Engine, d.Config)
			asked := 0
			record, err := session.Wait(t.Context())
			for ; errors.Is(err, debate.ErrAwaitingInput); record, err = session.Wait(t.Context()) {
				require.Len(t, record.Inquiries, 1)
				q := record.Inquiries[0]
				always := stage.SpeakerOptions()
				assert.Equal(t, slices.Insert(always, slices.Index(always, flow.OptionSkip), test.smaller...), q.Options)
				assert.NotEmpty(t, q.About)
				assert.Equal(t, provider.KindContextOverflow, q.Failure.Kind)
				assert.Equal(t, q.To, q.Failure.Participant)
				assert.Error(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: "make it so"}), "an option is to be chosen")
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: test.choose, Model: test.model}))
				asked++
				require.Less(t, asked, 9, "each answer helps")
			}
			require.NoError(t, err)
			assert.Positive(t, asked)
			assert.NotNil(t, stage.View(record).Verdict)
			assert.Len(t, record.Answers, asked)
			if test.choose == flow.OptionEnd {
				assert.Less(t, len(record.Turns), 24)
				assert.Equal(t, flow.EndHost, record.Reason)
				return
			}
			assert.Len(t, record.Turns, 24)
			assert.Equal(t, test.choose == flow.OptionSummarize, len(record.Summaries) > 0)
			for _, req := range d.TurnsOf() {
				if req.Model == "wide" && strings.Contains(req.ID, "/r12.") {
					assert.GreaterOrEqual(t, len(req.Messages), 22, "the wide window holds everything")
				}
			}
		})
	}
}

// What has made nothing smaller is not offered again, until something has worked.
func TestAnOptionThatChangedNothingIsNotOfferedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		summarizer bool
		choose     []debate.Option
		left       []debate.Option
	}{
		"truncate":            {false, []debate.Option{"truncate"}, nil},
		"summarize":           {true, []debate.Option{"summarize"}, []debate.Option{"truncate"}},
		"truncate first":      {true, []debate.Option{"truncate"}, []debate.Option{"summarize"}},
		"one after the other": {true, []debate.Option{"summarize", "truncate"}, nil},
		"in the other order":  {true, []debate.Option{"truncate", "summarize"}, nil},
		"nothing chosen":      {true, nil, []debate.Option{"summarize", "truncate"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := stage.NewTalk(3, 0)
			d.Config.Unattended = false
			d.Config.Participants[1].Model = "test/narrow"
			d.Engine.Models["test/narrow"] = debate.Model{Priced: true, Window: 700} // less than the prompt needs
			d.Engine.Models["test/wide"] = debate.Model{Priced: true, Window: 200_000}
			if test.summarizer {
				d.Summarizes(false)
			}
			session := stage.Started(t, d.Engine, d.Config)
			for _, option := range test.choose {
				record := stage.AwaitsInput(t, session)
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: option}))
			}
			record := stage.AwaitsInput(t, session)
			var left []debate.Option
			for _, option := range record.Inquiries[0].Options {
				if option == flow.OptionSummarize || option == flow.OptionTruncate {
					left = append(left, option)
				}
			}
			assert.Equal(t, test.left, left)
			if len(test.choose) > 0 {
				assert.Error(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: test.choose[0]}))
			}
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "test/wide"}))
			record = stage.Ended(t, session)
			assert.Len(t, record.Turns, 6)
		})
	}
}

// Whoever retries after an overflow may have made the window larger: what was learnt of it is forgotten.
func TestARetryForgetsTheWindowThatAnOverflowHasShown(t *testing.T) {
	for _, option := range []debate.Option{flow.OptionRetry, flow.OptionTruncate} {
		t.Run(string(option), func(t *testing.T) {
			d := stage.NewTalk(6, 0)
			d.Config.Unattended, d.Config.Judging = false, nil
			mended := false
			stage.Befall(d.Provider, provider.KindContextOverflow, func(req *provider.Request) bool { return req.Self == "Ben" && len(req.Messages) > 6 && !mended })
			session := stage.Started(t, d.Engine, d.Config)
			record := stage.AwaitsInput(t, session)
			mended = true
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: option}))
			record = stage.Ended(t, session)
			assert.Len(t, record.Turns, 12)
			requests := d.Provider.Requests()
			last := &requests[len(requests)-1]
			require.Equal(t, "Ben", last.Self)
			assert.Equal(t, option == flow.OptionRetry, len(last.Messages) == 11, "%d messages", len(last.Messages))
		})
	}
}
