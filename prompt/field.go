package prompt

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/text"
)

// Kind is the kind of value that a [Field] has.
type Kind uint8

// The kinds of values.
const (
	Text   Kind = iota // a text
	Texts              // a list of texts
	Truth              // true or false
	Number             // a number
	Choice             // one of Field.Names
	Object             // an object with the fields of Field.Of
	List               // a list of such objects
	ByName             // an object with one value for each of Field.Names
)

// Field is a field of a structured answer: what a model is told about it, and what the schema says of it.
type Field struct {
	Name string
	Kind Kind
	// Ask says what the field holds, in words. It may contain the placeholder [Names]. "": the name says it.
	Ask string
	// Names are the values of a Choice, the keys of a ByName, and the only texts in Texts, in the order in which a model reads them. No
	// names: any text.
	Names []string
	// Of are the fields of an Object, and of each object in a List. Of a ByName its only element describes the value; its Name is not used,
	// and without it the values are texts.
	Of []Field
	// Null means that null is allowed too.
	Null bool
	// Optional means that the field may be missing. Some vendors then refuse their strict mode.
	Optional bool
}

// Fields are the fields of a structured answer, in the order in which a model writes them: reasons before the marks and decisions that
// rest on them. One list yields the instruction and the schema, so that they cannot contradict each other.
type Fields []Field

// Names is the placeholder for names in [Field].Ask, which [FillNames] replaces. The words of an instruction are rendered once for a
// conversation, and the names differ from call to call.
const Names = string(mark) + "names" + string(mark)

// FillNames replaces every [Names] in a text by the names, in their order: "Ada", "Ben". A text that would become longer than 32 MiB is
// returned as it is.
func FillNames(content string, names []string) string {
	if !strings.Contains(content, Names) {
		return content
	}
	var room [256]byte
	quoted := room[:0]
	for i, name := range names {
		if i > 0 {
			quoted = append(quoted, ", "...)
		}
		quoted = strconv.AppendQuote(quoted, line(name))
	}
	return text.Fill(content, Names, string(quoted))
}

// String returns the fields as an instruction: one line each, those of objects below them, two spaces deeper. Neighbours with the same
// words share a line.
func (f Fields) String() string {
	var room [2048]byte // most are shorter
	return string(f.words(append(room[:0], "Only one JSON object, with these fields in this order:\n"...), 0))
}

// words appends a line for each field, so many levels deep.
func (f Fields) words(out []byte, depth int) []byte {
	for i := 0; i < len(f); i++ {
		out = append(out, '\n')
		for range depth {
			out = append(out, "  "...)
		}
		out = strconv.AppendQuote(append(out, "- "...), f[i].Name)
		for i+1 < len(f) && f[i].shares(&f[i+1]) {
			i++
			out = strconv.AppendQuote(append(out, ", "...), f[i].Name)
		}
		if f[i].Ask != "" {
			out = append(append(out, ": "...), f[i].Ask...)
		}
		if f[i].nests() {
			out = Fields(f[i].Of).words(append(out, ':'), depth+1)
		}
	}
	return out
}

// shares reports whether a field stands on one line with the next one.
func (f *Field) shares(next *Field) bool {
	return f.Ask == next.Ask && f.Ask != "" && !f.nests() && !next.nests()
}

// nests reports whether the fields of a field have lines of their own.
func (f *Field) nests() bool { return (f.Kind == Object || f.Kind == List) && len(f.Of) > 0 }

// Schema returns the fields as a JSON schema on one line. Its objects are closed, and their properties stand in the order of the fields.
// It has no descriptions, because the instruction has the words, and no bounds of numbers, which several vendors drop: whoever reads the
// answer checks them.
func (f Fields) Schema() json.RawMessage {
	return f.object(make([]byte, 0, usualSchema))
}

// usualSchema is how many bytes are enough for most schemas.
const usualSchema = 1536

func (f Fields) object(out []byte) []byte {
	out = append(out, `{"type":"object","properties":{`...)
	for i := range f {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendText(out, f[i].Name), ':')
		out = f[i].schema(out)
	}
	out = append(out, `},"required":[`...)
	first := true
	for i := range f {
		if f[i].Optional {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		out, first = appendText(out, f[i].Name), false
	}
	return append(out, `],"additionalProperties":false}`...)
}

func (f *Field) schema(out []byte) []byte {
	if !f.Null {
		return f.value(out)
	}
	out = f.value(append(out, `{"oneOf":[`...))
	return append(out, `,{"type":"null"}]}`...)
}

func (f *Field) value(out []byte) []byte {
	const list, end = `{"type":"array","items":`, '}'
	switch f.Kind {
	case Texts:
		return append(f.text(append(out, list...)), end)
	case Truth:
		return append(out, `{"type":"boolean"}`...)
	case Number:
		return append(out, `{"type":"number"}`...)
	case Object:
		return Fields(f.Of).object(out)
	case List:
		return append(Fields(f.Of).object(append(out, list...)), end)
	case ByName:
		return f.byName().object(out)
	case Text:
		return append(out, `{"type":"string"}`...)
	case Choice:
	}
	return f.text(out)
}

// text writes the schema of a text, or of a choice of names.
func (f *Field) text(out []byte) []byte {
	if len(f.Names) == 0 {
		return append(out, `{"type":"string"}`...)
	}
	out = appendTexts(append(out, `{"type":"string","enum":`...), f.Names)
	return append(out, '}')
}

// byName returns a field for each name.
func (f *Field) byName() Fields {
	each := Field{}
	if len(f.Of) > 0 {
		each = f.Of[0]
	}
	out := make(Fields, len(f.Names))
	for i, name := range f.Names {
		out[i] = each
		out[i].Name = name
	}
	return out
}

// appendText writes a text as JSON. Most names need no escapes.
func appendText(out []byte, text string) []byte {
	if !strings.ContainsFunc(text, escaped) {
		return append(append(append(out, '"'), text...), '"')
	}
	data, _ := json.Marshal(text) //nolint:errchkjson // a string always marshals
	return append(out, data...)
}

// escaped reports whether JSON may have to escape a character.
func escaped(r rune) bool {
	return r < ' ' || r >= utf8.RuneSelf || strings.ContainsRune(`"\<>&`, r)
}

func appendTexts(out []byte, texts []string) []byte {
	out = append(out, '[')
	for i, text := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(out, text)
	}
	return append(out, ']')
}
