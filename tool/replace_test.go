package tool_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

// Of many writers that have read the same, exactly one succeeds, and the others are told to read again. Whoever does
// that loses nothing of what the others have written.
func TestOneOfManyWritersWins(t *testing.T) {
	const many = 8
	root := folder(t, map[string]string{"f": "begin\n"})
	made, other := writers(t, root, tool.Writing{}), writers(t, root, tool.Writing{}) // two values of one folder
	for round := range 10 {
		before := disk(t, root, "f")
		errs := atOnce(many, func(i int) error {
			tools := []map[string]flow.Tool{made, other}[i%2]
			if i%4 < 2 {
				args := arguments{"path": "f", "hash": hashOf(before), "content": fmt.Sprintf("%s%d by %d\n", before, round, i)}
				_, err := use(t.Context(), t, tools[tool.WriteFileName], args)
				return err
			}
			args := arguments{"path": "f", "hash": hashOf(before), "old": "begin\n", "new": fmt.Sprintf("begin\n%d by %d\n", round, i)}
			_, err := use(t.Context(), t, tools[tool.EditFileName], args)
			return err
		})
		won := 0
		for i, err := range errs {
			if err != nil {
				assert.EqualError(t, err, `"f": has changed since it was read: read it again`)
				continue
			}
			won++
			assert.Contains(t, disk(t, root, "f"), fmt.Sprintf("%d by %d\n", round, i))
		}
		assert.Equal(t, 1, won)
	}
	assert.Equal(t, 11, strings.Count(disk(t, root, "f"), "\n"), "nothing is lost")
	requireEntries(t, root, "f")
}

// Of many writers of a new file exactly one makes it.
func TestOneOfManyMakesTheFile(t *testing.T) {
	root := folder(t, nil)
	made, other := writers(t, root, tool.Writing{}), writers(t, root, tool.Writing{})
	for round := range 10 {
		path := fmt.Sprintf("new/%d/f", round)
		errs := atOnce(8, func(i int) error {
			write := []map[string]flow.Tool{made, other}[i%2][tool.WriteFileName]
			_, err := use(t.Context(), t, write, arguments{"path": path, "content": fmt.Sprint("by ", i)})
			return err
		})
		won := 0
		for i, err := range errs {
			if err != nil {
				assert.ErrorContains(t, err, "exists already: read it")
				continue
			}
			won++
			assert.Equal(t, fmt.Sprint("by ", i), disk(t, root, path))
		}
		assert.Equal(t, 1, won)
		requireEntries(t, filepath.Join(root, "new", fmt.Sprint(round)), "f")
	}
}

// atOnce calls a function many times at once, and returns what each call returned.
func atOnce(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errs
}

// generation returns a large text. Each line tells which one it is, so that a mixture shows.
func generation(n int) string { return strings.Repeat(fmt.Sprintf("generation %d\n", n), 20_000) }

// writerChild writes two texts in turn into a file, until it is killed.
func writerChild(args []string) int {
	dir, err := tool.OpenDir(args[0], tool.Limits{})
	if err != nil {
		return 2
	}
	write, err := tool.WriteFile(dir, tool.Writing{})
	if err != nil {
		return 3
	}
	var uses [2]flow.ToolUse
	for n := range uses {
		uses[n].Arguments = fmt.Appendf(nil, `{"path":"f","hash":%q,"content":%q}`, hashOf(generation(1-n)), generation(n))
	}
	for n := 1; ; n = 1 - n {
		if _, err := write.Use(context.Background(), uses[n]); err != nil {
			_, _ = fmt.Println(err)
			return 4
		}
		_, _ = fmt.Println("wrote")
	}
}

// A process that is killed while it writes leaves the old text or the new one, never a mixture, and the next write
// removes what else it has left.
func TestAWriterThatIsKilled(t *testing.T) {
	root := folder(t, nil)
	made := writers(t, root, tool.Writing{})
	both := []string{generation(0), generation(1)}
	left := 0
	for range manyKills {
		require.NoError(t, os.WriteFile(filepath.Join(root, "f"), []byte(both[0]), 0o600))
		child := exec.CommandContext(t.Context(), os.Args[0], root)
		child.Env = append(os.Environ(), childVariable+"=writer")
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		lines := bufio.NewScanner(out)
		require.True(t, lines.Scan())
		require.Equal(t, "wrote", lines.Text())
		<-time.After(rand.N(10 * time.Millisecond)) // it goes on writing
		require.NoError(t, child.Process.Kill())
		_, err = io.Copy(io.Discard, out)
		require.NoError(t, err)
		require.Error(t, child.Wait())

		content := disk(t, root, "f")
		if !slices.Contains(both, content) {
			require.Fail(t, "the file is half", "%d bytes", len(content))
		}
		entries, err := os.ReadDir(root)
		require.NoError(t, err)
		left += len(entries) - 1

		// The lock has died with the process.
		text := answer(t, made[tool.WriteFileName], arguments{"path": "f", "hash": hashOf(content), "content": "next"})
		assert.Equal(t, hashOf("next"), hashIn(t, text))
		requireEntries(t, root, "f")
	}
	t.Logf("%d of %d processes left a file", left, manyKills)
}

// What the killed leave is removed, and nothing else of a similar name.
func TestUnfinishedFilesAreRemoved(t *testing.T) {
	root := folder(t, map[string]string{
		".debate-unfinished-ABC": "half", "sub/.debate-unfinished-DEF": "half", ".debate-unfinished-folder/x": "x", "debate-unfinished-x": "x",
	})
	write := writers(t, root, tool.Writing{})[tool.WriteFileName]
	answer(t, write, arguments{"path": "f", "content": "x"})
	requireEntries(t, root, "f", "sub", ".debate-unfinished-folder", "debate-unfinished-x")
	answer(t, write, arguments{"path": "sub/f", "content": "x"})
	requireEntries(t, filepath.Join(root, "sub"), "f")
}

// A reader sees one text or the other, while they are replaced.
func TestReadersSeeWholeFiles(t *testing.T) {
	root := folder(t, map[string]string{"f": generation(0)})
	made := writers(t, root, tool.Writing{})
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n = 1 - n {
			select {
			case <-done:
				return
			default:
			}
			args := fmt.Appendf(nil, `{"path":"f","hash":%q,"content":%q}`, hashOf(generation(n)), generation(1-n))
			_, err := made[tool.WriteFileName].Use(t.Context(), flow.ToolUse{Arguments: args})
			assert.NoError(t, err)
		}
	}()
	hashes := map[string]bool{hashOf(generation(0)): true, hashOf(generation(1)): true}
	for range 30 {
		text := answer(t, made[tool.ReadFileName], arguments{"path": "f"})
		assert.True(t, hashes[hashIn(t, text)])
	}
	close(done)
	<-stopped
}
