// Package client_test generates clients from the description of the API over HTTP, compiles them, and lets each hold a conversation. Its
// module stands outside of the workspace, since nobody else needs the generators.
package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	_ "github.com/go-faster/errors" // this and what follows is imported by the generated code
	_ "github.com/go-faster/jx"
	_ "github.com/oapi-codegen/runtime"
	_ "github.com/ogen-go/ogen/conv"
	_ "github.com/ogen-go/ogen/http"
	_ "github.com/ogen-go/ogen/json"
	_ "github.com/ogen-go/ogen/ogenerrors"
	_ "github.com/ogen-go/ogen/uri"
	_ "github.com/ogen-go/ogen/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// description is the description of the API.
const description = "../../../web/openapi.json"

// TestTheDescriptionIsOpenAPI: it is valid, with its examples.
func TestTheDescriptionIsOpenAPI(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromFile(description)
	require.NoError(t, err)
	require.NoError(t, document.Validate(t.Context()))
	assert.NotZero(t, document.Paths.Len())
}

// TestGeneratedClients: a client of each generator compiles, starts a conversation, reads its stream to the end, and answers the question
// that it waits for.
func TestGeneratedClients(t *testing.T) {
	for name, arguments := range map[string][]string{
		"oapi": {"oapi-codegen", "-package", "main", "-generate", "types,client", "-o", "FOLDER/client.go", description},
		"ogen": {"ogen", "-package", "main", "-config", "testdata/ogen.yml", "-target", "FOLDER", description},
	} {
		t.Run(name, func(t *testing.T) {
			folder, err := os.MkdirTemp(".", "generated-")
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, os.RemoveAll(folder)) })
			for i := range arguments {
				arguments[i] = strings.Replace(arguments[i], "FOLDER", folder, 1)
			}
			command(t, append([]string{"tool"}, arguments...)...)
			for _, file := range []string{"main.go", name + ".go"} {
				text, err := os.ReadFile(filepath.Join("testdata", file))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(folder, "script_"+file), text, 0o600))
			}
			said := holds(t, folder)
			assert.True(t, strings.HasPrefix(said, "completed after "), said)
		})
	}
}

// command runs the command go, and returns what it prints.
func command(t *testing.T, arguments ...string) string {
	t.Helper()
	run := exec.CommandContext(t.Context(), "go", arguments...)
	run.Env = append(os.Environ(), "GOWORK=off")
	var failed strings.Builder
	run.Stderr = &failed
	out, err := run.Output()
	require.NoError(t, err, failed.String())
	return string(out)
}

// holds lets the program in a folder hold a conversation, in which Ben's model refuses once, and returns what it prints.
func holds(t *testing.T, folder string) string {
	t.Helper()
	config := stage.TwoDebaters()
	config.ID, config.Unattended = "0199c1f0-5b7a-7c3e-9d51-3f1c5b0a7e21", false
	engine, source := stage.Engine(config)
	engine.Store = &store.Memory{}
	outage := stage.Befall(source, provider.KindRefusal, stage.Said("Ben", 2))
	handler, err := web.New(engine, web.Options{})
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/questions" { // it is answered once there is one
			for e, err := range engine.Events(r.Context(), config.ID, 0) {
				asked, ok := e.Body.(*flow.Questions)
				if err != nil || ok && asked.Open > 0 {
					break
				}
			}
			outage.Over.Store(true)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	sent, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	said := command(t, "run", "./"+folder, server.URL+"/api", string(sent))
	record := stage.StoredRecord(t, engine, config.ID)
	assert.Equal(t, fmt.Sprintf("%s after %d facts\n", record.State, record.Seq), said)
	return said
}
