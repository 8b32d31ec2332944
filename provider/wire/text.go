package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a JSON string that is a piece of a reply. JSON may write a character as two escapes (a surrogate pair), and
// some servers send them in two pieces. Text keeps such a half as three bytes that are no UTF-8. [Reply] joins the halves
// of two pieces, of its text and of the arguments of each call; [Joined] does that for a text that an adapter has put together itself.
type Text string

// UnmarshalJSON decodes a string.
func (t *Text) UnmarshalJSON(data []byte) error {
	s, err := unquote(data)
	if err == nil {
		*t = Text(s)
	}
	return err
}

// unquote decodes a JSON string, "" for null.
func unquote(data []byte) (string, error) {
	var s string
	if !bytes.Contains(data, []byte(`\u`)) || len(data) == 0 || data[0] != '"' {
		err := json.Unmarshal(data, &s)
		return s, err
	}
	var b strings.Builder
	from := 1
	var failed error
	flush := func(to int) {
		var part string
		if err := json.Unmarshal([]byte(`"`+string(data[from:to])+`"`), &part); err != nil {
			failed = err
		}
		b.WriteString(part)
	}
	for i := 1; i < len(data)-1; i++ {
		if data[i] != '\\' {
			continue
		}
		first := escaped(data[i:])
		switch {
		case first == 0:
			i++
		case first < lowHalf && escaped(data[i+escape:]) >= lowHalf:
			i += 2*escape - 1
		default:
			flush(i)
			b.Write([]byte{0xED, 0x80 | byte(first>>6&0x3F), 0x80 | byte(first&0x3F)})
			from = i + escape
			i = from - 1
		}
	}
	flush(len(data) - 1)
	return b.String(), failed
}

const (
	escape   = len(`\u0000`)
	highHalf = 0xD800
	lowHalf  = 0xDC00
	pastHalf = 0xE000
)

// escaped returns the half of a character that a JSON string writes as an escape, 0 if it begins otherwise.
func escaped(data []byte) rune {
	if len(data) < escape || data[0] != '\\' || data[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(data[2:escape]), 16, 16)
	if err != nil || n < highHalf || n >= pastHalf {
		return 0
	}
	return rune(n)
}

// half returns the half of a character with which a text begins, 0 if it begins otherwise.
func half(text string) rune {
	if len(text) < 3 || text[0] != 0xED || text[1] < 0xA0 || text[1] > 0xBF || text[2]&0xC0 != 0x80 {
		return 0
	}
	return 0xD000 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F)
}

// Joined returns a text of pieces of type [Text] with its halves joined. A half that is left over becomes U+FFFD.
func Joined(text string) string {
	at := strings.IndexByte(text, 0xED)
	if at < 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for ; at < len(text); at++ {
		first := half(text[at:])
		if first == 0 {
			continue
		}
		b.WriteString(text[from:at])
		// DecodeRune returns U+FFFD for two that are no pair.
		joined := utf16.DecodeRune(first, half(text[at+3:]))
		b.WriteRune(joined)
		if from = at + 3; joined != utf8.RuneError {
			from += 3
		}
		at = from - 1
	}
	b.WriteString(text[from:])
	return b.String()
}

// joiner joins the halves that two pieces of one text share.
type joiner struct{ held string }

// next returns a piece, but for a half at its end.
func (j *joiner) next(piece string) string {
	text := j.held + piece
	j.held = ""
	if n := len(text) - 3; n >= 0 {
		if last := half(text[n:]); last != 0 && last < lowHalf {
			text, j.held = text[:n], text[n:]
		}
	}
	return Joined(text)
}

// end returns what is left over.
func (j *joiner) end() string {
	text := j.held
	j.held = ""
	return Joined(text)
}
