package settings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
)

// wrongValues are put in the place of each field.
var wrongValues = []string{`"x"`, `null`, `[]`, `[[1]]`, `{}`, `{"x": {"y": 1}}`, `1e400`, `1e30`, `123456789012345678901234567890`, `-1`, `-0.5`, `true`}

// some is which of the values are tried: each one in each field in the long form, otherwise each fifth one, and so on. It has
// no factor in common with their number, so that a value is tried in some of the fields, whichever it is.
var some = longform.Sized(1, 5, 17)

// mark stands where a wrong value is to be.
const mark = "@here@"

// natives are small configs of each flow, with the type that its fields are those of.
var natives = map[string]struct {
	text string
	kind reflect.Type
}{
	"deliberation": {
		`{"flow": "deliberation", "agents": [{"id": "a", "model": "demo/script"}, {"id": "b", "model": "demo/script"}], "judge": {"model": "demo/script"}}`,
		reflect.TypeFor[deliberation.Config](),
	},
	"arbiter": {
		`{"flow": "arbiter", "arbiter": {"model": "demo/script"}, "agents": [{"name": "a", "description": "d", "model": "demo/script"}]}`,
		reflect.TypeFor[arbiter.Config](),
	},
	"debate": {
		`{"flow": "debate", "format": "free", "participants": [{"name": "a", "model": "demo/script"}, {"name": "b", "model": "demo/script"}]}`,
		reflect.TypeFor[debate.Config](),
	},
}

// public is a config in the shape of the public program, with every field that it has.
const public = `{
  "agents": [
    {"id": "a", "name": "A", "role": "architect", "model": "script", "provider": "demo", "temperature": 0.5, "systemPromptPath": "p.md",
      "enabled": true, "summarization": {"enabled": true, "threshold": 900, "maxLength": 300, "method": "length-based"},
      "tools": [{"name": "list_files"}], "toolCallLimit": 4},
    {"id": "b", "role": "kiss", "model": "script", "provider": "demo"}],
  "judge": {"id": "j", "name": "J", "role": "generalist", "model": "script", "provider": "demo", "temperature": 0.3},
  "debate": {"rounds": 4, "terminationCondition": {"type": "convergence", "threshold": 85}, "synthesisMethod": "voting",
    "includeFullHistory": true, "timeoutPerRound": 450000, "orchestratorType": "state-machine", "interactiveClarifications": true,
    "clarificationsMaxPerAgent": 2, "clarificationsMaxIterations": 1,
    "summarization": {"enabled": true, "threshold": 10000, "maxLength": 5000, "method": "length-based"}}}`

// path is a way to a field: keys, and indexes of lists.
type path []any

// fields calls found with the path and the type of each field that a type has in JSON, and of those within it.
func fields(of reflect.Type, at path, found func(path, reflect.Type)) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.Slice:
		next := append(slices.Clone(at), 0)
		if of.Elem().Kind() != reflect.Uint8 {
			found(next, of.Elem())
			fields(of.Elem(), next, found)
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || name == "" || name == "-" || slices.Contains(at, any(name)) {
				continue
			}
			next := append(slices.Clone(at), name)
			found(next, f.Type)
			fields(f.Type, next, found)
		}
	default:
	}
}

// put sets the value at a path of decoded JSON, and makes what is missing on the way.
func put(in any, at path, value any) any {
	if len(at) == 0 {
		return value
	}
	switch key := at[0].(type) {
	case string:
		object, ok := in.(map[string]any)
		if !ok {
			object = make(map[string]any)
		}
		object[key] = put(object[key], at[1:], value)
		return object
	default:
		list, ok := in.([]any)
		if !ok || len(list) == 0 {
			list = []any{nil}
		}
		list[0] = put(list[0], at[1:], value)
		return list
	}
}

// try loads a config with a wrong value at a path, checks it, and returns the mistakes and the place of the value.
func try(t *testing.T, text string, at path, value string) (place string, found error) {
	t.Helper()
	var root any
	require.NoError(t, json.Unmarshal([]byte(text), &root))
	data, err := json.MarshalIndent(put(root, at, mark), "", " ")
	require.NoError(t, err)
	before, after, _ := strings.Cut(string(data), `"`+mark+`"`)
	line := strings.Count(before, "\n") + 1
	place = fmt.Sprintf("c.json:%d:%d: ", line, len(before)-strings.LastIndex(before, "\n"))
	engine := &debate.Engine{Flows: map[string]*flow.Flow{
		deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow(),
	}}
	demo.Play(engine)
	loaded, err := load(t, "c.json", before+value+after)
	if loaded != nil {
		err = errors.Join(err, loaded.Check(t.Context(), engine, nil, func(string) string { return "" }))
	}
	return place, err
}

// TestEachFieldRefusesWrongTypes: whatever stands in a field, it is taken or refused with its place, and nothing panics. What
// the type of the field does not hold is refused there.
func TestEachFieldRefusesWrongTypes(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	for name, native := range natives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tried := 0
			fields(native.kind, nil, func(at path, kind reflect.Type) {
				if len(at) == 1 && (at[0] == "id" || at[0] == "problem" || at[0] == "task" || at[0] == "topic") {
					return // of the command line
				}
				for _, value := range wrongValues {
					if tried++; tried%some != 0 {
						continue
					}
					place, found := try(t, native.text, at, value)
					if json.Unmarshal([]byte(value), reflect.New(kind).Interface()) != nil {
						mustRefuse(t, found, place, at, value)
					}
					placed(t, found, at, value)
				}
			})
			assert.Greater(t, tried, 300)
		})
	}
}

// TestEachFieldOfAPublicConfigRefusesWrongTypes is the same for the shape of the public program: what has another type than
// the field of the whole config is refused.
func TestEachFieldOfAPublicConfigRefusesWrongTypes(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	prompt := filepath.Join(t.TempDir(), "p.md")
	require.NoError(t, os.WriteFile(prompt, []byte("You think."), 0o600))
	text := strings.Replace(public, "p.md", filepath.ToSlash(prompt), 1)
	var root any
	require.NoError(t, json.Unmarshal([]byte(text), &root))
	tried := 0
	var each func(value any, at path)
	each = func(value any, at path) {
		switch value := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				each(value[key], append(slices.Clone(at), key))
			}
		case []any:
			each(value[0], append(slices.Clone(at), 0))
		}
		if len(at) == 0 {
			return
		}
		for _, wrong := range wrongValues {
			if tried++; tried%some != 0 {
				continue
			}
			place, found := try(t, text, at, wrong)
			if json.Unmarshal([]byte(wrong), reflect.New(reflect.TypeOf(value)).Interface()) != nil {
				mustRefuse(t, found, place, at, wrong)
			}
			placed(t, found, at, wrong)
		}
	}
	each(root, nil)
	assert.Greater(t, tried, 300)
}

// mustRefuse checks that one of the mistakes is that at a place, or before it in the same value.
func mustRefuse(t *testing.T, found error, place string, at path, value string) {
	t.Helper()
	if found == nil {
		t.Errorf("%v: %s is taken", at, value)
		return
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(place, "c.json:"), ":")
	assert.Contains(t, settings.Sorted(found).Error(), "c.json:"+line+":", "%v: %s", at, value)
}

// placed checks that each mistake that is not of the command line has a place.
func placed(t *testing.T, found error, at path, value string) {
	t.Helper()
	if found == nil {
		return
	}
	for line := range strings.Lines(settings.Sorted(found).Error()) {
		if !strings.HasPrefix(line, "--") {
			assert.Regexp(t, `c\.json:\d+:\d+: `, line, "%v: %s", at, value)
		}
	}
}
