package providertest

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
)

// notHTTP answers with bytes that are not an HTTP answer, or hardly one.
func notHTTP(h *HTTP) []check {
	broken := func(x *bench, name string, answer []byte) {
		x.wantOne(name, x.play(answer).answer, provider.KindNetwork, provider.KindInvalidResponse)
	}
	most := 2 * benchMaxBody() // the limit that the client has for a head, and more
	kib := strings.Repeat("x", 1<<10)
	return []check{
		{name: "garbage", run: func(x *bench) {
			for _, answer := range []string{
				"SSH-2.0-OpenSSH_9.9\r\n", "\x15\x03\x01\x00\x02\x02\x16", "\x00\x00\x12\x04\x00\x00\x00\x00\x00", "HTTP/1.1",
				"HTTP/9.9 200 OK\r\n\r\n",
				"HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno header\r\n\r\n", "data: {}\n\n", "{}",
				"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
				"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot gzip",
				"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
			} {
				broken(x, answer, []byte(answer))
			}
		}},
		{name: "endless status line", run: func(x *bench) {
			f := flood{first: []byte("HTTP/1.1 200 "), part: []byte(kib), limit: most}
			x.drown("status line", f, provider.KindNetwork, provider.KindInvalidResponse)
		}},
		{name: "endless head", run: func(x *bench) {
			f := flood{first: []byte("HTTP/1.1 200 OK\r\n"), part: []byte("X-Flood: " + kib + "\r\n"), limit: most}
			x.drown("head", f, provider.KindNetwork, provider.KindInvalidResponse)
		}},
		{name: "endless interim answers", run: func(x *bench) {
			f := flood{part: block("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"), limit: most}
			x.drown("interim answers", f, provider.KindNetwork, provider.KindInvalidResponse)
		}},
		{name: "interim answers", run: func(x *bench) {
			answer := parse(h.Wholes[0].Answer).filled().plain().bytes()
			hints := "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
			x.wantWhole("after interim answers", x.play(append([]byte(hints), answer...)).answer, &h.Wholes[0])
		}},
		{name: "no content", run: func(x *bench) {
			broken(x, "204", []byte("HTTP/1.1 204 No Content\r\n\r\n"))
			broken(x, "205", []byte("HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n"))
			broken(x, "200", []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
			broken(x, "304", []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n\r\n\r\n"))
		}},
	}
}

// oddContent answers with content that is malformed or hostile.
func oddContent(h *HTTP) []check {
	refused := []provider.Kind{provider.KindInvalidResponse, provider.KindNetwork, provider.KindAPI}
	w := &h.Wholes[0]
	m := parse(w.Answer).filled().plain()
	list := []check{
		{name: "content type", run: func(x *bench) {
			for _, kind := range []string{"text/html", "application/octet-stream", "text/event-stream; charset=iso-8859-1", ";;", ""} {
				out := x.play(m.without("content-type").adding("Content-Type: " + kind).bytes())
				if out.err != nil {
					x.wantOne(kind, out.answer, refused...)
				} else {
					x.wantWhole(kind, out.answer, w)
				}
			}
		}},
		{name: "a page", run: func(x *bench) {
			page := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<!doctype html><title>Log in</title>\n\n"
			x.wantOne("a page", x.play([]byte(page)).answer, refused...)
		}},
		{name: "JSON", run: func(x *bench) {
			for _, value := range []string{
				"null", "0", `""`, "[]", "{}", "[null]", "[[]]", "true", "{", "\x00", "\xff\xfe", `{"choices":{}}`, `{"type":[]}`, `{"candidates":0}`,
				strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 10_000), strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
			} {
				for _, format := range []string{"data: " + value + "\n\n", "event: x\ndata: " + value + "\n\n", value, value + "\n"} {
					out := x.play(m.saying([]byte(format)).bytes())
					x.wantOne(format[:min(len(format), 40)], out.answer, refused...)
				}
			}
		}},
	}
	if s := h.spoken(); s != nil {
		list = append(list, check{name: "characters", run: func(x *bench) { x.characters(s) }},
			check{name: "half characters", run: func(x *bench) { x.halves(s) }}, check{name: "text so far", run: func(x *bench) { x.soFar(s) }})
	}
	return list
}

// characters puts invalid characters into a text.
func (x *bench) characters(w *Whole) {
	x.vendor = w.Vendor
	m := parse(w.Answer).filled().plain()
	at := m.firstText(w.Text)
	if at < 0 {
		x.t.Skip("where the text begins cannot be told")
	}
	events := m.events()
	// The longest beginning of the text that is in the event unescaped.
	start := w.Text
	for len(start) > 0 && (!bytes.Contains(events[at], []byte(start)) || !utf8.ValidString(start)) {
		start = start[:len(start)-1]
	}
	if start == "" {
		x.t.Skip("the text's beginning is escaped")
	}
	for _, tt := range []struct{ name, odd string }{
		{"invalid UTF-8", "\xff\xfe\xc3"},
		{"a surrogate", "\xed\xa0\x80"},
		{"half a pair", `\ud83d`},
		{"NUL", `\u0000`},
		{"a raw NUL", "\x00"},
		{"a byte-order mark", "\ufeff"},
		{"a terminal's escapes", `\u001b[2J`},
		{"another direction", "\u202e"},
	} {
		name, odd := tt.name, tt.odd
		body := bytes.Replace(bytes.Join(events, nil), []byte(start), []byte(start+odd), 1)
		out := x.play(m.saying(body).bytes())
		if out.err != nil {
			x.wantOne(name, out.answer, provider.KindInvalidResponse, provider.KindNetwork)
			continue
		}
		if out.response != nil && !utf8.ValidString(out.response.Text) {
			x.errorf("%s: the text is not UTF-8: %q", name, out.response.Text)
		}
		for _, c := range out.chunks {
			if !utf8.ValidString(c) {
				x.errorf("%s: a chunk is not UTF-8: %q", name, c)
			}
		}
	}
}

// halves sends a character as two escapes, in two pieces. It is one character of the text.
func (x *bench) halves(w *Whole) {
	x.repiece(w, "half characters", func(pieces []string) string {
		pieces[0] += `\ud83c`
		pieces[1] = `\udf33` + pieces[1]
		return "🌳"
	})
}

// soFar sends with each piece of a text all that came before it, as some servers do. It is said once.
func (x *bench) soFar(w *Whole) {
	const more = " at the longest of all the words"
	x.repiece(w, "text so far", func(pieces []string) string {
		pieces[0] += more
		for i := range pieces[1:] {
			pieces[i+1] = pieces[i] + pieces[i+1]
		}
		return more
	})
}

// repiece sends other pieces of a text. change changes them, and returns what that adds to the text behind the first.
func (x *bench) repiece(w *Whole, name string, change func(pieces []string) (added string)) {
	x.vendor = w.Vendor
	m := parse(w.Answer).filled().plain()
	events := m.events()
	var at []int // the events with text
	var pieces []string
	had := 0
	for i, part := range m.parts(w.Text) {
		if len(part) > had {
			at, pieces, had = append(at, i), append(pieces, part[had:]), len(part)
		}
	}
	if m.isFramed() || len(at) < 2 {
		x.t.Skip("the text does not come in pieces that can be changed")
	}
	quoted := func(s string) []byte { return []byte(`"` + s + `"`) }
	body := bytes.Join(events, nil)
	changed := slices.Clone(pieces)
	whole := *w
	whole.Text = pieces[0] + change(changed) + w.Text[len(pieces[0]):]
	for i, piece := range pieces {
		if bytes.Count(events[at[i]], quoted(piece)) != 1 && piece != changed[i] || bytes.Contains(body, quoted(w.Text)) {
			x.t.Skip("where the pieces are cannot be told, or the whole text follows")
		}
		events[at[i]] = bytes.Replace(events[at[i]], quoted(piece), quoted(changed[i]), 1)
	}
	x.wantWhole(name, x.play(m.saying(bytes.Join(events, nil)).bytes()).answer, &whole)
}

// afterTheEnd keeps the server sending after the end of the reply.
func afterTheEnd(h *HTTP) []check {
	var list []check
	for i := range h.Wholes {
		w := &h.Wholes[i]
		m := parse(w.Answer).filled().plain()
		list = append(list, check{name: w.Name, spared: spared(i), run: func(x *bench) {
			x.vendor = w.Vendor
			x.idle, x.patience = 10*time.Minute, time.Hour // an adapter that waits for it is late
			out := x.try(exchange{script: func(v *visit) {
				v.send(m.bytes())
				v.hold()
			}})
			if m.isStream() || out.err == nil {
				x.wantWhole("silence", out.answer, w)
				x.wantQuick("silence", out.took, maxLate+atOnce)
			} else { // the answer ends with the connection, which stays open
				x.wantQuick("silence", out.took, x.idle+atOnce)
			}
			x.wantGone("silence", out)
			parts := []string{"\n"}
			if m.isStream() {
				out := x.try(exchange{script: func(v *visit) {
					for ok := v.send(m.bytes()); ok; ok = v.send([]byte(": still here\n\n")) {
						<-time.After(time.Second)
					}
					v.hold()
				}})
				x.wantWhole("comments", out.answer, w)
				x.wantQuick("comments", out.took, maxLate+atOnce)
				x.wantGone("comments", out)
				parts = append(parts, ": still here\n\n", ": "+strings.Repeat("x", 1<<10))
			}
			for _, part := range parts {
				f := flood{first: m.bytes(), part: block(part)}
				if out := x.drown("flood", f); out.err != nil && !m.isStream() {
					x.wantOne("flood", out.answer, provider.KindInvalidResponse)
				} else {
					x.wantWhole("flood", out.answer, w)
				}
			}
		}})
	}
	return list
}

// toolHistory sends tool calls with their results, and checks the request's bytes. An adapter without
// tools has the row in NoSignal.
func toolHistory(h *HTTP) []check {
	if h.NoSignal["tool-results"] != "" {
		return nil
	}
	return []check{{name: "sent back", run: func(x *bench) {
		n := &network{script: func(v *visit) { v.send(parse(h.Wholes[0].Answer).filled().bytes()) }}
		client := n.client()
		p := x.h.Connect(x.t, x.server(client))
		x.wantWhole("with tool results", x.ask(x.t.Context(), p, withHistory(twoCalls()), nil), &h.Wholes[0])
		n.close(client)
		for _, v := range n.visits() {
			for _, want := range []string{"kerb", "toll", found, failed} {
				if !bytes.Contains(v.body, []byte(want)) {
					x.errorf("the request has no %q in it, of the speaker's own tool calls and their results", want)
				}
			}
			for _, never := range []string{"their own affair", "call_z", "for Ben alone"} {
				if bytes.Contains(v.body, []byte(never)) {
					x.errorf("the request has %q in it, of another speaker's tool calls", never)
				}
			}
		}
	}}}
}
