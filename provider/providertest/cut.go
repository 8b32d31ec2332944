package providertest

import (
	"context"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

// truncating cuts each complete answer, and each fixture that begins as a reply does.
func truncating(h *HTTP) []check {
	var list []check
	for i := range h.Wholes {
		w := &h.Wholes[i]
		list = append(list, check{name: w.Name, spared: spared(i), run: func(x *bench) { x.cuts(w) }})
	}
	for i := range h.Faults {
		if f := &h.Faults[i]; parse(f.Answer).isReply() {
			list = append(list, check{name: "cut " + f.Name, run: func(x *bench) { x.cutFixture(f) }})
		}
	}
	return list
}

// reset returns the error of reading from a connection that the other side has reset.
func reset() error { return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET} }

// cuts ends a complete answer within its head and within its body.
func (x *bench) cuts(w *Whole) {
	x.vendor = w.Vendor
	m := parse(w.Answer).filled()
	whole := x.replay(m.plain().bytes(), io.EOF)
	x.wantWhole("uncut", whole, w)
	if whole.response == nil {
		return
	}
	if !w.Usage.IsZero() && whole.response.Usage != w.Usage {
		x.errorf("the usage is %+v, want %+v", whole.response.Usage, w.Usage)
	}
	x.cutUp(m, &tally{bench: x, want: whole.response})
}

// cutFixture does the same with an answer that signals something in place of a reply or at its end. What is
// cut is no reply, unless all of it is that reply, or had ended before the signal. A failure may be that of
// the cut, or the one that is signaled.
func (x *bench) cutFixture(f *Fault) {
	x.vendor = f.Vendor
	m := parse(f.Answer).filled()
	whole := x.replay(m.plain().bytes(), io.EOF)
	c := &tally{bench: x, want: whole.response, lenient: true, ended: f.Ended}
	if whole.err != nil {
		c.want = nil
	}
	x.cutUp(m, c)
}

// cutUp ends an answer: by the end of the connection, by its end in the middle of a chunk, and by a reset. In the long form
// of the suite it does so at each byte, in the short form at some places in the first way, and at each third of them in the
// others; under the race detector at each twelfth of them in all.
func (x *bench) cutUp(m message, c *tally) {
	plain, chunked := m.plain(), m.chunked()
	whole, pieces := plain.bytes(), chunked.bytes()
	head, inner := len(plain.opening()), len(pieces)-len("\r\n0\r\n\r\n")-len(plain.body) // where the body begins
	places, seldom := plain.places(), 3
	switch {
	case x.h.Long:
		places, seldom = everyByte(len(whole)), 1
	case longform.Race:
		var few []int
		for group := range slices.Chunk(places, 12) {
			few = append(few, group[0])
		}
		places, seldom = few, 1
	}
	for i, n := range places {
		c.add(n, "cut", x.replay(whole[:n], io.EOF))
		if i%seldom > 0 {
			continue
		}
		c.add(n, "reset", x.replay(whole[:n], reset()))
		if n >= head {
			c.add(n, "cut in a chunk", x.replay(pieces[:inner+n-head], io.EOF))
		}
	}
	for n := range inner { // the rest of the other head
		if x.h.Long {
			c.add(n, "cut in a chunk", x.replay(pieces[:n], io.EOF))
		}
	}
	x.h.cut.add(c)
	x.t.Logf("%d cuts: %d refused, %d after the end signal, %d wrong, %d of them partial successes",
		c.cuts, c.refused, c.whole, c.wrong, c.partial)
}

// cutting counts the cuts of all answers. The nil cutting counts nothing.
type cutting struct{ answers, cuts, refused, whole, partial int }

func (c *cutting) add(t *tally) {
	if c == nil {
		return
	}
	c.answers++
	c.cuts, c.refused, c.whole, c.partial = c.cuts+t.cuts, c.refused+t.refused, c.whole+t.whole, c.partial+t.partial
}

// replay makes one request, over a transport that answers with these bytes.
func (x *bench) replay(data []byte, end error) answer {
	transport := &playback{answer: data, end: end}
	p := x.h.Connect(x.t, x.server(&http.Client{Transport: transport}))
	a := x.ask(context.Background(), p, request(), nil)
	if n := transport.asked.Load(); n != 1 {
		x.errorf("the adapter made %d requests, want 1: it does not retry", n)
	}
	return a
}

// tally counts the results of cut answers.
type tally struct {
	*bench

	want                                 *provider.Response // nil: the answer is no reply
	lenient                              bool               // a failure may be of any kind
	ended                                bool               // the answer fails after a reply's end
	cuts, refused, whole, wrong, partial int
}

func (c *tally) add(at int, how string, a answer) {
	c.cuts++
	e := fault(a.err)
	switch {
	case a.err == nil && a.response != nil && c.want != nil && c.same(a.response):
		c.whole++
		return
	case a.err == nil && a.response != nil && c.want == nil && c.ended:
		c.want = a.response // any other reply is wrong
		c.whole++
		return
	case a.err != nil && c.lenient && !e.NotSent:
		c.refused++
		return
	case a.err != nil && !c.lenient && e.Kind == provider.KindNetwork && !e.NotSent && c.begins(a) && !c.priced(a):
		c.refused++
		return
	case a.err == nil:
		c.partial++
	}
	if c.wrong++; c.wrong > 3 {
		return // the first ones are enough
	}
	switch {
	case a.err == nil:
		c.errorf("%s at byte %d: %s was taken for whole", how, at, describe(a.response))
	case e.NotSent:
		c.errorf("%s at byte %d: NotSent, but the server has answered: %v", how, at, a.err)
	case e.Kind != provider.KindNetwork:
		c.errorf("%s at byte %d: the error is of kind %q, want %q: %v", how, at, e.Kind, provider.KindNetwork, a.err)
	case c.priced(a):
		c.errorf("%s at byte %d: the usage of a reply without its end is %+v, and not Partial: what the rest costs is unknown",
			how, at, a.response.Usage)
	default:
		c.errorf("%s at byte %d: the chunks %q are no beginning of %q", how, at, a.chunks, c.want.Text)
	}
}

// begins reports whether the chunks are a beginning of the whole text.
func (c *tally) begins(a answer) bool {
	return strings.HasPrefix(c.want.Text, strings.Join(a.chunks, ""))
}

// priced reports whether a cut answer reports a usage that cannot be its price. Only the complete reply's
// usage is, once all of it has come. A partial one is a part of it.
func (c *tally) priced(a answer) bool {
	if a.response == nil || a.response.Usage.IsZero() {
		return false
	}
	if part, whole := a.response.Usage, c.want.Usage; a.response.Partial {
		return part.Input > whole.Input || part.Output > whole.Output
	}
	return a.response.Usage != c.want.Usage || strings.Join(a.chunks, "") != c.want.Text
}

func (c *tally) same(r *provider.Response) bool {
	return r.Text == c.want.Text && r.Stop == c.want.Stop && reflect.DeepEqual(r.Calls, c.want.Calls)
}

// pieces sends each complete answer at once, one byte at a time, and with other line ends.
func pieces(h *HTTP) []check {
	var list []check
	for i := range h.Wholes {
		w := &h.Wholes[i]
		list = append(list, check{name: w.Name, spared: spared(i), run: func(x *bench) {
			x.vendor = w.Vendor
			m := parse(w.Answer).filled()
			x.wantWhole("as it is", x.play(m.bytes()).answer, w)
			x.wantWhole("chunked", x.play(m.chunked().bytes()).answer, w)
			x.wantWhole("byte by byte", x.try(exchange{script: func(v *visit) { v.drip(m.bytes()) }}).answer, w)
			if m.isStream() {
				x.wantWhole("with LF", x.play(m.plain().ending("\n").bytes()).answer, w)
				x.wantWhole("with CRLF", x.play(m.plain().ending("\r\n").bytes()).answer, w)
			}
		}})
	}
	w := &h.Wholes[0]
	return append(list, check{name: "segments", real: true, run: func(x *bench) {
		a := x.dialed(func(c *net.TCPConn) {
			for _, b := range parse(w.Answer).filled().plain().bytes() {
				_, _ = c.Write([]byte{b})
			}
		})
		x.wantWhole("byte by byte over TCP", a, w)
	}})
}

// drip sends byte by byte.
func (v *visit) drip(data []byte) {
	for i := range data {
		if !v.send(data[i : i+1]) {
			return
		}
	}
}

// firstChunks sends each complete answer event by event, and checks when the chunks are emitted.
func firstChunks(h *HTTP) []check {
	var list []check
	for i := range h.Wholes {
		if w := &h.Wholes[i]; strings.TrimSpace(w.Text) != "" {
			list = append(list, check{name: w.Name, run: func(x *bench) { x.early(w) }})
		}
	}
	return list
}

func (x *bench) early(w *Whole) {
	x.vendor = w.Vendor
	m := parse(w.Answer).filled().plain()
	events := m.events()
	due := m.firstText(w.Text)
	if due < 0 {
		due = len(events) - 2 // which event it is, is unknown: at least not the last
	}
	if due < 0 || due == len(events)-1 {
		x.t.Skip("the answer comes in one piece")
	}
	parts := m.parts(w.Text)
	chunks, first, late := 0, -1, -1
	got := "" // what was emitted
	out := x.try(exchange{
		onChunk: func(text string) {
			chunks++
			got += text
		},
		script: func(v *visit) {
			if !v.send(m.opening()) {
				return
			}
			for i, event := range events {
				if !v.send(event) {
					return
				}
				x.settle()
				if first < 0 && chunks > 0 {
					first = i
				}
				// White space may be held back, because it is not known yet whether anything follows it.
				if parts != nil && late < 0 && i < len(events)-1 && !strings.HasPrefix(got, strings.TrimRightFunc(parts[i], unicode.IsSpace)) {
					late = i
				}
			}
		},
	})
	x.wantWhole("event by event", out.answer, w)
	switch {
	case out.hung:
	case first < 0 || first > due:
		x.errorf("the text began in event %d of %d, but no chunk was handed on before event %d was sent", due+1, len(events), due+2)
	case late >= 0:
		x.errorf("the text of event %d of %d was not handed on before event %d was sent", late+1, len(events), late+2)
	}
}

// comments puts comments between the events of streams.
func comments(h *HTTP) []check {
	var list []check
	for _, w := range h.streams() {
		list = append(list, check{name: w.Name, run: func(x *bench) {
			x.vendor = w.Vendor
			m := parse(w.Answer).filled().plain()
			x.wantWhole("with comments", x.play(m.between(": PROCESSING\n\n:\n").bytes()).answer, w)
		}})
	}
	return list
}

// unknownEvents puts events of an unknown kind between those of a stream.
func unknownEvents(h *HTTP) []check {
	const event = "event: never_heard_of\ndata: {\"type\":\"never_heard_of\",\"never\":{\"heard\":[\"of\"]}}\n\n"
	var list []check
	for _, w := range h.streams() {
		list = append(list, check{name: w.Name, run: func(x *bench) {
			x.vendor = w.Vendor
			m := parse(w.Answer).filled().plain()
			x.wantWhole("with unknown events", x.play(m.between(event+"id: 7\nretry: 10\n\n").bytes()).answer, w)
		}})
	}
	return list
}
