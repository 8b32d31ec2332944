//go:build unix

package tool_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/tool"
)

// Pipes, sockets and devices are refused, and nobody waits for whoever is at their other end.
func TestSpecialFiles(t *testing.T) {
	root := folder(t, map[string]string{"to-pipe": "->pipe"})
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	t.Chdir(root) // the path of a socket has to be short
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", "socket")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	made, err := tool.Tools(opened(t, root, tool.Limits{}))
	require.NoError(t, err)
	assert.Equal(t, "special pipe\nspecial socket\nlink to-pipe\n", answer(t, made[tool.ListFilesName], arguments{}))
	for _, path := range []string{"pipe", "to-pipe", "socket"} {
		for _, name := range []string{tool.ListFilesName, tool.ReadFileName, tool.SearchName} {
			assert.Contains(t, refusal(t, made[name], arguments{"path": path, "query": "x"}.of(name)), "is neither a file nor a folder")
		}
	}
	assert.Equal(t, "Nothing was found.\n", answer(t, made[tool.SearchName], arguments{"query": "x"}))
}

func TestDevices(t *testing.T) {
	made, err := tool.Tools(opened(t, os.DevNull[:len("/dev")], tool.Limits{}))
	require.NoError(t, err)
	for _, path := range []string{"null", "zero"} {
		assert.Contains(t, refusal(t, made[tool.ReadFileName], arguments{"path": path}), "is neither a file nor a folder")
	}
}

// Links that lead in a circle, or back up, are not followed.
func TestLinksInACircle(t *testing.T) {
	root := folder(t, map[string]string{"a": "->b", "b": "->a", "in/up": "->..", "in/self": "->.", "in/f": "found"})
	made, err := tool.Tools(opened(t, root, tool.Limits{}))
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(answer(t, made[tool.SearchName], arguments{"query": "found"}), "in/f"))
	assert.NotEmpty(t, refusal(t, made[tool.SearchName], arguments{"query": "found", "path": "a"}))
}

// A file that becomes a pipe between two looks at it is not waited for.
func TestPipesThatAppearMeanwhile(t *testing.T) {
	root := folder(t, map[string]string{"f": "text"})
	read, err := tool.ReadFile(opened(t, root, tool.Limits{}))
	require.NoError(t, err)
	at := filepath.Join(root, "f")
	require.NoError(t, syscall.Mkfifo(at+".pipe", 0o600))
	require.NoError(t, os.Link(at, at+".file"))
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, kind := range []string{".pipe", ".file"} {
				_ = os.Link(at+kind, at+".new")
				_ = os.Rename(at+".new", at) // at once: there is always something
			}
		}
	}()
	became := 0
	for n := 0; n < manyReads || became == 0; n++ {
		text, err := use(t.Context(), t, read, arguments{"path": "f"})
		if err != nil {
			assert.EqualError(t, err, `"f": is neither a file nor a folder`)
			became++
		} else {
			assert.Equal(t, "Lines 1 to 1 of 1. Hash 982d9e3eb996f559.\n\ntext", text)
		}
	}
	close(done)
	<-stopped
}
