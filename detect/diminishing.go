package detect

import (
	"fmt"
	"math"
	"strings"
)

// RepetitiveRounds is the number of repetitive rounds in a row that counts as diminishing returns.
const RepetitiveRounds = 2

// Round describes one round of a debate for [Diminishing]. Marks are a judge's, from 0 to 10. A missing
// mark is NaN. A mark that is 0 in all rounds counts as missing too.
type Round struct {
	Quality    float64
	Novelty    float64 // the rubric's
	Engagement float64
	Words      int  // per speech, on average
	Repetitive bool // whether the round as a whole repeats; the caller decides, for instance if most speeches are LevelStrong
}

// Diminishing looks at the last [TrendWindow] rounds of a debate. Rounds are ordered, the oldest first. The
// level is LevelStrong in these three cases, otherwise LevelNone:
//
//   - Quality falls, and so does novelty if it has marks.
//   - Quality and novelty were both lower in each of the last [FallRounds] rounds, by [LeastFall] marks in all.
//   - The last [RepetitiveRounds] rounds were repetitive.
//
// A mark falls if chance hardly explains the trend. Diminishing fits a line to the marks by least squares and
// divides its slope by the standard error of the slope: t = slope · √Σ(x−x̄)² / s. Here x is the number of the
// round, and s is the scatter of the marks around the line, but at least [LeastScatter]. The limit of t is the
// 99th percentile of Student's distribution, from 6.965 for four marks to 3.143 for eight. See any textbook on
// linear regression, under the t test of the slope. Fewer than [TrendRounds] marks never fall.
//
// Each round of a debate is another look, so false alarms add up. Of simulated debates whose quality scatters
// around a mean (σ 0.7), 0.4 % raise an alarm within 8 rounds, and 2 % within 20. If the judge gives whole
// numbers, 0.5 % and 3.4 % do. Of debates whose quality falls by 0.7 a round with the same scatter, 99 % raise
// one within 8 rounds.
//
// Three marks fall by chance more often, and judges that mark quality high mark novelty high too. Of such debates (σ 0.7 in both), 0.2 %
// raise an alarm within 8 rounds if the two are independent, 1.6 % if their correlation is 0.5, and 6 % if it is 0.9; with whole
// numbers 0.8 %, 3.2 % and 9 %. If any fall of three marks counted, however small, it would be 15 %, 28 % and 49 %. In return, of
// debates whose marks fall by 1 a round, 68 % are found within 5 rounds, and not 30 %.
//
// Falling engagement and length are no reason by themselves, but Evidence mentions them. Length counts in
// tenths of the longest round, so that it has the scale of a mark.
//
// Value is the t of quality or of novelty, whichever is lower against its limit, and Limit is that limit. If only the last
// rounds have fallen, Value is the smaller of the two falls, in marks, and Limit is LeastFall. If only the repetition was found,
// Value is the number of rounds that it has lasted, up to TrendWindow, and Limit is RepetitiveRounds.
func Diminishing(rounds []Round) Finding {
	found := Finding{Kind: KindDiminishing, Limit: criticalT(TrendRounds)}
	if len(rounds) == 0 {
		return found
	}
	rounds = rounds[max(0, len(rounds)-TrendWindow):]
	quality := trendOf(column(rounds, func(r Round) float64 { return r.Quality }))
	weaker, marks := quality, "Quality does"
	facts := []string{"quality " + quality.String()}
	novel := column(rounds, func(r Round) float64 { return r.Novelty })
	if given(novel) {
		novelty := trendOf(novel)
		facts = append(facts, "novelty "+novelty.String())
		marks = "Quality and novelty do"
		if novelty.t-novelty.limit < quality.t-quality.limit {
			weaker = novelty
		}
	}
	found.Value, found.Limit = weaker.t, weaker.limit
	lower, falls := steady(column(rounds, func(r Round) float64 { return r.Quality }))
	staler, stales := steady(novel)
	switch {
	case weaker.found():
		found.Level = LevelStrong
	case falls && stales:
		found.Level, found.Value, found.Limit = LevelStrong, min(lower, staler), LeastFall
		facts = []string{fmt.Sprintf("quality fell by %s and novelty by %s, round by round, in the last %d rounds",
			figure(lower), figure(staler), FallRounds)}
	default:
		facts = nil
	}
	repetitive := 0
	for repetitive < len(rounds) && rounds[len(rounds)-1-repetitive].Repetitive {
		repetitive++
	}
	if repetitive >= RepetitiveRounds {
		if !found.Found() {
			found.Level, found.Value, found.Limit = LevelStrong, float64(repetitive), RepetitiveRounds
		}
		facts = append(facts, fmt.Sprintf("the last %d rounds were repetitive", repetitive))
	}
	switch {
	case found.Found():
		found.Evidence = "Returns diminish: " + strings.Join(append(facts, further(rounds)...), "; ") + "."
	case weaker.marks < TrendRounds:
		found.Evidence = fmt.Sprintf("A fall takes %d marks of quality or novelty, or %d of both that fall by %d, "+
			"and the last %d rounds were not repetitive.", TrendRounds, FallRounds, LeastFall, RepetitiveRounds)
	default:
		found.Evidence = fmt.Sprintf("%s not fall more than chance explains (t = %.2f, limit %.2f), and the last %d rounds were not repetitive.",
			marks, weaker.t, weaker.limit, RepetitiveRounds)
	}
	return found
}

// further lists what else falls.
func further(rounds []Round) []string {
	var facts []string
	if t := trendOf(column(rounds, func(r Round) float64 { return r.Engagement })); t.found() {
		facts = append(facts, "engagement "+t.String())
	}
	longest := 0
	for _, r := range rounds {
		longest = max(longest, r.Words)
	}
	if t := trendOf(column(rounds, func(r Round) float64 { return 10 * float64(r.Words) / float64(longest) })); t.found() {
		facts = append(facts, fmt.Sprintf("speeches shrank by %.0f words a round over %d rounds", t.slope*float64(longest)/10, t.marks))
	}
	return facts
}

// String says how much a mark fell, and how sure that is.
func (t trend) String() string {
	return fmt.Sprintf("fell by %s a round over %d rounds (t = %.2f, limit %.2f)", figure(t.slope), t.marks, t.t, t.limit)
}

// column returns one figure of each round.
func column(rounds []Round, of func(Round) float64) []float64 {
	out := make([]float64, len(rounds))
	for i, r := range rounds {
		out[i] = of(r)
	}
	return out
}

// given reports whether anybody gave one of the marks.
func given(marks []float64) bool {
	for _, m := range marks {
		if m > 0 {
			return true
		}
	}
	return false
}

// figure formats a mark with up to two decimals, 7 as "7".
func figure(mark float64) string {
	return fmt.Sprintf("%g", math.Round(mark*100)/100)
}
