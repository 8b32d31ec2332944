package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/provider"
)

// described are the flows whose configs have a JSON schema.
func described() map[string]struct {
	folder string
	config reflect.Type
} {
	return map[string]struct {
		folder string
		config reflect.Type
	}{
		debate.FlowName:       {"", reflect.TypeFor[debate.Config]()},
		deliberation.FlowName: {"deliberation", reflect.TypeFor[deliberation.Config]()},
		arbiter.FlowName:      {"arbiter", reflect.TypeFor[arbiter.Config]()},
	}
}

// registered returns an engine that has these flows.
func registered() *debate.Engine {
	return &debate.Engine{Flows: map[string]*debate.Flow{
		deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow(),
	}}
}

// object is a JSON schema, or the properties in one.
type object = map[string]any

// schemas makes the JSON schema of a config, with what the page of configs says of its fields.
type schemas struct {
	*page

	defs object
}

// configSchema writes the JSON schema of the configs of a flow.
func configSchema(t *testing.T, name string, config reflect.Type) string {
	t.Helper()
	s := schemas{newPage(t, ""), object{}}
	s.defaults = true
	properties := s.properties(config)
	properties["flow"] = object{"type": "string", "examples": []string{name}, "description": "the name of the flow"}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Config of the flow " + name, "type": "object",
		"properties": properties, "additionalProperties": false, "$defs": s.defs,
	}))
	return out.String()
}

// properties describes the fields of a struct.
func (s schemas) properties(t reflect.Type) object {
	all := object{}
	src := s.sources.of(s.T, t.PkgPath())
	fields := src.fields[t.Name()]
	for i := range fields {
		f, ok := t.FieldByName(fields[i].name)
		if !ok || !f.IsExported() {
			continue
		}
		if f.Anonymous && fields[i].key == "" {
			maps.Copy(all, s.properties(f.Type))
			continue
		}
		if key := s.keyOf(f); key != "" {
			one := s.schemaOf(f.Type)
			if text := s.said(src, t, fields, i); text != "" {
				one["description"] = text
			}
			all[key] = one
		}
	}
	return all
}

// schemaOf describes a type.
func (s schemas) schemaOf(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Duration](), reflect.TypeFor[flow.Duration]():
		return object{"type": "string", "examples": []string{"90s", "10m"}}
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time", "examples": []string{"2026-01-31T12:00:00Z"}}
	case reflect.TypeFor[flow.Money]():
		return object{"type": "number"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	case reflect.TypeFor[provider.Kind]():
		return object{"type": "string", "enum": provider.Kinds()}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.schemaOf(t.Elem())
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64", "examples": []string{"eA=="}}
		}
		return object{"type": "array", "items": s.schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "propertyNames": s.schemaOf(t.Key()), "additionalProperties": s.schemaOf(t.Elem())}
	case reflect.Struct:
		name := t.String()
		if s.defs[name] == nil {
			s.defs[name] = object{"type": "object", "properties": s.properties(t), "additionalProperties": false}
		}
		return object{"$ref": "#/$defs/" + name}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.String:
		one := object{"type": "string"}
		if alts := s.alternatives(t); alts != nil {
			one["enum"] = alts
		}
		return one
	case reflect.Interface:
		return object{}
	default:
		return object{"type": "integer"}
	}
}

func TestTheSchemasOfConfigsAreThoseOfTheTypes(t *testing.T) {
	for name, of := range described() {
		file, want := filepath.Join(root, of.folder, "config_schema.json"), configSchema(t, name, of.config)
		if stage.Update() {
			require.NoError(t, os.WriteFile(file, []byte(want), 0o600))
		}
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, want, string(got), "go test ./internal/docs -update")
	}
}

// TestASchemaOfConfigsAllowsWhatIsRead: a config with each key of the schema is read, a config has no other key when it is written, and
// the configs of the guides are valid.
func TestASchemaOfConfigsAllowsWhatIsRead(t *testing.T) {
	engine := registered()
	compiled := map[string]*schema.Schema{}
	for name, of := range described() {
		text, err := engine.ConfigSchema(name)
		require.NoError(t, err)
		compiled[name], err = schema.Compile(name, text)
		require.NoError(t, err)
		var made object
		require.NoError(t, json.Unmarshal(text, &made))
		defs, _ := made["$defs"].(object)
		sample, err := json.Marshal(sampler(defs).of(made))
		require.NoError(t, err)
		assert.Empty(t, problems(t, compiled[name], sample))
		_, err = engine.DecodeConfig(sample)
		require.NoError(t, err, name)

		whole := reflect.New(of.config).Elem()
		fill(whole, 9)
		written, err := json.Marshal(whole.Addr().Interface())
		require.NoError(t, err)
		assert.ElementsMatch(t, append(paths(t, written), "flow"), paths(t, sample), name)
		assert.NotEmpty(t, problems(t, compiled[name], []byte(`{"tpoic": "a slip"}`)))
	}
	_, err := engine.ConfigSchema("none")
	require.ErrorContains(t, err, "none")

	found := 0
	guides, err := filepath.Glob(filepath.Join(root, "docs", "*", "*.md"))
	require.NoError(t, err)
	for _, guide := range guides {
		text, err := os.ReadFile(guide)
		require.NoError(t, err)
		for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(text, -1) {
			if config, err := engine.DecodeConfig(block[1]); err == nil {
				assert.Empty(t, problems(t, compiled[config.Flow()], block[1]), guide)
				found++
			}
		}
	}
	assert.GreaterOrEqual(t, found, 5)
}

// problems returns what a schema finds wrong with JSON.
func problems(t *testing.T, s *schema.Schema, data []byte) []string {
	t.Helper()
	tree, err := strictjson.Decode(string(data), strictjson.Limits{})
	require.NoError(t, err)
	return s.Validate(tree)
}

// sampler makes values that a schema allows, with every key that it names. It has the definitions of the schema.
type sampler object

func (s sampler) of(given any) any {
	one, _ := given.(object)
	if ref, ok := one["$ref"].(string); ok {
		return s.of(s[strings.TrimPrefix(ref, "#/$defs/")])
	}
	for _, keyword := range []string{"examples", "enum"} {
		if all, ok := one[keyword].([]any); ok {
			return all[0]
		}
	}
	switch one["type"] {
	case "string":
		return "x"
	case "boolean":
		return true
	case "array":
		return []any{s.of(one["items"])}
	case "object":
		all := object{}
		properties, _ := one["properties"].(object)
		for key, inner := range properties {
			all[key] = s.of(inner)
		}
		if others, ok := one["additionalProperties"].(object); ok {
			all[fmt.Sprint(s.of(one["propertyNames"]))] = s.of(others)
		}
		return all
	default:
		return 1
	}
}

// paths lists the keys in JSON, each with those that it stands under.
func paths(t *testing.T, data []byte) []string {
	t.Helper()
	var tree any
	require.NoError(t, json.Unmarshal(data, &tree))
	var all []string
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case object:
			for key, inner := range v {
				all = append(all, strings.TrimPrefix(at+"."+key, "."))
				walk(at+"."+key, inner)
			}
		case []any:
			for _, inner := range v {
				walk(at, inner)
			}
		}
	}
	walk("", tree)
	slices.Sort(all)
	return all
}
