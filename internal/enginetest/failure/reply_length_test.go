package failure_test

import (
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

// A reply is cut at eight bytes for each of its tokens, whatever it is made of: else nobody could say
// what the calls that read it may cost.
func TestARepliesBytesAreBounded(t *testing.T) {
	for name, word := range map[string]string{"letters": "a", "words": "ban ", "Chinese": "价", "not UTF-8": "\xffa", "nothing but bytes": "\xff\xfea"} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{stage.ReplyTokens*8 - 1, stage.ReplyTokens * 8, stage.ReplyTokens*8 + 1, stage.ReplyTokens * 100} {
				d := stage.NewTalk(1, 0)
				text := strings.Repeat(word, size/len(word)+1)[:size]
				d.Provider.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: text} }
				d.Config.Judging = nil
				record := stage.Run(t, d.Engine, d.Config)
				assert.LessOrEqual(t, len(record.Turns[0].Text), stage.ReplyTokens*8, "of %d bytes", size)
				assert.Equal(t, len(strings.ToValidUTF8(text, "\uFFFD")) > stage.ReplyTokens*8, record.Turns[0].Cut)
			}
		})
	}
}

// An answer that ended whole is read whole: only the model itself can break it off.
func TestLongAnswersAreReadWhole(t *testing.T) {
	const most = 4096 * 8
	for _, kind := range []flow.CallKind{debate.KindAssessment, debate.KindVerdict} {
		for name, c := range map[string]struct {
			length   int
			stop     provider.StopReason
			rejected []string
		}{
			"at the bound":            {most, "", nil},
			"behind it":               {most + 1, "", nil},
			"far behind it":           {20 * most, provider.StopEnd, nil},
			"broken off by the model": {most + 1, provider.StopLength, []string{"the answer was broken off (length) before its end"}},
		} {
			t.Run(string(kind)+"/"+name, stage.Bubbled(func(t *testing.T) {
				text := stage.WellFormed(kind) // thoughts may stand before it
				const open, shut = "<think>", "</think>"
				thoughts := open + strings.Repeat("x", c.length-len(text)-len(open+shut)) + shut
				b := stage.NewBench(kind, false, scripted.Reply{Text: thoughts + text, Stop: c.stop})
				_, record, err := b.Start(t)
				require.NoError(t, err)
				assert.JSONEq(t, text, stage.Recorded(record, kind))
				var problems []string
				for _, r := range record.Rejections {
					problems = append(problems, r.Problems...)
				}
				assert.Equal(t, c.rejected, problems)
			}))
		}
	}
}

// A turn that is longer than its tokens can have been is cut there, at a character's border, and flagged.
func TestTurnsThatAreTooLong(t *testing.T) {
	config := stage.TwoDebaters()
	config.MaxTokens = 300
	engine, source := stage.Engine(config)
	answer := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		switch req.Self {
		case "Ada":
			return scripted.Reply{Text: strings.Repeat("é", 1199) + "x" + strings.Repeat("é", 9)} // 2400 bytes end within a character
		case "Ben":
			return scripted.Reply{Text: strings.Repeat("é", 1200)}
		default:
			return answer(req)
		}
	}
	record := stage.Run(t, engine, config)
	require.Len(t, record.Turns, 6)
	for _, turn := range record.Turns {
		assert.Equal(t, turn.Speaker == "Ada", turn.Cut, turn.Call)
		if turn.Speaker == "Ada" {
			assert.Equal(t, strings.Repeat("é", 1199)+"x", turn.Text)
		} else {
			assert.Equal(t, strings.Repeat("é", 1200), turn.Text)
		}
	}
}
