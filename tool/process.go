package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// command is a program that is about to run.
type command struct {
	path      string
	arguments []string // with the name of the program
	folder    string
	env       []string
	after     func(time.Duration) <-chan time.Time
}

// ending is how a program has ended.
type ending struct {
	state   *os.ProcessState
	stopped string // why it was stopped; empty: it has ended by itself
	held    bool   // somebody still holds its output
	printed string
}

func (e ending) String() string {
	var out strings.Builder
	switch {
	case e.stopped != "":
		fmt.Fprintf(&out, "The program was stopped, because %s.", e.stopped)
	case e.state.Exited():
		fmt.Fprintf(&out, "Exit code %d.", e.state.ExitCode())
	default:
		fmt.Fprintf(&out, "The program was ended: %s.", e.state)
	}
	if e.held {
		out.WriteString(" Another program that it has started is still running, and what that prints is lost.")
	}
	if e.printed == "" {
		out.WriteString(" Nothing was printed.")
		return out.String()
	}
	return out.String() + "\n\n" + e.printed
}

// run runs a command, and returns when nothing of it is running any more, as far as this system can tell. It fails if
// the command cannot be started.
func (c *command) run(ctx context.Context, timeout time.Duration, room int) (ending, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return ending{}, err
	}
	defer func() { _ = read.Close() }()
	cmd := &exec.Cmd{Path: c.path, Args: c.arguments, Dir: c.folder, Env: c.env, Stdout: write, Stderr: write}
	isolate(cmd)
	exited, err := start(cmd)
	_ = write.Close() // the command has its own
	if err != nil {
		return ending{}, err
	}
	kept := &output{half: room / 2}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(kept, read) // it ends with the last writer, or with the deadline
	}()
	end := ending{stopped: c.await(ctx, cmd, exited, timeout)}
	if end.stopped == "" {
		c.drain(ctx, copied) // what it has started may be about to print its last words
	}
	kill(cmd)
	if end.held = !c.drain(context.WithoutCancel(ctx), copied); end.held {
		if read.SetReadDeadline(time.Now()) != nil {
			_ = read.Close()
		}
		<-copied
	}
	end.state, end.printed = cmd.ProcessState, kept.String()
	return end, nil
}

// start starts a command, and returns a channel that is closed when the program has ended. The goroutine keeps its
// thread until then, because on Linux the program dies with the thread that has started it.
func start(cmd *exec.Cmd) (exited <-chan struct{}, err error) {
	started, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // its state says it all
		}
	}()
	if err := <-started; err != nil {
		<-done
		return nil, err
	}
	return done, nil
}

// await waits until a program has ended, and ends it if need be. It returns why, or nothing.
func (c *command) await(ctx context.Context, cmd *exec.Cmd, exited <-chan struct{}, timeout time.Duration) (stopped string) {
	select {
	case <-exited:
		return ""
	case <-c.after(timeout):
		stopped = fmt.Sprintf("it ran for more than %s", timeout)
	case <-ctx.Done():
		stopped = "its use was canceled"
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			stopped = "the time of its use was over"
		}
	}
	interrupt(cmd)
	select {
	case <-exited:
	case <-c.after(grace):
		kill(cmd)
		<-exited
	}
	return stopped
}

// drain waits a while for the end of a program's output, and reports whether it came. Others that the program has
// started may still hold it.
func (c *command) drain(ctx context.Context, copied <-chan struct{}) bool {
	select {
	case <-copied:
		return true
	case <-ctx.Done():
	case <-c.after(linger):
	}
	return false
}
