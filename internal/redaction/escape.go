package redaction

import (
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxEscaped is how often a text is looked for within JSON that is a text within JSON that is a text. Each time costs a copy of the value.
const maxEscaped = 2

// view is a value as it reads once the escapes of JSON strings in it are undone, all of them, whoever has written them: "\u00eb", "\u00EB",
// "\/" and "\n".
type view struct {
	text string
	at   []int // for each byte of the text and for its end, where that begins in the value; nil: there
}

// hit is a text that was found in a value, and where it stands there.
type hit struct {
	from, to int
	part     string
}

// views returns the value as it is, and as it reads as JSON within JSON.
func views(value string) iter.Seq[view] {
	return func(yield func(view) bool) {
		v := view{text: value}
		for range maxEscaped {
			if !yield(v) {
				return
			}
			if !strings.Contains(v.text, `\`) {
				return
			}
			v = v.unescaped()
		}
		yield(v)
	}
}

// place returns where a byte of the text begins in the value.
func (v view) place(i int) int {
	if v.at == nil {
		return i
	}
	return v.at[i]
}

// find adds all places of a text.
func (v view) find(part string, all []hit) []hit {
	for i := 0; ; i++ {
		k := strings.Index(v.text[i:], part)
		if k < 0 {
			return all
		}
		i += k
		all = append(all, hit{v.place(i), v.place(i + len(part)), part})
	}
}

// unescaped returns the text without one layer of escapes. What is no escape of JSON stays.
func (v view) unescaped() view {
	out := make([]byte, 0, len(v.text))
	at := make([]int, 0, len(v.text)+1)
	for i := 0; i < len(v.text); {
		shown, n := unescape(v.text[i:])
		for range len(shown) {
			at = append(at, v.place(i))
		}
		out = append(out, shown...)
		i += n
	}
	return view{string(out), append(at, v.place(len(v.text)))}
}

// unescape returns what a text begins with, a byte or an escape, as it reads, and its length.
func unescape(text string) (shown string, n int) {
	if text[0] != '\\' || len(text) < 2 {
		return text[:1], 1
	}
	if k := strings.IndexByte(`"\/bfnrt`, text[1]); k >= 0 {
		return "\"\\/\b\f\n\r\t"[k : k+1], 2
	}
	c, ok := unit(text)
	if !ok {
		return text[:1], 1
	}
	if utf16.IsSurrogate(c) {
		low, _ := unit(text[6:])
		if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
			return text[:1], 1 // half of a rune
		}
		return string(c), 12
	}
	return string(c), 6
}

// unit reads an escape such as "\u00eb".
func unit(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	c, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(c), err == nil
}
