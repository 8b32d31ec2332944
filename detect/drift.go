package detect

import "fmt"

// LeastRelevance is the mark of relevance, from 0 to 10, below which a speech is off the topic.
const LeastRelevance = 5.0

// Drift judges marks of relevance from 0 to 10: one participant's, or those of all participants of a
// round. Value is their mean. If it is below [LeastRelevance], the level is LevelStrong; if only some
// of the marks are, it is LevelNoticeable. Marks that are not from 0 to 10, such as a NaN for one that
// nobody gave, are passed over.
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
