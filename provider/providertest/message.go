package providertest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// message is an answer in its wire format, divided into head and body.
type message struct {
	head []string // its lines, the status line first
	body []byte
}

// parse divides an answer. The lines of its head may end in LF alone.
func parse(answer []byte) message {
	var m message
	for {
		line, rest, ok := bytes.Cut(answer, []byte("\n"))
		if line = bytes.TrimSuffix(line, []byte("\r")); len(line) == 0 {
			m.body = rest
			return m
		}
		m.head = append(m.head, string(line))
		if !ok {
			return m
		}
		answer = rest
	}
}

func (m message) valid() error {
	if _, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(m.bytes())), nil); err != nil { //nolint:bodyclose // it is in memory
		return fmt.Errorf("this is no HTTP answer: %w", err)
	}
	return nil
}

// bytes joins the answer again.
func (m message) bytes() []byte { return append(m.opening(), m.body...) }

// opening returns the head, with the blank line after it.
func (m message) opening() []byte { return []byte(strings.Join(m.head, "\r\n") + "\r\n\r\n") }

// filled returns the answer with the key in place of "{{KEY}}". A length that the key would make wrong is
// left out.
func (m message) filled() message {
	if !bytes.Contains(m.bytes(), []byte("{{KEY}}")) {
		return m
	}
	out := message{body: bytes.ReplaceAll(m.body, []byte("{{KEY}}"), []byte(canary))}
	for _, line := range m.head {
		out.head = append(out.head, strings.ReplaceAll(line, "{{KEY}}", canary))
	}
	if len(out.body) != len(m.body) {
		out = out.without("content-length")
	}
	return out
}

// header returns a header, in lower case, "" if there is none.
func (m message) header(name string) string {
	for _, line := range m.head[min(1, len(m.head)):] {
		if n, value, _ := strings.Cut(line, ":"); strings.EqualFold(n, name) {
			return strings.ToLower(strings.TrimSpace(value))
		}
	}
	return ""
}

func (m message) without(names ...string) message {
	return message{body: m.body, head: slices.DeleteFunc(slices.Clone(m.head), func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains(names, strings.ToLower(name))
	})}
}

func (m message) adding(lines ...string) message {
	return message{head: slices.Concat(m.head, lines), body: m.body}
}

func (m message) saying(body []byte) message { return message{head: m.head, body: body} }

// plain returns the answer with a body that ends with its connection.
func (m message) plain() message {
	if m.header("transfer-encoding") == "chunked" {
		if r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(m.bytes())), nil); err == nil {
			m.body, _ = io.ReadAll(r.Body)
			_ = r.Body.Close()
		}
	}
	return m.without("content-length", "transfer-encoding", "connection").adding("Connection: close")
}

// chunked returns the answer with the whole body as one chunk.
func (m message) chunked() message {
	p := m.plain().without("connection").adding("Transfer-Encoding: chunked")
	return p.saying(fmt.Appendf(nil, "%x\r\n%s\r\n0\r\n\r\n", len(p.body), p.body))
}

// isStream reports whether the body is server-sent events.
func (m message) isStream() bool {
	return strings.HasPrefix(m.header("content-type"), "text/event-stream")
}

// isReply reports whether the status is that of a reply.
func (m message) isReply() bool {
	_, status, _ := strings.Cut(m.head[0], " ")
	return strings.HasPrefix(status, "200")
}

// isFramed reports whether the body is frames of AWS.
func (m message) isFramed() bool {
	return strings.HasPrefix(m.header("content-type"), "application/vnd.amazon.eventstream")
}

// frameEnds is the bytes of a frame besides its headers and its payload: two lengths with a checksum
// before them, a checksum after them.
const frameEnds = 16

// frameCheck is the bytes of a checksum in a frame.
const frameCheck = 4

// frames splits a body into frames of AWS. Each begins with its length.
func (m message) frames() [][]byte {
	var list [][]byte
	for rest := m.body; len(rest) > 0; {
		n := len(rest)
		if n >= frameEnds {
			n = min(n, max(frameEnds, int(binary.BigEndian.Uint32(rest))))
		}
		list, rest = append(list, rest[:n]), rest[n:]
	}
	return list
}

// events splits the body where a server would: after each event, each frame, or each line.
func (m message) events() [][]byte {
	if m.isFramed() {
		return m.frames()
	}
	end := []byte("\n")
	if m.isStream() {
		for _, end = range [][]byte{[]byte("\r\n\r\n"), []byte("\n\n"), []byte("\r\r")} {
			if bytes.Contains(m.body, end) {
				break
			}
		}
	}
	return slices.DeleteFunc(bytes.SplitAfter(m.body, end), func(b []byte) bool { return len(b) == 0 })
}

// between puts something between any two events.
func (m message) between(what string) message {
	events := m.events()
	var body []byte
	for _, e := range events {
		body = append(append(body, what...), e...)
	}
	return m.saying(body)
}

// ending replaces the end of each line.
func (m message) ending(end string) message {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(m.body))
	return m.saying([]byte(strings.ReplaceAll(text, "\n", end)))
}

// firstText returns the index of the first event that holds the beginning of a text, -1 if none does.
func (m message) firstText(text string) int {
	for i, event := range m.events() {
		if strings.TrimSpace(longest(payload(event), text)) != "" {
			return i
		}
	}
	return -1
}

// parts returns how much of a text has come after each event, nil if that is unknown.
func (m message) parts(text string) []string {
	var list []string
	rest := text
	for _, event := range m.events() {
		rest = rest[len(longest(payload(event), rest)):]
		list = append(list, text[:len(text)-len(rest)])
	}
	if rest != "" {
		return nil
	}
	return list
}

// longest returns the longest string in a JSON value that is a beginning of a text.
func longest(v any, text string) string {
	found := ""
	add := func(s string) {
		if len(s) > len(found) && strings.HasPrefix(text, s) {
			found = s
		}
	}
	switch v := v.(type) {
	case string:
		add(v)
	case []any:
		for _, part := range v {
			add(longest(part, text))
		}
	case map[string]any:
		for _, part := range v {
			add(longest(part, text))
		}
	}
	return found
}

// payload returns the JSON value of an event, a frame or a line, nil if it has none.
func payload(event []byte) any {
	var data []byte
	for line := range strings.Lines(string(event)) {
		if value, ok := strings.CutPrefix(line, "data:"); ok {
			data = append(data, strings.TrimSpace(value)...)
		}
	}
	if data == nil {
		data = event
	}
	if n := len(event); n >= frameEnds && int64(binary.BigEndian.Uint32(event)) == int64(n) {
		if headers := int(binary.BigEndian.Uint32(event[4:])); headers >= 0 && headers <= n-frameEnds {
			data = event[frameEnds-4+headers : n-4]
		}
	}
	var v any
	_ = json.Unmarshal(data, &v)
	return v
}

// forms returns the forms in which a key has been seen in messages of servers.
func forms(key string) []string {
	return []string{
		key, url.QueryEscape(key), url.PathEscape(key),
		base64.RawStdEncoding.EncodeToString([]byte(key)), base64.RawURLEncoding.EncodeToString([]byte(key)),
		key[:8], key[len(key)-8:],
	}
}

// echo returns a server's message about the key: all its forms, and the parts that other servers show.
func echo() string {
	all := forms(canary)
	first, last := all[5], all[6]
	return strings.Join(all[:5], " ") + " " + first + "********" + last[4:] + " " + first + "..." + last
}
