package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
)

// statuses returns the statuses of a row and their kind, whatever the body.
func statuses(row string) ([]int, provider.Kind) {
	switch row {
	case "timeout-status":
		return []int{408, 504}, provider.KindTimeout
	case "rate-limit":
		return []int{429}, provider.KindRateLimit
	case "overloaded":
		return []int{529}, provider.KindAPI
	case "conflict":
		return []int{409}, provider.KindAPI
	case "server-error":
		return []int{500, 502, 503}, provider.KindAPI
	case "authentication":
		return []int{401}, provider.KindAuthentication
	case "permission":
		return []int{403}, provider.KindAuthentication
	case "too-large":
		return []int{413}, provider.KindContextOverflow
	case "bad-request":
		return []int{400}, provider.KindValidation
	case "not-found":
		return []int{404}, provider.KindValidation
	case "unprocessable":
		return []int{422}, provider.KindValidation
	}
	return nil, ""
}

// bodies returns bodies that add nothing to the status.
func bodies() []string {
	said, _ := json.Marshal(map[string]any{"error": map[string]string{"message": "not with " + echo()}}) //nolint:errchkjson // strings
	return []string{
		"",
		"text/plain\n\nNot today, " + canary + ".",
		"text/html\n\n<!doctype html><html><title>Sorry</title><body>" + echo() + "</body></html>",
		"application/json\n\n" + string(said),
	}
}

// plainly signals the statuses of a row.
func plainly(row string) func(*HTTP) []check {
	list, want := statuses(row)
	return func(*HTTP) []check {
		var checks []check
		for _, status := range list {
			checks = append(checks, check{name: strconv.Itoa(status), run: func(x *bench) {
				for _, body := range bodies() {
					name, _, _ := strings.Cut(body, "\n")
					out, want := x.play(refusal(status, body)), want
					if status == http.StatusForbidden && strings.HasPrefix(name, "text/html") {
						want = provider.KindValidation // a firewall's page: no new key helps
					}
					x.wantOne(name, out.answer, want)
					if e := fault(out.err); out.err != nil && e.Status != status {
						x.errorf("%s: the status is %d, want %d", name, e.Status, status)
					}
					if e := fault(out.err); e.NotSent {
						x.errorf("%s: NotSent, but the server has answered", name)
					}
				}
			}})
		}
		return checks
	}
}

// refusal returns an answer with a status, the key in its reason phrase, and a body after its content
// type.
func refusal(status int, body string, headers ...string) []byte {
	m := message{head: []string{fmt.Sprintf("HTTP/1.1 %d %s", status, canary), "X-Request-Id: req-" + canary}}
	m = m.adding(headers...).adding("Connection: close")
	if body == "" {
		return m.adding("Content-Length: 0").bytes()
	}
	b := parse([]byte("Content-Type: " + body))
	return m.adding(b.head...).saying(b.body).bytes()
}

// fixture plays an answer of a vendor.
func (x *bench) fixture(f *Fault) {
	x.vendor = f.Vendor
	data := parse(f.Answer).filled().bytes()
	out := x.play(data)
	x.wantFault(f, out.answer)
	dripped := x.try(exchange{script: func(v *visit) { v.drip(data) }})
	if got, want := kind(dripped.err), kind(out.err); got != want || (dripped.err == nil) != (out.err == nil) {
		x.errorf("byte by byte it is of kind %q, at once %q", got, want)
	}
}

func (x *bench) wantFault(f *Fault, a answer) {
	switch {
	case a.hung:
		return
	case f.Kind != "":
		x.wantOne("the answer", a, f.Kind)
		x.wantError(f, fault(a.err))
	case a.err != nil || a.response == nil:
		x.errorf("Generate failed, want a reply: %v", a.err)
		return
	default:
		if f.Stop != "" && a.response.Stop != f.Stop {
			x.errorf("the stop reason is %q, want %q", a.response.Stop, f.Stop)
		}
		if f.Text != "" && a.response.Text != f.Text {
			x.errorf("the text is %q, want %q", a.response.Text, f.Text)
		}
		x.wantCalls("the answer", a.response.Calls, f.Calls)
	}
	var usage provider.Usage
	if a.response != nil {
		usage = a.response.Usage
	}
	if !f.Usage.IsZero() && usage != f.Usage {
		x.errorf("the usage is %+v, want %+v", usage, f.Usage)
	}
}

func (x *bench) wantError(f *Fault, e *provider.Error) {
	if f.Code != "" && e.Code != f.Code {
		x.errorf("the code is %q, want %q", e.Code, f.Code)
	}
	if !strings.Contains(e.Message, f.Message) {
		x.errorf("the message is %q, want %q in it", e.Message, f.Message)
	}
	if e.RetryAfter != f.RetryAfter {
		x.errorf("RetryAfter is %v, want %v", e.RetryAfter, f.RetryAfter)
	}
	if e.NotSent {
		x.errorf("NotSent, but the server has answered")
	}
	if f.begun() && e.Status >= 400 {
		x.errorf("the status is %d, but the answer's own is below 400: the failure would count as free", e.Status)
	}
}

// begun reports whether the answer has a status under which a reply begins.
func (f *Fault) begun() bool {
	status, _, _ := strings.Cut(string(f.Answer), "\n")
	fields := strings.Fields(status)
	return len(fields) > 1 && strings.HasPrefix(fields[1], "2")
}

// dialing makes every connection fail.
func dialing(*HTTP) []check {
	unsent := func(x *bench, a answer) {
		x.wantOne("dialing", a, provider.KindNetwork)
		if e := fault(a.err); a.err != nil && !e.NotSent {
			x.errorf("the request never left, but NotSent is false")
		}
	}
	return []check{
		{name: "refused", real: true, run: func(x *bench) {
			listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // nothing takes its time here
			if err != nil {
				x.t.Fatal(err)
			}
			defer func() { _ = listener.Close() }()
			client, err := net.Dial("tcp", listener.Addr().String()) //nolint:noctx // likewise
			if err != nil {
				x.t.Fatal(err)
			}
			defer func() { _ = client.Close() }()
			unsent(x, x.over("http://"+client.LocalAddr().String())) // nobody listens there, and nobody can meanwhile
		}},
		{name: "unreachable", run: func(x *bench) {
			unsent(x, x.try(exchange{refuse: syscall.EHOSTUNREACH}).answer)
		}},
		{name: "unknown host", run: func(x *bench) {
			unsent(x, x.try(exchange{refuse: &net.DNSError{Err: "no such host", Name: home, IsNotFound: true}}).answer)
		}},
		{name: "no address", run: nowhere},
	}
}

// nowhere gives the adapter URLs that are none. They may hold the key, so that no failure shows them.
func nowhere(x *bench) {
	for _, url := range []string{"localhost:8080", "ftp://" + home, "http://", "http://user:" + canary + "@" + home + ":x/\x7f"} {
		transport := &playback{}
		s := x.server(&http.Client{Transport: transport})
		s.URL = url
		p := x.h.Connect(x.t, s)
		answers := []answer{x.ask(context.Background(), p, request(), nil)}
		if c, ok := provider.As[provider.Checker](p); ok {
			answers = append(answers, x.ask(context.Background(), checker{c, "model-1"}, request(), nil))
		}
		for _, a := range answers {
			x.wantOne("the address "+url, a, provider.KindValidation)
			if a.err != nil && !fault(a.err).NotSent {
				x.errorf("the address %s: the request never left, but NotSent is false", url)
			}
		}
		if n := transport.asked.Load(); n > 0 {
			x.errorf("the address %s: %d requests were made", url, n)
		}
	}
}

// resetting breaks real connections.
func resetting(h *HTTP) []check {
	m := parse(h.Wholes[0].Answer).filled().plain()
	first := m.body[:len(m.body)/3]
	var list []check
	for _, tt := range []struct {
		name string
		part []byte
	}{{"before the head", nil}, {"after the head", m.opening()}, {"in the body", append(m.opening(), first...)}} {
		list = append(list, check{name: tt.name, real: true, run: func(x *bench) {
			a := x.dialed(func(c *net.TCPConn) {
				_, _ = c.Write(tt.part)
				_ = c.SetLinger(0) // closing then resets
			})
			x.wantOne("reset", a, provider.KindNetwork)
			if fault(a.err).NotSent {
				x.errorf("NotSent, but the server has read the request")
			}
		}})
	}
	return append(list, check{name: "closed without an answer", run: func(x *bench) {
		out := x.play(nil)
		x.wantOne("closed", out.answer, provider.KindNetwork)
		if fault(out.err).NotSent {
			x.errorf("NotSent, but the server has read the request")
		}
	}})
}

// leaking makes the server repeat the key wherever it can.
func leaking(h *HTTP) []check {
	said := echo()
	field, _ := json.Marshal(said) //nolint:errchkjson // a string
	text := string(field)
	all := fmt.Sprintf(`{"error":{"message":%s,"type":%s,"code":%s,"status":%s,"param":%s},"message":%s,"detail":%s,"request_id":%s}`,
		text, text, text, text, text, text, text, text)
	headers := []string{
		"Request-Id: " + said, "Cf-Ray: " + said, "Retry-After: " + said, "Www-Authenticate: Bearer " + said, "Date: " + said,
	}
	list := []check{
		{name: "in a failure", run: func(x *bench) {
			for _, status := range []int{400, 401, 402, 403, 404, 413, 429, 500, 529, 600} {
				x.keyless(x.play(refusal(status, "application/json\n\n"+all, headers...)).answer)
				x.keyless(x.play(refusal(status, "text/plain\n\n"+said, headers...)).answer)
			}
			x.escaped(400, "application/json\n\n", "")
			x.divided()
		}},
		{name: "under 200", run: func(x *bench) {
			x.escaped(200, "application/json\n\n", "")
			x.escaped(200, "text/event-stream\n\ndata: ", "\n\n")
			for _, body := range []string{all, "[" + all + "]", "data: " + all + "\n\n", "event: error\ndata: " + all + "\n\n", said} {
				for _, kind := range []string{"application/json", "text/event-stream"} {
					x.keyless(x.play(refusal(200, kind+"\n\n"+body, headers...)).answer)
				}
			}
		}},
		{name: "instead of HTTP", run: func(x *bench) {
			for _, answer := range []string{
				canary, "HTTP/1.1 " + said + "\r\n\r\n", "HTTP/1.1 200 OK\r\n" + said + "\r\n\r\n", said + " 200 OK\r\n\r\n",
				"HTTP/1.1 200 OK\r\nContent-Length: " + said + "\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + said + "\r\n\r\n",
				"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + said + "\r\n",
				"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + said,
			} {
				x.keyless(x.play([]byte(answer)).answer)
			}
		}},
		{name: "in a redirect", run: func(x *bench) {
			for _, where := range []string{"http://elsewhere.test/?key=" + canary, "http://" + canary + "@" + home + "/", "http://%zz/" + canary} {
				x.keyless(x.play(refusal(307, "text/plain\n\n"+said, "Location: "+where)).answer)
			}
		}},
		{name: "in the transport's error", run: func(x *bench) {
			for _, err := range []error{
				fmt.Errorf("while sending Bearer %s", canary), &net.OpError{Op: "dial", Net: "tcp", Err: errors.New(said)},
			} {
				x.keyless(x.replay([]byte("HTTP/1.1 200 OK\r\n\r\n"), err))
				x.keyless(x.try(exchange{refuse: err}).answer)
			}
		}},
		{name: "in the provider's own words", run: func(x *bench) {
			p := x.h.Connect(x.t, x.server(http.DefaultClient))
			if form := shown(fmt.Sprintf("%v %+v %#v %s", p, p, p, p)); form != "" {
				x.errorf("printing the provider shows the key, as %q", form)
			}
		}},
		{name: "sent to its host", run: func(x *bench) {
			out := x.play(parse(h.Wholes[0].Answer).filled().bytes())
			for _, v := range out.visits {
				if shown(fmt.Sprint(v.request.Header, v.request.URL)) == "" {
					x.errorf("the key did not reach the server, so that this row shows nothing")
				}
				if shown(v.request.URL.String()) != "" {
					x.errorf("the key is part of the URL, which servers and proxies log")
				}
			}
		}},
	}
	for i := range list {
		list[i].run = listening(list[i].run)
	}
	return list
}

// escaped plays failures that repeat the request's headers as JSON, with slashes escaped as PHP does it.
func (x *bench) escaped(status int, before, after string) {
	slashed := strings.ReplaceAll(canary, "/", `\/`)
	for _, body := range []string{
		`{"error":{"message":{"headers":{"authorization":"Bearer ` + slashed + `"}}}}`,
		`{"detail":[{"loc":["header","authorization"],"input":"Bearer ` + slashed + `"}]}`,
		`{"error":{"message":"no","metadata":{"raw":"{\"authorization\":\"` + strings.ReplaceAll(canary, "/", `\\\/`) + `\"}"}}}`,
		`{"error":{"message":["` + strings.NewReplacer("/", `\u002F`, "+", `\u002b`).Replace(canary) + `"]}}`,
	} {
		x.keyless(x.play(refusal(status, before+body+after)).answer)
	}
}

// divided plays failures of which an adapter reads no more than half the key, if it reads as much as this.
func (x *bench) divided() {
	for bound := 256; bound <= benchMaxBody(); bound *= longform.Sized(2, 2, 4) {
		x.keyless(x.play(refusal(400, "text/plain\n\n"+strings.Repeat(" ", bound-len(canary)/2)+canary)).answer)
	}
}

// keyless expects a failure; that it shows no key is checked of all failures.
func (x *bench) keyless(a answer) {
	if a.err == nil && !a.hung {
		x.errorf("Generate returned %s, want an error", describe(a.response))
	}
}

// retrying signals what an eager client would try again.
func retrying(h *HTTP) []check {
	return []check{
		{name: "failures", run: func(x *bench) {
			for _, status := range []int{408, 409, 425, 429, 500, 502, 503, 504, 529} {
				for _, more := range []string{"Retry-After: 0", "Retry-After-Ms: 1", "X-Should-Retry: true"} {
					x.keyless(x.play(refusal(status, "text/plain\n\nTry again.", more)).answer)
				}
			}
		}},
		{name: "broken connections", run: func(x *bench) {
			x.keyless(x.play(nil).answer)
			x.keyless(x.play([]byte("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")).answer)
			x.keyless(x.replay([]byte("HTTP"), io.ErrUnexpectedEOF))
		}},
		// net/http itself sends a request again that fails on a connection used before, if it takes it for
		// one that can be repeated.
		{name: "a connection used before", run: func(x *bench) {
			m := parse(h.Wholes[0].Answer).filled().plain().without("connection")
			m = m.adding("Content-Length: " + strconv.Itoa(len(m.body)))
			n := &network{script: func(v *visit) {
				if v.keep = v.number == 1; v.keep {
					v.send(m.bytes())
				}
			}}
			client := n.client()
			p := x.h.Connect(x.t, x.server(client))
			x.wantWhole("the first answer", x.ask(x.t.Context(), p, request(), nil), &h.Wholes[0])
			x.wantOne("the second answer", x.ask(x.t.Context(), p, request(), nil), provider.KindNetwork)
			n.close(client)
			if got := len(n.visits()); got != 2 {
				x.errorf("2 calls made %d requests", got)
			}
		}},
	}
}

// hugeWaits asks to wait for ever, and for nonsense.
func hugeWaits(*HTTP) []check {
	const day, ever = 24 * time.Hour, 1<<63 - 1
	inAYear := func() string { return time.Now().Add(365 * day).UTC().Format(http.TimeFormat) }
	var list []check
	for _, tt := range []struct {
		name        string
		value       func() string
		least, most time.Duration
	}{
		{"an hour", func() string { return "3600" }, time.Hour, time.Hour},
		{"30000 years", func() string { return "1000000000000" }, 30 * day, ever},
		{"a year, as a date", inAYear, 300 * day, 366 * day},
		{"a number too large", func() string { return "1e300" }, 0, ever},
		{"infinity", func() string { return "Inf" }, 0, ever},
		{"negative", func() string { return "-5" }, 0, 0},
		{"not a number", func() string { return "NaN" }, 0, 0},
		{"words", func() string { return "soon" }, 0, 0},
		{"a date gone by", func() string { return "Wed, 21 Oct 1998 07:28:00 GMT" }, 0, 0},
	} {
		list = append(list, check{name: tt.name, run: func(x *bench) {
			for _, header := range []string{"Retry-After", "Retry-After-Ms"} {
				out := x.play(refusal(429, "text/plain\n\nLater.", header+": "+tt.value()))
				x.wantOne(header, out.answer, provider.KindRateLimit)
				x.wantQuick(header, out.took, atOnce)
				got := fault(out.err).RetryAfter
				if out.err == nil {
					continue
				}
				if got < 0 || (header == "Retry-After" && (got < tt.least || got > tt.most)) {
					x.errorf("RetryAfter is %v for %s: %s", got, header, tt.value())
				}
			}
		}})
	}
	return list
}

// waits asks to wait in each of the forms that are in use.
func waits(*HTTP) []check {
	tests := []struct {
		name    string
		headers func() []string
		want    time.Duration
	}{
		{"seconds", func() []string { return []string{"Retry-After: 20"} }, 20 * time.Second},
		{"milliseconds go first", func() []string { return []string{"Retry-After: 20", "Retry-After-Ms: 1500"} }, 1500 * time.Millisecond},
		{"a date by the server's clock", func() []string {
			return []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: Wed, 21 Oct 2026 07:28:42 GMT"}
		}, 42 * time.Second},
		{"a date by our clock", func() []string {
			return []string{"Retry-After: " + time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat)}
		}, 90 * time.Second},
		{"a date of RFC 3339", func() []string {
			return []string{"Retry-After: " + time.Now().Add(90*time.Second).UTC().Format(time.RFC3339)}
		}, 90 * time.Second},
		{"seconds since 1970", func() []string {
			return []string{"Retry-After: " + strconv.FormatInt(time.Now().Add(90*time.Second).Unix(), 10)}
		}, 90 * time.Second},
		{"milliseconds since 1970", func() []string {
			return []string{"Retry-After: " + strconv.FormatInt(time.Now().Add(90*time.Second).UnixMilli(), 10)}
		}, 90 * time.Second},
		{"a duration", func() []string { return []string{"Retry-After: 1m30s"} }, 90 * time.Second},
	}
	var list []check
	for _, tt := range tests {
		list = append(list, check{name: tt.name, run: func(x *bench) {
			for _, status := range []int{429, 503} {
				out := x.play(refusal(status, "application/json\n\n{\"error\":{\"message\":\"Later.\"}}", tt.headers()...))
				got := fault(out.err).RetryAfter
				if out.err != nil && (got > tt.want || got < tt.want-time.Second) {
					x.errorf("status %d: RetryAfter is %v, want %v", status, got, tt.want)
				}
				x.keyless(out.answer)
				x.wantQuick(tt.name, out.took, atOnce)
			}
		}})
	}
	return list
}
