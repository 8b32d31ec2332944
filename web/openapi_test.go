package web_test

import (
	"encoding/json"
	"flag"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/web"
)

var _ = flag.Bool("update", false, "write the description of the API anew")

// object is JSON.
type object = map[string]any

// contract is the description of the API. Here, an object has no property that its schema does not name.
type contract struct {
	*testing.T

	paths, components object
}

// described reads the description of the API.
func described(t *testing.T) contract {
	t.Helper()
	data, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	var all struct{ Paths, Components object }
	require.NoError(t, json.Unmarshal(data, &all))
	require.NotEmpty(t, all.Paths, "go test ./web -update")
	eachObject(all.Components, func(one object) {
		if one["properties"] != nil && one["additionalProperties"] == nil {
			one["additionalProperties"] = false
		}
	})
	return contract{t, all.Paths, all.Components}
}

// eachObject visits all objects of a description, but for its examples.
func eachObject(v any, visit func(object)) {
	switch v := v.(type) {
	case object:
		visit(v)
		for key, inner := range v {
			switch named, ok := inner.(object); {
			case key == "example":
			case ok && key == "properties": // its keys are names
				for _, one := range named {
					eachObject(one, visit)
				}
			default:
				eachObject(inner, visit)
			}
		}
	case []any:
		for _, inner := range v {
			eachObject(inner, visit)
		}
	}
}

// at returns what stands at a path of keys.
func at(v object, keys ...string) object {
	for _, key := range keys {
		v, _ = v[key].(object)
	}
	return v
}

// operation returns the description of an operation.
func (c contract) operation(row web.Row) object {
	c.Helper()
	out := at(c.paths, "/"+row.Path, strings.ToLower(row.Method))
	require.Equal(c, row.ID, out["operationId"])
	return out
}

// valid holds a JSON text to the schema of a body.
func (c contract) valid(media object, data []byte) {
	c.Helper()
	root := object{"components": c.components}
	maps.Copy(root, at(media, "schema"))
	text, err := json.Marshal(root)
	require.NoError(c, err)
	compiled, err := schema.Compile("body", text)
	require.NoError(c, err)
	tree, err := strictjson.Decode(string(data), strictjson.Limits{Bytes: len(data) + 1})
	require.NoError(c, err)
	assert.Empty(c, compiled.Validate(tree), "%s", data)
}

// answered holds an answer to the description of its operation.
func (c contract) answered(row web.Row, answer *httptest.ResponseRecorder) {
	c.Helper()
	responses := at(c.operation(row), "responses")
	response := at(responses, strconv.Itoa(answer.Code))
	if response == nil && answer.Code >= http.StatusBadRequest {
		require.Equal(c, "#/components/responses/Refused", at(responses, "default")["$ref"])
		response = at(c.components, "responses", "Refused")
	}
	require.NotNil(c, response, "%d is not described", answer.Code)
	content := at(response, "content")
	if content == nil {
		assert.Empty(c, answer.Body.String())
		return
	}
	kind, _, err := mime.ParseMediaType(answer.Header().Get("Content-Type"))
	require.NoError(c, err)
	media := at(content, kind)
	require.NotNil(c, media, kind)
	if strings.HasSuffix(kind, "json") {
		c.valid(media, answer.Body.Bytes())
	}
}

// TestTheDescriptionIsThatOfTheTable: what is served is what the table and the types have.
func TestTheDescriptionIsThatOfTheTable(t *testing.T) {
	made, err := web.OpenAPI()
	require.NoError(t, err)
	if stage.Update() {
		require.NoError(t, os.WriteFile("openapi.json", made, 0o600))
	}
	kept, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	assert.Equal(t, string(made), string(kept), "go test ./web -update")
	if stage.Update() { // this program has the one before
		return
	}
	answer := handler(t, world(t, nil), web.Options{}).ask(http.MethodGet, "openapi.json", "")
	assert.Equal(t, "application/json", answer.Header().Get("Content-Type"))
	assert.Equal(t, string(kept), answer.Body.String())
}

// TestEveryExampleIsValid, each operation with a body has one, and one of a start is read.
func TestEveryExampleIsValid(t *testing.T) {
	c := described(t)
	for _, row := range web.Rows() {
		op, read := c.operation(row), 0
		check := func(media object) {
			if example, ok := media["example"]; ok {
				data, err := json.Marshal(example)
				require.NoError(t, err)
				c.valid(media, data)
				read++
			}
		}
		if check(at(op, "requestBody", "content", "application/json")); op["requestBody"] != nil {
			assert.Equal(t, 1, read, row.ID)
		}
		check(at(op, "responses", strconv.Itoa(row.Status), "content", "application/json"))
	}
	data, err := json.Marshal(at(c.paths, "/conversations", "post", "requestBody", "content", "application/json")["example"])
	require.NoError(t, err)
	_, err = everyFlow(t).DecodeConfig(data)
	require.NoError(t, err)
}

// TestGeneratorsKnowAllWords: the description has no word that a generator of clients refuses, or turns into a type that says nothing.
func TestGeneratorsKnowAllWords(t *testing.T) {
	c := described(t)
	visited := 0
	for _, part := range []object{c.paths, c.components} {
		eachObject(part, func(one object) {
			visited++
			for _, word := range []string{"const", "exclusiveMinimum", "exclusiveMaximum"} {
				assert.NotContains(t, one, word)
			}
			if discriminator, ok := one["discriminator"].(object); ok {
				assert.NotEmpty(t, discriminator["mapping"])
			}
			for _, property := range at(one, "properties") {
				assert.IsType(t, object{}, property, "a schema that is true or false")
			}
			for kind := range at(one, "content") {
				assert.NotContains(t, kind, ";")
			}
		})
	}
	assert.Greater(t, visited, 100)
	for _, row := range web.Rows() {
		assert.Equal(t, "#/components/responses/Refused", at(c.operation(row), "responses", "default")["$ref"], row.ID)
	}
	problems := slices.Collect(maps.Keys(at(c.components, "responses", "Refused", "content")))
	assert.Equal(t, []string{"application/problem+json"}, problems)
}

// TestEveryAnswerIsAsDescribed: of each operation, to somebody with all rights and to one with no more than it needs. What goes wrong is
// held to the description where the errors are tested.
func TestEveryAnswerIsAsDescribed(t *testing.T) {
	presets := []web.Preset{{Name: "Quick", About: "Two speak.", Config: json.RawMessage(`{"topic":"x"}`)}}
	for _, row := range web.Rows() {
		for name, rights := range map[string][]web.Action{"all rights": actions, "few rights": {row.Action, web.View}} {
			t.Run(row.ID+", "+name, func(t *testing.T) {
				engine := filed(t, map[string]string{"of": "tests"})
				c := handler(t, engine, web.Options{
					Authorize: granting(rights...), Presets: presets, Start: engine.Submit,
					Policy: func(_ *http.Request, _ string, c flow.Config) (flow.Config, error) { return c, nil },
				})
				one := requests(t, engine)[row.ID]
				answer := c.ask(row.Method, address(row, one), one.body)
				require.Less(t, answer.Code, http.StatusBadRequest, answer.Body)
				described(t).answered(row, answer)
			})
		}
	}
}

// TestTheEstimateOfPeopleIsAsDescribed: where no model is asked, the list of models is empty, and not null.
func TestTheEstimateOfPeopleIsAsDescribed(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging = nil
	config.Participants = []debate.Participant{
		{Name: "Ada", Side: debate.For, Person: true}, {Name: "Ben", Side: debate.Against, Person: true},
	}
	answer := handler(t, world(t, nil), web.Options{}).ask(http.MethodPost, "estimate", body(t, config))
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	rows := web.Rows()
	i := slices.IndexFunc(rows, func(row web.Row) bool { return row.ID == "estimate" })
	described(t).answered(rows[i], answer)
}
