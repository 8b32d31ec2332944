// Package schema makes JSON schemas of Go types and checks values against them. It is the one place
// that knows which libraries do that.
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

// Schema is a compiled JSON schema, draft 2020-12. It is immutable and safe for concurrent use.
// Compiling takes about 0.5 ms, so keep it.
type Schema struct {
	name     string
	text     json.RawMessage
	compiled *validator.Schema
}

// Name yields the name that the schema was compiled under.
func (s *Schema) Name() string { return s.name }

// JSON yields the text that the schema was compiled from. It is shared: do not modify it.
func (s *Schema) JSON() json.RawMessage { return s.text }

// For yields the schema of T in a stable order, on one line: everything inline, no property that T
// does not have, all of them required but those with omitempty or omitzero. What T's jsonschema tags
// say (minimum, maxItems, enum, nullable, description, …) is in it.
//
// A type that contains itself, or a channel, function or complex number, has no such schema: that is
// an error.
func For[T any]() (text json.RawMessage, err error) {
	t := reflect.TypeFor[T]()
	if inner := recursive(t, nil); inner != nil {
		return nil, fmt.Errorf("schema of %s: %s contains itself", t, inner)
	}
	defer func() {
		if r := recover(); r != nil { // how the library says that it does not support a type
			text, err = nil, fmt.Errorf("schema of %s: %v", t, r)
		}
	}()
	r := reflector.Reflector{DoNotReference: true, Anonymous: true}
	s := r.ReflectFromType(t)
	s.Version = "" // Compile knows it, and some vendors refuse the key
	return json.Marshal(s)
}

// recursive yields a struct type that is part of itself, or nil. The library would never return.
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

// Compile makes text usable for validation. The name is 1 to 64 letters, digits, '_' and '-', as
// vendors want it. Nothing is loaded: a reference to anything outside of text is an error, and so is
// text that is not strict JSON.
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
	// Compiled from what was decoded: its numbers are floats, so none costs more than a float to handle.
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
	return &Schema{name: name, text: kept, compiled: compiled}, nil
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
