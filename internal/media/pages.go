package media

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of the search for the pages of a PDF.
const (
	unknownPages  = 100 // of a PDF whose pages cannot be counted: what Anthropic takes in one request
	maxInflated   = 8 << 20
	maxObjects    = 1000     // nodes of the tree of pages that are looked at, and compressed streams of objects
	maxDictionary = 16 << 10 // bytes in which the other entries of an object are looked for
	maxGap        = 100      // bytes of white space and comments between a key and its value
)

// MostPages bounds the pages that are counted.
const MostPages = 1000

// Pages counts the pages of a PDF, also those in compressed objects, or takes the number that the tree of pages tells if
// that is more. If a part cannot be read, pages may be hidden there: the PDF has 100 at least.
func Pages(data []byte) int {
	p := pages{left: maxInflated}
	p.read(data)
	n := max(p.objects, p.told)
	if n == 0 || p.unsure {
		n = max(n, unknownPages)
	}
	return min(n, MostPages)
}

// pages is what is known of the pages of a PDF.
type pages struct {
	objects int   // that are pages
	told    int   // the largest number that the tree of pages tells
	left    int64 // bytes that may still be inflated
	nodes   int   // of the tree, and streams of objects
	unsure  bool  // a part could not be read
}

// read looks at all objects. A name can be written with escapes, so names are read and not searched for.
func (p *pages) read(data []byte) {
	for at := 0; ; {
		next := bytes.IndexByte(data[at:], '/')
		if next < 0 {
			return
		}
		begin := at + next
		name, end := nameAt(data, begin)
		if at = end; name != "Type" {
			continue
		}
		value := p.value(data, end)
		if value == len(data) || data[value] != '/' {
			p.unsure = p.unsure || reference.Match(data[value:min(len(data), value+maxGap)])
			continue
		}
		switch name, end = nameAt(data, value); name {
		case "Page":
			p.objects++
		case "Pages":
			if p.node() {
				p.after(data, end)
				p.before(data, begin)
			}
		case "ObjStm":
			if p.node() {
				p.inflate(data, end)
			}
		}
		at = end
	}
}

// node reports whether one object more may be looked at.
func (p *pages) node() bool {
	p.nodes++
	p.unsure = p.unsure || p.nodes > maxObjects
	return p.nodes <= maxObjects
}

// value returns where the value of a key begins whose name ends there.
func (p *pages) value(data []byte, at int) int {
	comment := false
	for end := min(len(data), at+maxGap); at < end; at++ {
		switch c := data[at]; {
		case comment:
			comment = c != '\r' && c != '\n'
		case c == '%':
			comment = true
		case !blank(c):
			return at
		}
	}
	p.unsure = p.unsure || at < len(data)
	return at
}

// after reads the rest of a dictionary.
func (p *pages) after(data []byte, at int) {
	depth := 0
	for end := min(len(data), at+maxDictionary); at < end; at++ {
		pair := at+1 < len(data) && data[at+1] == data[at]
		switch c := data[at]; {
		case c == '(' || c == '%': // it may hold what looks like the end
			p.unsure = true
		case c == '/':
			at = p.entry(data, at) - 1
		case c == '<' && pair:
			depth++
			at++
		case c == '>' && pair:
			if depth--; depth < 0 {
				return
			}
			at++
		}
	}
	p.unsure = true
}

// before reads the beginning of a dictionary, backwards.
func (p *pages) before(data []byte, at int) {
	depth := 0
	for end := max(0, at-maxDictionary); at > end; {
		at--
		pair := at > 0 && data[at-1] == data[at]
		switch c := data[at]; {
		case c == ')' || c == '%':
			p.unsure = true
		case c == '/':
			p.entry(data, at)
		case c == '>' && pair:
			depth++
			at--
		case c == '<' && pair:
			if depth--; depth < 0 {
				return
			}
			at--
		}
	}
	p.unsure = true
}

// entry reads a key in a node of the tree of pages, and returns where its name ends.
func (p *pages) entry(data []byte, at int) int {
	name, end := nameAt(data, at)
	if name != "Count" {
		return end
	}
	value := p.value(data, end)
	window := data[value:min(len(data), value+maxGap)]
	digits := number.Find(window)
	p.unsure = p.unsure || len(digits) == 0 || reference.Match(window)
	told, _ := strconv.Atoi(string(digits))
	p.told = max(p.told, told)
	return end
}

var (
	number    = regexp.MustCompile(`^\d{1,9}`)
	reference = regexp.MustCompile(`^\d+[\s\x00]+\d+[\s\x00]+R`) // to an object that holds the value
)

// inflate reads the objects in a compressed stream. at is in the dictionary of the stream.
func (p *pages) inflate(data []byte, at int) {
	rest := data[at:min(len(data), at+maxDictionary)]
	head, _, found := bytes.Cut(rest, []byte("stream"))
	if !found || bytes.ContainsAny(head, "(%") { // a string may hold a stream that nobody reads
		p.unsure = true
	}
	if !found {
		return
	}
	body := data[at+len(head)+len("stream"):]
	for i := 0; i < len("\r\n") && len(body) > 0 && (body[0] == '\r' || body[0] == '\n'); i++ {
		body = body[1:]
	}
	in, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		p.unsure = true
		return
	}
	plain, err := io.ReadAll(io.LimitReader(in, p.left+1)) // what a broken stream holds counts too
	if p.left -= int64(len(plain)); p.left < 0 || err != nil {
		p.left, p.unsure = max(0, p.left), true
	}
	p.read(plain)
}

// nameAt returns the name that begins with the slash there, and where it ends. Only a name of at most 8 bytes is told: no
// longer one matters.
func nameAt(data []byte, at int) (name string, end int) {
	var b [9]byte
	n := 0
	limit := min(len(data), at+maxGap)
	for at++; at < limit && !blank(data[at]) && strings.IndexByte("/<>[](){}%", data[at]) < 0; at++ {
		c := data[at]
		if c == '#' && at+2 < len(data) {
			if code, err := strconv.ParseUint(string(data[at+1:at+3]), 16, 8); err == nil {
				c = byte(code)
				at += 2
			}
		}
		if n < len(b) {
			b[n] = c
			n++
		}
	}
	return string(b[:n]), at
}

// blank reports whether a byte is white space in a PDF.
func blank(c byte) bool {
	return c == 0 || c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == ' '
}
