package detect

import (
	"fmt"
	"math"
	"strings"
)

// How long a pattern must last, in rounds, to be diminishing returns.
const (
	FallingRounds    = 3 // of falling quality and novelty: two falls
	RepetitiveRounds = 2
)

// Round is what [Diminishing] knows of a round of a debate. Marks are a judge's, from 0 to 10, or on
// another scale that is the same for all rounds. What nobody gave stays 0, or is NaN: it does not fall.
type Round struct {
	Quality    float64
	Novelty    float64 // the rubric's; without a rubric, 1 − the highest overlap (see Repetition), averaged over the speeches
	Engagement float64
	Words      int  // per speech, on average
	Repetitive bool // whether the round as a whole repeats: the caller decides, for instance if most speeches are LevelStrong
}

// Diminishing looks at the end of a debate, the oldest round first. Returns diminish if quality and
// novelty have both fallen strictly over the last [FallingRounds] rounds, or if the last
// [RepetitiveRounds] were repetitive. The level is then LevelStrong, otherwise LevelNone. Falling
// engagement and length are no reason of their own, but Evidence tells of them.
//
// Value is how many rounds the pattern has lasted up to now, and Limit how many make it one: the
// fall's if that is one or nothing is found, otherwise the repetition's.
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
	var told []string
	found.Value = float64(falling)
	if repetitive >= RepetitiveRounds {
		found.Level, found.Value, found.Limit = LevelStrong, float64(repetitive), RepetitiveRounds
		told = append(told, fmt.Sprintf("the last %d rounds were repetitive", repetitive))
	}
	if falling >= FallingRounds {
		found.Level, found.Value, found.Limit = LevelStrong, float64(falling), FallingRounds
		first, last := rounds[len(rounds)-falling], rounds[len(rounds)-1]
		told = append([]string{fmt.Sprintf("quality fell from %s to %s and novelty from %s to %s over %d rounds",
			figure(first.Quality), figure(last.Quality), figure(first.Novelty), figure(last.Novelty), falling)}, told...)
	}
	if !found.Found() {
		found.Evidence = fmt.Sprintf("Quality and novelty have not both fallen over %d rounds, nor were the last %d rounds repetitive.",
			FallingRounds, RepetitiveRounds)
		return found
	}
	told = append(told, further(rounds)...)
	found.Evidence = "Returns diminish: " + strings.Join(told, "; ") + "."
	return found
}

// further tells of what else falls.
func further(rounds []Round) []string {
	var told []string
	last := rounds[len(rounds)-1]
	if n := lasting(rounds, func(before, now Round) bool { return now.Engagement < before.Engagement }); n >= FallingRounds {
		first := rounds[len(rounds)-n]
		told = append(told, fmt.Sprintf("engagement fell from %s to %s over %d rounds", figure(first.Engagement), figure(last.Engagement), n))
	}
	if n := lasting(rounds, func(before, now Round) bool { return now.Words < before.Words }); n >= FallingRounds {
		first := rounds[len(rounds)-n]
		told = append(told, fmt.Sprintf("speeches shrank from %d to %d words over %d rounds", first.Words, last.Words, n))
	}
	return told
}

// lasting is how many rounds, up to the last, each fell against the one before. A fall takes two
// rounds, so it is never 0; 1 says that there is none.
func lasting(rounds []Round, fell func(before, now Round) bool) int {
	n := 1
	for n < len(rounds) && fell(rounds[len(rounds)-1-n], rounds[len(rounds)-n]) {
		n++
	}
	return n
}

// figure writes a mark with up to two decimals, 7 as "7".
func figure(mark float64) string {
	return fmt.Sprintf("%g", math.Round(mark*100)/100)
}
