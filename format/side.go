package format

// Side is a participant's side of the question.
type Side string

// The sides.
const (
	For     Side = "for"
	Against Side = "against"
	Neutral Side = "neutral"
)
