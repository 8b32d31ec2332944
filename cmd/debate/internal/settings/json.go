package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// parseJSON reads a text as JSON: no comment, no key twice in an object, no half of a surrogate pair.
//
// If the root is nil, the mistakes are of the whole text.
func parseJSON(name, text string) (root *node, wrong mistakes) {
	var all json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		at := len(text)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Offset > 0 && !strings.Contains(err.Error(), "unexpected end") {
			at = int(syntax.Offset) - 1
		}
		line, column := lineOf(text, at)
		if before := strings.TrimRight(text[:min(at, len(text))], " \t\r\n"); at < len(text) && strings.HasSuffix(before, ",") &&
			(text[at] == ']' || text[at] == '}') {
			err = fmt.Errorf("there is a comma before this %q, and nothing behind the comma: remove it", text[at])
		}
		wrong.addf(Place{name, line, column, ""}, "is no JSON: %w", err)
		return nil, wrong
	}
	p := &jsonParser{name: name, text: text, line: 1}
	if root = p.value(Place{}, 0); p.full {
		return nil, p.wrong
	}
	return root, p.wrong
}

// jsonParser walks through a text that is known to be valid JSON.
type jsonParser struct {
	name, text string
	at         int
	line       int // of at
	lineStart  int // the offset at which the line begins
	counted    int // the offset up to which the characters of the line are counted
	characters int // of the line, before counted
	nodes      int
	full       bool // too much was found: nothing more is read
	wrong      mistakes
}

// space moves to the next token.
func (p *jsonParser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case '\n':
			p.line, p.lineStart = p.line+1, p.at+1
		case ' ', '\t', '\r', ',', ':':
		default:
			return
		}
		p.at++
	}
}

// here returns the place of the token at which the parser stands.
func (p *jsonParser) here(path string) Place {
	if p.counted < p.lineStart {
		p.counted, p.characters = p.lineStart, 0
	}
	// A long line is not counted anew for each of its tokens.
	p.characters += utf8.RuneCountInString(p.text[p.counted:p.at])
	p.counted = p.at
	return Place{p.name, p.line, 1 + p.characters, path}
}

// value reads a value. at is its place, if it is known already: that of its key.
func (p *jsonParser) value(at Place, depth int) *node {
	p.space()
	if at.Line == 0 {
		at = p.here(at.Path)
	}
	n := &node{Place: at}
	if p.nodes++; depth > mostDepth || p.nodes > mostNodes || p.full {
		if !p.full {
			at.Path = "" // it may be long
			p.wrong.addf(at, "%w", tooMuch(depth))
		}
		p.full, p.at = true, len(p.text)
		return n
	}
	switch p.text[p.at] {
	case '{':
		n.form = formObject
		p.object(n, depth)
	case '[':
		n.form = formList
		p.at++
		for p.space(); p.at < len(p.text) && p.text[p.at] != ']'; p.space() {
			n.items = append(n.items, p.value(Place{Path: at.Path + "[" + strconv.Itoa(len(n.items)) + "]"}, depth+1))
		}
		p.at++
	case '"':
		n.form, n.value = formText, p.string(at)
	default:
		end := p.at
		for end < len(p.text) && !strings.ContainsRune(" \t\r\n,]}", rune(p.text[end])) {
			end++
		}
		n.value, p.at = p.text[p.at:end], end
		switch n.value[0] {
		case 'n':
			n.form, n.value = formNull, ""
		case 't', 'f':
			n.form = formBool
		default:
			n.form = formNumber
		}
	}
	return n
}

func (p *jsonParser) object(n *node, depth int) {
	p.at++
	seen := make(map[string]Place)
	for p.space(); p.at < len(p.text) && p.text[p.at] != '}'; p.space() {
		at := p.here("")
		key := p.string(at)
		at.Path = within(n.Path, key)
		value := p.value(at, depth+1)
		if first, twice := seen[key]; twice {
			p.wrong.addf(at, "is a duplicate: first in line %d", first.Line)
			continue
		}
		seen[key] = at
		n.members = append(n.members, member{key, value})
	}
	p.at++
}

// string reads a string. It never spans lines.
func (p *jsonParser) string(at Place) (value string) {
	start := p.at
	for p.at++; p.at < len(p.text) && p.text[p.at] != '"'; p.at++ {
		if p.text[p.at] == '\\' {
			p.at++
		}
	}
	p.at = min(p.at+1, len(p.text))
	raw := p.text[start:p.at]
	if p.full {
		return ""
	}
	if halfPair(raw) {
		p.wrong.addf(at, `has half of a surrogate pair (\ud800 to \udfff)`)
	}
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		p.wrong.addf(at, "%w", err)
	}
	return value
}

// halfPair reports whether a JSON string has an escape that is half of a surrogate pair. encoding/json would put U+FFFD in
// its place.
func halfPair(raw string) bool {
	var first rune // of a pair that is not complete
	for i := 0; i < len(raw); i++ {
		var unit rune
		if raw[i] == '\\' && i+1 < len(raw) {
			if raw[i+1] == 'u' && i+6 <= len(raw) {
				code, err := strconv.ParseUint(raw[i+2:i+6], 16, 16)
				if err == nil && utf16.IsSurrogate(rune(code)) {
					unit = rune(code)
				}
				i += 5
			} else {
				i++
			}
		}
		switch {
		case first != 0 && utf16.DecodeRune(first, unit) != utf8.RuneError:
			first = 0
		case first != 0:
			return true
		default:
			first = unit
		}
	}
	return first != 0
}

// within returns the path of a key of an object.
func within(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func tooMuch(depth int) error {
	if depth > mostDepth {
		return fmt.Errorf("lies more than %d levels deep", mostDepth)
	}
	return fmt.Errorf("is too much: a config has at most %d values", mostNodes)
}
