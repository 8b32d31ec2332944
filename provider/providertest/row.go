package providertest

import "github.com/agonist-dev/debate/internal/longform"

// row is a row of the fault table.
type row struct {
	name string
	// told reports whether the row is something that vendors say, each in its own words. The others are
	// about connections, clocks and sizes, and alike for all vendors.
	told bool
	// checks are made by the suite itself; nil: the row is particular to a vendor, and shown by fixtures.
	checks func(h *HTTP) []check
}

// check is one test.
type check struct {
	name   string
	real   bool // over real connections and in real time
	spared bool // left to the run without the race detector
	run    func(x *bench)
}

// spared reports whether a check, the i-th of a row of which each plays another answer, is left to the run without the race detector. That
// sees each third: an adapter reads all answers by the same code.
func spared(i int) bool { return i%longform.Sized(1, 1, 3) != 0 }

// These rows are also shown by answers of other rows.
const (
	rowComments   = "comments"
	rowRetryAfter = "retry-after-forms"
)

// Rows returns the names of the fault table's rows, in order.
func Rows() []string {
	var names []string
	for _, r := range table() {
		names = append(names, r.name)
	}
	return names
}

// Signals returns the names of the rows by which vendors say something, each in its own words, in order. For
// them it matters where a fixture is from.
func Signals() []string {
	var names []string
	for _, r := range table() {
		if r.told {
			names = append(names, r.name)
		}
	}
	return names
}

// table returns everything that can happen to a request, and to its answer.
func table() []row {
	return []row{
		{"dial", false, dialing},
		{"reset", false, resetting},
		{"truncated", true, truncating},
		{"mid-stream-error", true, nil},
		{"error-under-200", true, nil},
		{"error-null", true, nil},
		{"timeout-status", true, plainly("timeout-status")},
		{"rate-limit", true, plainly("rate-limit")},
		{"slow-down", true, nil},
		{"quota", true, nil},
		{"budget-in-flight", true, nil},
		{"overloaded", true, plainly("overloaded")},
		{"conflict", true, plainly("conflict")},
		{"server-error", true, plainly("server-error")},
		{"authentication", true, plainly("authentication")},
		{"permission", true, plainly("permission")},
		{"moderation", true, nil},
		{"context-overflow", true, nil},
		{"too-large", true, plainly("too-large")},
		{"window-exceeded", true, nil},
		{"refusal", true, nil},
		{"content-filter", true, nil},
		{"length", true, nil},
		{"no-choices", true, nil},
		{"blank", true, nil},
		{"only-thinking", true, nil},
		{"bad-request", true, plainly("bad-request")},
		{"not-found", true, plainly("not-found")},
		{"unprocessable", true, plainly("unprocessable")},
		{"canceled", false, canceling},
		{"deadline", false, expiring},
		{"usage-twice", true, nil},
		{"unknown-events", true, unknownEvents},
		{rowComments, true, comments},
		{"redirect", false, redirecting},
		{"huge-retry-after", false, hugeWaits},
		{rowRetryAfter, true, waits},
		{"endless-body", false, endlessBodies},
		{"endless-line", false, endlessLines},
		{"endless-failure", false, endlessFailures},
		{"gzip-bomb", false, bombs},
		{"slow-drip", false, dripping},
		{"silence", false, silences},
		{"first-chunk-early", false, firstChunks},
		{"key-leak", false, leaking},
		{"no-retry", false, retrying},
		{"pieces", false, pieces},
		{"not-http", false, notHTTP},
		{"odd-content", false, oddContent},
		{"after-the-end", false, afterTheEnd},
		{"tool-results", false, toolHistory},
		{"abilities", false, besides},
	}
}
