// Package detect notices when a debate stops being worth its tokens: when a speaker repeats itself
// ([Repetition]), when rounds bring less and less ([Diminishing]), and when the speeches leave the
// topic ([Drift]). Each detector is a pure function that is usable on its own: it makes no calls to a
// model, and the same input always has the same [Finding].
//
// Repetition compares texts by the sequences of three words that they share, see [Shingle] and
// [Overlap]; [Similarity] does so by vectors that a model made of them. The others read marks that a
// judge gave.
//
// Everything here is safe for concurrent use.
package detect

// Kind is what a detector looks for.
type Kind string

// The kinds of findings.
const (
	KindRepetition  Kind = "repetition"
	KindDiminishing Kind = "diminishing_returns"
	KindDrift       Kind = "drift"
)

// Level is how much of it a detector found.
type Level string

// The levels, from nothing to what suggests ending or steering the debate.
const (
	LevelNone       Level = ""
	LevelNoticeable Level = "noticeable"
	LevelStrong     Level = "strong"
)

// Finding is what a detector found. It holds figures and words of this package alone, nothing that a
// model wrote, so that it can go into a prompt as it is.
type Finding struct {
	Kind  Kind  `json:"kind"`
	Level Level `json:"level,omitempty"`

	// Value is the figure that was judged, and Limit the one it was compared with: the limit of the
	// level that was reached, or of the lowest one if none was. Each detector tells their unit.
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`

	// Evidence is one sentence with the figures. It is empty if there was nothing to judge.
	Evidence string `json:"evidence,omitempty"`
}

// Found reports whether the finding is one, of whichever level.
func (f Finding) Found() bool { return f.Level != LevelNone }
