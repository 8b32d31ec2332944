package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/env"
	"github.com/agonist-dev/debate/tool/mcp"
)

// Bounds of the dealings with an MCP server.
const (
	serverSilence = 2 * time.Second  // before the program says what it waits for
	serverStart   = 10 * time.Second // until it has listed its tools
	serverEnd     = time.Second      // that its process has to end by itself
)

// ofServer begins a session with an MCP server, and adds its tools. Those that may change something need approval, unless
// --approve is set. The returned function ends the session.
func (f *toolFlags) ofServer(
	ctx context.Context, address string, into map[string]flow.Tool, say func(format string, args ...any),
) (end func(), err error) {
	tell := say
	say = func(format string, args ...any) { tell("%s", f.keyless.Replace(fmt.Sprintf(format, args...))) }
	transport, err := mcp.TransportTo(address)
	if err != nil {
		return nil, exit(exitArguments, fmt.Errorf("--mcp %q: %w", address, said(err)))
	}
	if command, ok := transport.(*mcp.CommandTransport); ok {
		command.TerminateDuration = serverEnd
		command.Command.Env = slices.DeleteFunc(os.Environ(), func(setting string) bool { // what a server says may reach a model, and the log
			name, _, _ := strings.Cut(setting, "=")
			return slices.Contains(env.Secrets(), name)
		})
	}
	session, tools, err := f.begin(ctx, address, transport, say)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, exit(exitGeneral, fmt.Errorf("--mcp %q: %w", address, withoutKeys(f.keyless, err)))
	}
	var once sync.Once
	lost := func(err error) {
		once.Do(func() {
			say("The MCP server %q gives no answer any more (%v). The models are told so when they use its tools.", address, errors.Unwrap(err))
		})
	}
	for name, t := range tools {
		t = &served{t, lost}
		if !t.Describe().ReadOnly && !f.approve {
			t = flow.WithApproval(t)
		}
		tools[name] = t
	}
	mcp.Add(into, session, tools)
	return func() { _ = session.Close() }, nil
}

// begin begins the session, and lists the tools. It says what it waits for if that takes long.
func (f *toolFlags) begin(
	ctx context.Context, address string, transport sdk.Transport, say func(format string, args ...any),
) (*sdk.ClientSession, map[string]flow.Tool, error) {
	within := cmp.Or(f.start, serverStart)
	ctx, cancel := context.WithTimeoutCause(ctx, within,
		fmt.Errorf("it had %v; if it has to fetch something first, start it once by hand", within))
	defer cancel()
	silent := time.AfterFunc(serverSilence, func() { say("Waiting for the MCP server %q, at most %v.", address, within) })
	defer silent.Stop()
	return mcp.Open(ctx, transport)
}

// served is a tool of a server. lost tells the user of a use that gets no answer: the model is only told that there is none.
type served struct {
	flow.Tool

	lost func(err error)
}

// Use implements [flow.Tool].
func (t *served) Use(ctx context.Context, use flow.ToolUse) (string, error) {
	out, err := t.Tool.Use(ctx, use)
	if errors.Is(err, mcp.ErrNoAnswer) {
		t.lost(err)
	}
	return out, err
}
