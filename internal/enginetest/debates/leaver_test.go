package debates_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// deserted is a debate of three that Ben leaves in its second round.
func deserted(change func(*debate.Config)) (debate.Config, *debate.Engine, *scripted.Provider) {
	config := stage.Crew(3)
	config.OnFailure = []debate.FailureRule{{Do: flow.OptionDrop}}
	change(&config)
	engine, p := stage.Engine(config)
	stage.Abiding(p)
	stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2))
	return config, engine, p
}

// Whoever has left is scored and named in what is judged, by what was said until then.
func TestWhoeverHasLeftIsScored(t *testing.T) {
	for name, anonymous := range map[string]bool{"by name": false, "by label": true} {
		t.Run(name, func(t *testing.T) {
			config, engine, p := deserted(func(c *debate.Config) { c.Judging.Anonymous = anonymous })
			reply := p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply { // the judge does not name whoever has left
				r := reply(req)
				if _, gone, ok := strings.Cut(req.Last.Text, "until then: "); ok && strings.Contains(req.ID, "/verdict.") {
					gone, _, _ = strings.Cut(gone, ".")
					for _, other := range []string{"Speaker A", "Speaker B"} {
						if other != gone {
							r.Text = strings.Replace(r.Text, `"winner":{"participant":"`+gone, `"winner":{"participant":"`+other, 1)
						}
					}
				}
				return r
			}
			record := stage.Run(t, engine, config)
			require.NotNil(t, stage.View(record).Verdict)
			assert.Contains(t, stage.View(record).Verdict.Scores, "Ben")
			assert.Contains(t, stage.View(record).Outcome().Scores, "Ben")
			for _, a := range stage.View(record).Assessments {
				var who []string
				for _, mark := range a.Assessments {
					who = append(who, mark.Participant)
				}
				assert.Equal(t, a.Round == 1, strings.Contains(strings.Join(who, " "), "Ben"), "Ben was in the first round only")
			}
			for _, req := range p.Requests() {
				last := req.Last.Text
				switch {
				case strings.Contains(req.ID, "/verdict."):
					assert.Contains(t, last, "Has left the debate early, and is judged by what was said until then: ")
					assert.Contains(t, last, "Only who has stayed can win.")
					assert.Equal(t, anonymous, !strings.Contains(last+string(req.Schema.JSON), "Ben"))
				case strings.Contains(req.ID, "/r3.assessment"):
					assert.Contains(t, last, "Has left the debate, and is not to be judged here: ")
					assert.NotContains(t, string(req.Schema.JSON), "Ben")
				}
			}
		})
	}
}

// Whoever has left wins only if the format says so.
func TestWhoeverHasLeftWinsOnlyIfTheFormatSaysSo(t *testing.T) {
	for name, may := range map[string]bool{"it does not": false, "it does": true} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			all := format.Builtin()
			own := all[slices.IndexFunc(all, func(f format.Format) bool { return f.Name == format.StructuredRounds })]
			own.Name, own.LeaverMayWin = "open-end", may
			config, engine, p := deserted(func(c *debate.Config) { c.Format, c.CustomFormat = "", &own })
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if strings.Contains(req.ID, "/verdict.") {
					r.Text = strings.Replace(r.Text, `"winner":{"participant":"Ada"`, `"winner":{"participant":"Ben"`, 1)
				}
			})
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			if may {
				require.NoError(t, err)
				assert.Equal(t, "Ben", stage.View(record).Outcome().Winner)
				return
			}
			stage.RequireKind(t, err, provider.KindInvalidResponse)
			require.NotEmpty(t, record.Rejections)
			assert.Equal(t, []string{"winner: has left the debate, and cannot win"}, record.Rejections[0].Problems)
		}))
	}
}

// Whoever has left is in no ranking, no mean and no note that the winner is found by, unless the format lets it win.
func TestWhoeverHasLeftIsInNoRanking(t *testing.T) {
	for _, protocol := range []debate.Protocol{debate.Borda, debate.Majority, debate.Plurality, debate.Supermajority, debate.Unanimity} {
		for _, may := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, may win %v", protocol, may), func(t *testing.T) {
				all := format.Builtin()
				own := all[slices.IndexFunc(all, func(f format.Format) bool { return f.Name == format.StructuredRounds })]
				own.Name, own.LeaverMayWin = "open-end", may
				config, engine, p := deserted(func(c *debate.Config) {
					c.Format, c.CustomFormat = "", &own
					c.Judging.Protocol, c.Judging.When = protocol, debate.AtEnd
				})
				stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
					if !strings.Contains(req.ID, "/verdict.") {
						return
					}
					var answer map[string]any
					require.NoError(t, json.Unmarshal([]byte(r.Text), &answer))
					answer["scores"] = map[string]float64{"Ada": 70, "Ben": 90, "Cyd": 60}
					answer["winner"] = map[string]string{"participant": "Ada", "reasoning": "Sound."}
					r.Text = stage.JSON(answer)
				})
				outcome := stage.View(stage.Run(t, engine, config)).Outcome()
				assert.InDelta(t, 90, outcome.Scores["Ben"], 0, "scored in any case")
				switch {
				case !may:
					assert.Equal(t, "Ada", outcome.Winner)
					assert.Empty(t, outcome.Notes)
					assert.NotContains(t, stage.JSON(outcome.Votes), "Ben")
				case protocol == debate.Borda:
					assert.Equal(t, "Ben", outcome.Winner)
				default:
					assert.Equal(t, []string{"Ada has won with a lower score than Ben: 70 against 90"}, outcome.Notes)
				}
			})
		}
	}
}
