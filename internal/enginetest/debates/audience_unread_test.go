package debates_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// listened is an Oxford debate of long speeches, whose listeners have a small window. They vote so before and after it.
func listened(before, after debate.Vote) (debate.Config, *debate.Engine, *scripted.Provider) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds, config.MaxTokens, config.Reserve = format.Oxford, 0, 800, 800
	config.Audience = &debate.Audience{Members: []debate.Member{{Name: "L1", Model: "test/listener"}, {Name: "L2", Model: "test/listener"}}}
	engine, p := stage.Engine(config)
	engine.Models["test/listener"] = debate.Model{Priced: true, Window: 3000}
	answer := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		switch {
		case strings.Contains(req.ID, "/vote.before"):
			return scripted.Reply{Text: fmt.Sprintf(`{"vote":%q,"reasoning":"So far."}`, before)}
		case strings.Contains(req.ID, "/vote.after"):
			return scripted.Reply{Text: fmt.Sprintf(`{"vote":%q,"reasoning":"In the end."}`, after)}
		case stage.IsSummary(req):
			return scripted.Reply{Text: "They have said much."}
		case req.Schema == nil:
			return scripted.Reply{Text: stage.SpeechOf(req.ID, 600)}
		default:
			return answer(req)
		}
	}
	return config, engine, p
}

// A listener whose window does not hold the debate votes on a part of it, and the outcome says so. A summarizer that the config
// names lets the listener read the rest.
func TestWhatAListenerHasNotReadIsNamed(t *testing.T) {
	t.Parallel()
	for name, summarizer := range map[string]string{"no summarizer": "", "a summarizer": "test/summarizer"} {
		for _, judged := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, judged %t", name, judged), func(t *testing.T) {
				config, engine, p := listened(debate.VoteUndecided, debate.VoteFor)
				if !judged {
					config.Judging = nil
				}
				if config.Summarizer = summarizer; summarizer != "" {
					engine.Models[summarizer] = debate.Model{Priced: true, Window: 100_000}
				}
				record := stage.Run(t, engine, config)
				outcome := stage.View(record).Outcome()
				assert.Equal(t, format.For, outcome.Side)
				if summarizer != "" {
					assert.NotEmpty(t, record.Summaries)
					assert.Empty(t, outcome.Unread)
					assert.Empty(t, outcome.Degraded)
					return
				}
				require.Len(t, outcome.Unread, 2)
				for _, u := range outcome.Unread {
					assert.Equal(t, debate.KindBallot, u.Kind)
					assert.NotEmpty(t, u.Turns)
					says := func(line string) bool {
						return strings.HasPrefix(line, "the vote of "+u.Judge+" rests on a part: the voter's window did not hold ")
					}
					assert.True(t, slices.ContainsFunc(outcome.Degraded, says), outcome.Degraded)
				}
				for _, req := range p.Requests() {
					if strings.Contains(req.ID, "/vote.after") {
						assert.Contains(t, req.Last.Text, "left out above")
					}
				}
			})
		}
	}
}

// The swing decides, and the judges name somebody of the other side: the outcome says so.
func TestASwingAgainstTheVerdictIsNoted(t *testing.T) {
	for name, tc := range map[string]struct {
		after debate.Vote
		notes []string
	}{
		"the same side": {debate.VoteFor, nil},
		"the other side": {
			debate.VoteAgainst,
			[]string{`the audience has moved to the side "against", but the judges name Ada, who speaks for the side "for"`},
		},
		"no side": {
			debate.VoteUndecided,
			[]string{`the audience has moved to neither side, but the judges name Ada, who speaks for the side "for"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, _ := listened(debate.VoteUndecided, tc.after)
			engine.Models["test/listener"] = debate.Model{Priced: true}
			outcome := stage.View(stage.Run(t, engine, config)).Outcome()
			assert.Equal(t, format.BySwing, outcome.Decision)
			assert.Equal(t, tc.notes, outcome.Notes)
		})
	}
}
