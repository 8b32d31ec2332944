package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/cmd/debate/internal/fake"
	"github.com/agonist-dev/debate/internal/longform"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "6") // the scripts also wait: for retries, and for a demonstration that speaks at its pace
	testscript.Main(m, map[string]func(){
		// Not os.Exit, which prints something where coverage is counted.
		"debate":     func() { syscall.Exit(run(tried(), time.Hour)) },
		"mcp-server": func() { syscall.Exit(serveTools()) },
	})
}

// tried is the program as the scripts try it: an MCP server may be as slow as the machine is.
func tried() command.System { return command.System{ServerStart: time.Hour} }

// TestScripts runs the scripts in testdata/script, which carry out most lines within the process of the tests, or share a conversation
// between processes. Beside the commands of package testscript they have those below.
func TestScripts(t *testing.T) { scripts(t, "script") }

// TestProcesses runs the scripts in testdata/process, most of whose lines start the program as a process.
func TestProcesses(t *testing.T) {
	longform.Lone(t)
	scripts(t, "process")
}

// scripts runs those of a folder, beside each other.
func scripts(t *testing.T, folder string) {
	t.Helper()
	hungUp := make(chan os.Signal, 1) // so that the programs do not inherit from nohup that the signal is ignored
	signal.Notify(hungUp, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hungUp) }) // the scripts run after this function
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", folder),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run": within, "code": code, "serve": serve, "served": served, "sent": sent, "await": await, "release": release, "exited": exited, "signal": send,
			"capture": capture, "share": share, "sqlite": inSQLite, "damage": damage,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Values[stateKey{}] = &state{}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil // to whom no file is closed
			}
			return false, fmt.Errorf("there is no condition %s", name)
		},
		UpdateScripts:      os.Getenv("DEBATE_UPDATE_SCRIPTS") != "",
		RequireUniqueNames: true,
	})
}

// state is what the commands of one script know of each other.
type state struct {
	server  *fake.Server
	started []*exec.Cmd // the commands in the background, as await has seen them
}

type stateKey struct{}

func stateOf(ts *testscript.TestScript) *state { return ts.Value(stateKey{}).(*state) }

// within runs the program within the process of the tests, which spares the start of a process, and within one of its own in the
// long form. It is for command lines that name no file by a relative path and read no standard input:
//
//	run debate show
func within(ts *testscript.TestScript, neg bool, args []string) {
	if got := codeOf(ts, append([]string{"run"}, args...)); (got == 0) == neg {
		ts.Fatalf("the exit code is %d", got)
	}
}

// code runs a command in the foreground. It must end with an exit code:
//
//	code 2 debate --store nothing.db list
//	code 2 run debate --rounds 0 'Design a cache'
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [argument...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := codeOf(ts, args[1:]); got != want {
		ts.Fatalf("the exit code is %d, not %d", got, want)
	}
}

// codeOf runs a command, as a process unless it begins with "run", and returns its exit code.
func codeOf(ts *testscript.TestScript, words []string) int {
	if words[0] == "run" {
		if len(words) == 1 || words[1] != "debate" {
			ts.Fatalf("usage: run debate [argument...]")
		}
		if words = words[1:]; !longform.Asked() {
			return inProcess(ts, words[1:])
		}
	}
	err := ts.Exec(words[0], words[1:]...)
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.ExitCode()
	default:
		ts.Fatalf("%s: %v", words[0], err)
		return -1
	}
}

// inProcess carries out a command line in the environment of a script, and returns the exit code.
func inProcess(ts *testscript.TestScript, args []string) int {
	system := tried()
	system.Args, system.In = args, strings.NewReader("")
	system.Out, system.Err = &stream{to: ts.Stdout()}, &stream{to: ts.Stderr()}
	system.Lookup = func(name string) (string, bool) {
		value := ts.Getenv(name)
		return value, value != ""
	}
	return command.Run(context.Background(), system)
}

// stream is written to by several goroutines, as a file is.
type stream struct {
	sync.Mutex

	to io.Writer
}

func (s *stream) Write(data []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.to.Write(data)
}

// serve starts a fake of OpenAI's server, to which the variables of the script then point. A file of rules is a JSON array of
// fake.Rule. With -openai it stands at OpenAI's own address, behind a proxy, for those who are started as processes, and counts tokens as
// OpenAI does. With -refuse it accepts no key:
//
//	serve [-chat] [-refuse] [-openai] [-delay 20ms] [-text FILE] [rules.json]
func serve(ts *testscript.TestScript, neg bool, args []string) {
	server, genuine := &fake.Server{}, false
	for len(args) > 0 && !neg {
		switch {
		case args[0] == "-chat":
			server.ChatOnly = true
		case args[0] == "-refuse":
			server.Refuses = true
		case args[0] == "-openai":
			server.Counts, genuine = true, true
		case args[0] == "-delay" && len(args) > 1:
			delay, err := time.ParseDuration(args[1])
			ts.Check(err)
			server.Delay, args = delay, args[1:]
		case args[0] == "-text" && len(args) > 1:
			server.Text, args = ts.ReadFile(args[1]), args[1:]
		case len(args) == 1:
			rules, err := fake.ParseRules([]byte(ts.ReadFile(args[0])))
			ts.Check(err)
			server.Rules = rules
		default:
			ts.Fatalf("usage: serve [-chat] [-refuse] [-openai] [-delay 20ms] [-text FILE] [rules.json]")
		}
		args = args[1:]
	}
	listening := httptest.NewServer(server)
	ts.Defer(func() {
		listening.CloseClientConnections()
		listening.Close()
	})
	stateOf(ts).server = server
	ts.Setenv("OPENAI_BASE_URL", listening.URL+"/v1")
	if genuine {
		ts.Setenv("OPENAI_BASE_URL", "http://api.openai.com/v1")
		ts.Setenv("HTTP_PROXY", listening.URL)
	}
	ts.Setenv("OPENAI_API_KEY", "sk-of-the-test")
}

// calls returns the calls that the script's server has got.
func calls(ts *testscript.TestScript, pattern string) []fake.Call {
	server := stateOf(ts).server
	if server == nil {
		ts.Fatalf("no server has been started")
	}
	found, _ := server.Calls(pattern)
	return found
}

// served checks how many calls have come, of those whose names match a pattern:
//
//	served 3 r1.propose.*
func served(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: served N [pattern]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	pattern := ""
	if len(args) == 2 {
		pattern = args[1]
	}
	if found := calls(ts, pattern); len(found) != want {
		for i := range calls(ts, "") {
			ts.Logf("%s", calls(ts, "")[i].Name)
		}
		ts.Fatalf("%d calls have come, not %d", len(found), want)
	}
}

// sent checks what the calls whose names match a pattern hold. One of them matches the expression, with -all each of them,
// with ! none:
//
//	sent -all r1.critique.* 'Design a cache'
func sent(ts *testscript.TestScript, neg bool, args []string) {
	all := len(args) == 3 && args[0] == "-all"
	if all {
		args = args[1:]
	}
	if len(args) != 2 {
		ts.Fatalf("usage: sent [-all] pattern expression")
	}
	expression, err := regexp.Compile(args[1])
	ts.Check(err)
	found := calls(ts, args[0])
	if len(found) == 0 {
		ts.Fatalf("no such call has come")
	}
	matching := 0
	for i := range found {
		if expression.MatchString(found[i].Body) {
			matching++
		} else if all {
			ts.Fatalf("%s: %s", found[i].Name, found[i].Body)
		}
	}
	if (matching == 0) != neg {
		ts.Fatalf("%d of %d calls match", matching, len(found))
	}
}

// await waits for a call whose name matches a pattern, or for so many, from a command in the background. Then that command can
// be interrupted:
//
//	! exec debate 'Design a cache' &run&
//	await 3 r1.propose.*
//	kill -INT run
//	wait run
//	exited 130
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 || stateOf(ts).server == nil {
		ts.Fatalf("usage, after serve: await [N] pattern")
	}
	many := 1
	if len(args) == 2 {
		var err error
		many, err = strconv.Atoi(args[0])
		ts.Check(err)
	}
	for {
		found, more := stateOf(ts).server.Calls(args[len(args)-1])
		if len(found) >= many {
			stateOf(ts).started = ts.BackgroundCmds()
			return
		}
		<-more
	}
}

// release lets the server of the script answer the calls that a rule holds, and hold no others:
//
//	release
func release(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 || stateOf(ts).server == nil {
		ts.Fatalf("usage, after serve: release")
	}
	stateOf(ts).server.Release()
}

// send sends signals to the command that was awaited last. It may have ended before it gets those behind the first one:
//
//	signal TERM
func send(ts *testscript.TestScript, neg bool, args []string) {
	started := stateOf(ts).started
	known := map[string]os.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "INT": os.Interrupt}
	if neg || len(args) == 0 || len(started) == 0 {
		ts.Fatalf("usage, after await: signal TERM|HUP|INT...")
	}
	for i, name := range args {
		if known[name] == nil {
			ts.Fatalf("there is no signal %s", name)
		}
		if err := started[len(started)-1].Process.Signal(known[name]); i == 0 || !errors.Is(err, os.ErrProcessDone) {
			ts.Check(err)
		}
	}
}

// capture sets a variable to what an expression finds in the standard output of the last command, or in its standard error:
//
//	capture ID stdout '[-0-9a-f]{36}'
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture NAME stdout|stderr expression")
	}
	expression, err := regexp.Compile(args[2])
	ts.Check(err)
	found := expression.FindString(ts.ReadFile(args[1]))
	if found == "" {
		ts.Fatalf("nothing in %s matches", args[1])
	}
	ts.Setenv(args[0], found)
}

// share sets a variable to a share of an amount: of the first that the parentheses of an expression find in the standard output of the last
// command, or in its standard error:
//
//	share LIMIT 1.3 stdout '"spent": ([0-9.]+)'
func share(ts *testscript.TestScript, neg bool, args []string) {
	const decimals = 12 // of an amount of USD, at most
	if neg || len(args) != 4 {
		ts.Fatalf("usage: share NAME factor stdout|stderr expression")
	}
	factor, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	expression, err := regexp.Compile(args[3])
	ts.Check(err)
	found := expression.FindStringSubmatch(ts.ReadFile(args[2]))
	if len(found) != 2 {
		ts.Fatalf("nothing in %s matches, or the expression has no parentheses", args[2])
	}
	amount, err := strconv.ParseFloat(found[1], 64)
	ts.Check(err)
	ts.Setenv(args[0], strconv.FormatFloat(factor*amount, 'f', decimals, 64))
}

// exited checks the exit code of the command in the background that was waited for last.
func exited(ts *testscript.TestScript, neg bool, args []string) {
	started := stateOf(ts).started
	if neg || len(args) != 1 || len(started) == 0 {
		ts.Fatalf("usage, after await and wait: exited N")
	}
	if ended := started[len(started)-1].ProcessState; ended == nil || strconv.Itoa(ended.ExitCode()) != args[0] {
		ts.Fatalf("the command ended with %v", ended)
	}
}

// inSQLite has a file of SQLite, which is created if it is missing, carry out a statement:
//
//	sqlite other.db 'CREATE TABLE albums (name TEXT)'
func inSQLite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sqlite FILE statement")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(context.Background(), args[1])
	ts.Check(err)
}

// damage overwrites the first page of a file, behind its header:
//
//	damage talks.db
func damage(ts *testscript.TestScript, neg bool, args []string) {
	const header, page = 100, 4096
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage FILE")
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	for i := header; i < min(page, len(data)); i++ {
		data[i] ^= 0x5a
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}
