package debates_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

// alarms holds 60 debates of eight rounds, in which the judge's marks fall by slope a round and scatter (σ 0.7). It
// returns in how many of them a round has a strong finding. Speeches differ in each debate.
func alarms(t *testing.T, slope float64, rubric bool, seed uint64) int {
	t.Helper()
	alarmed := 0
	for n := range uint64(60) {
		dice := rand.New(rand.NewPCG(seed, n))
		draw := func(round int) float64 { // of 0 to 10
			return min(10, max(0, 8-slope*float64(round-1)+0.7*dice.NormFloat64()))
		}
		config := watched()
		config.Rounds, config.Watch = 8, []format.Detector{format.DetectDiminishing}
		engine, p := stage.Engine(config)
		judge := play{
			says:   func(who string, round int) string { return fresh(who, round+10*int(n)) },
			judges: func(_ string, round int, j *debate.Judgement) { j.QualityScore = draw(round) },
		}
		if rubric {
			config.Judging.Rubric = debate.DefaultRubric()
			judge.marks = func(_ string, round int) map[string]float64 {
				marks := map[string]float64{}
				for _, c := range debate.DefaultRubric().Criteria {
					marks[c.Name] = draw(round)
				}
				return marks
			}
		}
		judge.on(p, "Ada", "Ben")
		record := stage.Run(t, engine, config)
		assert.Equal(t, 8, record.Round)
		for round := 1; round <= record.Round; round++ {
			if f := stage.View(record).Findings(round); len(f) > 0 && f[0].Level == detect.LevelStrong {
				alarmed++
				break
			}
		}
	}
	return alarmed
}

// The seeds were used for nothing else: the limits were tuned with another generator of random numbers.
func TestDiminishingReturnsAreNoChance(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	for name, rubric := range map[string]bool{"one score": false, "a rubric": true} {
		random, falling := alarms(t, 0, rubric, 4711), alarms(t, 0.7, rubric, 4712)
		t.Logf("%s: random judge %d alarms in 60 debates, falling judge %d", name, random, falling)
		assert.LessOrEqual(t, random, 2, name)
		assert.GreaterOrEqual(t, falling, 50, name)
	}
}
