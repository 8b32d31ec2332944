package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxLine   = 16 << 20        // bytes of a message, as in the SDK
	maxWords  = 400             // bytes of the end of the standard error
	terminate = 5 * time.Second // for each way to end a command
)

// CommandTransport is a transport to a server that is started as a command, over its standard input and output. It does what
// [sdk.CommandTransport] does, and skips what the command prints beside its messages, such as a line of its log. No server may do that,
// and many do; the SDK's own transport ends the session then. A line of more than 16 MiB ends it. It must not be copied, and is for
// one session.
type CommandTransport struct {
	// Command is not started yet, and its Stdin and Stdout are nil. The context of Connect does not end it. The rest is the caller's:
	//   - With a nil Env the server gets the environment of this program, API keys included.
	//   - With a nil Stderr the end of what the server writes there is kept for the error of [Open].
	//   - With a nil SysProcAttr the server gets a process group of its own on Unix, so that a Ctrl-C reaches this program alone.
	Command *exec.Cmd
	// TerminateDuration is how long the session's Close waits for the command to end: once its input is closed, and again after it
	// was told to terminate, and after it was killed, so up to three times. 0: 5 s.
	TerminateDuration time.Duration

	ended atomic.Bool
	words tail
}

// Ended reports whether the command has ended by itself, or has closed its output. It is false for a command that the session's Close has
// ended. It is safe for concurrent use.
func (t *CommandTransport) Ended() bool { return t.ended.Load() }

// Connect starts the command. It implements [sdk.Transport].
func (t *CommandTransport) Connect(ctx context.Context) (sdk.Connection, error) {
	out, err := t.Command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	in, err := t.Command.StdinPipe()
	if err != nil {
		return nil, err
	}
	if t.Command.Stderr == nil {
		t.Command.Stderr = &t.words
		// What the server has started may outlive it, and hold its standard error open.
		t.Command.WaitDelay = cmp.Or(t.Command.WaitDelay, t.TerminateDuration, terminate)
	}
	apart(t.Command)
	if err := t.Command.Start(); err != nil {
		return nil, err
	}
	p := &process{transport: t, in: in}
	return (&sdk.IOTransport{Reader: &output{process: p, lines: bufio.NewReader(out)}, Writer: p}).Connect(ctx)
}

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements [io.Writer].
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, data...)
	t.kept = t.kept[max(len(t.kept)-maxWords, 0):]
	return len(data), nil
}

// last returns the last line that is not blank.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	said := strings.TrimSpace(string(t.kept))
	return strings.ToValidUTF8(said[strings.LastIndexByte(said, '\n')+1:], "")
}

// process is a command that runs.
type process struct {
	transport *CommandTransport
	in        io.WriteCloser
	closing   atomic.Bool
}

// lost notes that the command no longer reads or writes, unless the session is closing.
func (p *process) lost() {
	if !p.closing.Load() {
		p.transport.ended.Store(true)
	}
}

// Write implements [io.Writer].
func (p *process) Write(data []byte) (int, error) {
	n, err := p.in.Write(data)
	if err != nil {
		p.lost()
	}
	return n, err
}

// Close ends the command: it closes its input, as the protocol wants it, and helps if that is not enough.
func (p *process) Close() error {
	p.closing.Store(true)
	_ = p.in.Close()
	command := p.transport.Command
	gone := make(chan error, 1)
	go func() { gone <- command.Wait() }()
	for _, end := range []func(){
		func() {},
		func() { _ = command.Process.Signal(syscall.SIGTERM) },
		func() { _ = command.Process.Kill() },
	} {
		end()
		timer := time.NewTimer(cmp.Or(p.transport.TerminateDuration, terminate))
		select {
		case err := <-gone:
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
	return errors.New("the server's process does not end")
}

// output reads the messages of a command, one line each.
type output struct {
	process *process
	lines   *bufio.Reader
	rest    []byte // of a message
	err     error
}

// Read implements [io.Reader].
func (o *output) Read(b []byte) (int, error) {
	for len(o.rest) == 0 {
		if o.err != nil {
			return 0, o.err
		}
		line, err := o.line()
		if o.err = err; err != nil && !errors.Is(err, errLong) {
			o.process.lost()
		}
		if m := message(line); m != nil {
			o.rest = slices.Concat(m, []byte{'\n'})
		}
	}
	n := copy(b, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// Close implements [io.Closer]. The command's output is closed when the command has ended.
func (o *output) Close() error {
	o.process.closing.Store(true)
	return nil
}

var errLong = errors.New("a line of the server's output is longer than 16 MiB")

// line reads a line. At the end it may lack its line break.
func (o *output) line() ([]byte, error) {
	var line []byte
	for {
		part, err := o.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		case len(line) > maxLine:
			return nil, errLong
		}
	}
}

// message returns the message in a line, or nil if it has none. Something may stand before it that was printed without a line break.
func message(line []byte) []byte {
	const tries = 8
	line = bytes.TrimSpace(line)
	for n := 0; n < tries && len(line) > 0; n++ {
		if isMessage(line) {
			return line
		}
		next := bytes.Index(line[1:], []byte(`{"`))
		if next < 0 {
			return nil
		}
		line = line[1+next:]
	}
	return nil
}

// isMessage reports whether JSON is a message of the protocol, or a batch of them.
func isMessage(data []byte) bool {
	type envelope struct {
		Version string `json:"jsonrpc"`
	}
	switch data[0] {
	case '{':
		var one envelope
		return json.Unmarshal(data, &one) == nil && one.Version != ""
	case '[':
		var all []envelope
		return json.Unmarshal(data, &all) == nil && len(all) > 0 &&
			!slices.ContainsFunc(all, func(e envelope) bool { return e.Version == "" })
	}
	return false
}
