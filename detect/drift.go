package detect

import "fmt"

// LeastRelevance is the mark of relevance, from 0 to 10, below which a speech is off the topic.
const LeastRelevance = 5.0

// Drift judges marks of relevance from 0 to 10: those of one participant, or of all participants in a
// round. Value is their mean. If the mean is below [LeastRelevance], the level is LevelStrong. If only
// some of the marks are below it, the level is LevelNoticeable. Marks outside 0 to 10 are ignored; NaN
// stands for a missing mark.
func Drift(relevance ...float64) Finding {
	found := Finding{Kind: KindDrift, Limit: LeastRelevance}
	sum, marks, below := 0.0, 0, 0
	for _, mark := range relevance {
		if !(mark >= 0 && mark <= 10) { // NaN is neither
			continue
		}
		sum += mark
		marks++
		if mark < LeastRelevance {
			below++
		}
	}
	if marks == 0 {
		return found
	}
	found.Value = sum / float64(marks)
	switch {
	case found.Value < LeastRelevance:
		found.Level = LevelStrong
	case below > 0:
		found.Level = LevelNoticeable
	}
	found.Evidence = fmt.Sprintf("Relevance is %.2f of 10 on average; %d of %d marks are below %g.", found.Value, below, marks, LeastRelevance)
	return found
}
