package providertest

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// phase is a moment in an exchange.
type phase struct {
	name   string
	script func(v *visit, now func()) // calls now at the moment
	inEmit bool                       // the moment is that of the first chunk
	before bool                       // the moment is before the request
	hole   bool                       // the moment is during dialing
	whole  bool                       // the reply may be complete
	told   provider.Kind              // of a failure whose status has come; "": none has
}

// phases returns the moments at which a caller may cancel.
func (h *HTTP) phases() []phase {
	w := h.spoken()
	if w == nil {
		w = &h.Wholes[0]
	}
	m := parse(w.Answer).filled().plain()
	events := m.events()
	at := max(0, min(m.firstText(w.Text), len(events)-2))
	begun := append(m.opening(), bytes.Join(events[:at+1], nil)...)
	after := func(parts ...[]byte) func(*visit, func()) {
		return func(v *visit, now func()) {
			for _, part := range parts {
				if !v.send(part) {
					return
				}
			}
			now()
			v.hold()
		}
	}
	list := []phase{
		{name: "before the request", before: true},
		{name: "while dialing", hole: true},
		{name: "before the head", script: after()},
		{name: "in the head", script: after(m.opening()[:20])},
		{name: "before the body", script: after(m.opening())},
		{name: "while a failure is read", script: after(refusal(500, "application/json\n\n{\"error\":")), told: provider.KindAPI},
		{name: "after the end", script: after(m.bytes()), whole: true},
	}
	if len(events) > 1 {
		next := events[at+1]
		list = append(list,
			phase{name: "between two events", script: after(begun)},
			phase{name: "in an event", script: after(begun, next[:len(next)/2])},
			phase{name: "in emit", script: func(v *visit, _ func()) {
				if v.send(begun) {
					v.hold()
				}
			}, inEmit: true},
		)
	}
	return list
}

func canceling(h *HTTP) []check {
	var list []check
	for _, p := range h.phases() {
		list = append(list, check{name: p.name, run: func(x *bench) {
			ctx, cancel := context.WithCancel(x.t.Context())
			defer cancel()
			x.lose(ctx, p, cancel, provider.KindCanceled, atOnce)
		}})
	}
	return list
}

func expiring(h *HTTP) []check {
	var list []check
	for _, p := range h.phases() {
		list = append(list, check{name: p.name, run: func(x *bench) {
			ctx, cancel := context.WithTimeout(x.t.Context(), benchIdle/2)
			defer cancel()
			x.lose(ctx, p, func() { <-ctx.Done() }, cmp.Or(p.told, provider.KindTimeout), benchIdle/2+atOnce)
		}})
	}
	return list
}

// lose makes an exchange that its caller cancels at some moment.
func (x *bench) lose(ctx context.Context, p phase, giveUp func(), want provider.Kind, within time.Duration) {
	e := exchange{ctx: ctx, hole: p.hole}
	if p.script != nil {
		e.script = func(v *visit) {
			p.script(v, func() {
				x.settle()
				giveUp()
			})
		}
	}
	switch {
	case p.before:
		giveUp()
		within = atOnce
		e.script = func(*visit) { x.errorf("the request was made though nobody wanted it any more") }
	case p.inEmit:
		first := true
		e.onChunk = func(string) {
			if first {
				giveUp()
			}
			first = false
		}
	case p.hole:
		go func() {
			x.settle()
			giveUp()
		}()
	}
	out := x.try(e)
	if p.whole && out.err == nil {
		return
	}
	x.wantOne(p.name, out.answer, want)
	x.wantQuick(p.name, out.took, within)
	x.wantGone(p.name, out)
	if e := fault(out.err); out.err != nil && (p.before || p.hole) != e.NotSent {
		x.errorf("%s: NotSent is %t", p.name, e.NotSent)
	}
}

// silences makes the server silent, at the same moments.
func silences(h *HTTP) []check {
	var list []check
	for _, p := range h.phases() {
		if p.before || p.inEmit {
			continue
		}
		list = append(list, check{name: p.name, run: func(x *bench) {
			e := exchange{hole: p.hole}
			if p.script != nil {
				e.script = func(v *visit) { p.script(v, func() {}) }
			}
			out := x.try(e)
			x.wantQuick(p.name, out.took, 2*benchIdle+atOnce)
			x.wantGone(p.name, out)
			switch {
			case p.whole && out.err == nil:
			case p.told != "":
				x.wantOne(p.name, out.answer, p.told)
			case p.hole:
				x.wantOne(p.name, out.answer, provider.KindTimeout, provider.KindNetwork)
			default:
				x.wantOne(p.name, out.answer, provider.KindTimeout)
				if out.err != nil && out.took < benchIdle {
					x.errorf("%s: Generate gave up after %v, want %v", p.name, out.took, benchIdle)
				}
			}
		}})
	}
	return list
}

// dripping sends so slowly that the whole answer takes long, but without long silences.
func dripping(h *HTTP) []check {
	var list []check
	for i := range h.Wholes {
		w := &h.Wholes[i]
		list = append(list, check{name: w.Name, spared: spared(i), run: func(x *bench) {
			x.vendor = w.Vendor
			m := parse(w.Answer).filled().plain()
			x.patience = time.Duration(len(m.body)) * benchIdle
			out := x.try(exchange{script: func(v *visit) {
				ok := v.send(m.opening())
				for i := 0; ok && i < len(m.body); i++ {
					<-time.After(benchIdle / 2)
					ok = v.send(m.body[i : i+1])
				}
			}})
			x.wantWhole("byte by byte, in "+out.took.String(), out.answer, w)
		}})
	}
	return append(list, check{name: "while the host is slow", run: func(x *bench) {
		w := h.spoken()
		if w == nil {
			x.t.Skip("no whole answer has a text")
		}
		x.vendor, x.patience = w.Vendor, time.Hour
		out := x.try(exchange{
			onChunk: func(string) { <-time.After(2 * benchIdle) },
			script:  func(v *visit) { v.send(parse(w.Answer).filled().plain().bytes()) },
		})
		x.wantWhole("what emit takes is not the server's silence", out.answer, w)
	}})
}
