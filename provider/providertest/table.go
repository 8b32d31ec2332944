package providertest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Table returns the fault table of h, one line for each row: how many checks show it, or why the vendor
// has no such signal. A golden file of it documents what [RunHTTP] proves about an adapter.
func (h *HTTP) Table() string {
	var b strings.Builder
	for _, r := range table() {
		if checks := h.checks(r); len(checks) > 0 {
			fmt.Fprintf(&b, "%s: %d\n", r.name, len(checks))
			continue
		}
		fmt.Fprintf(&b, "%s: - %s\n", r.name, h.NoSignal[r.name])
	}
	return b.String()
}

// The rows of [HTTP.Evidence] for whole answers: every one is a reply, some call tools, some say what they
// cost.
const (
	EvidenceReply = "reply"
	EvidenceTools = "tool-turn"
	EvidenceUsage = "usage"
)

// Evidence plays each answer to the adapter, and returns what it came to, one line for each:
//
//	vendor | row | origin | expected | found | name
//
// An answer has a line for each row that it shows: a limit with a wait is also one of the forms of waits.
//
// Expected and found are kinds of failures, or "reply" and why the reply ends. An answer whose source is
// not said has no line. A golden file of it documents what is known of each vendor.
func (h *HTTP) Evidence(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	line := func(f *Fault, row, want, got string) {
		fmt.Fprintf(&b, "%s | %s | %s | %s | %s | %s\n", f.Vendor, row, f.Source.Origin, want, got, f.Name)
	}
	for i := range h.Faults {
		f := &h.Faults[i]
		if f.Source.Origin == "" {
			continue
		}
		want, got := f.meaning(), h.found(t, f)
		line(f, f.Row, want, got)
		if f.RetryAfter > 0 && f.Row != rowRetryAfter {
			line(f, rowRetryAfter, want, got)
		}
	}
	for _, w := range h.Wholes {
		if w.Source.Origin == "" {
			continue
		}
		f := &Fault{Name: w.Name, Vendor: w.Vendor, Source: w.Source, Answer: w.Answer, Stop: w.Stop}
		want, got := f.meaning(), h.found(t, f)
		if w.Stop == "" && strings.HasPrefix(got, want+" ") {
			got = want
		}
		line(f, EvidenceReply, want, got)
		if bytes.Contains(w.Answer, []byte("\n:")) {
			line(f, rowComments, want, got)
		}
		if len(w.Calls) > 0 {
			line(f, EvidenceTools, want, got)
		}
		if !w.Usage.IsZero() {
			line(f, EvidenceUsage, want, got)
		}
	}
	return b.String()
}

// meaning returns what an answer comes to, in one or two words.
func (f *Fault) meaning() string {
	if f.Kind != "" {
		return string(f.Kind)
	}
	return strings.TrimSpace("reply " + string(f.Stop))
}

// found returns what an answer comes to in the adapter.
func (h *HTTP) found(t *testing.T, f *Fault) string {
	t.Helper()
	x := h.bench(t, false)
	x.vendor = f.Vendor
	a := x.replay(parse(f.Answer).filled().bytes(), io.EOF)
	got := Fault{Kind: fault(a.err).Kind}
	if a.err == nil && a.response != nil {
		got.Stop = a.response.Stop
	}
	return got.meaning()
}
