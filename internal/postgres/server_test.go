package postgres_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/postgres"
)

// start starts a server for a test.
func start(t *testing.T) *postgres.Server {
	t.Helper()
	server, err := postgres.Start(t.Context())
	if missing, ok := errors.AsType[*postgres.MissingError](err); ok {
		t.Skip(missing)
	}
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	return server
}

// socket is where the server of a folder listens.
func socket(folder string) string { return filepath.Join(folder, ".s.PGSQL.5432") }

func listens(t *testing.T, folder string) bool {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket(folder))
	if err != nil {
		return false
	}
	require.NoError(t, conn.Close())
	return true
}

func TestServer(t *testing.T) {
	server := start(t)
	folder := server.Folder()
	assert.True(t, listens(t, folder))
	first, err := server.Database(t.Context())
	require.NoError(t, err)
	second, err := server.Database(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, first, second)
	u, err := url.Parse(first)
	require.NoError(t, err)
	assert.Equal(t, "postgres", u.Scheme)
	assert.Equal(t, folder, u.Query().Get("host"))
	assert.Equal(t, "/test1", u.Path)

	copied, err := server.Copy(t.Context(), first)
	require.NoError(t, err)
	assert.NotContains(t, []string{first, second}, copied)
	_, err = server.Copy(t.Context(), "postgres:///none")
	require.ErrorContains(t, err, "none")

	require.NoError(t, server.Restart(t.Context()), "it runs: there is nothing to do")
	require.NoError(t, server.Kill())
	require.NoError(t, server.Kill())
	assert.False(t, listens(t, folder))
	_, err = server.Database(t.Context())
	assert.ErrorContains(t, err, "createdb")
	require.NoError(t, server.Restart(t.Context()))
	assert.True(t, listens(t, folder))
	third, err := server.Database(t.Context())
	require.NoError(t, err)
	assert.NotEqual(t, second, third)

	require.NoError(t, server.Stop())
	assert.False(t, listens(t, folder))
	assert.NoDirExists(t, folder)
	require.NoError(t, server.Stop())
	assert.Error(t, server.Restart(t.Context()), "nothing is left to start")
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	_, err := postgres.Start(t.Context())
	if missing, ok := errors.AsType[*postgres.MissingError](err); ok {
		t.Skip(missing)
	}
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestBrief(t *testing.T) {
	t.Setenv("DEBATE_LONG_TESTS", "")
	assert.Contains(t, postgres.Brief(), "fsync=off")
	t.Setenv("DEBATE_LONG_TESTS", "1")
	assert.Empty(t, postgres.Brief())
}

// A folder for temporary files that is this user's own does not matter, even if the server runs as another user.
func TestPrivateTemporaryFolder(t *testing.T) {
	private := filepath.Join(t.TempDir(), "private")
	require.NoError(t, os.Mkdir(private, 0o700))
	t.Setenv("TMPDIR", private)
	server := start(t)
	assert.True(t, listens(t, server.Folder()))
	left, err := os.ReadDir(private)
	require.NoError(t, err)
	if os.Geteuid() == 0 {
		assert.Empty(t, left, "what could not be used is gone")
		assert.Equal(t, "/tmp", filepath.Dir(server.Folder()))
	}
}

// A socket has no room for the path of a deep folder.
func TestADeepTemporaryFolder(t *testing.T) {
	deep, err := os.MkdirTemp("/tmp", strings.Repeat("deep", 25)) //nolint:usetesting // its folders are closed to the server's user
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(deep)) })
	require.NoError(t, os.Chmod(deep, 0o777))
	t.Setenv("TMPDIR", deep)
	server := start(t)
	assert.True(t, listens(t, server.Folder()))
	assert.Equal(t, "/tmp", filepath.Dir(server.Folder()))
	left, err := os.ReadDir(deep)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A process that is killed takes its server and its files with it, also where the folder for temporary files is
// one that the server's user can enter but not write.
func TestTheServerEndsWithWhoeverStartedIt(t *testing.T) {
	if os.Getenv("POSTGRES_TEST_CHILD") != "" {
		server := start(t)
		fmt.Println("folder " + server.Folder())
		select {}
	}
	readable := t.TempDir()
	for _, folder := range []string{readable, filepath.Dir(readable)} {
		require.NoError(t, os.Chmod(folder, 0o755))
	}
	for name, parent := range map[string]string{"usual": os.TempDir(), "readable": readable} {
		t.Run(name, func(t *testing.T) {
			endsWithItsParent(t, parent)
			left, err := os.ReadDir(readable)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func endsWithItsParent(t *testing.T, temporary string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheServerEndsWithWhoeverStartedIt$", "-test.v")
	child.Env = append(os.Environ(), "POSTGRES_TEST_CHILD=1", "TMPDIR="+temporary)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	folder, seen := "", ""
	for lines := bufio.NewScanner(out); folder == "" && lines.Scan(); {
		seen += lines.Text() + "\n"
		folder, _ = strings.CutPrefix(lines.Text(), "folder ")
		if folder == lines.Text() {
			folder = ""
		}
	}
	if strings.Contains(seen, "--- SKIP") {
		t.Skip(seen)
	}
	require.NotEmpty(t, folder, seen)
	assert.True(t, listens(t, folder))
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()
	for { // until it is gone, however busy the machine is
		if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	assert.False(t, listens(t, folder))
}
