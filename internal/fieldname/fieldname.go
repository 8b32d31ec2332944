// Package fieldname has what the Field of a failure of a conversation may be beside a path, and the actor that stands beside those of the
// config.
package fieldname

// A setting that a failure names, by its key in JSON, or that the actor is a function.
const (
	Context      = "context"
	RoundTimeout = "roundTimeout"
	TurnTimeout  = "turnTimeout"
	Timeouts     = "timeouts." // and the kind of the call
	Unattended   = "unattended"
	UnknownUse   = "toolPolicy.unknown"
	MaxFailures  = "maxFailures"
	Function     = "function"
	Within       = "within" // a person has not answered within their time
)

// Summarizer is the actor that makes summaries, and the key of its model in a config.
const Summarizer = "summarizer"
