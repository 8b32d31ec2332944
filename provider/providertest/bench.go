package providertest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

// These are the limits of an adapter on the bench.
const (
	benchIdle    = 2 * time.Second
	benchMaxLine = 64 << 10
	maxAsks      = 8                      // requests of one call, if each refuses another parameter
	atOnce       = 500 * time.Millisecond // what counts as at once
	maxLate      = 10 * time.Second       // for what may follow a reply's end, such as its usage
)

// benchMaxBody is less under the race detector: an adapter does with a longer answer what it does with a shorter one.
func benchMaxBody() int { return longform.Sized(1<<20, 1<<20, 1<<18) }

// bench is the environment of one check of an adapter.
type bench struct {
	exam

	h      *HTTP
	fake   bool          // inside a bubble
	vendor string        // whose answer is played; "": nobody's
	idle   time.Duration // the longest silence; benchIdle if 0
	before map[string]string
	turn   chan struct{} // one goroutine at a time can wait until all is quiet
}

// settle waits until all goroutines are blocked.
func (x *bench) settle() {
	x.turn <- struct{}{}
	synctest.Wait()
	<-x.turn
}

func (h *HTTP) bench(t *testing.T, fake bool) *bench {
	t.Helper()
	x := &bench{exam: exam{t: t, patience: patience}, h: h, fake: fake, before: goroutines(), turn: make(chan struct{}, 1)}
	if len(h.Wholes) > 0 {
		x.vendor = h.Wholes[0].Vendor
	}
	if fake {
		x.patience = time.Minute
	}
	return x
}

// server returns the settings of the adapter under test.
func (x *bench) server(client *http.Client) Server {
	return Server{
		URL: homeURL, Key: canary, Client: client, Vendor: x.vendor,
		IdleTimeout: cmp.Or(x.idle, benchIdle), MaxBody: int64(benchMaxBody()), MaxLine: benchMaxLine,
	}
}

// exchange is one request, and the server's behaviour.
type exchange struct {
	script  func(v *visit)
	ctx     context.Context
	onChunk func(text string)
	most    int // requests that may arrive; 1 if 0
	refuse  error
	hole    bool
	check   bool // calls Check instead of Generate
}

// outcome is the result of an exchange.
type outcome struct {
	answer

	took   time.Duration
	visits []*visit
	away   []string
}

// try makes one exchange over a network of its own. The server is closed before try returns.
func (x *bench) try(e exchange) outcome {
	n := &network{script: e.script, refuse: e.refuse, hole: e.hole}
	client := n.client()
	p := x.h.Connect(x.t, x.server(client))
	if e.check {
		c, _ := provider.As[provider.Checker](p)
		p = checker{c, "model-1"}
	}
	ctx := e.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	began := time.Now()
	out := outcome{answer: x.ask(ctx, p, request(), e.onChunk)}
	out.took = time.Since(began)
	x.settle()
	out.visits, out.away = n.visits(), n.strangers()
	left := make([]bool, len(out.visits))
	for i, v := range out.visits {
		left[i] = v.left.Load()
	}
	n.close(client)
	for i, v := range out.visits {
		v.left.Store(left[i])
	}
	if most := cmp.Or(e.most, 1); len(out.visits) > most && !out.lessens() {
		x.errorf("%d requests reached the server, want %d: an adapter does not retry", len(out.visits), most)
	}
	if len(out.away) > 0 {
		x.errorf("the adapter turned to another host: %s", strings.Join(out.away, ", "))
	}
	return out
}

// lessens reports whether each request after the first is one that the adapter may make: the failure is an answer
// that refuses the request, and no request is like another, so that each is without a parameter that an answer
// before it has refused. A retry sends the same again. Some servers report the exception of a chat template with status 500.
func (o *outcome) lessens() bool {
	e := fault(o.err)
	refused := e.Kind == provider.KindValidation && e.Status >= http.StatusBadRequest || e.Status == http.StatusInternalServerError
	if !refused || len(o.visits) > maxAsks {
		return false
	}
	seen := map[string]bool{}
	for _, v := range o.visits {
		seen[string(v.body)] = true
	}
	return len(seen) == len(o.visits)
}

// play makes an exchange whose answer is these bytes.
func (x *bench) play(answer []byte) outcome {
	return x.try(exchange{script: func(v *visit) { v.send(answer) }})
}

// wantWhole requires a complete reply.
func (x *bench) wantWhole(what string, a answer, w *Whole) {
	switch {
	case a.hung:
	case a.err != nil:
		x.errorf("%s: Generate failed: %v", what, a.err)
	case a.response == nil:
	case a.response.Text != w.Text:
		x.errorf("%s: the text is %q, want %q", what, a.response.Text, w.Text)
	case w.Stop != "" && a.response.Stop != w.Stop:
		x.errorf("%s: the stop reason is %q, want %q", what, a.response.Stop, w.Stop)
	default:
		x.wantCalls(what, a.response.Calls, w.Calls)
	}
}

// wantCalls requires these tool calls, unless want is nil.
func (x *bench) wantCalls(what string, got, want []provider.ToolCall) {
	if want != nil && !slices.EqualFunc(got, want, sameCall) {
		x.errorf("%s: the tool calls are %s, want %s", what, written(got), written(want))
	}
}

// sameCall compares the parts of a tool call that a fixture states.
func sameCall(got, want provider.ToolCall) bool {
	var a, b any
	return (want.ID == "" || got.ID == want.ID) && got.Name == want.Name &&
		json.Unmarshal(got.Arguments, &a) == nil && json.Unmarshal(want.Arguments, &b) == nil && reflect.DeepEqual(a, b)
}

func written(calls []provider.ToolCall) string {
	data, err := json.Marshal(calls)
	if err != nil {
		return err.Error() // their arguments are not JSON
	}
	return string(data)
}

// wantOne requires a failure of one of several kinds.
func (x *bench) wantOne(what string, a answer, kinds ...provider.Kind) {
	switch got := kind(a.err); {
	case a.hung:
	case a.err == nil:
		x.errorf("%s: Generate returned %s, want an error of kind %s", what, describe(a.response), kinds[0])
	case !slices.Contains(kinds, got):
		x.errorf("%s: the error is of kind %q, want %q: %v", what, got, kinds[0], a.err)
	}
}

// wantQuick requires that it took no longer than d.
func (x *bench) wantQuick(what string, took, d time.Duration) {
	if took > d {
		x.errorf("%s: Generate returned after %v, want at most %v", what, took, d)
	}
}

// wantGone requires that the client has closed its connections.
func (x *bench) wantGone(what string, out outcome) {
	for _, v := range out.visits {
		if !v.left.Load() {
			x.errorf("%s: the connection is still open after Generate has returned", what)
		}
	}
}

// leaks looks for remaining goroutines.
func (x *bench) leaks() {
	if !x.fake {
		if left := leaked(x.before, x.patience); left != "" {
			x.errorf("goroutines are left:\n%s", left)
		}
		return
	}
	x.settle()
	all := goroutines()
	_, bubble, _ := strings.Cut(strings.SplitN(all[goroutineID()], "\n", 2)[0], "synctest ")
	for id, stack := range all {
		if _, ok := x.before[id]; !ok && strings.Contains(strings.SplitN(stack, "\n", 2)[0], bubble) {
			x.errorf("a goroutine is left:\n%s", stack)
			defer func() { <-time.After(24 * time.Hour) }() // one that sleeps ends then, and the bubble with it
		}
	}
}

// streams returns the complete answers that are server-sent events.
func (h *HTTP) streams() []*Whole {
	var list []*Whole
	for i := range h.Wholes {
		if parse(h.Wholes[i].Answer).isStream() {
			list = append(list, &h.Wholes[i])
		}
	}
	return list
}

// spoken returns the first complete answer with a text, nil if there is none.
func (h *HTTP) spoken() *Whole {
	for i := range h.Wholes {
		if strings.TrimSpace(h.Wholes[i].Text) != "" {
			return &h.Wholes[i]
		}
	}
	return nil
}

// fault returns the provider's error in err, an empty one if there is none.
func fault(err error) *provider.Error {
	if e, ok := errors.AsType[*provider.Error](err); ok {
		return e
	}
	return &provider.Error{}
}
