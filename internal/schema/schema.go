// Package schema makes JSON Schemas from Go types and checks values against them. Only this package knows
// which libraries do that.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	reflector "github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agonist-dev/debate/internal/strictjson"
)

// Schema is a compiled JSON Schema, draft 2020-12. It is immutable and safe for concurrent use. Compiling
// takes about 0.5 ms, so keep the result.
type Schema struct {
	name     string
	text     json.RawMessage
	compiled *validator.Schema
	acceptor *acceptor // nil: the schema has rules that only the validator knows
}

// Name returns the name that the schema was compiled with.
func (s *Schema) Name() string { return s.name }

// JSON returns the text that the schema was compiled from. The text is shared: do not modify it.
func (s *Schema) JSON() json.RawMessage { return s.text }

// For returns the schema of T as JSON on one line, in a stable order. Nested types are inline. Properties
// that T does not have are not allowed. All properties are required, except those with omitempty or
// omitzero. The schema includes the rules of T's jsonschema tags (minimum, maxItems, enum, nullable,
// description, …).
//
// For fails if T contains itself, or has a channel, function or complex number in it.
func For[T any]() (text json.RawMessage, err error) {
	t := reflect.TypeFor[T]()
	if inner := recursive(t, nil); inner != nil {
		return nil, fmt.Errorf("schema of %s: %s contains itself", t, inner)
	}
	defer func() {
		if r := recover(); r != nil { // the library panics on a type that it does not support
			text, err = nil, fmt.Errorf("schema of %s: %v", t, r)
		}
	}()
	r := reflector.Reflector{DoNotReference: true, Anonymous: true}
	s := r.ReflectFromType(t)
	s.Version = "" // Compile adds the key, and some vendors refuse it
	return json.Marshal(s)
}

// recursive returns a struct type that contains itself, or nil. The library would never return for such a
// type.
func recursive(t reflect.Type, outer []reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		if t.Name() == "" {
			return recursive(t.Elem(), outer)
		}
	case reflect.Struct:
	default:
		return nil
	}
	if slices.Contains(outer, t) {
		return t
	}
	outer = append(outer, t)
	if t.Kind() != reflect.Struct {
		return recursive(t.Elem(), outer)
	}
	for f := range t.Fields() {
		if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" {
			if inner := recursive(f.Type, outer); inner != nil {
				return inner
			}
		}
	}
	return nil
}

// Compile prepares a schema for validation. The name is 1 to 64 letters, digits, '_' and '-', as vendors
// require. Compile loads nothing: it fails if text refers to another document. It also fails if text is
// not strict JSON.
func Compile(name string, text []byte) (s *Schema, err error) {
	if !validName(name) {
		return nil, fmt.Errorf("schema name %.64q: want 1 to 64 letters, digits, '_' and '-'", name)
	}
	v, err := strictjson.Decode(string(text), strictjson.Limits{})
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	if root, ok := v.(map[string]any); ok && root["$schema"] == nil {
		root["$schema"] = draft // without it the library takes "format" for a rule, which the draft does not
	}
	// The decoded value is compiled, not the text: its numbers are floats, so each costs no more than a
	// float.
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("schema %s: %v", name, r)
		}
	}()
	c := validator.NewCompiler()
	c.Draft = validator.Draft2020
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errOutside }
	address := "schema:///" + name
	if err := c.AddResource(address, strings.NewReader(string(plain))); err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	compiled, err := c.Compile(address)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	kept := append(json.RawMessage(nil), text...)
	return &Schema{name: name, text: kept, compiled: compiled, acceptor: acceptorOf(v)}, nil
}

const draft = "https://json-schema.org/draft/2020-12/schema"

var errOutside = errors.New("a reference to another document")

func validName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, c := range name {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
