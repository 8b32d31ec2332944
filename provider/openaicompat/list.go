package openaicompat

// Most elements of lists that have bounds of their own.
const (
	maxParts  = 1 << 12 // of a message's content
	maxModels = 1 << 16
)
