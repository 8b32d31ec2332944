package engine

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/session"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Session is a conversation that this process has open. Of what internal/session does with it, it does what needs the engine.
type Session struct {
	*session.Session

	Face   any // what the host program gets for it; see Parts.Face
	engine *Engine
}

// of returns the Session that was made for one of internal/session.
func of(s *session.Session) *Session {
	own, _ := s.Facade.(*Session)
	return own
}

// NewSession returns a session whose conversation can still be edited. If unattended is set, no person is asked, even if the config
// does not say what is chosen then.
func (l *Engine) NewSession(ctx context.Context, config flow.Config, unattended bool) (*Session, error) {
	p, err := l.identified(ctx, config, unattended)
	if err != nil {
		return nil, err
	}
	return l.configure(p)
}

// identified returns the plan of a conversation that has an ID. An engine that is shut down makes none: it would only fetch files and
// ask providers in vain.
func (l *Engine) identified(ctx context.Context, config flow.Config, unattended bool) (*plan, error) {
	if err := l.host.Refusal(); err != nil {
		return nil, err
	}
	p, err := l.plan(ctx, config, unattended)
	if err == nil {
		p.settings.ID = cmp.Or(p.settings.ID, newID())
	}
	return p, err
}

// toStart is NewSession for a config that may have mistakes: the error names all of them.
func (l *Engine) toStart(ctx context.Context, config flow.Config, unattended bool) (*Session, error) {
	p, err := l.identified(ctx, config, unattended)
	if err != nil {
		return nil, err
	}
	if unattended {
		if err := nobodyAsked(p.config); err != nil {
			return nil, err
		}
	}
	s, err := l.configure(p)
	if err != nil {
		if _, _, all := l.validate(ctx, p, nil); all != nil {
			return nil, all
		}
		return nil, err
	}
	return s, nil
}

// nobodyAsked refuses a config in which a person is waited for without an end. It is for a caller who cannot answer.
func nobodyAsked(config flow.Config) error {
	var f flow.Findings
	for s := range config.Seats() {
		if s.Waits() {
			err := flow.WithMend(errors.New("nobody can be asked in a Run"), "use Start, or give the seat within and standIn")
			f.Addf(strings.TrimPrefix(s.Field+".person", "."), "%w", err)
		}
	}
	return errors.Join(f...)
}

// configure makes a session of a conversation that is still to be configured.
func (l *Engine) configure(p *plan) (*Session, error) {
	core, err := l.configured(p)
	if err != nil {
		return nil, err
	}
	s := of(l.host.NewSession(core))
	s.Keep(p.files)
	return s, nil
}

// configured makes the core of a debate that has a config and has not started.
func (l *Engine) configured(p *plan) (*flow.Core, error) {
	if err := store.CheckID(p.settings.ID); err != nil {
		return nil, err
	}
	core, err := l.NewCore(p.settings.ID, nil)
	if err != nil {
		return nil, err
	}
	_, err = core.Step(session.NewInput(flow.Edit{Flow: p.machine.Flow().Name, Config: p.config, Settings: p.settings}))
	return core, err
}

// frozenStart returns the signal with which a log begins, as the checks of the config have made it. nil: they made none.
func (l *Engine) frozenStart(r *flow.Record, checked *flow.Start) (*flow.Start, error) {
	if checked != nil {
		return checked, nil
	}
	return l.start(l.planOf(r))
}

// Start validates a config and starts its conversation; see debate.Engine. For unattended see NewSession.
func (l *Engine) Start(ctx context.Context, config flow.Config, unattended bool) (*Session, error) {
	s, _, err := l.startBy(ctx, config, unattended, (*Session).Start)
	return s, err
}

// Play starts a conversation, makes its calls on the goroutine of the caller, and waits until no process needs to work on it; see
// debate.Engine.
func (l *Engine) Play(ctx context.Context, config flow.Config) (*flow.Record, error) {
	var play func()
	s, shared, err := l.startBy(ctx, config, false, func(s *Session, ctx context.Context) (err error) {
		play, err = s.Begin(ctx, l.frozenStart)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case shared:
		return s.Wait(ctx, true)
	default:
		return s.Finish(ctx, play)
	}
}

// startBy validates a config and starts its conversation by begin. A conversation that is stored is opened instead. shared says that
// it was open already: others use the session too.
func (l *Engine) startBy(
	ctx context.Context, config flow.Config, unattended bool, begin func(*Session, context.Context) error,
) (s *Session, shared bool, err error) {
	if s, err = l.toStart(ctx, config, unattended); err != nil {
		return nil, false, err
	}
	if given := flow.Unnamed(config).Settings().ID; given != "" { // a stored conversation is continued without checks
		open, shared, err := l.host.Open(ctx, s.ID, s.SameAs)
		if err == nil {
			return of(open), shared, nil
		}
		if !errors.Is(err, flow.ErrNotFound) {
			return nil, false, err
		}
	}
	if err := s.Validate(ctx); err != nil {
		return nil, false, err
	}
	if err := begin(s, ctx); err != nil {
		if open := l.host.Session(s.ID); open != nil && errors.Is(err, flow.ErrLeased) {
			if err := open.Same(s.Session); err != nil {
				return nil, false, err
			}
			return of(open), true, nil
		}
		return nil, false, err
	}
	return s, false, nil
}

// Submit validates a config and stores its conversation; see debate.Engine.
func (l *Engine) Submit(ctx context.Context, config flow.Config) (id string, err error) {
	id, err = l.submit(ctx, config)
	failed, ok := errors.AsType[*flow.Error](err)
	if ok && failed.Kind == provider.KindStore && (failed.Op == "open" || failed.Op == "submit") {
		const mend = "repair the store, then submit it again, under the same id if you have given one"
		again := *failed
		again.Op, again.Err = "submit", flow.WithMend(failed.Err, mend)
		return "", &again
	}
	return id, err
}

func (l *Engine) submit(ctx context.Context, config flow.Config) (id string, err error) {
	s, err := l.toStart(ctx, config, false)
	if err != nil {
		return "", err
	}
	if flow.Unnamed(config).Settings().ID != "" {
		stored, err := l.host.Load(ctx, s.ID)
		if err == nil {
			return s.ID, s.SameAs(stored.Record())
		}
		if !errors.Is(err, flow.ErrNotFound) {
			return "", err
		}
	}
	if err := s.Validate(ctx); err != nil {
		return "", err
	}
	if err := s.Session.Submit(ctx, l.frozenStart); err != nil {
		return "", err
	}
	return s.ID, nil
}

// Open continues a stored conversation; see debate.Engine.
func (l *Engine) Open(ctx context.Context, id string) (*Session, error) {
	s, _, err := l.host.Open(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	return of(s), nil
}

// Edit replaces the config of a conversation that has not started.
func (s *Session) Edit(config flow.Config) error {
	p, err := s.engine.plan(context.Background(), config, false)
	if err != nil {
		return err
	}
	p.settings.ID = s.ID
	return s.Replace(func() (*flow.Core, error) {
		core, err := s.engine.configured(p)
		if err == nil {
			s.Keep(p.files)
		}
		return core, err
	})
}

// Validate checks the config, and asks the providers that can tell about its models.
func (s *Session) Validate(ctx context.Context) error { return s.validate(ctx, nil) }

// validate is Validate with a warning to record at the start; nil: there is none.
func (s *Session) validate(ctx context.Context, more *flow.Warning) error {
	return s.Session.Validate(ctx, func(r *flow.Record) (*flow.Start, []flow.Warning, error) {
		start, warnings, err := s.engine.validate(ctx, s.engine.planOf(r), nil)
		if more != nil {
			warnings = append(warnings, *more)
		}
		return start, warnings, err
	})
}

// Start begins a conversation that is ready.
func (s *Session) Start(ctx context.Context) error { return s.Session.Start(ctx, s.engine.frozenStart) }

// startOf is frozenStart for a debate that is forked from parent.
func (l *Engine) startOf(parent *flow.Parent) frozen {
	return func(r *flow.Record, checked *flow.Start) (*flow.Start, error) {
		start, err := l.frozenStart(r, checked)
		if err != nil {
			return nil, err
		}
		start.Parent = parent
		return start, nil
	}
}

// Control gives a control to the conversation.
func (s *Session) Control(ctx context.Context, signal flow.Signal) error {
	signal, err := s.engine.hostControl(ctx, s.ID, signal)
	if err != nil {
		return err
	}
	return s.Do(ctx, signal)
}

// Say says something in between, and returns the ID of the note.
func (s *Session) Say(ctx context.Context, note flow.Note) (id string, err error) {
	note.ID = cmp.Or(note.ID, newID())
	return note.ID, s.Control(ctx, note)
}

// Events yields the events of a conversation, wherever it runs, and heartbeats; see debate.Engine.
func (l *Engine) Events(ctx context.Context, id string, after int64, every time.Duration) iter.Seq2[flow.Event, error] {
	return l.host.Follow(ctx, id, after, every)
}

// List describes the stored conversations that match.
func (l *Engine) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
	return l.host.Store.List(ctx, filter)
}

// Record returns the record of a stored conversation.
func (l *Engine) Record(ctx context.Context, id string) (*flow.Record, error) {
	return l.host.Record(ctx, id)
}

// Freeze returns the signal with which a log begins: the config with every default written out, and everything else that must not
// change while the conversation runs. Each call draws a new seed. The config should have passed Validate.
func (l *Engine) Freeze(config flow.Config) (flow.Start, error) {
	p, err := l.plan(context.Background(), config, false)
	if err != nil {
		return flow.Start{}, err
	}
	start, err := l.start(p)
	if err != nil {
		return flow.Start{}, err
	}
	start.Models = maps.Clone(start.Models) // a copy, since the caller may write to it
	return *start, nil
}

// Shutdown closes all sessions; see debate.Engine.
func (l *Engine) Shutdown(ctx context.Context) error { return l.host.Shutdown(ctx) }
