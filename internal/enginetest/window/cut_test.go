package window_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// tooLong is a talk in which Ada's second turn alone is larger than Ben's window.
func tooLong() *stage.Talk {
	d := stage.NewTalk(3, 0)
	d.Config.MaxTokens, d.Config.Reserve = 5000, 500
	d.Config.Participants[1].Model = "test/narrow"
	d.Config.Participants[1].MaxTokens = 500
	d.Engine.Models["test/narrow"] = debate.Model{Priced: true, Window: 4000}
	d.Said = func(req *provider.Request) int {
		if strings.Contains(req.ID, "/r2.argument.Ada/") {
			return 4000
		}
		return 100
	}
	return d
}

func TestATurnThatIsLargerThanTheWindowIsNamed(t *testing.T) {
	d := tooLong()
	d.Config.Unattended = false
	session := stage.Started(t, d.Engine, d.Config)
	record := stage.AwaitsInput(t, session)
	require.Len(t, record.Inquiries, 1)
	failure := record.Inquiries[0].Failure
	assert.Equal(t, provider.KindContextOverflow, failure.Kind)
	assert.ErrorContains(t, failure, "the turn of Ada in round 2 alone does not fit the window of 4000 tokens")
	assert.Equal(t, "Ben", failure.Participant)
	assert.Equal(t, 2, failure.Round)
	assert.Len(t, d.TurnsOf("Ben"), 1, "nothing is sent that does not fit")
}

func TestALearnedWindowIsNamedToo(t *testing.T) {
	d := tooLong().Summarizes(false)
	d.Config.Unattended = false
	d.Engine.Models["test/narrow"] = debate.Model{Priced: true}
	reply := d.Provider.Reply
	d.Provider.Reply = func(req *provider.Request) scripted.Reply {
		if req.Model == "narrow" && d.Sent(req) > 2500 {
			return scripted.Reply{Err: stage.ErrFull}
		}
		return reply(req)
	}
	session := stage.Started(t, d.Engine, d.Config)
	for range 16 {
		record := stage.AwaitsInput(t, session)
		if text := record.Inquiries[0].Failure.Error(); strings.Contains(text, "alone does not fit") {
			assert.Contains(t, text, "the turn of Ada in round 2")
			assert.Regexp(t, `window of [1-9]\d+ tokens`, text)
			return
		}
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionSummarize}))
	}
	assert.Fail(t, "nothing was too large")
}

func TestATurnThatIsLargerThanTheWindowIsCutVisibly(t *testing.T) {
	d := tooLong()
	d.Config.Unattended, d.Config.TruncateTurns = false, true
	record := stage.Run(t, d.Engine, d.Config)
	assert.Len(t, record.Turns, 6)
	cut := d.TurnsOf("Ben")[1]
	require.Len(t, cut.Messages, 1)
	assert.Regexp(t, `^r2\.argument\.Ada( word)+[ a-z]*\n\[… cut here: \d+ of \d+ bytes are left out\]$`, cut.Messages[0].Text)
	assert.Equal(t, "Ada", cut.Messages[0].Speaker)
	assert.LessOrEqual(t, d.Sent(&cut), 3500)
	assert.Greater(t, d.Sent(&cut), 2500, "no more is cut than must be")
	assert.Contains(t, kindsOf(record), "context Ben")
	assert.NotContains(t, record.Turns[2].Text, "cut here", "the record has it whole")
}

// A text of many forms is cut at a border of characters, and to what fits.
func TestCutsFit(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"Chinese": strings.Repeat("价格比禁令更温和，而且还能为电车筹钱。", 900),
		"dense":   strings.Repeat("=!x9", 2500),
		"spaces":  strings.Repeat(" ", 20_000) + strings.Repeat(" 9", 8000),
		"growing": strings.Repeat("word ", 2500) + strings.Repeat("价格比禁令", 900),
		"broken":  strings.Repeat("\xff\xfe a", 6000),
	} {
		t.Run(name, func(t *testing.T) {
			d := tooLong()
			d.Config.TruncateTurns = true
			reply := d.Provider.Reply
			d.Provider.Reply = func(req *provider.Request) scripted.Reply {
				if strings.Contains(req.ID, "/r2.argument.Ada/") {
					return scripted.Reply{Text: text}
				}
				return reply(req)
			}
			record := stage.Run(t, d.Engine, d.Config)
			assert.Len(t, record.Turns, 6)
			cut := d.TurnsOf("Ben")[1]
			assert.LessOrEqual(t, d.Sent(&cut), 3500)
			assert.True(t, utf8.ValidString(cut.Messages[0].Text))
			assert.Contains(t, cut.Messages[len(cut.Messages)-1].Text, "cut here")
		})
	}
}
