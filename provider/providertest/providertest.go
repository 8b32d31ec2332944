// Package providertest is the conformance suite for implementations of [provider.Provider]:
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(t, func(t *testing.T, s providertest.Scenario) provider.Provider {
//			server := httptest.NewServer(vendorThatBehavesAs(s))
//			t.Cleanup(server.Close)
//			return newvendor.At(server.URL, s.Key)
//		})
//	}
//
// [Run] tests the meaning of the provider's results, and [RunAbilities] how it checks models. [RunThoughts] tests that
// an adapter keeps apart the thoughts that models write into their texts.
// [RunHTTP] tests whether an adapter over HTTP survives everything that can happen to bytes on the
// network. Run them with the race detector too, which finds what the suites cannot.
package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agonist-dev/debate/internal/witness"
	"github.com/agonist-dev/debate/provider"
)

// patience is how long a provider may take for what it should do at once. It only ends a suite that hangs, because
// a slow machine is not the provider's fault.
const patience = 2 * time.Minute

// manyChunks is how many chunks are checked one by one.
const manyChunks = 1000

// canary is the key of every scenario. Some of its characters are escaped in a URL.
const canary = "sk-canary+5f1d7a0c/93be=Qz8w"

// Run tests the provider with every scenario, each in a subtest. It counts goroutines, so it must not run
// in parallel with other tests.
func Run(t *testing.T, connect Connect) {
	t.Helper()
	run(t, connect, cases())
	run(t, connect, []testCase{{"bodies", func(x *exam) {
		if x.plainBody() != nil {
			run(x.t, connect, bodyCases())
		}
	}}})
}

func run(t *testing.T, connect Connect, cases []testCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before := goroutines()
			x := &exam{t: t, connect: connect, patience: patience}
			// Registered first, this runs last: the server is gone by then.
			t.Cleanup(func() {
				for _, fault := range x.faults() {
					t.Error(fault)
				}
				if left := leaked(before, patience); left != "" && !t.Skipped() {
					t.Errorf("goroutines are left:\n%s", left)
				}
			})
			c.run(x)
		})
	}
}

// exam is one run of one case.
type exam struct {
	t        *testing.T
	connect  Connect
	patience time.Duration

	found witness.Faults // not told to t at once, which may be over when a call that hung returns
}

func (x *exam) errorf(format string, args ...any) { x.found.Addf(format, args...) }

func (x *exam) faults() []string { return x.found.List() }

func (x *exam) open(s Scenario) provider.Provider {
	s.Key = canary
	if s.Stop == "" {
		s.Stop = provider.StopEnd
	}
	if s.Usage.IsZero() {
		s.Usage = provider.Usage{Input: 12, Output: 3}
	}
	return x.connect(x.t, s)
}

// answer is the result of one call of Generate.
type answer struct {
	response *provider.Response
	err      error
	chunks   []string
	thoughts []string // the chunks of thoughts
	hung     bool     // it did not return, or it panicked; the rest is empty
}

// ask calls Generate on a goroutine of its own, so that a call that never returns is a failure and not a
// hang. It also checks the calls of emit. onChunk may be nil.
func (x *exam) ask(ctx context.Context, p provider.Provider, req *provider.Request, onChunk func(text string)) answer {
	// A provider that hangs must not hang the server's cleanup too.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		var a answer
		var returned atomic.Bool
		caller := goroutineID()
		emit := func(c provider.Chunk) {
			if returned.Load() {
				x.errorf("emit was called after Generate had returned")
				return
			}
			if len(a.chunks)+len(a.thoughts) < manyChunks && goroutineID() != caller {
				x.errorf("emit was called on another goroutine than Generate")
				return
			}
			if c.Recall {
				a.chunks = nil
				if !c.Reasoning {
					x.errorf("a chunk recalls the text, and is not one of thoughts")
				}
			}
			if c.Reasoning {
				a.thoughts = append(a.thoughts, c.Text)
				return
			}
			a.chunks = append(a.chunks, c.Text)
			if onChunk != nil {
				onChunk(c.Text)
			}
		}
		defer func() {
			if r := recover(); r != nil {
				x.errorf("it panics: %v", r)
				done <- answer{hung: true}
			}
		}()
		a.response, a.err = p.Generate(ctx, req, emit)
		returned.Store(true)
		done <- a
	}()
	timer := time.NewTimer(x.patience)
	defer timer.Stop()
	select {
	case a := <-done:
		x.inspect(a)
		return a
	case <-timer.C:
		x.errorf("Generate did not return within %v", x.patience)
		return answer{hung: true}
	}
}

// inspect checks what holds for every answer.
func (x *exam) inspect(a answer) {
	if a.err == nil {
		if a.response == nil {
			x.errorf("Generate returned neither a response nor an error")
			return
		}
		if got := strings.Join(a.chunks, ""); got != a.response.Text {
			x.errorf("the chunks add up to %q, the response is %q", got, a.response.Text)
		}
		if got := strings.Join(a.thoughts, ""); got != a.response.Reasoning {
			x.errorf("the chunks of thoughts add up to %q, the response has %q", got, a.response.Reasoning)
		}
		return
	}
	if _, ok := errors.AsType[*provider.Error](a.err); !ok {
		x.errorf("the error is a %T, want a *provider.Error: %v", a.err, a.err)
	}
	if e := fault(a.err); len(a.chunks)+len(a.thoughts) > 0 && (e.Status >= 400 || e.NotSent) {
		x.errorf("the reply had begun and then failed with status %d, NotSent %t: that would count as free", e.Status, e.NotSent)
	}
	for err := a.err; err != nil; err = errors.Unwrap(err) {
		data, _ := json.Marshal(err) //nolint:errchkjson // an error that cannot be encoded shows nothing in this form
		for format, text := range map[string]string{
			"%v": err.Error(), "%+v": fmt.Sprintf("%+v", err), "%#v": fmt.Sprintf("%#v", err), "JSON": string(data),
		} {
			if form := shown(text); form != "" {
				x.errorf("the error shows the key, as %q (%T, %s)", form, err, format)
				return
			}
		}
	}
}

// shown returns the form in which a text shows the key, or eight bytes of it, "" if it does not.
func shown(text string) string {
	for _, form := range forms(canary) {
		if strings.Contains(text, form) {
			return form
		}
	}
	for i := range len(canary) - 8 {
		if part := canary[i : i+8]; strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

// succeed asks, requires a reply and returns it, or nil if there is none.
func (x *exam) succeed(p provider.Provider, req *provider.Request) *provider.Response {
	a := x.ask(context.Background(), p, req, nil)
	switch {
	case a.hung:
		return nil
	case a.err != nil:
		x.errorf("Generate failed: %v", a.err)
		return nil
	}
	return a.response
}

// kind returns the kind of a failure, "" if err is nil or of another type.
func kind(err error) provider.Kind {
	if e, ok := errors.AsType[*provider.Error](err); ok {
		return e.Kind
	}
	return ""
}

// goroutineID returns the id of the calling goroutine: the first line of its stack is "goroutine N
// [running]:".
func goroutineID() string {
	var b [64]byte
	fields := strings.Fields(string(b[:runtime.Stack(b[:], false)]))
	if len(fields) < 2 {
		return ""
	}
	return fields[1]
}

// goroutines returns the stacks of all goroutines by their ids.
func goroutines() map[string]string {
	b := make([]byte, 1<<16)
	for {
		n := runtime.Stack(b, true)
		if n < len(b) {
			b = b[:n]
			break
		}
		b = make([]byte, 2*len(b))
	}
	stacks := map[string]string{}
	for stack := range strings.SplitSeq(string(b), "\n\n") {
		if fields := strings.Fields(stack); len(fields) > 1 {
			stacks[fields[1]] = stack
		}
	}
	return stacks
}

// leaked returns the stacks of goroutines that are new since before and do not end within d.
func leaked(before map[string]string, d time.Duration) string {
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var left []string
		for id, stack := range goroutines() {
			if _, ok := before[id]; !ok {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return ""
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return strings.Join(left, "\n\n")
		}
	}
}
