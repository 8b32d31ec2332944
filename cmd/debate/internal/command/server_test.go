package command_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
)

// A server that says nothing is named after two seconds, and given up after ten.
func TestASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := sdk.NewInMemoryTransports()
		silent, err := there.Connect(t.Context())
		require.NoError(t, err)
		go func() { // it reads, and answers nothing
			for {
				if _, err := silent.Read(t.Context()); err != nil {
					return
				}
			}
		}()
		began := time.Now()
		var said []string
		err = command.BeginServer(t.Context(), "sleep 100", here, func(format string, args ...any) {
			said = append(said, fmt.Sprint(time.Since(began), ": ", fmt.Sprintf(format, args...)))
		})
		synctest.Wait()
		require.EqualError(t, err, "the server has not begun a session: it had 10s; if it has to fetch something first, start it once by hand")
		assert.Equal(t, []string{`2s: Waiting for the MCP server "sleep 100", at most 10s.`}, said)
		assert.Less(t, time.Since(began), 11*time.Second)
		require.NoError(t, silent.Close())
	})
}
