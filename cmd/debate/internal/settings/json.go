package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	p := &jsonParser{name: name, text: text, in: json.NewDecoder(strings.NewReader(text)), line: 1, column: 1}
	p.in.UseNumber()
	if root = p.value(Place{}, 0); p.full {
		return nil, p.wrong
	}
	return root, p.wrong
}

// jsonParser walks through a text that is known to be valid JSON.
type jsonParser struct {
	name, text   string
	in           *json.Decoder
	at           int // where the token begins that was read last
	line, column int // of at
	tally
}

// tally is what a parser has found so far.
type tally struct {
	nodes int
	full  bool // it is too much: nothing more is read
	wrong mistakes
}

// count counts a value at a place. It reports whether there is room for it.
func (t *tally) count(at Place, depth int) bool {
	t.nodes++
	at.Path = "" // it may be long
	switch {
	case t.full:
	case depth > mostDepth:
		t.wrong.addf(at, "lies more than %d levels deep", mostDepth)
		t.full = true
	case t.nodes > mostNodes:
		t.wrong.addf(at, "is too much: a config has at most %d values", mostNodes)
		t.full = true
	}
	return !t.full
}

// token reads the next token. It also returns how the text has it, and its place.
func (p *jsonParser) token() (token json.Token, raw string, at Place) {
	rest := strings.TrimLeft(p.text[p.in.InputOffset():], " \t\r\n,:")
	between := p.text[p.at : len(p.text)-len(rest)] // a long line is not counted anew for each of its tokens
	if last := strings.LastIndexByte(between, '\n'); last >= 0 {
		p.line, p.column = p.line+strings.Count(between, "\n"), 1
		between = between[last+1:]
	}
	p.at, p.column = len(p.text)-len(rest), p.column+utf8.RuneCountInString(between)
	token, _ = p.in.Token() // the text is valid
	return token, p.text[p.at:max(int64(p.at), p.in.InputOffset())], Place{p.name, p.line, p.column, ""}
}

// more reports whether an object or a list has more to read.
func (p *jsonParser) more() bool { return !p.full && p.in.More() }

// value reads a value. at is its place, if it is known already: that of its key.
func (p *jsonParser) value(at Place, depth int) *node {
	token, raw, here := p.token()
	if at.Line == 0 {
		here.Path = at.Path
		at = here
	}
	n := &node{Place: at}
	if !p.count(at, depth) {
		return n
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			n.form = formObject
			p.object(n, depth)
		} else {
			n.form = formList
			for p.more() {
				n.items = append(n.items, p.value(Place{Path: at.Path + "[" + strconv.Itoa(len(n.items)) + "]"}, depth+1))
			}
		}
		p.token() // the end
	case string:
		n.form, n.value = formText, token
		p.paired(at, raw)
	case bool:
		n.form, n.value = formBool, raw
	case json.Number:
		n.form, n.value = formNumber, raw
	default: // null
	}
	return n
}

// object reads the members of an object.
func (p *jsonParser) object(n *node, depth int) {
	seen := make(map[string]Place)
	for p.more() {
		token, raw, at := p.token()
		p.paired(at, raw)
		key, _ := token.(string) // JSON has no other keys
		at.Path = within(n.Path, key)
		value := p.value(at, depth+1)
		if first, twice := seen[key]; twice {
			p.wrong.addf(at, "is a duplicate: first in line %d", first.Line)
			continue
		}
		seen[key] = at
		n.members = append(n.members, member{key, value})
	}
}

// escape matches an escape of a JSON string: a surrogate pair, half of one, which is its group, or another one.
var escape = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)`)

// paired refuses a string with an escape that is half of a surrogate pair. encoding/json puts U+FFFD in its place.
func (p *jsonParser) paired(at Place, raw string) {
	half := func(found []string) bool { return found[1] != "" }
	if slices.ContainsFunc(escape.FindAllStringSubmatch(raw, -1), half) {
		p.wrong.addf(at, `has half of a surrogate pair (\ud800 to \udfff)`)
	}
}

// within returns the path of a key of an object.
func within(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
