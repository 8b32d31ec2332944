package detect

import (
	"fmt"
	"math"
	"strings"
)

// These are the lengths, in rounds, from which a pattern counts as diminishing returns.
const (
	FallingRounds    = 3 // of falling quality and novelty: two falls
	RepetitiveRounds = 2
)

// Round describes one round of a debate for [Diminishing]. Marks are a judge's, from 0 to 10, or on any
// other scale that is the same for all rounds. A mark that is missing is 0 or NaN in all rounds: it does
// not fall.
type Round struct {
	Quality    float64
	Novelty    float64 // the rubric's; without a rubric, 1 − the highest overlap (see Repetition), averaged over the speeches
	Engagement float64
	Words      int  // per speech, on average
	Repetitive bool // whether the round as a whole repeats; the caller decides, for instance if most speeches are LevelStrong
}

// Diminishing looks at the end of a debate. Rounds are ordered, the oldest first. The level is
// LevelStrong in these two cases, otherwise LevelNone:
//
//   - Quality and novelty have both fallen, strictly, over the last [FallingRounds] rounds.
//   - The last [RepetitiveRounds] rounds were repetitive.
//
// Falling engagement and length are no reason by themselves, but Evidence mentions them.
//
// Value is the number of rounds that the pattern has lasted up to now. Limit is the number from which it
// counts. Both are those of the fall, unless only the repetition was found.
func Diminishing(rounds []Round) Finding {
	found := Finding{Kind: KindDiminishing, Limit: FallingRounds}
	if len(rounds) == 0 {
		return found
	}
	falling := lasting(rounds, func(before, now Round) bool {
		return now.Quality < before.Quality && now.Novelty < before.Novelty
	})
	repetitive := 0
	for repetitive < len(rounds) && rounds[len(rounds)-1-repetitive].Repetitive {
		repetitive++
	}
	var facts []string
	found.Value = float64(falling)
	if repetitive >= RepetitiveRounds {
		found.Level, found.Value, found.Limit = LevelStrong, float64(repetitive), RepetitiveRounds
		facts = append(facts, fmt.Sprintf("the last %d rounds were repetitive", repetitive))
	}
	if falling >= FallingRounds {
		found.Level, found.Value, found.Limit = LevelStrong, float64(falling), FallingRounds
		first, last := rounds[len(rounds)-falling], rounds[len(rounds)-1]
		facts = append([]string{fmt.Sprintf("quality fell from %s to %s and novelty from %s to %s over %d rounds",
			figure(first.Quality), figure(last.Quality), figure(first.Novelty), figure(last.Novelty), falling)}, facts...)
	}
	if !found.Found() {
		found.Evidence = fmt.Sprintf("Quality and novelty have not both fallen over %d rounds, nor were the last %d rounds repetitive.",
			FallingRounds, RepetitiveRounds)
		return found
	}
	facts = append(facts, further(rounds)...)
	found.Evidence = "Returns diminish: " + strings.Join(facts, "; ") + "."
	return found
}

// further lists what else falls.
func further(rounds []Round) []string {
	var facts []string
	last := rounds[len(rounds)-1]
	if n := lasting(rounds, func(before, now Round) bool { return now.Engagement < before.Engagement }); n >= FallingRounds {
		first := rounds[len(rounds)-n]
		facts = append(facts, fmt.Sprintf("engagement fell from %s to %s over %d rounds", figure(first.Engagement), figure(last.Engagement), n))
	}
	if n := lasting(rounds, func(before, now Round) bool { return now.Words < before.Words }); n >= FallingRounds {
		first := rounds[len(rounds)-n]
		facts = append(facts, fmt.Sprintf("speeches shrank from %d to %d words over %d rounds", first.Words, last.Words, n))
	}
	return facts
}

// lasting returns how many rounds, up to the last, each fell against the round before. A fall takes two
// rounds, so the result is never 0; 1 means that nothing falls.
func lasting(rounds []Round, fell func(before, now Round) bool) int {
	n := 1
	for n < len(rounds) && fell(rounds[len(rounds)-1-n], rounds[len(rounds)-n]) {
		n++
	}
	return n
}

// figure formats a mark with up to two decimals, 7 as "7".
func figure(mark float64) string {
	return fmt.Sprintf("%g", math.Round(mark*100)/100)
}
