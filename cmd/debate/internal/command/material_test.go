package command_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/internal/stage"
)

// demonstrate runs the demonstration, which is not kept, and returns the exit code and what was written.
func demonstrate(in io.Reader, args ...string) (code int, out, said string) {
	var stdout, stderr bytes.Buffer
	code = command.Run(context.Background(), command.System{
		Args: append([]string{"--demo", "--no-store", "--rounds", "1", "--json"}, args...), In: in, Out: &stdout, Err: &stderr,
		Lookup: func(string) (string, bool) { return "", false },
	})
	return code, stdout.String(), stderr.String()
}

// quickly does that without the time that a script takes to speak.
func quickly(t *testing.T, in string, args ...string) (code int, out, said string) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { code, out, said = demonstrate(strings.NewReader(in), args...) })
	return code, out, said
}

// TestThePipeBesideAProblem: what a pipe sends belongs to the problem, however long it takes. One that sends nothing is given up after a
// while, unless it is asked for.
func TestThePipeBesideAProblem(t *testing.T) {
	const unread = `the standard input sent nothing for 3s and was not read; debate "…" - waits for it`
	late := func(after time.Duration) func(*io.PipeWriter) {
		return func(pipe *io.PipeWriter) {
			stage.Pass(after)
			_, _ = io.WriteString(pipe, "the first half, ")
			stage.Pass(time.Minute)
			_, _ = io.WriteString(pipe, "and the second")
			_ = pipe.Close()
		}
	}
	for name, c := range map[string]struct {
		args  []string
		write func(*io.PipeWriter)
		read  bool
		told  bool // that it is waited for
	}{
		"at once":              {[]string{"Design a cache"}, late(0), true, false},
		"slowly":               {[]string{"Design a cache"}, late(2 * time.Second), true, true},
		"too late":             {[]string{"Design a cache"}, late(4 * time.Second), false, true},
		"late, but asked for":  {[]string{"Design a cache", "-"}, late(time.Hour), true, true},
		"closed":               {[]string{"Design a cache"}, func(pipe *io.PipeWriter) { _ = pipe.Close() }, false, false},
		"closed and asked for": {[]string{"Design a cache", "-"}, func(pipe *io.PipeWriter) { _ = pipe.Close() }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in, pipe := io.Pipe()
				var writer sync.WaitGroup
				writer.Go(func() { c.write(pipe) })
				code, out, said := demonstrate(in, c.args...)
				assert.Zero(t, code, said)
				assert.Equal(t, c.read, strings.Contains(out, "the first half, and the second"))
				assert.Equal(t, c.told, strings.Contains(said, "Waiting for the standard input."), said)
				assert.Equal(t, name == "too late", strings.Contains(said, unread), said)
				require.NoError(t, in.Close()) // so that whoever still writes ends
				writer.Wait()
			})
		})
	}
}

// TestTextsInOtherEncodings: what is text is read as it is meant, and what is none is refused and never mangled.
func TestTextsInOtherEncodings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ bytes, want string }{
		"UTF-8":                   {"Grüße 😀", "Grüße 😀"},
		"UTF-8 with a mark":       {"\ufeffGrüße", "Grüße"},
		"UTF-16, low byte first":  {"\xff\xfeG\x00r\x00\xfc\x00\x3d\xd8\x00\xde", "Grü😀"},
		"UTF-16, high byte first": {"\xfe\xff\x00G\x00r\x00\xfc\xd8\x3d\xde\x00", "Grü😀"},
		"half a pair":             {"\xff\xfeG\x00\x3d\xd8", ""},
		"half a unit":             {"\xff\xfeG\x00r", ""},
		"UTF-32":                  {"\xff\xfe\x00\x00G\x00\x00\x00", ""},
		"UTF-16 without a mark":   {"G\x00r\x00", ""},
		"Latin-1":                 {"Gr\xfc\xdfe", ""},
		"binary":                  {"\x7fELF\x01\x00", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, said := quickly(t, c.bytes, "Design a cache")
			if c.want == "" {
				assert.Equal(t, 2, code)
				assert.Contains(t, said, "the standard input is no text in UTF-8 or UTF-16")
				assert.Empty(t, out)
				return
			}
			assert.Zero(t, code, said)
			assert.Contains(t, out, c.want)
			assert.NotContains(t, out, `\ufeff`)
		})
	}
}

// TestMaterialIsBounded: what is more than models can read starts nothing, and is named.
func TestMaterialIsBounded(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for i := range 70 {
		require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%02d.md", i)), []byte("It is noted."), 0o600))
	}
	large, image := filepath.Join(t.TempDir(), "large.md"), filepath.Join(t.TempDir(), "dot.png")
	require.NoError(t, os.WriteFile(large, bytes.Repeat([]byte("x"), 1<<20+1), 0o600))
	require.NoError(t, os.WriteFile(image, append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 10<<20)...), 0o600))
	for _, c := range []struct{ path, want string }{
		{folder, "64.md is too much: at most 64 files are read"},
		{large, "large.md is too large: all texts together have at most 1 MiB"},
		{image, "dot.png is too large: an image or a PDF has at most 10 MiB, and all have 14"},
	} {
		code, out, said := quickly(t, "", "--file", c.path, "Design a cache")
		assert.Equal(t, 2, code)
		assert.Contains(t, said, c.want)
		assert.Empty(t, out)
	}

	// Many that are no text are named up to a number, and counted.
	bare := t.TempDir()
	for i := range 9 {
		require.NoError(t, os.WriteFile(filepath.Join(bare, fmt.Sprintf("%d.bin", i)), []byte{0}, 0o600))
	}
	code, _, said := quickly(t, "", "--file", bare, "Design a cache")
	assert.Zero(t, code, said)
	assert.Contains(t, said, "5.bin is no text.")
	assert.NotContains(t, said, "6.bin")
	assert.Contains(t, said, "Not read: 3 more.")
}
