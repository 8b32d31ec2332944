package flow

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// JSON is read in two steps:
//  1. The decoded value is compared with the Go type that it is for. That finds all problems, each with its path.
//  2. If there are none, encoding/json reads the value. Alone it would stop at the first problem, and its errors name
//     Go types.

// MaxProblems bounds the problems that [DecodeStrict] reports for one JSON value. A hostile value can have any number.
const MaxProblems = 50

// maxJSON bounds the size of a JSON value, in bytes.
const maxJSON = 64 << 20

// maxItems bounds the items of a list. Even an empty item takes hundreds of bytes in Go.
const maxItems = 1 << 16

// DecodeStrict reads one JSON value, as configs are read. Unlike encoding/json it refuses an unknown key, a key
// that comes twice, a key in another case, and anything after the value. op names the operation in errors, such as
// "read config". Flow.Decode uses it, and so do UnmarshalJSON methods of configs.
//
// The error joins one *[Error] of kind validation for each problem, up to [MaxProblems] of them. Its Field is the
// path of the problem, such as "agents[1].model". The path is empty if the problem concerns the whole value.
//
// into must be a non-nil pointer. The value is at most 64 MiB.
//
// Types with readers of their own (json.Unmarshaler, encoding.TextUnmarshaler) are called twice for each of their
// values: once to find problems, and once to read the value.
func DecodeStrict(op string, data []byte, into any) error {
	if v := reflect.ValueOf(into); v.Kind() != reflect.Pointer || v.IsNil() {
		return &Error{Kind: provider.KindValidation, Op: op, Err: fmt.Errorf("a %T cannot be written to", into)}
	}
	tree, err := strictjson.Decode(string(data), strictjson.Limits{Bytes: maxJSON, Depth: 100, Path: 200, Exact: true})
	if broken, ok := errors.AsType[*strictjson.Error](err); ok {
		at := broken.Path
		broken.Path = "" // Field holds the path
		return errors.Join(&Error{Kind: provider.KindValidation, Op: op, Field: at, Err: broken})
	}
	found := problems(tree, reflect.TypeOf(into))
	if len(found) == 0 {
		found = explained(tree, json.Unmarshal(data, into))
	}
	for _, err := range found {
		if e, ok := errors.AsType[*Error](err); ok && e.Field == "" && !strings.HasPrefix(e.Err.Error(), "the JSON ") {
			e.Err = fmt.Errorf("the JSON %w", e.Err)
		}
	}
	return errors.Join(Within(op, "", found...)...)
}

// maxForeign bounds the JSON of a flow or a host program that a log keeps, in bytes.
const maxForeign = 16 << 20

// ReadableJSON returns an error if a log that holds this JSON could not be read again. The JSON of a config, or of the payload
// of a [Sent], is at most 16 MiB, nests at most 80 deep, and has no key twice in one object. [Core.Step] checks payloads
// itself. A runtime checks configs, unless [Flow].Readable is set. Empty JSON is readable.
func ReadableJSON(data json.RawMessage) error {
	if len(data) == 0 {
		return nil
	}
	const depth = 80 // less than readers allow, because the JSON stands inside an event
	_, err := strictjson.Decode(string(data), strictjson.Limits{Bytes: maxForeign, Depth: depth, Path: 200, Exact: true})
	return err
}

// Within returns errors about a part of a value as errors about the whole value: one *[Error] for each, with op as its
// Op, and with at, the path of the part, before its Field. Joined errors are split. An error of another type becomes
// the cause of an Error of kind validation.
func Within(op, at string, all ...error) (out []error) {
	for _, err := range all {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			out = append(out, Within(op, at, joined.Unwrap()...)...)
			continue
		}
		e := Error{Kind: provider.KindValidation, Err: err}
		if own, ok := err.(*Error); ok { //nolint:errorlint // one that is wrapped has a field of something else
			e = *own
		}
		e.Op = op
		if at != "" && e.Field != "" && e.Field[0] != '[' {
			e.Field = "." + e.Field
		}
		e.Field = at + e.Field
		out = append(out, &e)
	}
	return out
}

// shaped is implemented by types whose own reader reads the JSON of another type. jsonShape returns a value of that
// type.
type shaped interface{ jsonShape() any }

func (*Budget) jsonShape() any      { return budgetJSON{} }
func (*RetryPolicy) jsonShape() any { return retryJSON{} }
func (*Error) jsonShape() any       { return errorJSON{} }

// problems returns what prevents a decoded value from being read as the type. The paths begin at the value.
func problems(tree any, t reflect.Type) []error {
	if tree == nil && t.Kind() == reflect.Pointer {
		return nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reads(t) {
		if own, ok := reflect.TypeAssert[shaped](reflect.New(t)); ok {
			return problems(tree, reflect.TypeOf(own.jsonShape()))
		}
	} else {
		switch v := tree.(type) {
		case []any:
			if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
				return problemsOfList(v, t.Elem())
			}
		case map[string]any:
			if t.Kind() == reflect.Struct || t.Kind() == reflect.Map {
				return problemsOfObject(v, t)
			}
		}
	}
	return problemsOfLeaf(tree, t)
}

func problemsOfList(list []any, t reflect.Type) (found []error) {
	if len(list) > maxItems {
		return []error{fmt.Errorf("has %d items: at most %d are read", len(list), maxItems)}
	}
	for i := range list {
		if one := problems(list[i], t); len(one) > 0 {
			found = append(found, Within("", fmt.Sprintf("[%d]", i), one...)...)
		}
		if len(found) >= MaxProblems {
			return found[:MaxProblems]
		}
	}
	return found
}

func problemsOfObject(object map[string]any, t reflect.Type) (found []error) {
	for key, value := range order.ByKey(object) {
		var one []error
		if inner, known := member(t, key); known {
			one = problems(value, inner)
		} else {
			one = []error{text.UnknownKey(key, keys(t)...)}
		}
		if len(one) > 0 {
			at := text.OneLine(key, 80)
			if key == "" {
				at = `""`
			}
			found = append(found, Within("", at, one...)...)
		}
		if len(found) >= MaxProblems {
			return found[:MaxProblems]
		}
	}
	return found
}

// problemsOfLeaf lets the type itself read a value whose inside is unknown.
func problemsOfLeaf(tree any, t reflect.Type) []error {
	if t.Kind() == reflect.Interface || t == reflect.TypeFor[json.RawMessage]() {
		return nil
	}
	is, wants := strictjson.Kind(tree), kindOfType(t)
	if tree != nil && wants != "" && wants != is {
		err := fmt.Errorf("is %s, not %s", is, wants)
		if t == reflect.TypeFor[Duration]() {
			err = WithMend(fmt.Errorf("%w such as \"90s\"", err), "write a text such as \"90s\" or \"10m\"")
		}
		return Within("", "", err)
	}
	if kind := t.Kind(); (kind == reflect.String || kind == reflect.Bool) && !reads(t) {
		return nil
	}
	piece, err := json.Marshal(tree)
	if err == nil {
		err = json.Unmarshal(piece, reflect.New(t).Interface())
	}
	if err != nil && t == reflect.TypeFor[time.Time]() {
		err = fmt.Errorf("%s is not a time such as \"2026-01-31T12:00:00Z\"", text.OneLine(string(piece), 40))
	}
	return explained(tree, err)
}

// explained rewrites a reader's error about a value so that it names no Go type.
func explained(tree any, err error) []error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok || strings.HasPrefix(err.Error(), "json: ") {
		number, _ := tree.(json.Number)
		switch {
		case number == "":
			err = fmt.Errorf("is %s, which is not allowed here", strictjson.Kind(tree))
		case strings.Contains(string(number), "."):
			err = fmt.Errorf("is %s, not a whole number", text.OneLine(string(number), 40))
		default:
			err = fmt.Errorf("is %s, which is out of range", text.OneLine(string(number), 40))
		}
	}
	switch err.(type) { //nolint:errorlint // what is wrapped is not all that is said
	case *Error, interface{ Unwrap() []error }:
	default:
		err = shorten(err)
	}
	return Within("", "", err)
}

// kindOfType returns the kind of JSON that a type is read from, in the words of [strictjson.Kind]. "": only the
// type's own reader knows.
func kindOfType(t reflect.Type) string {
	if reads(t) {
		if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return ""
		}
		return "a text"
	}
	if t == reflect.TypeFor[json.Number]() {
		return "a number"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Array:
		return "a list"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "" // bytes are read from text
		}
		return "a list"
	default:
		return "a number"
	}
}

// reads reports whether a type has a reader of its own.
func reads(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.NumMethod() > 0 && // a fast check
		(p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()))
}

// member returns the type of an object's value under a key, and whether the key is known. As in encoding/json, a
// type's own field takes precedence over an embedded one.
func member(t reflect.Type, key string) (inner reflect.Type, known bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	var embedded []reflect.Type
	for field := range t.Fields() {
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		inside := field.Type
		if inside.Kind() == reflect.Pointer {
			inside = inside.Elem()
		}
		switch {
		case tag == "-":
		case field.Anonymous && name == "" && inside.Kind() == reflect.Struct:
			embedded = append(embedded, inside)
		case !field.IsExported():
		case name == key || name == "" && field.Name == key:
			if strings.Contains(options, "string") {
				return reflect.TypeFor[string](), true // a number or the like, written as text
			}
			return field.Type, true
		}
	}
	for _, t := range embedded {
		if inner, known := member(t, key); known {
			return inner, known
		}
	}
	return nil, false
}

// keys returns the keys of an object that is read into a struct.
func keys(t reflect.Type) (all []string) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for field := range t.Fields() {
		tag := field.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		inside := field.Type
		if inside.Kind() == reflect.Pointer {
			inside = inside.Elem()
		}
		switch {
		case tag == "-":
		case field.Anonymous && name == "" && inside.Kind() == reflect.Struct:
			all = append(all, keys(inside)...)
		case field.IsExported():
			all = append(all, cmp.Or(name, field.Name))
		}
	}
	return all
}
