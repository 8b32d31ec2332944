package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/jsondiff"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Export writes a conversation as versioned JSON without its secrets; see debate.Engine.
func (l *Engine) Export(ctx context.Context, id string, w io.Writer) error {
	events, err := l.host.Read(ctx, id)
	if err != nil {
		return err
	}
	blobs, err := l.snapshotFiles(ctx, id, events)
	if err != nil {
		return err
	}
	return writeSnapshot(w, id, events, blobs, flow.Event.Public)
}

// Import stores what Export or Snapshot has written; see debate.Engine.
func (l *Engine) Import(ctx context.Context, r io.Reader) (id string, err error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSnapshot+1))
	if err != nil {
		return "", &flow.Error{Kind: provider.KindStore, Op: "import", Err: err}
	}
	return l.restore(ctx, data)
}

// restore checks a snapshot and stores what the store lacks. It returns the debate's id.
func (l *Engine) restore(ctx context.Context, data []byte) (id string, err error) {
	read, err := readSnapshot(data)
	if err != nil {
		return "", err
	}
	start, ok := read.Events[0].Body.(*flow.Start)
	sealed := ok && start.Seed != ""
	if err := l.inspect(read); err != nil {
		return "", err
	}
	given, err := inspectFiles(flow.LogFiles(read.Events), read.Blobs)
	if err != nil {
		return "", err
	}
	return read.ID, l.storeSnapshot(ctx, read, given, sealed)
}

// inspect checks a snapshot whose JSON is valid, and gives it a seed if it has none.
func (l *Engine) inspect(s *snapshot) error {
	start, ok := s.Events[0].Body.(*flow.Start)
	if !ok || start.Config.IsZero() {
		return restoreError("events[0].body", errors.New("is no start, or has no config"))
	}
	m := l.machines[start.Flow]
	if m == nil {
		return restoreError("events[0].body.flow", l.noFlow(start.Flow))
	}
	p, err := l.inspectStart(m, start)
	if err != nil {
		return err
	}
	if start.Seed == "" {
		start.Seed, start.Texts, start.Elsewhere = l.newSeed(), nil, int64(len(s.Events))
		start.Tools = l.narrowed(start.Tools)
		start.Parent = uncopied(start.Parent, flow.Account{})
	}
	rendered := start.Texts == nil
	if rendered {
		own := p.withoutPrompts()
		made, err := l.rendered(own, own.key(), start.Frozen.Go, start.Seed)
		if err != nil {
			return restoreError("events[0].body", err)
		}
		start.Texts, start.Views = made.fenced(start.Seed), made.views
	}
	if err := l.readOwn(s); err != nil {
		return err
	}
	if _, err := l.NewCore(s.ID, s.Events); err != nil {
		return restoreError("events", err)
	}
	if rendered {
		start.FlowVersion = m.Flow().Version // whose texts these are
	}
	return nil
}

// inspectStart checks the start of a snapshot as Validate checks a config, and reads what its flow has frozen.
func (l *Engine) inspectStart(m *flow.Machine, start *flow.Start) (*plan, error) {
	const at = "events[0].body"
	config, err := m.ReadConfig(start.Config)
	if err != nil {
		return nil, errors.Join(flow.Within("restore", at+".config", err)...)
	}
	frozen, err := m.Flow().ReadFrozen(start.Frozen)
	if err != nil {
		return nil, errors.Join(flow.Within("restore", at+".frozen", err)...)
	}
	start.Config.Go, start.Frozen.Go = config, frozen
	all := rosterOf(config)
	stage := l.stage(start, all)
	settings := config.Settings()
	settings.ID, settings.Unattended = start.Settings.ID, start.Settings.Unattended
	p := &plan{machine: m, config: config, read: all, settings: m.Flow().Complete(settings)}
	var found []error
	for _, err := range stage.check(p, frozen) {
		where := at + ".config"
		if e, ok := errors.AsType[*flow.Error](err); ok && strings.HasPrefix(e.Field, "frozen") { // which stands beside the config
			where = at
		}
		found = append(found, flow.Within("restore", where, err)...)
	}
	if field, left, right, err := jsondiff.Find(p.settings, &start.Settings); len(found) == 0 && (err != nil || field != "") {
		found = append(found, restoreError(at+".settings."+field, fmt.Errorf("is %s, and the config says %s", right, left)))
	}
	if name := m.Flow().Shape; name != nil && len(found) == 0 && start.Shape != "" && start.Shape != name(config) {
		found = append(found, restoreError(at+".shape", fmt.Errorf("is %q, and the config says %q", text.OneLine(start.Shape, 40), name(config))))
	}
	return p, errors.Join(found...)
}

// uncopied returns the parent of a log from elsewhere with another account of what was copied. What the log says of that would be left out
// of sums, and nobody here has paid for it.
func uncopied(given *flow.Parent, spent flow.Account) *flow.Parent {
	if given == nil {
		return nil
	}
	out := *given
	out.Spent = spent
	return &out
}

// narrowed returns the rights of tools that a log from elsewhere has, where that has more rights than the engine's tools of the same
// names: those of the engine. A tool that the engine lacks has none: it may come to have one that changes something.
func (l *Engine) narrowed(given map[string]flow.ToolInfo) map[string]flow.ToolInfo {
	out := maps.Clone(given)
	for name, info := range out {
		own := flow.ToolInfo{Approval: true}
		if tool := l.tools[name]; tool != nil {
			own = tool.Describe()
		}
		info.Approval = info.Approval || own.Approval
		info.ReadOnly, info.Idempotent = info.ReadOnly && own.ReadOnly, info.Idempotent && own.Idempotent
		out[name] = info
	}
	return out
}

// readOwn reads the bodies of the events that only the snapshot's flow has.
func (l *Engine) readOwn(s *snapshot) error {
	start, _ := s.Events[0].Body.(*flow.Start)
	m := l.machines[start.Flow]
	if m == nil {
		return nil // the core reports the unknown flow
	}
	var found []error
	for i := range s.Events {
		if err := m.Flow().ReadBody("restore", &s.Events[i]); err != nil {
			found = append(found, flow.Within("restore", fmt.Sprintf("events[%d]", i), err)...)
		}
	}
	return errors.Join(found...)
}

// stage returns an engine that has every name a start refers to. It serves to check a config that was run
// elsewhere.
func (l *Engine) stage(start *flow.Start, all *roster) *Engine {
	s := &Engine{
		providers: make(map[string]provider.Provider), contexts: map[string]window.Manager{start.Settings.Context: window.Hybrid{}},
		machines: l.machines, models: start.Models, tools: make(map[string]flow.Tool), absent: true, logger: l.logger,
	}
	for name, info := range start.Tools {
		s.tools[name] = absentTool{info}
	}
	for _, one := range all.models {
		if host, _, ok := flow.SplitModel(one.name); ok {
			s.providers[host] = absentProvider{}
		}
	}
	return s
}

// absentProvider stands for a provider of another engine. It is never asked.
type absentProvider struct{ provider.Provider }

// absentTool stands for a tool of another engine. It is never used.
type absentTool struct{ info flow.ToolInfo }

func (t absentTool) Describe() flow.ToolInfo { return t.info }

func (t absentTool) Use(context.Context, flow.ToolUse) (string, error) {
	return "", errors.New("the tool is not here")
}

// asKept compares an event of a snapshot with a stored one. If the snapshot lacks its seed, asKept leaves out what
// comes from the seed, and what the import has changed: the version of the flow, which is that of the texts, the rights of tools, and what
// was copied.
func asKept(stored, given *flow.Event, sealed bool) bool {
	if sealed {
		return flow.SameEvent(stored, given)
	}
	a, b := stored.Public(), given.Public()
	own, ok := a.Body.(*flow.Start) // Public has made copies of both
	if start, both := b.Body.(*flow.Start); ok && both {
		start.FlowVersion = own.FlowVersion
		if own.Parent != nil {
			start.Parent = uncopied(start.Parent, own.Parent.Spent)
		}
		start.Tools = maps.Clone(start.Tools)
		for name, info := range start.Tools {
			kept := own.Tools[name]
			info.Approval, info.ReadOnly, info.Idempotent = kept.Approval, kept.ReadOnly, kept.Idempotent
			start.Tools[name] = info
		}
	}
	return flow.SameEvent(&a, &b)
}
