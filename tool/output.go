package tool

import (
	"fmt"
	"slices"
	"strings"
)

// output keeps the beginning and the end of what a program prints.
type output struct {
	half  int // bytes of each
	head  []byte
	tail  []byte // at least the last bytes; what is before them is dropped now and then
	total int64
}

func (o *output) Write(p []byte) (int, error) {
	n := len(p)
	o.total += int64(n)
	some := min(o.half-len(o.head), n)
	o.head = append(o.head, p[:some]...)
	p = p[some:]
	if len(p) > o.half {
		p = p[len(p)-o.half:]
	}
	if len(o.tail)+len(p) > 4*o.half {
		o.tail = append(o.tail[:0], o.tail[len(o.tail)-o.half:]...)
	}
	o.tail = append(o.tail, p...)
	return n, nil
}

// String returns what was kept, as text: what is none becomes question marks, which take no more room.
func (o *output) String() string {
	tail := o.tail[max(0, len(o.tail)-o.half):]
	middle := ""
	if left := o.total - int64(len(o.head)+len(tail)); left > 0 {
		middle = fmt.Sprintf("\n[… %d bytes are left out]\n", left)
	}
	if middle == "" { // a character may stand on both sides
		return text(slices.Concat(o.head, tail))
	}
	return text(o.head) + middle + text(tail)
}

func text(printed []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(printed), "?"), "\x00", "?")
}
