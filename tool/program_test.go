package tool_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

// programChild plays the programs that tests run.
func programChild(args []string) int {
	if len(args) == 0 {
		return 9
	}
	out := bufio.NewWriter(os.Stdout)
	defer func() { _ = out.Flush() }()
	switch args[0] {
	case "say":
		for _, arg := range args[1:] {
			_, _ = fmt.Fprintf(out, "%q\n", arg)
		}
	case "print":
		_, _ = out.WriteString(args[1])
	case "both":
		_, _ = os.Stdout.WriteString("out 1\n")
		_, _ = os.Stderr.WriteString("err\n")
		_, _ = os.Stdout.WriteString("out 2\n")
	case "exit":
		code, _ := strconv.Atoi(args[1])
		return code
	case "killed":
		return killSelf()
	case "env":
		env := os.Environ()
		slices.Sort(env)
		_, _ = out.WriteString(strings.Join(env, "\n"))
	case "where":
		_, _ = out.WriteString(must(os.Getwd()))
	case "input":
		_, _ = fmt.Fprintf(out, "%d bytes", len(must(io.ReadAll(os.Stdin))))
	case "terminal":
		_, err := os.Open("/dev/tty")
		_, _ = fmt.Fprintf(out, "a terminal: %t", err == nil)
	case "garbage":
		for range 100_000 {
			_, _ = out.WriteString("a\xff\x00")
		}
	case "flood":
		_, _ = out.WriteString("begin\n")
		for n := 0; args[1] == "forever" || n < must(strconv.Atoi(args[1])); n++ {
			if _, err := out.WriteString("0123456789abcde\n"); err != nil {
				return 1
			}
		}
		_, _ = out.WriteString("end\n")
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		return wait(args[1])
	case "polite":
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		go wait(args[1])
		<-asked
		_, _ = out.WriteString("good bye\n")
		return 3
	case "family": // what it starts is still running, and holds its output
		child := exec.Command(must(os.Executable()), "deaf", args[2])
		child.Stdout = os.Stdout
		if args[1] == "alone" {
			alone(child)
		}
		ready := must(child.StderrPipe())
		if child.Start() != nil {
			return 1
		}
		_, _ = io.Copy(io.Discard, ready)
		if args[1] == "both" {
			return wait(args[2])
		}
		_, _ = out.WriteString("the first ends\n")
		_ = out.Flush()
		emptied(os.Stdout)
	case "heir": // what it starts prints when it has ended
		child := exec.Command(must(os.Executable()), "last")
		child.Stdout = os.Stdout
		if _, err := child.StdinPipe(); err != nil || child.Start() != nil {
			return 1
		}
	case "last":
		_, _ = io.Copy(io.Discard, os.Stdin)
		_, _ = out.WriteString("last words\n")
	}
	return 0
}

func must[T any](value T, err error) T {
	if err != nil {
		_, _ = fmt.Println(err)
		os.Exit(9)
	}
	return value
}

// wait connects to a test, which sees when this process is gone, and ends when the test does.
func wait(address string) int {
	conn := must((&net.Dialer{}).DialContext(context.Background(), "tcp", address))
	_ = os.Stderr.Close() // it is ready
	_, _ = io.Copy(io.Discard, conn)
	return 0
}

// hostChild is a host program that runs a program until it is killed.
func hostChild(args []string) int {
	dir := must(tool.OpenDir(args[0], tool.Limits{}))
	run := must(tool.RunCommand(dir, commands(tool.Commands{})))
	_ = must(run.Use(context.Background(), flow.ToolUse{Arguments: fmt.Appendf(nil, `{"program":"child","arguments":["deaf",%q]}`, args[1])}))
	return 0
}

// commands adds to commands the program of the tests.
func commands(c tool.Commands) tool.Commands {
	c.Programs = append(c.Programs, tool.Program{Name: "child", Path: must(os.Executable())})
	env := map[string]string{childVariable: "program"}
	maps.Copy(env, c.Env)
	c.Env = env
	return c
}

var errRefused = errors.New("these arguments are refused")
