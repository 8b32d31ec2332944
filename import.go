package debate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agonist-dev/debate/context/window"
)

// Export writes a debate as versioned JSON, one event a line: all of its log but the secret seed and the
// prompts, which hold words that come from it. It can be given away like the debate itself, and
// [Engine.Import] reads it. Package export writes the same for people. A debate that still runs is
// exported as it is saved now. A log that is larger than [MaxSnapshot] is an error of kind validation.
func (e *Engine) Export(ctx context.Context, id string, w io.Writer) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	events, err := l.host.read(ctx, id)
	if err != nil {
		return err
	}
	return writeSnapshot(w, id, events, public)
}

// Import reads what [Engine.Export] or [Session.Snapshot] has written, and stores it under its id, which
// it yields; nothing is opened. Everything is checked before: the JSON strictly, the config as Validate
// does it (but that no provider or judge need be registered), the order and times of the events, and
// that they follow from each other. A debate without its seed gets a new one, so that it can be gone on
// with. What is wrong is an error of kind validation that names the field. If the store holds the debate
// already, the one log must begin as the other, and the longer one counts; else the error is of kind
// conflict.
func (e *Engine) Import(ctx context.Context, r io.Reader) (id string, err error) {
	l, err := e.freeze()
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxSnapshot+1))
	if err != nil {
		return "", &Error{Kind: KindStore, Op: "import", Err: err}
	}
	return l.restore(ctx, data)
}

// restore checks a snapshot and stores what the store lacks. It returns the debate's id.
func (l *live) restore(ctx context.Context, data []byte) (id string, err error) {
	read, err := readSnapshot(data)
	if err != nil {
		return "", err
	}
	start, ok := read.Events[0].Body.(*Start)
	sealed := ok && start.Seed != ""
	if err := l.inspect(read); err != nil {
		return "", err
	}
	return read.ID, l.storeSnapshot(ctx, read, sealed)
}

// inspect checks a snapshot whose JSON is right, and gives it a seed if it has none.
func (l *live) inspect(s *snapshot) error {
	start, ok := s.Events[0].Body.(*Start)
	if !ok || start.Config.IsZero() {
		return restoreError("events[0].body", errors.New("is no start, or has no config"))
	}
	m := l.machines[start.Flow]
	if m == nil {
		return restoreError("events[0].body.flow", fmt.Errorf("no flow %q is registered", oneLine(start.Flow, 40)))
	}
	p, err := l.inspectStart(m, start)
	if err != nil {
		return err
	}
	if start.Seed == "" {
		start.Seed, start.Texts = l.newSeed(), nil
	}
	if start.Texts == nil {
		made, err := l.rendered(p, start.Frozen.Go, start.Seed)
		if err != nil {
			return restoreError("events[0].body", err)
		}
		start.Texts, start.Views = made.fenced(start.Seed), made.views
	}
	if err := l.readOwn(s); err != nil {
		return err
	}
	if _, err := l.core(s.ID, s.Events); err != nil {
		return restoreError("events", err)
	}
	return nil
}

// inspectStart checks the start of a snapshot as Validate checks a config, and reads what its flow has frozen.
func (l *live) inspectStart(m *machine, start *Start) (*plan, error) {
	const at = "events[0].body"
	config, err := m.flow.readConfig(start.Config)
	if err != nil {
		return nil, errors.Join(within("restore", at+".config", err)...)
	}
	frozen, err := m.flow.readFrozen(start.Frozen)
	if err != nil {
		return nil, errors.Join(within("restore", at+".frozen", err)...)
	}
	start.Config.Go, start.Frozen.Go = config, frozen
	stage := l.stage(start, config)
	p := &plan{m, config, config.Terms().withDefaults()}
	p.terms.ID, p.terms.Unattended = start.Terms.ID, start.Terms.Unattended
	var found []error
	for _, err := range stage.check(p, frozen) {
		where := at + ".config"
		if e, ok := errors.AsType[*Error](err); ok && strings.HasPrefix(e.Field, "frozen") { // which stands beside it
			where = at
		}
		found = append(found, within("restore", where, err)...)
	}
	if field, left, right, err := difference(p.terms, &start.Terms); len(found) == 0 && (err != nil || field != "") {
		found = append(found, restoreError(at+".terms."+field, fmt.Errorf("is %s, and the config says %s", right, left)))
	}
	return p, errors.Join(found...)
}

// readOwn reads the bodies of the events that only the snapshot's flow has.
func (l *live) readOwn(s *snapshot) error {
	start, _ := s.Events[0].Body.(*Start)
	m := l.machines[start.Flow]
	if m == nil {
		return nil // the core says so
	}
	var found []error
	for i := range s.Events {
		foreign, ok := s.Events[i].Body.(*Foreign)
		if !ok {
			continue
		}
		body := m.flow.newBody(foreign.Kind)
		if body == nil {
			continue
		}
		if err := readBody(foreign.JSON, body); err != nil {
			found = append(found, within("restore", fmt.Sprintf("events[%d]", i), err)...)
		}
		s.Events[i].Body = body
	}
	return errors.Join(found...)
}

// stage is an engine that has whatever a start names, for the checks of a config that was run elsewhere.
func (l *live) stage(start *Start, config FlowConfig) *live {
	s := &live{
		providers: make(map[string]Provider), contexts: map[string]ContextManager{start.Terms.Context: window.Hybrid{}},
		machines: l.machines, models: start.Models, tools: make(map[string]Tool), absent: true,
	}
	for name, info := range start.Tools {
		s.tools[name] = absentTool{info}
	}
	for _, name := range models(config) {
		if host, _, ok := divide(name); ok {
			s.providers[host] = absentProvider{}
		}
	}
	return s
}

// absentProvider stands for one of another engine. Nobody asks it.
type absentProvider struct{ Provider }

// absentTool stands for one of another engine. Nobody uses it.
type absentTool struct{ info ToolInfo }

func (t absentTool) Describe() ToolInfo { return t.info }

func (t absentTool) Use(context.Context, ToolUse) (string, error) {
	return "", errors.New("the tool is not here")
}

// asKept compares an event of a snapshot with one that is stored; without its seed, as far as it goes.
func asKept(stored, given *Event, sealed bool) bool {
	if sealed {
		return sameEvent(stored, given)
	}
	a, b := public(*stored), public(*given)
	return sameEvent(&a, &b)
}
