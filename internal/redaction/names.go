package redaction

import "slices"

// Strings in the JSON of an event are either content (written by a person or a model) or names, by which the log refers to
// something: an actor, a model, a call, a state. (The hint of a failure counts as one: it follows from the kind.) Only content
// may be removed from a log. The keys below hold names; what any other key holds may be removed. A flow whose own events hold
// names under other keys loses nothing by it: a redaction that changes more than texts is refused, see [SameButTexts].

// nameKeys returns the keys of which the values are names.
func nameKeys() []string {
	return []string{
		"agent", "agents", "approval", "at", "by", "call", "calls", "cause", "chair", "context", "decide", "diversity",
		"do", "edges", "effort", "end", "enum", "fallbacks", "family", "field", "flow", "for", "format", "from", "function",
		"graph", "hash", "hint", "id", "inquiry", "judge", "kind", "kinds", "labels", "left", "mode", "model", "move",
		"name", "next", "of", "on", "only", "op", "option", "options", "participant", "participants", "phase", "protocol",
		"required", "result", "retryAt", "role", "schema", "seed", "serviceTier", "sha256", "shape", "side", "sides", "source",
		"speaker", "state", "stopOn", "summarizer", "synthesis", "synthesizer", "tag", "target", "to", "tool", "tools", "trigger",
		"type", "unknown", "unsupported", "use", "verbosity", "view", "vote", "voter", "watch", "when", "who", "with",
	}
}

// isName reports whether the value at this path is a name.
func isName(path []string) bool {
	if len(path) == 0 {
		return false
	}
	last, above := path[len(path)-1], path[:len(path)-1]
	within := func(keys ...string) bool {
		return slices.ContainsFunc(above, func(key string) bool { return slices.Contains(keys, key) })
	}
	directly := func(keys ...string) bool { return len(above) > 0 && slices.Contains(keys, above[len(above)-1]) }
	switch {
	case within("arguments"), directly("texts", "labels", "metadata", "criteria"): // what stands there has keys of its own
		return false
	case directly("accounts", "edges"), within("options") && last != "options":
		return true
	case last == "name" && directly("documents", "attachments", "files"):
		return false
	default:
		return slices.Contains(nameKeys(), last)
	}
}
