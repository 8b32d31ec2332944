package command

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/agui"
	"github.com/agonist-dev/debate/web/chat"
	"github.com/agonist-dev/debate/web/mcp"
)

// serveFlags are the flags of the command serve.
type serveFlags struct {
	listen  string
	token   string   // the file that has it
	presets []string // files
	quota   string   // in USD
	demo    bool
	open    bool
	stdio   bool
}

const (
	usualAddress = "localhost:8080"
	mostToken    = 4096        // bytes of a file with a token
	serveDrain   = time.Minute // that calls in flight, and requests, have when the program is to end
	// challenge makes a browser ask for the token.
	challenge = `Basic realm="debate", charset="UTF-8"`
)

// serve serves the conversations of the store to browsers and programs, and runs them.
func (p *program) serve() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use: "serve", Args: arguments(cobra.NoArgs), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, other := range []string{"listen", "token-file", "open"} { // they are for those who ask over HTTP
				if err := exclusive(c, "stdio", other); err != nil {
					return err
				}
			}
			return p.runServe(c.Context(), &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", usualAddress, "the `address` that is served, as host:port; port 0: one that is free")
	flags.StringVar(&f.token, "token-file", "", "the `file` with the token that requests must have; without it only this machine is served")
	flags.StringArrayVar(&f.presets, "preset", nil, "a config `file`, JSON or YAML, that the page offers to begin with; can be repeated")
	flags.StringVar(&f.quota, "quota", "", "the most `USD` that all conversations of the store may cost together: each then needs a limit")
	flags.BoolVar(&f.demo, "demo", false, demoUsage)
	flags.BoolVar(&f.open, "open", false, "open the page in the browser")
	flags.BoolVar(&f.stdio, "stdio", false, "serve the agent that has begun the program, as an MCP server over its standard input and output")
	completeFlag(c, "listen", func() []string { return []string{usualAddress, "localhost:0"} })
	p.tools.define(c)
	return c
}

func (p *program) runServe(ctx context.Context, f *serveFlags) error {
	options, err := f.options(p.user())
	if err != nil {
		return err
	}
	engine := p.engine()
	if f.demo {
		demo.Play(engine)
		p.warnf("%s", demo.Notice)
		if p.store == "" || p.usual.stored { // what waits in the user's store is not for a script
			p.store = notKept
		}
	}
	engine.Logger = slog.New(slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	options.Logger = engine.Logger
	if options.Presets, err = p.presets(engine, f); err != nil {
		return err
	}
	var listener net.Listener
	if !f.stdio {
		if listener, err = f.listening(ctx); err != nil {
			return err
		}
		defer func() { _ = listener.Close() }() // Serve has closed it, unless something fails before
	}
	closing, err := p.equip(ctx, engine, p.makeStore)
	if err != nil {
		return err
	}
	defer closing()
	if options.Authorize != nil { // whoever asks may be anywhere: files of this machine, and approvals in advance, are out of reach
		var only []web.Preset
		if len(f.presets) > 0 {
			only = options.Presets // their models
		}
		imports := true // unless a log from elsewhere could have tools change something here
		for _, tool := range engine.Tools {
			imports = imports && tool.Describe().ReadOnly
		}
		options.Policy = web.Strict(engine, web.Limits{
			Tools: slices.Collect(maps.Keys(engine.Tools)), Prompts: true, Vendor: true, Imports: imports,
		}, only...)
	}
	handler, err := web.New(engine, options)
	if err != nil {
		return err
	}
	where := "in " + shown(p.place())
	if p.store == notKept {
		where = "in memory, which nothing keeps"
	}
	if f.stdio {
		p.warnf("Serving the conversations %s to an agent, until it leaves.", where)
		return p.host(ctx, engine, func(ctx context.Context) error { return mcp.Run(ctx, handler, p.ends(), nil) })
	}
	address := f.address(listener)
	if _, err := fmt.Fprintln(p.Out, address); err != nil {
		return err
	}
	p.warnf("Serving the conversations %s until Ctrl-C.", where)
	if f.open {
		p.browse(address)
	}
	return p.host(ctx, engine, func(ctx context.Context) error { return web.Serve(ctx, listener, protocols(handler), serveDrain) })
}

// protocols serves conversations by the API and the page, and by the other protocols.
func protocols(h *web.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.Handle("/v1/", chat.New(h))
	mux.Handle("/agui", agui.New(h))
	mux.Handle("/mcp", mcp.New(h))
	return mux
}

// ends are the ends of the program, as a transport of an agent. Closing it closes neither.
func (p *program) ends() sdk.Transport {
	return &sdk.IOTransport{Reader: io.NopCloser(p.In), Writer: unclosed{p.Out}}
}

// unclosed is a writer that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// options are what the flags say of how conversations are served. name is that of a person who gives none.
func (f *serveFlags) options(name string) (o web.Options, err error) {
	if f.quota != "" {
		var quota flow.Money
		if err := json.Unmarshal([]byte(strings.TrimPrefix(f.quota, "$")), &quota); err != nil || quota <= 0 {
			return o, exit(exitArguments, fmt.Errorf("--quota is %q, not an amount of USD such as 5", f.quota))
		}
		o.Quota = func(map[string]string) flow.Money { return quota }
	}
	if f.stdio { // whom an agent obeys is not known
		o.Authorize = func(*http.Request, web.Access) (string, error) { return name, nil }
	}
	if f.token == "" {
		return o, nil
	}
	data, err := readNamed(f.token, mostToken)
	if err != nil {
		return o, fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if len(token) < leastKey || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return o, exit(exitArguments, fmt.Errorf("--token-file: %s: a token is one word of at least %d letters, digits and signs",
			f.token, leastKey))
	}
	o.Authorize = known(token, name)
	return o, nil
}

// known lets in who knows a token: as a bearer, or as the password of a name, which the log keeps then.
func known(token, name string) func(*http.Request, web.Access) (string, error) {
	want := sha256.Sum256([]byte(token))
	return func(r *http.Request, _ web.Access) (string, error) {
		who, given, ok := r.BasicAuth()
		if !ok {
			given, ok = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		}
		got := sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) == 0 {
			return "", &web.DeniedError{Challenge: challenge, Err: errors.New("the token is missing or wrong: it is the password of any name")}
		}
		return cmp.Or(who, name), nil
	}
}

// listening listens at the address. One that others reach needs a token.
func (f *serveFlags) listening(ctx context.Context) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return nil, exit(exitArguments, fmt.Errorf("--listen %s: %w", f.listen, err))
	}
	if at, ok := l.Addr().(*net.TCPAddr); f.token == "" && (!ok || !at.IP.IsLoopback()) {
		_ = l.Close() // nothing was accepted
		return nil, exit(exitArguments,
			fmt.Errorf("--listen %s: others reach that, and anybody could spend your money: give --token-file", f.listen))
	}
	return l, nil
}

// address returns the URL of the page.
func (f *serveFlags) address(l net.Listener) string {
	host, _, _ := net.SplitHostPort(f.listen) // it was listened at
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "http://" + net.JoinHostPort(cmp.Or(host, "localhost"), port) + "/"
}

// presets are what the page offers to begin with: the files of the flags, or else each kind of conversation, as the command debate begins
// it. Without a key there are none of these, and it is said.
func (p *program) presets(engine *debate.Engine, f *serveFlags) (all []web.Preset, err error) {
	w := settings.Wish{Usual: p.usual.Defaults, Has: func(vendor string) bool { return engine.Providers[vendor] != nil }}
	if f.demo {
		w.Usual, w.Labels, w.Script = settings.Defaults{}, map[string]string{demo.Label: "true"}, demo.Model
	}
	add := func(name string, source *settings.Source) error {
		loaded, err := source.Load(w)
		if err != nil {
			return settings.Sorted(err)
		}
		config, err := flow.EncodeConfig(loaded.Config)
		all = append(all, web.Preset{Name: name, Config: config})
		return err
	}
	for _, path := range f.presets {
		source, err := settings.Open(path)
		if err == nil {
			err = add(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), source)
		}
		if err != nil {
			return nil, exit(exitConfig, err)
		}
	}
	if len(f.presets) > 0 {
		return all, nil
	}
	for _, w.Flow = range settings.Flows() {
		if err := add(w.Flow, settings.Empty()); err != nil {
			p.warnf("%v", err)
			break
		}
	}
	return all, nil
}

// host serves, and runs what is due, until a signal comes. Then calls in flight and requests have time to finish. A second signal aborts
// them.
func (p *program) host(ctx context.Context, engine *debate.Engine, serve func(context.Context) error) error {
	serving, end := context.WithCancel(ctx)
	over, ended := context.WithCancel(ctx)
	var watching, working sync.WaitGroup
	aborted := false
	watching.Go(func() {
		select {
		case <-p.Interrupts:
			p.warnf("Ending: calls in flight have %v. Another Ctrl-C aborts them.", serveDrain)
			end()
		case <-over.Done():
			return
		}
		select {
		case <-p.Interrupts:
			aborted = true
			now, abort := context.WithCancel(ctx)
			abort()
			_ = engine.Shutdown(now)
		case <-over.Done():
		}
	})
	var worked error
	working.Go(func() {
		worked = engine.Work(serving, debate.Work{Drain: serveDrain})
		end()
	})
	err := serve(serving)
	end()
	working.Wait()
	bound, cancel := context.WithTimeout(ctx, serveDrain)
	left := engine.Shutdown(bound) // those that requests have begun
	cancel()
	ended()
	watching.Wait()
	if aborted {
		return exit(exitInterrupted, nil)
	}
	return errors.Join(err, worked, left)
}
