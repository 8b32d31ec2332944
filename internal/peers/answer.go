package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// answers checks what the judge says, for the floor and for eino: neither has a judge of its own. The
// schemas are those that debate sends with its requests. They are compiled once.
type answers struct {
	assessment, verdict *jsonschema.Schema
}

// schemas are the texts of the judge's schemas.
type schemas struct {
	assessment, verdict string
}

func newAnswers(texts schemas) (*answers, error) {
	assessment, err := compile("assessment.json", texts.assessment)
	if err != nil {
		return nil, err
	}
	verdict, err := compile("verdict.json", texts.verdict)
	if err != nil {
		return nil, err
	}
	return &answers{assessment, verdict}, nil
}

func compile(name, text string) (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, document); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}

// assess decodes an assessment and validates it.
func (a *answers) assess(text string) (map[string]any, error) { return decode(a.assessment, text) }

// conclude decodes a verdict, validates it and returns the winner's name.
func (a *answers) conclude(text string) (string, error) {
	tree, err := decode(a.verdict, text)
	if err != nil {
		return "", err
	}
	winner, _ := tree["winner"].(map[string]any)
	name, _ := winner["participant"].(string)
	return name, nil
}

func decode(schema *jsonschema.Schema, text string) (map[string]any, error) {
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return nil, err
	}
	if err := schema.Validate(tree); err != nil {
		return nil, err
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%T in place of an object", tree)
	}
	return object, nil
}
