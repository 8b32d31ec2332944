package otel

import "github.com/agonist-dev/debate/internal/text"

// The caps, in bytes, on texts in a trace. Names come from configs and models, and nothing else bounds
// them.
const (
	maxName    = 128  // of a name or an id
	maxValue   = 256  // of a label's value
	maxLabels  = 32   // number of labels of a debate
	maxMarks   = 64   // number of scores of one judge's answer
	maxContent = 8192 // of a text, see Observer.Content
)

// clean returns a name as one printable line of bounded length.
func clean(name string) string { return text.OneLine(name, maxName) }
