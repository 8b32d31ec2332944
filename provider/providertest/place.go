package providertest

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"unicode/utf8"
)

// lastBytes is how many bytes at the end of an answer are places, each of them: the end is signaled there.
const lastBytes = 16

// places returns where the short form of the suite cuts an answer, in order: at the byte before, a reader has something else before
// it. That is
//
//   - before, within and behind the end of a line, and in its middle,
//   - within the first character of a line that has more bytes than one, and within its first escape,
//   - at the borders of a frame's parts, and in the middle of each part,
//   - none of these in a line or frame that looks like two others before it, but for its texts and numbers, nor in a third header,
//   - behind each part of a document, which is one line for a reader,
//   - at each of the last bytes.
func (m message) places() []int {
	data := m.bytes()
	head := len(data) - len(m.body)
	p := placed{marked: make([]bool, len(data)), seen: map[string]int{}}
	p.mark(everyByte(len(data))[max(0, len(data)-lastBytes):]...)
	if m.isFramed() {
		p.frames(head, m.frames())
		p.lines(data[:head], head)
	} else {
		p.lines(data, head)
	}
	if strings.HasPrefix(m.header("content-type"), "application/json") {
		for n := head; n < len(data); n++ {
			if strings.IndexByte(`{}[],`, data[n]) >= 0 {
				p.mark(n + 1)
			}
		}
	}
	var list []int
	for n, is := range p.marked {
		if is {
			list = append(list, n)
		}
	}
	return list
}

// placed collects the places of an answer.
type placed struct {
	marked []bool
	seen   map[string]int // lines and frames, by how they look
}

func (p *placed) mark(places ...int) {
	for _, n := range places {
		if n >= 0 && n < len(p.marked) {
			p.marked[n] = true
		}
	}
}

// another reports whether a line or frame looks like at most one before it.
func (p *placed) another(part []byte) bool {
	kind := look(part)
	p.seen[kind]++
	return p.seen[kind] <= 2
}

func (p *placed) frames(at int, frames [][]byte) {
	for _, f := range frames {
		if len(f) < frameEnds || p.another(f[frameEnds-frameCheck:len(f)-frameCheck]) {
			p.mark(framePlaces(at, f)...)
		}
		at += len(f)
	}
}

// lines marks the places of lines, of which those before head are headers.
func (p *placed) lines(lines []byte, head int) {
	for begin := 0; begin < len(lines); {
		n := bytes.IndexAny(lines[begin:], "\r\n")
		if n < 0 {
			n = len(lines) - begin
		}
		line := lines[begin : begin+n]
		like := line
		if name, _, ok := bytes.Cut(line, []byte(": ")); ok && begin < head && !bytes.Contains(name, []byte(" ")) {
			like = []byte("a header")
		}
		if p.another(like) || n == 0 && p.marked[begin] {
			p.mark(linePlaces(begin, line)...)
		}
		begin += n + 1
	}
}

// varying is what differs between lines that look alike: texts with the names of their fields, and numbers.
var varying = regexp.MustCompile(`"(\w+)"\s*:\s*"(\\.|[^"\\])*"|[0-9]+`)

// look returns a line without its texts and numbers. What it says of a type is kept.
func look(line []byte) string {
	return string(varying.ReplaceAllFunc(line, func(part []byte) []byte {
		if bytes.HasPrefix(part, []byte(`"type"`)) {
			return part
		}
		name, _, _ := bytes.Cut(part, []byte(":"))
		return bytes.TrimLeft(name, "0123456789")
	}))
}

// linePlaces returns the places of a line that begins at a byte of the answer.
func linePlaces(at int, line []byte) []int {
	list := []int{at, at + len(line)/2, at + len(line), at + len(line) + 1}
	if n := bytes.IndexFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }); n >= 0 {
		list = append(list, at+n+1)
	}
	if n := bytes.IndexByte(line, '\\'); n >= 0 {
		list = append(list, at+n+1, at+n+3) // of \u00e9 there is half
	}
	return list
}

// framePlaces does the same for a frame of AWS: two lengths and their checksum, the headers, the payload, and a checksum.
func framePlaces(at int, frame []byte) []int {
	const lengths, sums = 8, frameEnds - frameCheck
	if len(frame) < frameEnds {
		return []int{at, at + len(frame)/2}
	}
	headers := sums + min(len(frame)-frameEnds, int(binary.BigEndian.Uint32(frame[4:])))
	end := len(frame) - frameCheck
	var list []int
	for _, n := range []int{0, 1, 4, lengths, sums, (sums + headers) / 2, headers, (headers + end) / 2, end, end + 1} {
		list = append(list, at+n)
	}
	return list
}

// everyByte returns the places of an answer in the long form of the suite.
func everyByte(size int) []int {
	list := make([]int, size)
	for n := range list {
		list[n] = n
	}
	return list
}
