// Package detect notices when a debate stops being worth its tokens: when a speaker repeats itself
// ([Repetition], [Similarity]), when rounds bring less and less ([Diminishing]), and when the speeches
// leave the topic ([Drift]). Each detector is a pure function that can be used by itself. It calls no
// model, and the same input always gives the same [Finding].
//
// Repetition compares texts by the sequences of three words that they share, see [Shingle] and [Overlap].
// [Similarity] compares vectors that a model made of the texts. The other detectors read marks that a
// judge gave.
//
// All functions are safe for concurrent use.
package detect

// Kind names what a detector looks for.
type Kind string

// The kinds of findings.
const (
	KindRepetition  Kind = "repetition"
	KindDiminishing Kind = "diminishing_returns"
	KindDrift       Kind = "drift"
)

// Level says how strong a finding is.
type Level string

// These are the levels. At LevelStrong, the host program should think of ending or steering the debate.
const (
	LevelNone       Level = ""
	LevelNoticeable Level = "noticeable"
	LevelStrong     Level = "strong"
)

// Finding is the result of a detector. It holds only figures and words of this package, and nothing that
// a model wrote. So it can be put into a prompt unchanged.
type Finding struct {
	Kind  Kind  `json:"kind"`
	Level Level `json:"level,omitempty"`

	// Value is the figure that was judged. Limit is the limit of the level reached or, if none was
	// reached, of the lowest level. Each detector documents their unit.
	Value float64 `json:"value"`
	Limit float64 `json:"limit"`

	// Evidence is one sentence with the figures. It is empty if there was nothing to judge.
	Evidence string `json:"evidence,omitempty"`
}

// Found reports whether the detector found anything, at any level.
func (f Finding) Found() bool { return f.Level != LevelNone }
