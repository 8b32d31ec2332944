package detect

import (
	"fmt"
	"math"
)

// Similar is the cosine from which two speeches count as the same in other words. It suits models that
// spread their vectors, as those of the large vendors do. The vectors of some small models hardly ever
// have a lower cosine.
const Similar = 0.85

// Similarity compares the vector of a speech with those of earlier speeches of the same speaker, the
// oldest first. Only the last [Lookback] of them count. The vectors come from a model of the host program's choice.
// Value is the highest cosine, from -1 to 1; from [Similar] on, the level is LevelStrong.
// Similarity finds what [Repetition] cannot: the same argument in other words. Vectors of another length
// than now, and those of length zero, are ignored.
func Similarity(earlier [][]float32, now []float32) Finding {
	found := Finding{Kind: KindRepetition, Limit: Similar}
	recent := earlier[max(0, len(earlier)-Lookback):]
	ago := 0 // the distance, in speeches, to the closest one; 0: there is none
	for i, other := range recent {
		if c, ok := cosine(other, now); ok && (ago == 0 || c >= found.Value) {
			found.Value, ago = c, len(recent)-i
		}
	}
	if ago == 0 {
		return found
	}
	if found.Value >= Similar {
		found.Level = LevelStrong
	}
	found.Evidence = fmt.Sprintf("The cosine with the speaker's own speeches is %.3f at most (%s); %.2f is the same in other words.",
		found.Value, back(ago), Similar)
	return found
}

// cosine returns the cosine of the angle between two vectors, if both have a direction.
func cosine(a, b []float32) (float64, bool) {
	if len(a) != len(b) {
		return 0, false
	}
	var product, squareA, squareB float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		product, squareA, squareB = product+x*y, squareA+x*x, squareB+y*y
	}
	c := product / (math.Sqrt(squareA) * math.Sqrt(squareB))
	return max(-1, min(1, c)), !math.IsNaN(c) && !math.IsInf(c, 0)
}
