package debate

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/provider"
)

// Aliases of the contracts, so that most programs import one package.
type (
	// Provider asks a model for one reply; see [provider.Provider].
	Provider = provider.Provider
	// Usage counts the tokens of a request; see [provider.Usage].
	Usage = provider.Usage
	// ContextManager decides what of a conversation is sent when not all of it fits; see [window.Manager].
	ContextManager = window.Manager
)

// Engine runs debates. Its fields say what is live: a [Config] refers to it by name. Set them before
// the first use; from then on the engine is frozen, and safe for concurrent use. The zero value
// works, but knows no provider. An Engine must not be copied.
type Engine struct {
	// Providers by the name that stands before the slash of a model: "openai" in "openai/gpt-5-mini".
	Providers map[string]Provider
	// Judges from outside, by the name in JudgeConfig.Judge.
	Judges map[string]Judge
	// Contexts are context managers by the name in Config.Context, beside the built-in ones.
	Contexts map[string]ContextManager
	// Formats by the name in Config.Format, beside those of BuiltinFormats.
	Formats map[string]Format
	// Flows by the name in Config.Flow, beside DebateFlow.
	Flows map[string]*Flow
	// Tools are what models may use while they make up a reply, by the name under which they call it.
	Tools map[string]Tool
	// Prompts replace the embedded templates of package prompt, by their names.
	Prompts map[string]string
	// Models are prices and sizes by "provider/model", before the embedded table.
	Models map[string]Model
	// Store keeps the logs; nil: a MemoryStore of the engine's own, which keeps every debate until
	// it is deleted there. A host that runs many sets one, and deletes.
	Store Store
	// Lease is how long another process waits before it takes over a debate from one that has gone
	// without a word, and how long a store may fail before its debates are let go of; 0: 15 s. A lease is
	// renewed after a third of it.
	Lease time.Duration
	// Logger gets a line for each change of state and each failed attempt, never a text; nil: none.
	Logger *slog.Logger
	// MaxCalls is how many calls are made at once over all debates; 0: as many as there are. Uses of tools do
	// not count: a tool may hold a debate of its own.
	MaxCalls int
	// ChunkInterval gathers the chunks of a turn for so long before a reader of Events gets them; 0: as
	// they come, but no faster than every 0.2 ms. 100 ms suit a screen.
	ChunkInterval time.Duration
	// Seed makes the secret seed of a new debate, from which come the word of its fences, its labels and
	// the orders in which judges are shown participants; nil, or "": 128 bits from crypto/rand. A test
	// that replays a debate gives the seed that it was recorded with. Where models or people are not to
	// be trusted a seed must not be guessable. It is called concurrently.
	Seed func() string

	once   sync.Once
	frozen *live
	err    error
}

// New makes a session of a debate that can still be edited. Nothing is checked, stored or paid for
// yet: Validate and Start do that.
func (e *Engine) New(config FlowConfig) (*Session, error) { return e.newSession(config, false) }

// newSession is New; unattended: nobody is asked, even if the config does not say what is chosen then.
func (e *Engine) newSession(config FlowConfig, unattended bool) (*Session, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	p, err := l.plan(config, unattended)
	if err != nil {
		return nil, err
	}
	p.terms.ID = cmp.Or(p.terms.ID, newID())
	return l.newSession(p)
}

// Start validates a config and starts its debate. ctx bounds the start only: the debate goes on
// after it, until it ends or the session is closed. A debate that exists under config.ID already is
// opened if its config is the same (if it is open in this engine, that session is returned), and is
// an error of kind conflict if not.
func (e *Engine) Start(ctx context.Context, config FlowConfig) (*Session, error) {
	return e.start(ctx, config, false)
}

func (e *Engine) start(ctx context.Context, config FlowConfig, unattended bool) (*Session, error) {
	s, err := e.newSession(config, unattended)
	if err != nil {
		if all := e.Validate(ctx, config); all != nil {
			return nil, all
		}
		return nil, err
	}
	if err := s.Validate(ctx); err != nil {
		return nil, err
	}
	if err := s.Start(ctx); err != nil {
		if open := s.live.host.session(s.ID()); open != nil && errors.Is(err, ErrLeased) {
			if err := open.same(s.runtime); err != nil {
				return nil, err
			}
			return facade(open), nil
		}
		return nil, err
	}
	return s, nil
}

// Run starts an unattended debate ([Config.Unattended]) and yields its events: facts, and chunks of
// turns as they are spoken. Leaving the loop
// cancels the debate. If ctx is done the session is closed, and the debate can be opened again. A
// debate that comes to the error state, or waits for a person (a judge with Person set), ends the loop
// with that error; it can be opened again too.
//
// When the loop has ended nothing of the debate runs any more.
func (e *Engine) Run(ctx context.Context, config FlowConfig) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s, err := e.start(ctx, config, true)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer s.Close()
		for event, err := range s.Events(ctx, 0) {
			if !yield(event, err) {
				if calm := context.WithoutCancel(ctx); err == nil && s.Cancel(calm) == nil {
					_, _ = s.Wait(calm) // for what the calls that are broken off have cost
				}
				return
			}
			if event.Err() == nil {
				continue
			}
			if _, done, stop := s.runtime.outcome(ctx); done && stop != nil { // else it is over by now
				yield(Event{}, stop)
				return
			}
		}
	}
}

// Open continues a stored debate. If it is open in this engine already, that session is returned.
// Calls that were in flight when its last owner went away are made again, and their cost is
// charged. A debate that another owner holds is [ErrLeased]; one that is over is opened to be read.
func (e *Engine) Open(ctx context.Context, id string) (*Session, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	return l.open(ctx, id)
}

func (l *live) open(ctx context.Context, id string) (*Session, error) {
	s, err := l.host.open(ctx, id)
	if err != nil {
		return nil, err
	}
	return facade(s), nil
}

// Events yields the numbered events of a debate after the given number, wherever it runs: as
// [Session.Events] if it is open here, else the facts of its log as they are saved. It ends after
// the debate's last event.
func (e *Engine) Events(ctx context.Context, id string, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		l, err := e.freeze()
		if err != nil {
			yield(Event{}, err)
			return
		}
		l.host.events(ctx, id, after)(yield)
	}
}

// List yields what is known of the stored debates that match, as [Store].List does. A worker that goes
// on with what others have left looks for {Working: true, Idle: true} and opens what it finds; of several
// workers one gets it, the others an [ErrLeased].
func (e *Engine) List(ctx context.Context, filter Filter) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		l, err := e.freeze()
		if err != nil {
			yield(Info{}, err)
			return
		}
		l.host.store.List(ctx, filter)(yield)
	}
}

// Record yields what is stored of a debate, wherever it runs: the fold of its log. No provider is asked,
// or need be registered, but the debate's flow.
func (e *Engine) Record(ctx context.Context, id string) (*Record, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	core, err := l.host.load(ctx, id)
	if err != nil {
		return nil, err
	}
	return core.Record(), nil
}

// Freeze yields the signal with which a debate's log begins: its config with every default written out, and
// all else that must not change while it runs. It is for runtimes of a host's own, which step a new core
// with [Edit], [Validate] and [Validated] first; the config should have passed Engine.Validate. Each call
// draws a new seed.
func (e *Engine) Freeze(config FlowConfig) (Start, error) {
	l, err := e.freeze()
	if err != nil {
		return Start{}, err
	}
	p, err := l.plan(config, false)
	if err != nil {
		return Start{}, err
	}
	start, err := l.start(p)
	if err != nil {
		return Start{}, err
	}
	start.Models = maps.Clone(start.Models) // its debate's own, since the host may write to it
	return *start, nil
}

// NewCore makes the core of a stored debate from its events, for a runtime of the host's own; without
// events, that of a debate which is still to be configured.
func (e *Engine) NewCore(id string, events []Event) (*Core, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	return l.core(id, events)
}

// Shutdown closes all sessions, so that another process can open their debates at once, and returns when
// nothing of them runs any more, or ctx is done. From then on the engine opens and starts no debate
// ([ErrClosed]); what is stored can still be read.
func (e *Engine) Shutdown(ctx context.Context) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	return l.host.shutdown(ctx)
}
