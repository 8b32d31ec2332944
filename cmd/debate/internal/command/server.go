package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/env"
	"github.com/agonist-dev/debate/provider/wire"
	"github.com/agonist-dev/debate/tool/mcp"
)

// Bounds of the dealings with an MCP server.
const (
	serverSilence = 2 * time.Second  // before the program says what it waits for
	serverStart   = 10 * time.Second // until it has listed its tools
	serverEnd     = time.Second      // that its process has to end by itself
	lastWords     = 1 << 10          // bytes of its standard error that are kept
)

// server is an MCP server whose tools are offered.
type server struct {
	address string                // as --mcp names it
	process *mcp.CommandTransport // nil: it is at a URL
	words   *lastBytes            // what the command has written to its standard error
	session *sdk.ClientSession
	say     func(format string, args ...any)
	start   time.Duration     // that it may take until it has listed its tools
	keyless *strings.Replacer // of what it says
	lost    sync.Once         // says that it gives no answer
}

// ofServer begins a session with an MCP server, and adds its tools. Those that may change something need approval, unless
// --approve is set. A tool whose name is taken gets that of its server before it, and a number if that is taken too. The returned
// function ends the session.
func (f *toolFlags) ofServer(
	ctx context.Context, address string, into map[string]flow.Tool, say func(format string, args ...any),
) (end func(), err error) {
	s := &server{address: address, start: cmp.Or(f.start, serverStart), keyless: f.keyless}
	s.say = func(format string, args ...any) { say("%s", f.keyless.Replace(fmt.Sprintf(format, args...))) }
	transport, err := s.transport()
	if err != nil {
		return nil, exit(exitArguments, fmt.Errorf("--mcp %q: %w", address, err))
	}
	tools, err := s.begin(ctx, transport)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, exit(exitGeneral, fmt.Errorf("--mcp %q: %w", address, withoutKeys(f.keyless, err)))
	}
	end = func() { _ = s.session.Close() }
	taken := func(name string) bool { return into[name] != nil }
	var again []string // names that former servers' tools have
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		if taken(name) {
			again = append(again, name)
			continue
		}
		into[name] = s.offered(tools[name], f.approve)
	}
	for _, name := range again {
		into[mcp.Free(prefixed(s.session, name), taken)] = s.offered(tools[name], f.approve)
	}
	return end, nil
}

// offered returns a tool of the server as models get it.
func (s *server) offered(t flow.Tool, approved bool) flow.Tool {
	t = &served{t, s}
	if !t.Describe().ReadOnly && !approved {
		t = flow.WithApproval(t)
	}
	return t
}

// begin begins the session, and lists the tools. It says what it waits for if that takes long.
func (s *server) begin(ctx context.Context, transport sdk.Transport) (map[string]flow.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.start)
	defer cancel()
	silent := time.AfterFunc(serverSilence, func() {
		s.say("Waiting for the MCP server %q, at most %v.", s.address, s.start)
	})
	defer silent.Stop()
	session, err := mcp.Connect(ctx, transport)
	if err != nil {
		return nil, s.failure(ctx, "begun a session", err)
	}
	tools, err := mcp.Tools(ctx, session)
	if err != nil {
		_ = session.Close()
		return nil, s.failure(ctx, "listed its tools", err)
	}
	s.session = session
	return tools, nil
}

// failure says what a server did in place of what was wanted.
func (s *server) failure(ctx context.Context, wanted string, err error) error {
	var out string
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		out = fmt.Sprintf("the server has not %s within %v; if it has to fetch something first, start it once by hand", wanted, s.start)
	case ctx.Err() != nil:
		return ctx.Err()
	case s.process != nil && s.process.Ended() && s.process.Command.ProcessState != nil: // the session's end has waited for the process
		out = fmt.Sprintf("the server has ended (%v) and not %s", s.process.Command.ProcessState, wanted)
	default:
		return fmt.Errorf("the server has not %s: %w", wanted, err)
	}
	if last := s.words.lastLine(); last != "" {
		out += ". It said: " + short(s.keyless.Replace(last), 200)
	}
	return errors.New(out)
}

// served is a tool of a server. The first use that gets no answer is said to the user: the model is only told that there is
// none.
type served struct {
	flow.Tool

	server *server
}

// Use implements [flow.Tool].
func (t *served) Use(ctx context.Context, use flow.ToolUse) (string, error) {
	out, err := t.Tool.Use(ctx, use)
	if errors.Is(err, mcp.ErrNoAnswer) {
		t.server.lost.Do(func() {
			t.server.say("The MCP server %q gives no answer any more (%v). The models are told so when they use its tools.",
				t.server.address, errors.Unwrap(err))
		})
	}
	return out, err
}

// lastBytes keeps the end of what is written to it. It is safe for concurrent use.
type lastBytes struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements [io.Writer].
func (l *lastBytes) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, data...)
	if over := len(l.kept) - lastWords; over > 0 {
		l.kept = append(l.kept[:0], l.kept[over:]...)
	}
	return len(data), nil
}

// lastLine returns the last line that is not blank.
func (l *lastBytes) lastLine() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(l.kept)), "\n")
	return lines[len(lines)-1]
}

// transport returns the way to the server: its URL, or a command whose standard input and output are used.
func (s *server) transport() (sdk.Transport, error) {
	if strings.HasPrefix(s.address, "http://") || strings.HasPrefix(s.address, "https://") {
		return &sdk.StreamableClientTransport{Endpoint: s.address}, nil
	}
	words, err := splitWords(s.address)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("want the URL of an MCP server, or the command that starts one")
	}
	s.words = &lastBytes{}
	command := exec.Command(words[0], words[1:]...) //nolint:gosec,noctx // the user's own command, which lasts as long as the session
	command.Stderr = s.words
	command.WaitDelay = serverEnd // what it has started may outlive it, and hold its standard error open
	apart(command)
	command.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool { // what a server says may reach a model, and the log
		name, _, _ := strings.Cut(setting, "=")
		return slices.Contains(env.Secrets(), name)
	})
	s.process = &mcp.CommandTransport{Command: command, TerminateDuration: serverEnd}
	return s.process, nil
}

// prefixed returns the name of a tool with that of its server before it, as vendors take it.
func prefixed(session *sdk.ClientSession, name string) string {
	server := "mcp"
	if said := session.InitializeResult(); said != nil && said.ServerInfo != nil && said.ServerInfo.Name != "" {
		server = said.ServerInfo.Name
	}
	return wire.ToolName(server + "_" + name)
}

// splitWords divides a command line into words. Quotes keep spaces in a word. No shell reads it: there are no variables, and
// a backslash is a character like others.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
