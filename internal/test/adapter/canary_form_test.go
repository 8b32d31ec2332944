package adapter_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
)

// leak is how many bytes of the key in a row are too many, behind its public prefix.
const leak = 8

// coding is a way in which a server can write a key.
type coding struct {
	name  string
	write func(key string) string
	shows []string // what must not be seen of the canary in this coding
}

// codings are all of them.
func codings() []coding {
	prefix := len("sk-proj-")
	secret := canary[prefix:]
	var all []coding
	// Each byte is written by itself, so that a part of the key is written as that part of the whole.
	add := func(name string, write func(string) string) {
		c := coding{name: name, write: write}
		for at := 0; at+leak <= len(secret); at++ {
			c.shows = append(c.shows, write(secret[at:at+leak]))
		}
		all = append(all, c)
	}
	each := func(format string) func(string) string {
		return func(s string) string {
			var b strings.Builder
			for _, c := range []byte(s) {
				fmt.Fprintf(&b, format, c)
			}
			return b.String()
		}
	}
	add("plain", func(s string) string { return s })
	add("query", url.QueryEscape)
	add("path", url.PathEscape)
	add("percent", each("%%%02x"))
	add("percent twice", func(s string) string { return url.QueryEscape(each("%%%02X")(s)) })
	add("units", each(`\u%04x`))
	add("slashes", func(s string) string { return strings.ReplaceAll(s, "/", `\/`) })
	add("slashes two deep", func(s string) string { return strings.ReplaceAll(s, "/", `\\\/`) })
	add("entities", each("&#%d;"))
	add("entities of HTML", func(s string) string { return html.EscapeString(each("&#x%x;")(s)) })
	add("lines", func(s string) string { return strings.Join(pieces(s, 5), "\r\n") })
	add("spaces", func(s string) string { return strings.Join(pieces(s, 4), " ") })
	add("escaped lines", func(s string) string { return strings.Join(pieces(s, 6), `\n`) })
	add("hex", func(s string) string { return hex.EncodeToString([]byte(s)) })
	for name, alphabet := range map[string]*base64.Encoding{"base64": base64.StdEncoding, "base64 for URLs": base64.URLEncoding} {
		for i, before := range []string{"Bearer ", "u:", "key"} { // the three alignments
			write := func(key string) string { return alphabet.EncodeToString([]byte(before + key + ";")) }
			c := coding{name: fmt.Sprint(name, " ", i), write: write}
			coded := write(canary)
			const letters = leak*8/6 + 2 // hold so many bytes at any alignment
			for at := (len(before) + prefix) * 4 / 3; at+letters <= (len(before)+len(canary))*4/3; at++ {
				c.shows = append(c.shows, coded[at:at+letters])
			}
			all = append(all, c)
			wrapped := c
			wrapped.name += " in lines"
			wrapped.write = func(key string) string { return strings.Join(pieces(write(key), 20), "\n") }
			all = append(all, wrapped)
		}
	}
	return all
}

// net finds parts of the canary. It knows nothing of how the library looks for them.
type net struct {
	parts map[[leak]byte][]string // by their first bytes
	begin [1 << 16]bool           // by their first two bytes: most places in a text need no more than a look at them
	plain *strings.Replacer       // unescapes
}

func newNet() *net {
	n := &net{
		parts: make(map[[leak]byte][]string),
		plain: strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\/`, `/`, `\n`, "", `\r`, "", `\u0026`, "&", `\u003c`, "<", `\u003e`, ">"),
	}
	for _, c := range codings() {
		for _, part := range c.shows {
			at := [leak]byte([]byte(part))
			n.parts[at] = append(n.parts[at], part)
			n.begin[pair(part)] = true
		}
	}
	return n
}

// pair returns the first two bytes of a text as a number.
func pair(text string) int { return int(text[0])<<8 | int(text[1]) }

// leaks returns a part of the canary that a text shows, as it stands or once it is unescaped and unwrapped.
func (n *net) leaks(text string) (part string, found bool) {
	readings := []string{text}
	for range 3 {
		text = n.plain.Replace(text)
		readings = append(readings, text)
	}
	readings = append(readings, strings.Join(strings.Fields(text), ""))
	for _, reading := range slices.Compact(readings) {
		for at := 0; at+leak <= len(reading); at++ {
			if !n.begin[pair(reading[at:])] {
				continue
			}
			for _, part := range n.parts[[leak]byte([]byte(reading[at:at+leak]))] {
				if strings.HasPrefix(reading[at:], part) {
					return part, true
				}
			}
		}
	}
	return "", false
}
