package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/fake"
	"github.com/agonist-dev/debate/internal/longform"
)

// BenchmarkFirstFrame is the time from the start of the program until a terminal has the first frame of the live view.
func BenchmarkFirstFrame(b *testing.B) {
	command := preparing(b, &fake.Server{Delay: time.Hour})
	var shown time.Duration
	for b.Loop() {
		master, slave := terminals(b)
		c := command("Design a rate limiter")
		c.Env = append(c.Env, "TERM=xterm-256color")
		c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		began := time.Now()
		require.NoError(b, c.Start())
		var seen []byte
		for part := make([]byte, 4096); !bytes.Contains(seen, []byte("q quit")); {
			n, err := master.Read(part)
			require.NoError(b, err, "%q", seen)
			seen = append(seen, part[:n]...)
		}
		shown += time.Since(began)
		require.NoError(b, c.Process.Kill())
		_ = c.Wait() // it was killed
		_ = slave.Close()
		_ = master.Close()
	}
	b.ReportMetric(float64(shown)/float64(b.N)/float64(time.Millisecond), "ms/frame")
	b.ReportMetric(0, "ns/op")
}

// terminals returns the two ends of a terminal of 80 columns and 24 rows.
func terminals(b testing.TB) (master, slave *os.File) {
	b.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(b, err)
	control := func(request uintptr, at unsafe.Pointer) {
		_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(at))
		require.Zero(b, failed)
	}
	unlocked, number, size := int32(0), uint32(0), [4]uint16{24, 80}
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	slave, err = os.OpenFile("/dev/pts/"+strconv.FormatUint(uint64(number), 10), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(b, err)
	return master, slave
}

// TestLeavingAPauseThatWaits: whoever leaves while a pause lets calls finish waits for none of them, and is told how to continue.
func TestLeavingAPauseThatWaits(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&fake.Server{Rules: []fake.Rule{{Fault: fake.FaultHold}}})
	t.Cleanup(server.Close) // once the program is gone
	program, err := os.Executable()
	require.NoError(t, err)
	master, slave := terminals(t)
	defer func() { _ = master.Close(); _ = slave.Close() }()
	c := exec.CommandContext(t.Context(), program, "Design a rate limiter")
	c.Args[0], c.Dir = "debate", t.TempDir()
	c.Env = []string{"HOME=" + c.Dir, "TERM=xterm-256color", "OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=sk-of-the-test"}
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, c.Start())
	var seen []byte
	until := func(what string) {
		for part := make([]byte, 4096); !bytes.Contains(seen, []byte(what)); {
			n, err := master.Read(part)
			require.NoError(t, err, "%q", seen)
			seen = append(seen, part[:n]...)
		}
	}
	for _, step := range [][2]string{{"0/3", "p"}, {"finish", "q"}} {
		until(step[0])
		_, err := master.WriteString(step[1])
		require.NoError(t, err)
	}
	until("continues it.")
	var ended *exec.ExitError
	require.ErrorAs(t, c.Wait(), &ended)
	assert.Equal(t, interrupted, ended.ExitCode())
}

// talk is a debate of a person and a model.
const talk = `{
	"flow": "debate", "topic": "Tabs or spaces?", "rounds": 2, "format": "round-limited",
	"participants": [
		{"name": "Ada", "side": "for", "person": true, "within": "240h", "standIn": "openai/gpt-4.1-mini"},
		{"name": "Ben", "side": "against", "model": "openai/gpt-4.1-mini"}
	]
}`

// TestWordsForAQuestionThatIsAnswered: what a person types while another shell answers does nothing to the conversation, and is left on the
// terminal.
func TestWordsForAQuestionThatIsAnswered(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&fake.Server{})
	t.Cleanup(server.Close) // once the program is gone
	program, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "talk.json"), []byte(talk), 0o600))
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Args[0], c.Dir = "debate", dir
		c.Env = []string{"HOME=" + dir, "TERM=xterm-256color", "OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=sk-of-the-test"}
		return c
	}
	master, slave := terminals(t)
	defer func() { _ = master.Close() }()
	c := command("--config", "talk.json")
	c.Stdin, c.Stderr = slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, c.Start())
	require.NoError(t, slave.Close())
	var seen []byte
	until := func(what string) {
		for part := make([]byte, 4096); !bytes.Contains(seen, []byte(what)); {
			n, err := master.Read(part)
			require.NoError(t, err, "%q", seen)
			seen = append(seen, part[:n]...)
		}
	}
	write := func(keys string) {
		_, err := master.WriteString(keys)
		require.NoError(t, err)
	}
	until("your turn")
	write("a")
	until("dot alone")
	write("We com")
	out, err := command("answer", "last", "quick", "--person", "other", "--no-run").CombinedOutput()
	require.NoError(t, err, "%s", out)
	until("answered")
	write("press them\x03")
	until("continues it")
	assert.Contains(t, string(seen), "Not sent, to r1.opening.Ada:\r\nWe compress them\r\n")
	var ended *exec.ExitError
	require.ErrorAs(t, c.Wait(), &ended)
	assert.Equal(t, interrupted, ended.ExitCode())
	shown, err := command("show", "last").CombinedOutput()
	require.NoError(t, err, "%s", shown)
	assert.NotContains(t, string(shown), "stopped by", "no word has ended the rounds")
}

// TestPastedLinesAnswerOneQuestion: what a person has pasted behind the line that ends a speech answers no later question.
func TestPastedLinesAnswerOneQuestion(t *testing.T) {
	t.Parallel()
	api := &fake.Server{}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close) // once the program is gone
	program, err := os.Executable()
	require.NoError(t, err)
	master, slave := terminals(t)
	defer func() { _ = master.Close() }()
	c := exec.CommandContext(t.Context(), program, "--config", "talk.json", "--quiet")
	c.Args[0], c.Dir = "debate", t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(c.Dir, "talk.json"), []byte(talk), 0o600))
	c.Env = []string{"HOME=" + c.Dir, "TERM=xterm-256color", "OPENAI_BASE_URL=" + server.URL + "/v1", "OPENAI_API_KEY=sk-of-the-test"}
	c.Stdin, c.Stderr = slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, c.Start())
	require.NoError(t, slave.Close())
	var seen []byte
	for _, step := range [][2]string{
		{"only a dot> ", "First.\n.\nSecond.\n.\n"}, {"Dropped 2 lines that came before this question.", "Third.\n.\n"},
	} {
		for part := make([]byte, 4096); !bytes.Contains(seen, []byte(step[0])); {
			n, err := master.Read(part)
			require.NoError(t, err, "%q", seen)
			seen = append(seen, part[:n]...)
		}
		_, err := master.WriteString(step[1])
		require.NoError(t, err)
	}
	require.NoError(t, c.Wait())
	calls, _ := api.Calls("r2.*.Ben")
	require.NotEmpty(t, calls)
	assert.Contains(t, calls[0].Body, "First.")
	assert.Contains(t, calls[0].Body, "Third.")
	assert.NotContains(t, calls[0].Body, "Second.")
}

// TestTmux shows a demonstration in terminals of three sizes, with styles and without, and keeps what is seen. While a speech is written it
// can be read, and a key leads back to what was said.
func TestTmux(t *testing.T) {
	longform.Only(t, "the frames that package live keeps, of the same sizes")
	program := filepath.Join(t.TempDir(), "debate")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", output)
	for _, size := range []struct{ width, height int }{{80, 24}, {40, 20}, {200, 50}} {
		for _, plain := range []string{"", "NO_COLOR=1 "} {
			name := fmt.Sprintf("%dx%d%s", size.width, size.height, strings.ToLower(strings.TrimSuffix(plain, "=1 ")))
			t.Run(name, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				server := "debate-" + strconv.Itoa(os.Getpid()) + "-" + name
				tmux := func(args ...string) string {
					out, err := exec.CommandContext(ctx, "tmux", append([]string{"-L", server}, args...)...).CombinedOutput()
					require.NoError(t, err, "%s", out)
					return string(out)
				}
				line := fmt.Sprintf("HOME=%s %s%s --demo 'Design a rate limiter'", t.TempDir(), plain, program)
				tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(size.width), "-y", strconv.Itoa(size.height), line)
				defer func() { _ = exec.CommandContext(context.WithoutCancel(ctx), "tmux", "-L", server, "kill-server").Run() }()
				until := func(what string, keys ...string) string { // which are pressed before each look
					for {
						if len(keys) > 0 {
							tmux(append([]string{"send-keys"}, keys...)...)
						}
						if seen := tmux("capture-pane", "-p", "-e"); strings.Contains(seen, what) {
							return seen
						}
					}
				}
				keep := func(step, seen string) {
					path := filepath.Join(t.ArtifactDir(), step+".txt")
					require.NoError(t, os.WriteFile(path, []byte(seen), 0o600))
				}
				following := until("critiqu")
				keep("following", following)
				back := until("── what was", "Home")
				keep("reading-back", back)
				assert.Contains(t, back, "proposal")
				if plain != "" {
					assert.NotRegexp(t, "\x1b\\[[0-9;]*3[0-7]m", following+back)
				}
			})
		}
	}
}
