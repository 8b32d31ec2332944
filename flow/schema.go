package flow

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"sync"

	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// Schema is what the answer to a call must match: a JSON schema generated from a Go type, and a check of what a
// JSON schema cannot say. It is compiled once per process and type. It is safe for concurrent use.
type Schema struct {
	shape  reflect.Type
	typ    func() (*compiledType, error) // compiles the type when the schema is first used
	decode func(content string, tree any) (any, error)
	check  func(r *Record, v any) []string
	names  func(r *Record) Names
	mend   func(names Names, tree any) any
	body   func(r *Record, in *Intent, spend Spend, v any) Body
	fields func(r *Record, c *Call) prompt.Fields
	spoken string
}

// Names are the names of a conversation that a schema contains when it is sent.
type Names struct {
	// People are the values of each field whose tag is jsonschema:"enum=participant's name". If the call reads neutral
	// labels, those are sent in their place.
	People []string
}

// AnswerOf describes how an answer of type T is read. The schema of T requires every field unless it is omitempty,
// and allows no other.
type AnswerOf[T any] struct {
	// Mend changes decoded JSON before it is compared with the schema, where it has one reading and another form: a name in
	// small letters, a list of one that is a text. What it leaves is checked as ever, so a wrong change is refused. The mended JSON is
	// recorded, not the model's; a result that cannot be encoded as JSON is a problem of the answer. It may run concurrently. The tree
	// has the types of encoding/json, and may be changed in place. The names are those of the schema that was sent: neutral labels, if
	// the call reads them. nil: nothing is changed.
	Mend func(names Names, tree any) any
	// Check returns the problems of a value that matches the schema, one line each, in the program's own words. It may remove
	// from the value what says nothing. nil: no check is made.
	Check func(r *Record, v *T) []string
	// Read makes the value from decoded JSON that matches the schema. The tree has the types of encoding/json. nil:
	// encoding/json makes the value.
	Read func(tree any) *T
	// Fields returns the fields of the answer, in the order in which a model writes them. The schema that is sent is made of them, at each
	// call, so that it can name whom this call is about; the instruction prints the same fields. If the call reads neutral labels, the
	// fields have labels in place of names; see [Record.Hide]. Fields is pure, and may be called before the conversation has begun: see
	// Flow.Last. What it returns must not change afterwards. A flow that returns the same list again, and not an equal one, spares the
	// making of its schema. An answer is checked against the schema of its type, and then by Check: what the fields demand beyond the type,
	// such as a name, Check must verify. nil: the schema of the type is sent.
	Fields func(r *Record, c *Call) prompt.Fields
	// Names returns the names that the schema of the type contains when it is sent. In the schema against which an answer is checked, a
	// field with the tag jsonschema:"enum=participant's name" accepts any text, and Check must verify the names. nil: the participants that
	// were not dropped.
	Names func(r *Record) Names
	// Spoken names a top-level field of type string whose value is the text of the answer's turn. Readers see the text as it
	// arrives, as they do a free reply, and the other participants read it. "": the turn's text is the JSON, and chunks of it
	// have a Schema. It has no effect on an answer with a Body.
	Spoken string
	// Body makes the event body of an accepted answer: a pointer of a type that Flow.Bodies lists, with the Spend that
	// it was given. Any other body fails the call. nil: a [Turn] that has the answer as its Data.
	Body func(r *Record, in *Intent, spend Spend, v *T) Body
}

// NewSchema makes the schema of T. check is AnswerOf.Check, and may be nil. If T has no JSON schema, that is an
// error.
func NewSchema[T any](name string, check func(r *Record, v *T) []string) (*Schema, error) {
	s := AnswerSchema[T](name, AnswerOf[T]{Check: check})
	_, err := s.typ()
	return s, err
}

// AnswerSchema makes a schema from an [AnswerOf]. The JSON has the schema of Shape, and the value is a T. If Shape
// has no JSON schema, no answer is ever accepted.
func AnswerSchema[Shape, T any](name string, a AnswerOf[T]) *Schema {
	s := &Schema{
		shape: reflect.TypeFor[Shape](), typ: func() (*compiledType, error) { return compileType[Shape](name) },
		names: a.Names, fields: a.Fields, mend: a.Mend, spoken: a.Spoken,
		decode: func(content string, tree any) (any, error) {
			if a.Read != nil {
				return a.Read(tree), nil
			}
			v := new(T)
			return v, json.Unmarshal([]byte(content), v)
		},
		check: func(r *Record, v any) []string {
			if value, ok := v.(*T); ok && a.Check != nil {
				return a.Check(r, value)
			}
			return nil
		},
	}
	if a.Body != nil {
		s.body = func(r *Record, in *Intent, spend Spend, v any) Body {
			value, _ := v.(*T) // decode has made it
			return a.Body(r, in, spend, value)
		}
	}
	return s
}

// Shape returns the type whose schema the JSON of an answer has. nil: the schema is empty.
func (s *Schema) Shape() reflect.Type { return s.shape }

// compiledType is the schema of a type. Compiling takes longer than a whole conversation of scripted models.
type compiledType struct {
	validator *schema.Schema
	json      []byte // contains nameHole in place of the participants' names
}

// compiledTypes holds the compiled schemas by type. It grows to the number of types at most.
var compiledTypes sync.Map //nolint:gochecknoglobals // a cache of pure results

// nameHole marks where the schema of a Go type names the participants of a conversation.
const nameHole = `,"enum":["participant's name"]`

func compileType[T any](name string) (*compiledType, error) {
	key := reflect.TypeFor[T]()
	if found, ok := compiledTypes.Load(key); ok {
		made, _ := found.(*compiledType)
		return made, nil
	}
	data, err := schema.For[T]()
	if err != nil {
		return nil, &Error{Kind: provider.KindValidation, Op: "schema " + name, Err: err}
	}
	validator, err := schema.Compile(name, bytes.ReplaceAll(data, []byte(nameHole), nil))
	if err != nil {
		return nil, &Error{Kind: provider.KindValidation, Op: "schema " + name, Err: err}
	}
	found, _ := compiledTypes.LoadOrStore(key, &compiledType{validator, data})
	made, _ := found.(*compiledType)
	return made, nil
}

// accepted is an answer that matches its schema.
type accepted struct {
	json   string
	value  any
	spoken string // the text of its turn
}

// accept reads an answer strictly. It returns the answer, or the problems. Neutral labels in the answer are read as the
// names for which they stand.
func (s *Schema) accept(r *Record, content string, l *text.Labels) (answer accepted, problems []string) {
	typ, err := s.typ()
	if err != nil {
		return answer, []string{err.Error()}
	}
	content, err = strictjson.Unwrap(content)
	if err != nil {
		return answer, []string{err.Error()}
	}
	tree, err := strictjson.Decode(content, strictjson.Limits{})
	if err != nil {
		return answer, []string{err.Error()}
	}
	if s.mend != nil {
		if content, tree, err = s.mended(r, tree, l); err != nil {
			return answer, []string{err.Error()}
		}
	}
	if problems = typ.validator.Validate(tree); len(problems) > 0 {
		return answer, problems
	}
	if l != nil {
		tree = l.ShowAll("(root)", tree, func(at string) {
			problems = append(problems, at+": a participant is a duplicate: named once by name and once by label")
		})
	}
	value, err := s.decode(content, tree)
	if err != nil {
		return answer, []string{text.OneLine(err.Error(), 200)}
	}
	problems = append(problems, s.check(r, value)...)
	if l != nil { // the re-ask shows labels, not names
		for i := range problems {
			problems[i] = l.Hide(problems[i])
		}
	}
	return accepted{content, value, s.speech(content, tree)}, problems
}

// mended returns an answer in the form of its schema, where that is only another form.
func (s *Schema) mended(r *Record, tree any, l *text.Labels) (content string, mended any, err error) {
	mended = s.mend(s.namesIn(r, l), tree)
	data, err := json.Marshal(mended)
	return string(data), mended, err
}

// narrow returns the schema of the type as a provider gets it, with the names of this conversation or, if l is set, their labels.
func (s *Schema) narrow(r *Record, l *text.Labels) (json.RawMessage, error) {
	if s.typ == nil {
		return nil, errors.New("the schema is empty")
	}
	typ, err := s.typ()
	if err != nil {
		return nil, err
	}
	list, err := json.Marshal(s.namesIn(r, l).People)
	if err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(typ.json, []byte(nameHole), []byte(`,"enum":`+string(list))), nil
}

// namesIn returns the names of this conversation or, if l is set, their labels.
func (s *Schema) namesIn(r *Record, l *text.Labels) Names {
	names := Names{People: r.Active()}
	if s.names != nil {
		names = s.names(r)
	}
	if l != nil {
		names.People = slices.Clone(names.People)
		for i := range names.People {
			names.People[i] = l.Hide(names.People[i])
		}
	}
	return names
}

// speech returns the text of an answer's turn: that of the field that is spoken, or the JSON.
func (s *Schema) speech(answer string, tree any) string {
	if s.spoken == "" {
		return answer
	}
	fields, _ := tree.(map[string]any)
	speech, _ := fields[s.spoken].(string)
	return text.Readable(speech)
}

// reads reports whether a text is JSON of the schema's type.
func (s *Schema) reads(answer string) bool {
	typ, err := s.typ()
	if err != nil {
		return false
	}
	content, err := strictjson.Unwrap(answer)
	if err != nil {
		return false
	}
	tree, err := strictjson.Decode(content, strictjson.Limits{})
	return err == nil && len(typ.validator.Validate(tree)) == 0
}

// streamed returns what the text of an answer's turn would be, if the answer is accepted.
func (s *Schema) streamed(answer string) string {
	content, err := strictjson.Unwrap(answer)
	if err != nil {
		return ""
	}
	tree, err := strictjson.Decode(content, strictjson.Limits{})
	if err != nil {
		return ""
	}
	return s.speech(content, tree)
}
