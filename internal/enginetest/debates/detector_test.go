package debates_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// play says what the speakers and the judges of a debate answer, by round; nil: as ever, and nothing twice.
type play struct {
	says   func(who string, round int) string
	judges func(who string, round int, j *debate.Judgement)
	marks  func(who string, round int) map[string]float64 // by criterion, with a rubric
}

// fresh is a speech of which nothing was said before.
func fresh(who string, round int) string {
	words := strings.Fields(`street square tram bus child nurse baker permit price charge air noise tree bench bridge tunnel shop
		market evening winter council vote budget loan rent roof garden school station harbour river valley hill fog`)
	dice := rand.New(rand.NewPCG(uint64(len(who))+uint64(who[0]), uint64(round)))
	var b strings.Builder
	for range 60 {
		b.WriteString(words[dice.IntN(len(words))] + " ")
	}
	return b.String()
}

func (y play) on(p *scripted.Provider, names ...string) {
	p.Reply = func(req *provider.Request) scripted.Reply {
		reply := y.reply(req, names)
		reply.Usage = provider.Usage{Input: 10_000, Output: 200}
		return reply
	}
}

func (y play) reply(req *provider.Request, names []string) scripted.Reply {
	round := 0
	if m := stage.CallRound.FindStringSubmatch(req.ID); m != nil {
		_, _ = fmt.Sscan(m[1], &round)
	}
	switch {
	case req.Schema == nil && y.says != nil:
		return scripted.Reply{Text: y.says(req.Self, round)}
	case req.Schema == nil:
		return scripted.Reply{Text: fresh(req.Self, round)}
	case stage.KindOf(req) == debate.KindVerdict:
		return scripted.Reply{Text: stage.InShape(req.Schema.JSON, stage.Verdict(names))}
	}
	j := debate.Judgement{ShouldContinue: true, QualityScore: 7, Reasoning: "Both made their case."}
	j.Ending = "It is settled." // which is needed only if the answer ends the debate
	for _, name := range names {
		j.Assessments = append(j.Assessments, debate.ParticipantMark{Participant: name, Strengths: []string{}, Weaknesses: []string{}, Score: 7})
	}
	if y.judges != nil {
		y.judges(req.Self, round, &j)
	}
	if y.marks == nil {
		return scripted.Reply{Text: stage.JSON(j)}
	}
	marks := make([]map[string]any, len(names))
	for i, name := range names {
		marks[i] = map[string]any{"participant": name, "strengths": []string{}, "weaknesses": []string{}, "criteria": y.marks(name, round)}
	}
	return scripted.Reply{Text: stage.JSON(map[string]any{
		"shouldContinue": j.ShouldContinue, "qualityScore": j.QualityScore, "assessments": marks, "flags": j.Flags,
		"reasoning": j.Reasoning, "ending": j.Ending,
	})}
}

// criteria is every criterion of the default rubric with one mark, but for one.
func criteria(all float64, criterion string, one float64) map[string]float64 {
	out := map[string]float64{}
	for _, c := range debate.DefaultRubric().Criteria {
		out[c.Name] = all
	}
	out[criterion] = one
	return out
}

// onlyAda repeats herself from round two on.
func onlyAda(who string, round int) string {
	if who == "Ada" {
		round = 1
	}
	return fresh(who, round)
}

// watched is a debate of six rounds that nothing but a detector ends early.
func watched(on ...format.Detector) debate.Config {
	config := stage.TwoDebaters()
	config.Format, config.Rounds, config.StopOn = format.FreeForm, 6, on
	return config
}

func TestADetectorEndsTheDebateAfterTheRound(t *testing.T) {
	t.Parallel()
	flag := func(set func(*debate.Flags), from int) func(string, int, *debate.Judgement) {
		return func(_ string, round int, j *debate.Judgement) {
			if round >= from {
				set(&j.Flags)
			}
		}
	}
	rubric := func(c *debate.Config) { c.Judging.Rubric = debate.DefaultRubric() }
	for name, tc := range map[string]struct {
		on       format.Detector
		change   func(*debate.Config)
		play     play
		after    int // the round
		evidence []string
	}{
		"one repeats": {
			format.DetectRepetition, nil,
			play{says: onlyAda},
			2,
			[]string{"Ada: The overlap with the speaker's own speeches is 1.000 at most (the speech before)"},
		},
		"the judge sees drift": {
			format.DetectDrift, nil,
			play{judges: flag(func(f *debate.Flags) { f.Drifting = true }, 3)},
			3,
			[]string{"Of 1 judges 1 see the discussion leave the topic."},
		},
		"marks say drift, whatever the flags": {
			format.DetectDrift, rubric,
			play{marks: func(_ string, round int) map[string]float64 {
				return criteria(7, debate.CriterionRelevance, float64(8-2*round))
			}},
			2,
			[]string{"Relevance is 4.00 of 10 on average; 2 of 2 marks are below 5."},
		},
		"the judge sees repetition for two rounds": {
			format.DetectDiminishing, nil,
			play{judges: flag(func(f *debate.Flags) { f.Repetitive = true }, 3)},
			4,
			[]string{"Returns diminish: the last 2 rounds were repetitive."},
		},
		"most speeches repeat for two rounds": {
			format.DetectDiminishing, nil,
			play{says: func(who string, _ int) string { return fresh(who, 1) }},
			3,
			[]string{"the last 2 rounds were repetitive"},
		},
		"marks fall": {
			format.DetectDiminishing, rubric,
			play{
				judges: func(_ string, round int, j *debate.Judgement) { j.QualityScore = 9 - float64(round) },
				marks: func(_ string, round int) map[string]float64 {
					m := criteria(7, debate.CriterionNovelty, 8-float64(round))
					m[debate.CriterionEngagement] = 9 - float64(round)
					return m
				},
			},
			3,
			[]string{"quality fell by 2 and novelty by 2, round by round, in the last 3 rounds"},
		},
	} {
		for _, place := range []string{"config", "format", "both"} {
			t.Run(name+"/"+place, func(t *testing.T) {
				config := watched(tc.on)
				engine, p := stage.Engine(config)
				if place != "config" {
					f := stage.Builtin(t, format.FreeForm)
					f.Name, f.StopOn, f.Watch = "watchful", []format.Detector{tc.on}, []format.Detector{tc.on}
					config.CustomFormat, config.Format = &f, f.Name
				}
				if place == "format" {
					config.StopOn = nil
				}
				if tc.change != nil {
					tc.change(&config)
				}
				tc.play.on(p, "Ada", "Ben")
				engine.Store = &store.Memory{}
				record := stage.Run(t, engine, config)
				assert.Equal(t, tc.after, record.Round)
				assert.Equal(t, flow.EndReason(tc.on), record.Reason)
				for _, words := range tc.evidence {
					assert.Contains(t, record.Evidence, words)
				}
				assert.NotNil(t, stage.View(record).Verdict)
				events := stage.Logged(t, engine, record.ID)
				change := stage.LastReason(events)
				assert.Equal(t, flow.StateCompleting, change.To)
				assert.Equal(t, record.Reason, change.Reason)
				assert.Equal(t, record.Evidence, change.Evidence)
				var evidence []string
				for _, f := range stage.View(record).Findings(tc.after) {
					if f.Level == detect.LevelStrong {
						evidence = append(evidence, f.Evidence)
					}
				}
				assert.Contains(t, evidence, record.Evidence)
				assert.Len(t, slices.Compact(slices.Sorted(slices.Values(evidence))), len(evidence), "each detector counts once")

				// Another process that takes it up after the assessment ends it for the same reason.
				i := stage.StoredLog{Events: events}.Index(t, debate.EventAssessment, tc.after-1)
				again := stage.CoreOf(t, stage.Twin(engine), record.ID, events[:i+1])
				out, err := again.Step(flow.Input{At: record.LastAt, Signal: flow.Tick{}})
				require.NoError(t, err)
				assert.Equal(t, change, stage.LastReason(out.Events))
			})
		}
	}
}

func TestAPanelSeesWhatMostOfItSee(t *testing.T) {
	for seers, after := range map[int]int{1: 6, 2: 2, 3: 2} {
		t.Run(fmt.Sprintf("%d of 3", seers), func(t *testing.T) {
			config := watched(format.DetectDrift)
			config.Judging.Judges = []debate.JudgeConfig{{Model: "test/judge"}, {Model: "test/judge"}, {Model: "test/judge"}}
			engine, p := stage.Engine(config)
			play{judges: func(who string, round int, j *debate.Judgement) {
				seen := map[string]int{"judge": 1, "judge-2": 2, "judge-3": 3}[who] <= seers
				j.Flags.Drifting = seen && round == 2
			}}.on(p, "Ada", "Ben")
			record := stage.Run(t, engine, config)
			assert.Equal(t, after, record.Round)
			if after == 2 {
				assert.Equal(t, debate.EndDrift, record.Reason)
				assert.Equal(t, fmt.Sprintf("Of 3 judges %d see the discussion leave the topic.", seers), record.Evidence)
			}
		})
	}
}

// What is only watched is shown to the judge, and ends nothing.
func TestWhatIsWatchedIsShownToTheJudge(t *testing.T) {
	for _, anonymous := range []bool{false, true} {
		t.Run(fmt.Sprintf("anonymous %t", anonymous), func(t *testing.T) {
			config := watched()
			config.Rounds = 3
			config.Watch = []format.Detector{format.DetectRepetition}
			config.Judging.Anonymous = anonymous
			engine, p := stage.Engine(config)
			names := []string{"Ada", "Ben"}
			if anonymous {
				names = []string{"Speaker A", "Speaker B"}
			}
			play{says: onlyAda}.on(p, names...)
			record := stage.Run(t, engine, config)
			assert.Equal(t, 3, record.Round)
			assert.Equal(t, flow.EndRounds, record.Reason)
			for _, req := range p.Requests() {
				if req.Schema == nil {
					assert.NotContains(t, req.Last.Text, "overlap", "the speakers are not told")
					continue
				}
				shown := strings.Contains(req.Last.Text, "What was measured") && strings.Contains(req.Last.Text, "The overlap with the speaker's own speeches is 1.000")
				want := strings.Contains(req.ID, "/r2.assessment") || strings.Contains(req.ID, "/r3.assessment")
				assert.Equal(t, want, shown, req.ID)
				if anonymous {
					assert.NotContains(t, req.Last.Text, "Ada")
				} else if want {
					assert.Contains(t, req.Last.Text, "repetition: Ada: ")
				}
			}
			assert.Empty(t, stage.View(record).Findings(1), "there is nothing to compare with yet")
			assert.True(t, stage.View(record).Findings(2)[0].Found())
		})
	}
}

// A debate in which nothing is said twice is ended by no detector.
func TestDetectorsLetAGoodDebateBe(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		config := watched(format.DetectRepetition, format.DetectDiminishing, format.DetectDrift)
		config.Mode = mode
		engine, p := stage.Engine(config)
		play{}.on(p, "Ada", "Ben")
		record := stage.Run(t, engine, config)
		assert.Equal(t, flow.EndRounds, record.Reason, record.Evidence)
		assert.Equal(t, 6, record.Round)
		for round := range 8 {
			for _, f := range stage.View(record).Findings(round) {
				assert.False(t, f.Found(), "%+v", f)
			}
		}
	}
}

func TestFindingsOfRoundsThatAreNone(t *testing.T) {
	config := watched(format.DetectRepetition, format.DetectDiminishing, format.DetectDrift)
	engine, p := stage.Engine(config)
	play{}.on(p, "Ada", "Ben")
	record := stage.Run(t, engine, config)
	for _, round := range []int{-1 << 40, -1, 0, 99, 1 << 40} {
		for _, f := range stage.View(record).Findings(round) {
			assert.False(t, f.Found(), "round %d: %+v", round, f)
		}
	}
	core := stage.CoreOf(t, engine, "none", nil)
	_, begun := debate.Of(core.Record())
	assert.False(t, begun, "nothing can be found in what has not begun")
	plain := watched()
	shape := stage.Builtin(t, format.FreeForm)
	shape.Name, shape.Watch, shape.StopOn = "plain", nil, nil
	plain.CustomFormat, plain.Format = &shape, shape.Name
	engine, _ = stage.Engine(plain)
	assert.Empty(t, stage.View(stage.Run(t, engine, plain)).Findings(1), "nothing is looked for that nobody wants")
}

func TestDetectorsThatNobodyKnows(t *testing.T) {
	for field, change := range map[string]func(*debate.Config){
		"watch[0]":  func(c *debate.Config) { c.Watch = []format.Detector{"lies"} },
		"stopOn[1]": func(c *debate.Config) { c.StopOn = []format.Detector{format.DetectDrift, ""} },
		"customFormat.watch[0]": func(c *debate.Config) {
			f := stage.Builtin(t, format.FreeForm)
			f.Name, f.Watch = "mine", []format.Detector{"lies\n"}
			c.CustomFormat, c.Format = &f, f.Name
		},
		"customFormat.stopOn[0]": func(c *debate.Config) {
			f := stage.Builtin(t, format.FreeForm)
			f.Name, f.StopOn = "mine", []format.Detector{"lies"}
			c.CustomFormat, c.Format = &f, f.Name
		},
	} {
		config := stage.TwoDebaters()
		change(&config)
		engine, _ := stage.Engine(config)
		assert.Equal(t, []string{field}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
	}
}
