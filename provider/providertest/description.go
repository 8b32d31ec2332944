package providertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Description is what a vendor publishes about the body of a request: a JSON Schema. It is safe for
// concurrent use.
type Description struct {
	schema *jsonschema.Schema
	name   string
	defs   map[string]any // what the schema is made of, by name
}

// ReadDescription reads a definition from a file in testdata. The file is a JSON Schema of the draft
// 2020-12 with its definitions under $defs.
func ReadDescription(path, name string) (*Description, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("the schema refers to %s", url) }
	const url = "https://published.invalid/requests.json"
	if err := c.AddResource(url, bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	schema, err := c.Compile(url + "#/$defs/" + name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Description{schema: schema, name: name, defs: file.Defs}, nil
}

// Check returns what is wrong with a request's body: what the schema does not allow, and each field that
// it does not name. Most schemas allow any further field, but a vendor ignores or refuses it.
func (d *Description) Check(body []byte) error {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	list := d.unnamed("", value, []any{map[string]any{"$ref": "#/$defs/" + d.name}})
	return errors.Join(append(list, d.schema.Validate(value))...)
}

// unnamed returns the fields of a value that none of the schemas names.
func (d *Description) unnamed(place string, value any, schemas []any) []error {
	nodes := d.spread(schemas, 0)
	var list []error
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			below, open := fieldOf(nodes, name)
			switch {
			case len(below) > 0:
				list = append(list, d.unnamed(place+"/"+name, field, below)...)
			case !open:
				list = append(list, fmt.Errorf("%s/%s: the description names no such field", place, name))
			}
		}
	case []any:
		var below []any
		for _, n := range nodes {
			if items, ok := n["items"]; ok {
				below = append(below, items)
			}
		}
		for i := range v {
			if len(below) > 0 {
				list = append(list, d.unnamed(place+"/"+strconv.Itoa(i), v[i], below)...)
			}
		}
	}
	return list
}

// fieldOf returns the schemas of a field. open says that a schema describes an object of any fields.
func fieldOf(nodes []map[string]any, name string) (list []any, open bool) {
	for _, n := range nodes {
		properties, named := n["properties"].(map[string]any)
		further, given := n["additionalProperties"]
		closed := given && further == false
		if schema, ok := properties[name]; ok {
			list = append(list, schema)
		} else if given && !closed {
			list = append(list, further)
		}
		open = open || (!named && !closed && (n["type"] == "object" || len(n) == 0))
	}
	return list, open
}

// spread returns the schemas that these stand for: what they refer to, and their alternatives.
func (d *Description) spread(schemas []any, depth int) []map[string]any {
	const deep = 32 // a schema may refer to itself
	var list []map[string]any
	for _, schema := range schemas {
		node, ok := schema.(map[string]any)
		if !ok {
			if schema == true {
				list = append(list, map[string]any{})
			}
			continue
		}
		if depth == deep {
			continue
		}
		list = append(list, node)
		var next []any
		if ref, ok := node["$ref"].(string); ok {
			next = append(next, d.defs[strings.TrimPrefix(ref, "#/$defs/")])
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			if some, ok := node[key].([]any); ok {
				next = slices.Concat(next, some)
			}
		}
		list = append(list, d.spread(next, depth+1)...)
	}
	return list
}
