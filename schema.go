package debate

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/strictjson"
)

// Schema is what the answer to a call must match: a JSON schema generated from a Go type, and a
// check of what no schema can say. It is compiled once per process and type, and safe for
// concurrent use.
type Schema struct {
	name   string
	typ    *compiledType
	err    error
	decode func(text string, tree any) (any, error)
	check  func(r *Record, v any) []string
	wire   func(names, criteria []string, schema []byte) []byte
	last   atomic.Pointer[narrowed]
}

// narrowed is a schema with the names of a debate. The next debate often has the same.
type narrowed struct {
	participants, criteria []string
	json                   json.RawMessage
}

// NewSchema makes the schema of T, whose fields are all required unless they are omitempty, with
// nothing else allowed. check, which may be nil, says what is wrong with a value that matches: in
// the program's own words, one line each. The value that it accepts is the Data of a turn.
func NewSchema[T any](name string, check func(r *Record, v *T) []string) (*Schema, error) {
	s := schemaOf(name, check)
	return s, s.err
}

// schemaOf is NewSchema for types that are known to compile; otherwise no answer is ever accepted.
func schemaOf[T any](name string, check func(r *Record, v *T) []string) *Schema {
	typ, err := compileType[T](name)
	return &Schema{
		name: name, typ: typ, err: err,
		decode: func(text string, _ any) (any, error) {
			v := new(T)
			return v, json.Unmarshal([]byte(text), v)
		},
		check: func(r *Record, v any) []string {
			if check == nil {
				return nil
			}
			value, ok := v.(*T)
			if !ok {
				return []string{"the value is of another type"}
			}
			return check(r, value)
		},
	}
}

// compiledType is a type's schema; compiling takes longer than a whole debate of scripted models.
type compiledType struct {
	validator *schema.Schema
	json      []byte // with the participants' names still open
}

// compiledTypes holds what was compiled, by type: it only ever grows, to the number of types.
var compiledTypes sync.Map //nolint:gochecknoglobals // a cache of pure results

// nameHole marks, in the schema of a Go type, where a debate's participants are named.
const nameHole = `,"enum":["participant's name"]`

func compileType[T any](name string) (*compiledType, error) {
	key := reflect.TypeFor[T]()
	if found, ok := compiledTypes.Load(key); ok {
		made, _ := found.(*compiledType)
		return made, nil
	}
	data, err := schema.For[T]()
	if err != nil {
		return nil, &Error{Kind: KindValidation, Op: "schema " + name, Err: err}
	}
	validator, err := schema.Compile(name, bytes.ReplaceAll(data, []byte(nameHole), nil))
	if err != nil {
		return nil, &Error{Kind: KindValidation, Op: "schema " + name, Err: err}
	}
	found, _ := compiledTypes.LoadOrStore(key, &compiledType{validator, data})
	made, _ := found.(*compiledType)
	return made, nil
}

// accept takes an answer apart, strictly. It yields the JSON itself and the value, or what is wrong.
// Neutral labels in the answer are read as the names for which they stand.
func (s *Schema) accept(r *Record, text string, l *labels) (answer string, value any, problems []string) {
	if s.err != nil {
		return "", nil, []string{s.err.Error()}
	}
	text, err := strictjson.Unwrap(text)
	if err != nil {
		return "", nil, []string{err.Error()}
	}
	tree, err := strictjson.Decode(text, strictjson.Limits{})
	if err != nil {
		return "", nil, []string{err.Error()}
	}
	if problems = s.typ.validator.Validate(tree); len(problems) > 0 {
		return "", nil, problems
	}
	if l != nil {
		tree = l.showAll("(root)", tree, func(at string) {
			problems = append(problems, at+": a participant stands there twice, by name and by label")
		})
	}
	if value, err = s.decode(text, tree); err != nil {
		return "", nil, []string{oneLine(err.Error(), 200)}
	}
	problems = append(problems, s.check(r, value)...)
	if l != nil { // whoever is asked again knows the labels only
		for i := range problems {
			problems[i] = l.hide(problems[i])
		}
	}
	return text, value, problems
}

// narrow yields the schema as a provider gets it, with the names of this debate.
// With labels these stand for them.
func (s *Schema) narrow(r *Record, l *labels) (json.RawMessage, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.typ == nil {
		return nil, errors.New("the schema is empty")
	}
	names, criteria := namesOf(r.Contestants()), r.criteria()
	if l != nil {
		for i := range names {
			names[i] = l.hide(names[i])
		}
	}
	if last := s.last.Load(); last != nil && slices.Equal(last.participants, names) && slices.Equal(last.criteria, criteria) {
		return last.json, nil
	}
	list, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	out := bytes.ReplaceAll(s.typ.json, []byte(nameHole), []byte(`,"enum":`+string(list)))
	if s.wire != nil {
		out = s.wire(names, criteria, out)
	}
	s.last.Store(&narrowed{names, slices.Clone(criteria), out})
	return out, nil
}

func namesOf(participants []Participant) []string {
	names := make([]string, len(participants))
	for i := range participants {
		names[i] = participants[i].Name
	}
	return names
}

func judgementSchema() *Schema {
	s := schemaOf(string(KindAssessment), checkJudgement)
	s.decode = func(_ string, tree any) (any, error) { return judgementOf(tree), nil }
	return s
}

// rubricSchema is that of an assessment by a rubric; the value is a Judgement all the same.
func rubricSchema() *Schema {
	s := schemaOf[RubricJudgement](schemaRubric, nil)
	s.decode = func(_ string, tree any) (any, error) { return judgementOf(tree), nil }
	s.check = func(r *Record, v any) []string {
		j, ok := v.(*Judgement)
		if !ok {
			return []string{"the value is of another type"}
		}
		return checkMarks(r, j)
	}
	s.wire = func(_, criteria []string, data []byte) []byte {
		marks := closed(criteria, `{"type":"number","minimum":0,"maximum":10}`)
		return bytes.Replace(data, []byte(`{"additionalProperties":{"type":"number"},"type":"object"`), []byte(marks), 1)
	}
	return s
}

// schemaRubric is the name of the schema of an assessment by a rubric.
const schemaRubric = "assessment-by-rubric"

// verdictSchema names the keys of the scores and criteria for the provider: a strict mode takes no
// open maps. The local check stays with the Go type.
func verdictSchema() *Schema {
	s := schemaOf(string(KindVerdict), checkVerdict)
	s.decode = func(_ string, tree any) (any, error) { return verdictOf(tree), nil }
	s.wire = func(names, criteria []string, data []byte) []byte {
		scores := closed(names, `{"type":"number","minimum":0,"maximum":100}`)
		findings := closed(criteria, `{"type":"string"}`)
		data = bytes.Replace(data, []byte(`{"additionalProperties":{"type":"number"},"type":"object"`), []byte(scores), 1)
		return bytes.Replace(data, []byte(`{"additionalProperties":{"type":"string"},"type":"object"`), []byte(findings), 1)
	}
	return s
}

// closed begins the schema of an object that has exactly these keys; its last brace is left open.
func closed(keys []string, each string) string {
	var properties, required []string
	for _, key := range keys {
		name, _ := json.Marshal(key) //nolint:errchkjson // a string always marshals
		properties = append(properties, string(name)+":"+each)
		required = append(required, string(name))
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") +
		`],"additionalProperties":false`
}
