package providertest

import (
	"bytes"
	"compress/gzip"
	"context"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

const (
	endless = 4 << 20  // bytes after which the server gives up: the adapter has no limit
	maxBomb = 16 << 20 // bytes that a bomb becomes
	maxPeak = 64 << 20 // bytes of memory that an exchange at the bench's limits may take
)

// bombSize is how many bytes a part of a bomb becomes. To compress them is slow under the race detector.
func bombSize() int { return longform.Sized(4<<20, 4<<20, 1<<19) }

// flood is a body without an end.
type flood struct {
	first  []byte // head, and the beginning of the body
	part   []byte // repeated after first
	limit  int    // bytes of parts after which the server gives up; endless if 0
	passed int    // bytes that the adapter took
	peak   uint64 // bytes of memory in use, at its maximum
}

// script sends until the adapter closes the connection.
func (f *flood) script(v *visit) {
	if !v.send(f.first) {
		return
	}
	if f.limit == 0 {
		f.limit = endless
	}
	sample := 0
	for f.passed < f.limit {
		n, err := v.Write(f.part)
		if f.passed += n; err != nil {
			return
		}
		if sample += len(f.part); sample >= f.limit/64 {
			sample = 0
			f.peak = max(f.peak, heap())
		}
	}
}

// heap returns the bytes of memory that objects take.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// drown floods the adapter and requires that it ends the exchange, with little memory.
func (x *bench) drown(name string, f flood, kinds ...provider.Kind) outcome {
	before := heap()
	out := x.try(exchange{script: f.script})
	if len(kinds) > 0 {
		x.wantOne(name, out.answer, kinds...)
	}
	if f.passed >= f.limit && !out.hung {
		x.errorf("%s: the adapter took all %d KiB that the server sent, with a MaxBody of %d KiB", name, f.limit>>10, benchMaxBody()>>10)
	}
	peak := max(f.peak, before) - before
	x.t.Logf("%s: hung up after %d KiB, peak %d MiB", name, f.passed>>10, peak>>20)
	if peak > maxPeak {
		x.errorf("%s: it took %d MiB of memory, with a MaxBody of %d KiB", name, peak>>20, benchMaxBody()>>10)
	}
	if e := fault(out.err); len(e.Message) > 4<<10 {
		x.errorf("%s: the error's message has %d bytes", name, len(e.Message))
	}
	return out
}

// opened returns the head of a successful answer, with the beginning of a stream if the vendor's answers
// are streams.
func (h *HTTP) opened(headers ...string) []byte {
	m := parse(h.Wholes[0].Answer).filled().plain()
	return m.adding(headers...).opening()
}

func endlessBodies(h *HTTP) []check {
	kib := strings.Repeat("x", 1<<10)
	var list []check
	for _, tt := range []struct{ name, first, part string }{
		{"comments", "", ": " + kib + "\n"},
		{"blank lines", "", "\n"},
		{"pings", "", "event: ping\ndata: {\"type\":\"ping\"}\n\n"},
		{"document", `{"type":"`, kib},
		{"list", "[", `{"x":1},`},
	} {
		list = append(list, check{name: tt.name, run: func(x *bench) {
			x.drown(tt.name, flood{first: append(h.opened(), tt.first...), part: block(tt.part)}, provider.KindInvalidResponse)
		}})
	}
	w := h.spoken()
	if w == nil {
		return list
	}
	m := parse(w.Answer).filled().plain()
	at := m.firstText(w.Text)
	if at < 0 || at == len(m.events())-1 {
		return list
	}
	return append(list, check{name: "text", run: func(x *bench) {
		first := append(m.opening(), bytes.Join(m.events()[:at], nil)...)
		x.drown("text", flood{first: first, part: block(string(m.events()[at]))}, provider.KindInvalidResponse)
	}})
}

func endlessLines(h *HTTP) []check {
	kib := strings.Repeat("x", 1<<10)
	var list []check
	for _, tt := range []struct{ name, first, part string }{
		{"line", "data: ", kib},
		{"event", "", "data: " + kib + "\n"},
		{"comment", ": ", kib},
		{"string", `data: {"text":"`, kib},
		{"brackets", "", "["},
		{"name of an event", "event: ", kib},
	} {
		list = append(list, check{name: tt.name, run: func(x *bench) {
			x.drown(tt.name, flood{first: append(h.opened(), tt.first...), part: block(tt.part)}, provider.KindInvalidResponse)
		}})
	}
	return list
}

// block repeats a text, so that sending it takes few writes.
func block(text string) []byte { return []byte(strings.Repeat(text, max(1, 4<<10/len(text)))) }

func endlessFailures(*HTTP) []check {
	var list []check
	for i, tt := range []struct {
		status int
		want   provider.Kind
	}{{400, provider.KindValidation}, {429, provider.KindRateLimit}, {500, provider.KindAPI}} {
		list = append(list, check{name: strconv.Itoa(tt.status), spared: spared(i), run: func(x *bench) {
			for _, body := range []string{"text/plain\n\n", "application/json\n\n{\"error\":{\"message\":\""} {
				name, _, _ := strings.Cut(body, "\n")
				x.drown(name, flood{first: refusal(tt.status, body), part: block("x")}, tt.want)
			}
		}})
	}
	return append(list, check{name: "held open", run: heldFailures})
}

// heldFailures sends a refusal, or a part of it, and then leaves the connection open, in silence or with blanks. The status line is the
// answer: it has to come soon, also where the caller's time is over before.
func heldFailures(x *bench) {
	for _, tt := range []struct {
		status int
		want   provider.Kind
		header []string
	}{
		{400, provider.KindValidation, nil},
		{401, provider.KindAuthentication, nil},
		{402, provider.KindQuota, nil},
		{429, provider.KindRateLimit, []string{"Retry-After: 7"}},
		{500, provider.KindAPI, nil},
	} {
		for _, part := range []string{" ", "{\"error\":", "{\"error\":{\"message\":\"no\"}}"} {
			begun := refusal(tt.status, "application/json\n\n"+part, tt.header...)
			for _, blanks := range []bool{false, true} {
				for _, within := range []time.Duration{benchIdle / 2, time.Hour} {
					out := x.heldOpen(begun, blanks, within)
					name := strconv.Itoa(tt.status) + " and " + strconv.Quote(part)
					x.wantOne(name, out.answer, tt.want)
					x.wantQuick(name, out.took, maxLate)
					if e := fault(out.err); out.err != nil && (e.Status != tt.status || tt.header != nil && e.RetryAfter != 7*time.Second) {
						x.errorf("%s: the status is %d and RetryAfter %v", name, e.Status, e.RetryAfter)
					}
				}
			}
		}
	}
}

// heldOpen makes an exchange whose answer begins so and does not end, with blanks or in silence. The caller has so much time.
func (x *bench) heldOpen(begun []byte, blanks bool, within time.Duration) outcome {
	ctx, cancel := context.WithTimeout(x.t.Context(), within)
	defer cancel()
	return x.try(exchange{ctx: ctx, script: func(v *visit) {
		if !v.send(begun) {
			return
		}
		for blanks && v.send([]byte(" ")) {
			<-time.After(100 * time.Millisecond)
		}
		v.hold()
	}})
}

// bombs sends data that is small until it is decompressed: each KiB becomes a MiB, without an end. The
// server gives up after 16 MiB, so that an adapter without a limit fails without exhausting the machine's
// memory.
func bombs(h *HTTP) []check {
	pack := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(bytes.Repeat([]byte(text), bombSize()/len(text)))
		_ = z.Close()
		return b.Bytes() // members of a gzip file may follow each other without an end
	}
	var list []check
	for _, tt := range []struct{ name, text string }{
		{"zeros", "\x00"}, {"blanks", " "}, {"comments", ": " + strings.Repeat("x", 1<<10) + "\n"},
	} {
		list = append(list, check{name: tt.name, run: func(x *bench) {
			f := flood{first: h.opened("Content-Encoding: gzip"), part: pack(tt.text)}
			f.limit = maxBomb / bombSize() * len(f.part)
			x.drown(tt.name, f, provider.KindInvalidResponse, provider.KindNetwork)
		}})
	}
	return append(list, check{name: "in a failure", run: func(x *bench) {
		f := flood{first: refusal(500, "text/plain\n\n", "Content-Encoding: gzip"), part: pack(" ")}
		f.limit = maxBomb / bombSize() * len(f.part)
		x.drown("in a failure", f, provider.KindAPI)
	}})
}
