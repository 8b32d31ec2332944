package detect

import (
	"fmt"
	"math"
)

// Similar is the cosine from which two speeches say the same in other words. It holds for models that
// spread their vectors, as those of the large vendors do; some small ones hardly go below it.
const Similar = 0.85

// Similarity compares the vector of a speech, as a provider that can embed makes it, with those of the
// earlier speeches of the same speaker, the oldest first, of which the last [Lookback] count. Value is
// the highest cosine, from -1 to 1; from [Similar] on the level is LevelStrong. It finds what
// [Repetition] cannot: the same argument in other words. Vectors of another length, or without a
// direction, are left out.
func Similarity(earlier [][]float32, now []float32) Finding {
	found := Finding{Kind: KindRepetition, Limit: Similar}
	recent := earlier[max(0, len(earlier)-Lookback):]
	ago := 0 // how many speeches ago the closest one was; 0: there is none
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

// cosine yields that of the angle between two vectors, if there is one.
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
