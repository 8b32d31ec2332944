package detect_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/detect"
)

func TestSimilarity(t *testing.T) {
	nan := float32(math.NaN())
	tests := []struct {
		name    string
		earlier [][]float32
		now     []float32
		value   float64
		level   detect.Level
		none    bool
	}{
		{"the first speech", nil, []float32{1, 0}, 0, "", true},
		{"the same", [][]float32{{0, 2}, {3, 0}}, []float32{1, 0}, 1, detect.LevelStrong, false},
		{"at right angles", [][]float32{{0, 1}}, []float32{1, 0}, 0, "", false},
		{"the opposite", [][]float32{{-1, 0}}, []float32{1, 0}, -1, "", false},
		{"at the limit", [][]float32{{0.85, float32(math.Sqrt(1 - 0.85*0.85))}}, []float32{1, 0}, 0.85, detect.LevelStrong, false},
		{"below the limit", [][]float32{{0.84, float32(math.Sqrt(1 - 0.84*0.84))}}, []float32{1, 0}, 0.84, "", false},
		{"too long ago", [][]float32{{1, 0}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}, []float32{1, 0}, 0, "", false},
		{"of another length", [][]float32{{1}, {1, 0, 0}}, []float32{1, 0}, 0, "", true},
		{"without a direction", [][]float32{{0, 0}, {nan, 0}, {}}, []float32{1, 0}, 0, "", true},
		{"now without one", [][]float32{{1, 0}}, []float32{0, 0}, 0, "", true},
		{"empty", [][]float32{{}}, nil, 0, "", true},
		{"huge", [][]float32{{math.MaxFloat32, 0}}, []float32{math.MaxFloat32, 0}, 1, detect.LevelStrong, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := detect.Similarity(tt.earlier, tt.now)
			assert.Equal(t, detect.KindRepetition, f.Kind)
			assert.InDelta(t, tt.value, f.Value, 1e-6)
			assert.Equal(t, tt.level, f.Level)
			assert.Equal(t, tt.none, f.Evidence == "", f.Evidence)
		})
	}
}
