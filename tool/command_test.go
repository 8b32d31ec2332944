package tool_test

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/tool"
)

// runner returns a tool that runs the program of the tests. No time of it is over but those that are named.
func runner(t testing.TB, root string, c tool.Commands, over ...time.Duration) flow.Tool {
	t.Helper()
	return clocked(t, root, c, func(d time.Duration) bool { return slices.Contains(over, d) })
}

// clocked does the same with a function that says which times are over. It is asked when their measuring begins.
func clocked(t testing.TB, root string, c tool.Commands, over func(time.Duration) bool) flow.Tool {
	t.Helper()
	run, err := tool.RunCommand(opened(t, root, tool.Limits{}), commands(c.Clock(func(d time.Duration) <-chan time.Time {
		if !over(d) {
			return nil
		}
		passed := make(chan time.Time)
		close(passed)
		return passed
	})))
	require.NoError(t, err)
	return run
}

func child(args ...string) arguments { return arguments{"program": "child", "arguments": args} }

func TestCommands(t *testing.T) {
	root := folder(t, map[string]string{"sub/f": "x", "inner": "->sub"})
	actual, err := filepath.EvalSymlinks(root)
	require.NoError(t, err)
	run := runner(t, root, tool.Commands{Env: map[string]string{"LANG": "C"}, Inherit: []string{"TOOL_TEST_UNSET"}})
	for name, c := range map[string]struct {
		args arguments
		want string
	}{
		"no argument":      {arguments{"program": "child"}, "Exit code 9. Nothing was printed."},
		"arguments":        {child("say", "a b", "", "$HOME", "*", "`id`", "; id", "é", "'\"", "-x"), "Exit code 0.\n\n\"a b\"\n\"\"\n\"$HOME\"\n\"*\"\n\"`id`\"\n\"; id\"\n\"é\"\n\"'\\\"\"\n\"-x\"\n"},
		"exit code":        {child("exit", "7"), "Exit code 7. Nothing was printed."},
		"errors":           {child("both"), "Exit code 0.\n\nout 1\nerr\nout 2\n"},
		"no input":         {child("input"), "Exit code 0.\n\n0 bytes"},
		"no other env":     {child("env"), "Exit code 0.\n\nLANG=C\n" + childVariable + "=program"},
		"in the folder":    {child("where"), "Exit code 0.\n\n" + actual},
		"in a folder":      {arguments{"program": "child", "arguments": []string{"where"}, "folder": "sub/../sub/"}, "Exit code 0.\n\n" + filepath.Join(actual, "sub")},
		"through a link":   {arguments{"program": "child", "arguments": []string{"where"}, "folder": "inner"}, "Exit code 0.\n\n" + filepath.Join(actual, "sub")},
		"many arguments":   {child(append([]string{"exit", "0"}, make([]string, 254)...)...), "Exit code 0. Nothing was printed."},
		"no terminal":      {child("terminal"), "Exit code 0.\n\na terminal: false"},
		"killed by itself": {child("killed"), "The program was ended: signal: killed. Nothing was printed."},
		"last words":       {child("heir"), "Exit code 0.\n\nlast words\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "errors" && name != "no input" && name != "killed by itself" && name != "last words" {
				longform.Lone(t) // the program is another one, and what reads its output the same
			}
			assert.Equal(t, c.want, answer(t, run, c.args))
		})
	}
}

func TestWhatIsNotRun(t *testing.T) {
	root := folder(t, map[string]string{"f": "x", "out": "->..", "script": "#!/bin/sh\nexit 1\n"})
	run := runner(t, root, tool.Commands{Programs: []tool.Program{{
		Name: "checked", Path: must(os.Executable()),
		Check: func(folder string, arguments []string) error {
			if folder != "." || len(arguments) != 1 || arguments[0] != "say" {
				return errRefused
			}
			return nil
		},
	}}})
	outer := filepath.Dir(root)
	for _, c := range []struct {
		want string
		args arguments
	}{
		{`"sh" may not be run: only checked, child`, arguments{"program": "sh"}},
		{`"" may not be run`, arguments{"program": ""}},
		{`"CHILD" may not be run`, arguments{"program": "CHILD"}},
		{`"./script" may not be run`, arguments{"program": "./script"}},
		{`"child " may not be run`, arguments{"program": "child "}},
		{`"child\x00" may not be run`, arguments{"program": "child\x00"}},
		{`"../root/script" may not be run`, arguments{"program": "../root/script"}},
		{`xx…" may not be run`, arguments{"program": strings.Repeat("x", 1<<20)[:1<<19]}},
		{"an argument holds a zero byte", child("say", "a\x00b")},
		{"the arguments are more than 256", child(strings.Fields(strings.Repeat("x ", 300))...)},
		{"more than 65536 bytes", child("say", strings.Repeat("x", 65<<10))},
		{"leads out of the folder", arguments{"program": "child", "folder": ".."}},
		{"is absolute", arguments{"program": "child", "folder": outer}},
		{`"out": `, arguments{"program": "child", "folder": "out"}},
		{`"f": is a file, no folder`, arguments{"program": "child", "folder": "f"}},
		{`"gone": `, arguments{"program": "child", "folder": "gone"}},
		{"holds what no name of a file does", arguments{"program": "child", "folder": "a\x00"}},
		{"these arguments are refused", arguments{"program": "checked", "arguments": []string{"env"}}},
		{"these arguments are refused", arguments{"program": "checked"}},
		{"the arguments are wrong", arguments{"program": "child", "arguments": "say"}},
		{"missing properties: 'program'", arguments{}},
	} {
		failure := refusal(t, run, c.args)
		if !strings.Contains(c.want, "more than 256") { // the schema has this bound too
			assert.Contains(t, failure, c.want)
		}
		assert.Less(t, len(failure), 1000)
		if c.args["folder"] != outer {
			assert.NotContains(t, failure, outer)
		}
	}
	assert.Contains(t, answer(t, run, arguments{"program": "checked", "arguments": []string{"say"}}), "Exit code 0")
}

func TestWhatIsNoCommand(t *testing.T) {
	root := folder(t, map[string]string{"plain": "x", "x.cmd": "x"})
	require.NoError(t, os.Chmod(filepath.Join(root, "x.cmd"), 0o700))
	t.Setenv("TOOL_TEST_VALUE", "https://ada:4711@example.com/")
	dir := opened(t, root, tool.Limits{})
	self := tool.Program{Name: "child", Path: must(os.Executable())}
	for _, c := range []struct {
		field, says string
		commands    tool.Commands
	}{
		{"commands.programs", "none", tool.Commands{}},
		{"commands.programs[1]", "is a duplicate", tool.Commands{Programs: []tool.Program{self, self}}},
		{"commands.programs[0]", "is no name", tool.Commands{Programs: []tool.Program{{Path: self.Path}}}},
		{"commands.programs[0]", "is no name", tool.Commands{Programs: []tool.Program{{Name: "a b", Path: self.Path}}}},
		{"commands.programs[0]", "is no name", tool.Commands{Programs: []tool.Program{{Name: "/bin/sh"}}}},
		{"commands.programs[0]", "not absolute", tool.Commands{Programs: []tool.Program{{Name: "x", Path: "x"}}}},
		{"commands.programs[0]", "cannot be found", tool.Commands{Programs: []tool.Program{{Name: "no-program-has-this-name"}}}},
		{"commands.programs[0]", "cannot be found", tool.Commands{Programs: []tool.Program{{Name: "x", Path: filepath.Join(root, "plain")}}}},
		{"commands.programs[0]", "cannot be found", tool.Commands{Programs: []tool.Program{{Name: "x", Path: root}}}},
		{"commands.programs[0]", "batch file", tool.Commands{Programs: []tool.Program{{Name: "x", Path: filepath.Join(root, "x.cmd")}}}},
		{"commands.timeout", "-1ns", tool.Commands{Programs: []tool.Program{self}, Timeout: -1}},
		{"commands.timeout", "1h0m0", tool.Commands{Programs: []tool.Program{self}, Timeout: time.Hour + 1}},
		{"commands.output", "-1", tool.Commands{Programs: []tool.Program{self}, Output: -1}},
		{"commands.output", "24577", tool.Commands{Programs: []tool.Program{self}, Output: 24<<10 + 1}},
		{"commands.env", "is no name", tool.Commands{Programs: []tool.Program{self}, Env: map[string]string{"A=B": "x"}}},
		{"commands.env", "zero byte", tool.Commands{Programs: []tool.Program{self}, Env: map[string]string{"A": "x\x00"}}},
		{"commands.env", "32768", tool.Commands{Programs: []tool.Program{self}, Env: map[string]string{"A": strings.Repeat("x", 40_000)}}},
		{"commands.inherit[1]", "is a duplicate", tool.Commands{Programs: []tool.Program{self}, Inherit: []string{"A", "A"}}},
		{"commands.inherit[0]", "is a duplicate", tool.Commands{Programs: []tool.Program{self}, Inherit: []string{"A"}, Env: map[string]string{"A": ""}}},
		{"commands.inherit[0]", "is no name", tool.Commands{Programs: []tool.Program{self}, Inherit: []string{""}}},
		{"commands.inherit[0]", "looks like a secret", tool.Commands{Programs: []tool.Program{self}, Inherit: []string{"TOOL_TEST_VALUE"}}},
	} {
		_, err := tool.RunCommand(dir, c.commands)
		requireField(t, err, c.field)
		require.ErrorContains(t, err, c.says)
		assert.NotContains(t, err.Error(), "4711")
	}
	for _, none := range []*tool.Dir{nil, {}} {
		_, err := tool.RunCommand(none, tool.Commands{Programs: []tool.Program{self}})
		requireField(t, err, "dir")
	}
}

func TestNamesOfSecretsAreRefused(t *testing.T) {
	dir := opened(t, folder(t, nil), tool.Limits{})
	for name, secret := range map[string]bool{
		"OPENAI_API_KEY": true, "AWS_SECRET_ACCESS_KEY": true, "AWS_ACCESS_KEY_ID": true, "AWS_SESSION_TOKEN": true, "GITHUB_TOKEN": true,
		"github_token": true, "DB_PASSWORD": true, "PGPASSWORD": true, "PGPASSFILE": false, "MYSQL_PWD": true, "SSH_AUTH_SOCK": true, "NPM_TOKEN": true,
		"GOOGLE_APPLICATION_CREDENTIALS": true, "KUBECONFIG": true, "NETRC": true, "SENTRY_DSN": true, "AZURE_PAT": true, "MyApiKey": true, "KEY": true,
		"KEY2": true, "OPENROUTER-KEY": true, "SESSION_COOKIE": true, "JWT": true,
		"PATH": false, "HOME": false, "PWD": false, "OLDPWD": false, "GIT_AUTHOR_NAME": false, "GOFLAGS": false, "LANG": false, "KEYBOARD": false,
		"PASSAGE": false, "TMPDIR": false, "ProgramFiles(x86)": false, "MONKEY": false,
	} {
		for field, c := range map[string]tool.Commands{
			"commands.env": {Env: map[string]string{name: "x"}}, "commands.inherit[0]": {Inherit: []string{name}},
		} {
			_, err := tool.RunCommand(dir, commands(c))
			if !secret {
				require.NoError(t, err, name)
				continue
			}
			requireField(t, err, field)
			require.ErrorContains(t, err, "the name of a secret", name)
		}
	}
	for _, value := range []string{"sk-proj-0123456789abcdefghijklmnop", "postgres://ada:4711@host/db", "Bearer abcdefghijklmnopqrstuvwxyz012345"} {
		_, err := tool.RunCommand(dir, commands(tool.Commands{Env: map[string]string{"PLAIN": value}}))
		requireField(t, err, "commands.env")
		assert.NotContains(t, err.Error(), value)
	}
}

func TestInheritedVariables(t *testing.T) {
	t.Setenv("TOOL_TEST_NAMED", "before")
	t.Setenv("TOOL_TEST_OTHER", "x")
	run := runner(t, folder(t, nil), tool.Commands{Inherit: []string{"TOOL_TEST_NAMED"}})
	t.Setenv("TOOL_TEST_NAMED", "after")
	assert.Equal(t, "Exit code 0.\n\n"+childVariable+"=program\nTOOL_TEST_NAMED=before", answer(t, run, child("env")))
}

func TestCommandsAsk(t *testing.T) {
	root := folder(t, nil)
	for _, c := range []tool.Commands{{}, {Unasked: true}, {Idempotent: true}} {
		info := runner(t, root, c).Describe()
		assert.Equal(t, !c.Unasked, info.Approval)
		assert.Equal(t, c.Idempotent, info.Idempotent)
		assert.False(t, info.ReadOnly)
		assert.Contains(t, info.Description, "1m0s: child.")
	}
}

func TestAMovedFolder(t *testing.T) {
	root := folder(t, map[string]string{"f": "x"})
	run := runner(t, root, tool.Commands{})
	require.NoError(t, os.Rename(root, root+".moved"))
	assert.Contains(t, refusal(t, run, child("where")), "has been moved")
	require.NoError(t, os.Mkdir(root, 0o700))
	assert.Contains(t, refusal(t, run, child("where")), "has been moved")
	require.NoError(t, os.Remove(root))
	require.NoError(t, os.Rename(root+".moved", root))
	assert.Contains(t, answer(t, run, child("where")), "Exit code 0")
}

func TestAProgramThatIsGone(t *testing.T) {
	root := folder(t, map[string]string{"other/x": "#!/no/such/shell\n"})
	path := filepath.Join(root, "other", "x")
	require.NoError(t, os.Chmod(path, 0o700))
	run, err := tool.RunCommand(opened(t, root, tool.Limits{}), tool.Commands{Programs: []tool.Program{{Name: "x", Path: path}}})
	require.NoError(t, err)
	assert.Equal(t, "x cannot be started: no such file or directory", refusal(t, run, arguments{"program": "x"}))
	require.NoError(t, os.Remove(path))
	assert.Equal(t, "x cannot be started: no such file or directory", refusal(t, run, arguments{"program": "x"}))
}

// listen returns an address to which programs of the tests connect, and their connections.
func listen(t testing.TB) (address string, next func() net.Conn) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	return listener.Addr().String(), func() net.Conn {
		conn, err := listener.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
}

// requireGone waits until the program at the other end is gone.
func requireGone(conn net.Conn) {
	_, _ = io.Copy(io.Discard, conn) // it ends in one way or another
}

func TestACommandThatIsCanceled(t *testing.T) {
	for name, c := range map[string]struct {
		over []time.Duration
		want string
	}{
		"polite": {nil, "The program was stopped, because its use was canceled.\n\ngood bye\n"},
		"deaf":   {[]time.Duration{tool.Grace}, "The program was stopped, because its use was canceled. Nothing was printed."},
	} {
		t.Run(name, func(t *testing.T) {
			address, next := listen(t)
			run := runner(t, folder(t, nil), tool.Commands{}, c.over...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			type result struct {
				text string
				err  error
			}
			done := make(chan result, 1)
			go func() {
				text, err := run.Use(ctx, flow.ToolUse{Arguments: []byte(`{"program":"child","arguments":["` + name + `","` + address + `"]}`)})
				done <- result{text, err}
			}()
			conn := next()
			cancel()
			got := <-done
			require.NoError(t, got.err)
			assert.Equal(t, c.want, got.text)
			requireGone(conn)
		})
	}
}

func TestACommandThatTakesTooLong(t *testing.T) {
	address, next := listen(t)
	const short = 50 * time.Millisecond
	run := clocked(t, folder(t, nil), tool.Commands{Timeout: short}, func(d time.Duration) bool {
		if d == short {
			next() // it runs
		}
		return d == short || d == tool.Grace
	})
	assert.Contains(t, answer(t, run, child("deaf", address)), "The program was stopped, because it ran for more than 50ms.")

	run = runner(t, folder(t, nil), tool.Commands{}, tool.Grace)
	ctx, done := overdue{t.Context(), make(chan struct{})}, make(chan string, 1)
	go func() {
		text, err := run.Use(ctx, flow.ToolUse{Arguments: []byte(`{"program":"child","arguments":["deaf","` + address + `"]}`)})
		assert.NoError(t, err)
		done <- text
	}()
	next() // it runs
	close(ctx.past)
	assert.Contains(t, <-done, "The program was stopped, because the time of its use was over.")

	ended, end := context.WithCancel(t.Context())
	end()
	_, err := use(ended, t, run, child("say", "x"))
	require.ErrorIs(t, err, context.Canceled)
}

// overdue is a context whose deadline passes when the test says so.
type overdue struct {
	context.Context

	past chan struct{}
}

func (o overdue) Done() <-chan struct{} { return o.past }

func (o overdue) Err() error {
	select {
	case <-o.past:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// What a program leaves running in its group is killed, and what has left the group is not waited for.
func TestWhatProgramsLeave(t *testing.T) {
	address, next := listen(t)
	const left = " Another program that it has started is still running, and what that prints is lost."
	for kind, c := range map[string]struct {
		waits int // for the output that are over before it ends
		want  string
	}{"group": {1, ""}, "alone": {2, left}} {
		run := clocked(t, folder(t, nil), tool.Commands{}, func(d time.Duration) bool {
			if d == tool.Linger {
				c.waits--
			}
			return d == tool.Linger && c.waits >= 0
		})
		text := answer(t, run, child("family", kind, address))
		assert.Equal(t, "Exit code 0."+c.want+"\n\nthe first ends\n", text)
		conn := next()
		if kind == "alone" {
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		}
		requireGone(conn)
	}
}

func TestTheGroupOfACanceledCommandIsKilled(t *testing.T) {
	address, next := listen(t)
	run := runner(t, folder(t, nil), tool.Commands{}, tool.Grace)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := run.Use(ctx, flow.ToolUse{Arguments: []byte(`{"program":"child","arguments":["family","both","` + address + `"]}`)})
		done <- err
	}()
	first, second := next(), next()
	cancel()
	require.NoError(t, <-done)
	requireGone(first)
	requireGone(second)
}

// A program dies with the host program, even if that is killed.
func TestAProgramDiesWithItsHost(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("only on Linux")
	}
	address, next := listen(t)
	host := exec.CommandContext(t.Context(), os.Args[0], folder(t, nil), address)
	host.Env = append(os.Environ(), childVariable+"=host")
	require.NoError(t, host.Start())
	conn := next()
	require.NoError(t, host.Process.Kill())
	require.Error(t, host.Wait())
	requireGone(conn)
}
