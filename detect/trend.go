package detect

import "math"

// These are the bounds of a trend, see [Diminishing].
const (
	// TrendRounds is the number of marks that a trend needs. Fewer fall too often by chance.
	TrendRounds = 4

	// TrendWindow is the number of the last rounds in which a trend is looked for.
	TrendWindow = 8

	// LeastScatter is the scatter around a line, in marks from 0 to 10, that is assumed at least. Four marks
	// often lie on a line by chance, above all if the judge gives whole numbers.
	LeastScatter = 0.6

	// FallRounds is the number of the last rounds in which quality and novelty both fall from mark to mark, each by LeastFall marks in
	// all. So 8, 7, 6 is a fall, and 8, 7.9, 7.8 is none: among random marks such a fall is common.
	FallRounds = 3
	LeastFall  = 2
)

// steady returns by how much a mark has fallen in the last FallRounds rounds, in each of which it was lower than before. false: it was
// not, or it has fallen by less than LeastFall, or a mark is missing.
func steady(all []float64) (fall float64, found bool) {
	if len(all) < FallRounds {
		return 0, false
	}
	all = all[len(all)-FallRounds:]
	for i, mark := range all {
		given := mark >= 0 && mark <= 10 // NaN is neither
		if !given || i > 0 && mark >= all[i-1] {
			return 0, false
		}
	}
	const exact = 1e6 // 8.2 − 6.2 is a little less than 2
	fall = math.Round((all[0]-all[FallRounds-1])*exact) / exact
	return fall, fall >= LeastFall
}

// criticalT returns the limit of t for this many marks, from TrendRounds to TrendWindow. It is the 99th percentile of
// Student's distribution with two degrees of freedom less than there are marks.
func criticalT(marks int) float64 {
	return [...]float64{6.965, 4.541, 3.747, 3.365, 3.143}[marks-TrendRounds]
}

// trend is the fall of a mark over rounds.
type trend struct {
	marks int
	slope float64 // marks a round, above 0 if they fall
	t     float64 // slope, in standard errors
	limit float64 // the t from which it counts
}

func (t trend) found() bool { return t.t >= t.limit }

// trendOf fits a line to the last TrendWindow marks by least squares, and divides its slope by the slope's standard
// error. This is the t test of a regression's slope. Marks outside 0 to 10 are missing.
//
// Each product is rounded by a conversion. Otherwise some machines fuse it with the sum, and the same record gives
// other figures there.
func trendOf(all []float64) trend {
	all = all[max(0, len(all)-TrendWindow):]
	out := trend{limit: criticalT(TrendRounds)}
	sumX, sumY := 0.0, 0.0
	each := func(do func(x, y float64)) {
		for i, y := range all {
			if y >= 0 && y <= 10 { // NaN is neither
				do(float64(i), y)
			}
		}
	}
	each(func(x, y float64) {
		out.marks++
		sumX += x
		sumY += y
	})
	if out.marks < TrendRounds {
		return out
	}
	out.limit = criticalT(out.marks)
	n := float64(out.marks)
	meanX, meanY := sumX/n, sumY/n
	squareX, product, rest := 0.0, 0.0, 0.0
	each(func(x, y float64) {
		squareX += float64((x - meanX) * (x - meanX))
		product += float64((x - meanX) * (y - meanY))
	})
	slope := product / squareX
	each(func(x, y float64) {
		off := y - meanY - float64(slope*(x-meanX))
		rest += float64(off * off)
	})
	scatter := max(LeastScatter, math.Sqrt(rest/(n-2)))
	out.slope = 0 - slope // not −0
	out.t = float64(out.slope*math.Sqrt(squareX)) / scatter
	return out
}
