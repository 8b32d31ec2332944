package docs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// operation is what the description of the API says of one.
type operation struct {
	OperationID string
	Summary     string
	Right       string                            `json:"x-right"` //nolint:tagliatelle // names of extensions begin so
	Parameters  []struct{ Name, In string }       // of the path and of the query
	RequestBody struct{ Content map[string]body } // by the media type
	Responses   map[string]any                    // by the status
}

// body is a body of which the description says the type.
type body struct {
	Schema struct {
		Ref string `json:"$ref"`
	}
}

// TestThePageOfTheAPIIsThatOfItsDescription lists the operations with their addresses, rights and statuses, and the keys of bodies.
func TestThePageOfTheAPIIsThatOfItsDescription(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "web", "openapi.json"))
	require.NoError(t, err)
	var api struct {
		Paths      map[string]map[string]operation
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal(data, &api))
	require.NotEmpty(t, api.Paths, "go test ./web -update")
	p := newPage(t, head(t, "api.md"))
	p.WriteString("| operation | address | | right | status |\n|---|---|---|---|---|\n")
	takers := map[string][]string{} // the operations that take a body, by its type
	for _, at := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(api.Paths[at])) {
			op := api.Paths[at][method]
			var query, statuses []string
			for _, one := range op.Parameters {
				if one.In == "query" {
					query = append(query, one.Name)
				}
			}
			address := strings.TrimPrefix(at, "/")
			if len(query) > 0 {
				address += "?" + strings.Join(query, "&")
			}
			for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
				if status != "default" {
					statuses = append(statuses, status)
				}
			}
			fmt.Fprintf(p, "| `%s` | `%s %s` | %s | %s | %s |\n",
				op.OperationID, strings.ToUpper(method), address, op.Summary, op.Right, strings.Join(statuses, ", "))
			name := path.Base(op.RequestBody.Content["application/json"].Schema.Ref)
			if keys := api.Components.Schemas[name].Properties; keys != nil && name != "Config" {
				takers[name] = append(takers[name], op.OperationID)
			}
		}
	}
	p.WriteString("\n## Keys of bodies\n\n")
	for _, name := range slices.SortedFunc(maps.Keys(takers), func(a, b string) int { return strings.Compare(takers[a][0], takers[b][0]) }) {
		keys := slices.Sorted(maps.Keys(api.Components.Schemas[name].Properties))
		fmt.Fprintf(p, "- `%s`: `%s`\n", strings.Join(takers[name], "`, `"), strings.Join(keys, "`, `"))
	}
	p.check("api.md")
}
