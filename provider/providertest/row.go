package providertest

// row is a row of the fault table.
type row struct {
	name string
	// checks are made by the suite itself; nil: the row is particular to a vendor, and shown by fixtures.
	checks func(h *HTTP) []check
}

// check is one test.
type check struct {
	name string
	real bool // over real connections and in real time
	run  func(x *bench)
}

// Rows returns the names of the fault table's rows, in order.
func Rows() []string {
	var names []string
	for _, r := range table() {
		names = append(names, r.name)
	}
	return names
}

// table returns everything that can happen to a request, and to its answer.
func table() []row {
	return []row{
		{"dial", dialing},
		{"reset", resetting},
		{"truncated", truncating},
		{"mid-stream-error", nil},
		{"error-under-200", nil},
		{"error-null", nil},
		{"timeout-status", plainly("timeout-status")},
		{"rate-limit", plainly("rate-limit")},
		{"slow-down", nil},
		{"quota", nil},
		{"budget-in-flight", nil},
		{"overloaded", plainly("overloaded")},
		{"conflict", plainly("conflict")},
		{"server-error", plainly("server-error")},
		{"authentication", plainly("authentication")},
		{"permission", plainly("permission")},
		{"moderation", nil},
		{"context-overflow", nil},
		{"too-large", plainly("too-large")},
		{"window-exceeded", nil},
		{"refusal", nil},
		{"content-filter", nil},
		{"length", nil},
		{"no-choices", nil},
		{"blank", nil},
		{"only-thinking", nil},
		{"bad-request", plainly("bad-request")},
		{"not-found", plainly("not-found")},
		{"unprocessable", plainly("unprocessable")},
		{"canceled", canceling},
		{"deadline", expiring},
		{"usage-twice", nil},
		{"unknown-events", unknownEvents},
		{"comments", comments},
		{"redirect", redirecting},
		{"huge-retry-after", hugeWaits},
		{"retry-after-forms", waits},
		{"endless-body", endlessBodies},
		{"endless-line", endlessLines},
		{"endless-failure", endlessFailures},
		{"gzip-bomb", bombs},
		{"slow-drip", dripping},
		{"silence", silences},
		{"first-chunk-early", firstChunks},
		{"key-leak", leaking},
		{"no-retry", retrying},
		{"pieces", pieces},
		{"not-http", notHTTP},
		{"odd-content", oddContent},
		{"after-the-end", afterTheEnd},
		{"tool-results", toolHistory},
		{"abilities", besides},
	}
}
