package providertest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// HTTP describes an adapter for [RunHTTP].
type HTTP struct {
	// Connect returns the adapter, connected to s. It is called for each check. Most checks run in a
	// bubble of package synctest, so Connect starts nothing that outlives t, and shares nothing with
	// other checks.
	Connect  func(t testing.TB, s Server) provider.Provider
	Wholes   []Whole           // complete streamed answers of the vendor, byte for byte
	Faults   []Fault           // answers by which the vendor signals something, byte for byte, and their meaning
	NoSignal map[string]string // rows for which this vendor has no signal, and why
	// Long makes the suite cut each answer at each byte, in each way that a connection can end, which takes
	// minutes. Otherwise it cuts only where a reader may behave differently than at the byte before: within and
	// beside the ends of lines, frames and the parts of a document, in the middle of a line, of a character and
	// of an escape, and at each of the last bytes.
	Long bool

	cut *cutting // what RunHTTP has cut
}

// Server is the server to which an adapter under test sends its requests. A zero field leaves the adapter
// its own default.
type Server struct {
	URL         string        // the base URL, without a path
	Key         string        // the credential
	Client      *http.Client  // makes the adapter's requests; the adapter must use it
	IdleTimeout time.Duration // the longest silence
	MaxBody     int64         // cap on the bytes of an answer
	MaxLine     int           // cap on the bytes of one event or line
	// Vendor is the vendor of the fixture that the server plays; "": none. An adapter of one vendor
	// ignores it, an adapter for several takes that one's settings.
	Vendor string
}

// Whole is a complete answer in its wire format, head and body.
type Whole struct {
	Name   string
	Vendor string // whose answer it is; "": not said
	Source Source
	Answer []byte
	Text   string              // the text of the reply; "" if it only calls tools
	Stop   provider.StopReason // why it ends; "": any
	Calls  []provider.ToolCall // its tool calls, without Opaque and, if the vendor gives none, without ID; nil: any
	Usage  provider.Usage      // what it cost, once all of it has come; zero: any
}

// Fault is an answer by which a vendor signals something, and its meaning. "{{KEY}}" in the answer stands
// for the key.
type Fault struct {
	Row    string // the row of the fault table, one of [Rows]
	Name   string
	Vendor string // whose answer it is; "": not said
	Source Source
	Answer []byte

	Kind       provider.Kind       // "": it is a reply, not a failure
	Code       string              // of the error; "": any
	Message    string              // part of the error's message; "": any
	RetryAfter time.Duration       // of the error
	Stop       provider.StopReason // of the reply
	Usage      provider.Usage      // of the reply, or returned with the error; zero: any
	Text       string              // of the reply; "": any
	Calls      []provider.ToolCall // of the reply, as in Whole; nil: any, empty: none

	// Ended says that the failure comes after the end signal of a reply: an answer that is cut in
	// between is that reply.
	Ended bool
}

// RunHTTP tests how an adapter handles everything that can happen to bytes on the network. [Run] tests
// the meaning of its results.
//
//	func TestFaults(t *testing.T) {
//		providertest.RunHTTP(t, providertest.HTTP{
//			Connect: func(t testing.TB, s providertest.Server) provider.Provider {
//				p := newvendor.New(s.Key)
//				p.BaseURL, p.Client = s.URL+"/v1", s.Client
//				p.IdleTimeout, p.MaxBody, p.MaxLine = s.IdleTimeout, s.MaxBody, s.MaxLine
//				return p
//			},
//			Wholes:   providertest.Wholes(t, "testdata/whole"),
//			Faults:   providertest.Faults(t, "testdata/fault"),
//			NoSignal: map[string]string{"budget-in-flight": "the vendor takes no budget in advance"},
//		})
//	}
//
// Each row of the fault table is a subtest. The suite itself does what every vendor's server can do:
// refuse, redirect, fall silent, send without an end, repeat the key. Faults contains what a vendor says
// in words of its own. A row without either fails, unless NoSignal says why the vendor has no such signal.
// These rows need a fixture or such a reason, because the suite cannot say them for a vendor:
//
//   - failures: mid-stream-error, error-under-200, slow-down, quota, budget-in-flight, moderation, context-overflow,
//     window-exceeded, content-filter;
//   - replies: error-null, refusal, length, no-choices, blank, only-thinking, usage-twice.
//
// The server is in memory and its time is package synctest's, so an hour of silence takes no time. Only
// refused and reset connections are real.
//
// Besides the rows' names, it requires of an adapter:
//
//   - It emits each piece of text before the server sends the next event.
//   - Once the end signal has come, it returns the reply, whatever the server does with the connection.
//     It may take ten seconds to wait for usage after the end. Neither IdleTimeout nor comments extend
//     that.
//   - A failure after the first chunk has no status of 400 and above and is not NotSent, because the
//     engine would take it as free.
//   - A reply that was cut has no usage, because its cost is unknown.
//   - The status line of a refusal is its answer, even if its body never ends or the caller's time is over meanwhile.
//   - It makes one request. Only after an answer that refuses a parameter may it ask again, without that.
//   - The key is in no error and no log, and neither in standard output nor in standard error.
//
// RunHTTP counts goroutines, and captures the logs and the output of the process, so it must not run in
// parallel with other tests. Under the race detector it tries fewer places, sizes and whole answers, which run the same code.
func RunHTTP(t *testing.T, h HTTP) {
	t.Helper()
	for _, gap := range h.gaps() {
		t.Error(gap)
	}
	if len(h.Wholes) == 0 {
		return
	}
	h.cut = &cutting{}
	passed, excused := 0, 0
	for _, r := range table() {
		checks := h.checks(r)
		ok := t.Run(r.name, func(t *testing.T) {
			if reason := h.NoSignal[r.name]; len(checks) == 0 && reason != "" {
				excused++
				t.Log("the vendor has no such signal: " + reason)
			}
			for _, c := range checks {
				if c.spared {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					h.conduct(t, c, func(faults []string) {
						for _, fault := range faults {
							t.Error(fault)
						}
					})
				})
			}
		})
		if ok && len(checks) > 0 {
			passed++
		}
	}
	t.Logf("%d answers cut at %d places: %d refused, %d after their end, partial successes %d",
		h.cut.answers, h.cut.cuts, h.cut.refused, h.cut.whole, h.cut.partial)
	t.Logf("fault table: %d of %d rows pass, %d without a signal", passed, len(Rows()), excused)
}

// gaps returns what h leaves open about the table, or gets wrong.
func (h *HTTP) gaps() []error {
	var list []error
	add := func(format string, args ...any) { list = append(list, fmt.Errorf(format, args...)) }
	rows := Rows()
	for _, row := range slices.Sorted(maps.Keys(h.NoSignal)) {
		if !slices.Contains(rows, row) {
			add("NoSignal names %q, which is no row", row)
		}
	}
	for _, f := range h.Faults {
		if !slices.Contains(rows, f.Row) {
			add("the fixture %s is of row %q, which is none", f.Name, f.Row)
		}
		if f.Kind == "" && f.Stop == "" {
			add("the fixture %s says neither of what kind the failure is nor why the reply ends", f.Name)
		}
	}
	if len(h.Wholes) == 0 {
		add("there is no whole answer to try")
		return list
	}
	for _, r := range table() {
		if len(h.checks(r)) == 0 && h.NoSignal[r.name] == "" {
			add("no fixture shows the row %s; if the vendor has no such signal, say so in NoSignal", r.name)
		}
	}
	return list
}

// checks returns everything that is tested for one row.
func (h *HTTP) checks(r row) []check {
	var list []check
	if r.checks != nil {
		list = r.checks(h)
	}
	for i := range h.Faults {
		if f := &h.Faults[i]; f.Row == r.name {
			list = append(list, check{name: f.Name, run: func(x *bench) { x.fixture(f) }})
		}
	}
	return list
}

// conduct runs one check and reports what it finds.
func (h *HTTP) conduct(t *testing.T, c check, report func([]string)) {
	t.Helper()
	run := func(t *testing.T) {
		t.Helper()
		x := h.bench(t, !c.real)
		c.run(x)
		x.leaks()
		report(x.faults())
	}
	if c.real {
		run(t)
		return
	}
	synctest.Test(t, run)
}
