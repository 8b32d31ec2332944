package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/jsondiff"
	"github.com/agonist-dev/debate/internal/secret"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/toolschema"
	"github.com/agonist-dev/debate/provider"
)

// model returns the prices and sizes of a model. A row of the host program takes precedence. The embedded table is
// searched by the provider's vendor, or by its registered name. A vocabulary is that of the row, or, where the provider vouches for the
// model, the one that is published for its name.
func (l *Engine) model(name string) flow.Model { return l.row(name, l.told(name)) }

// row returns the row of a model of which the provider tells this.
func (l *Engine) row(name string, t told) flow.Model {
	m, _ := l.described(name, t.vendor)
	if t.vouches && m.Vocabulary == "" {
		_, id, _ := flow.SplitModel(name)
		m.Vocabulary = token.Published(id)
	}
	return m
}

// described returns the row of a model of a vendor. known: the host program has given it, or the table has the model.
func (l *Engine) described(name, vendor string) (m flow.Model, known bool) {
	if m, ok := l.models[name]; ok {
		return m, true
	}
	host, id, _ := flow.SplitModel(name)
	if vendor == "" || vendor == host {
		return flow.LookupModel(host, id)
	}
	m, known = flow.LookupModel(vendor, id)
	if known {
		return m, true
	}
	if own, ok := flow.LookupModel(host, id); ok {
		return own, true
	}
	return m, false
}

// plan is a conversation that is to be started.
type plan struct {
	machine  *flow.Machine
	config   flow.Config // normalized
	settings *flow.Settings
	files    files   // that are to be stored
	read     *roster // of the config; nil: see roster
}

// roster returns the models of the config.
func (p *plan) roster() *roster {
	if p.read == nil {
		p.read = rosterOf(p.config)
	}
	return p.read
}

// withoutID returns a copy of the settings without the ID, in which conversations of equal configs differ.
func (p *plan) withoutID() *flow.Settings {
	settings := *p.settings
	settings.ID = ""
	return &settings
}

// plan normalizes a config, and takes its files out of it. If unattended is set, no person is asked, whatever the config says.
func (l *Engine) plan(ctx context.Context, config flow.Config, unattended bool) (*plan, error) {
	if flow.Unnamed(config) == nil {
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "config", Err: errors.New("there is none")}
	}
	m := l.machines[config.Flow()]
	if m == nil {
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "config", Field: "flow", Err: l.noFlow(config.Flow())}
	}
	config = flow.Unnamed(config)
	id := config.Settings().ID
	normalized, err := m.Normalized(config)
	if err != nil {
		return nil, errors.Join(flow.Within("config", "", err)...)
	}
	given, broken := l.takeFiles(ctx, normalized)
	settings := normalized.Settings()
	settings.ID = id
	settings.Unattended = settings.Unattended || unattended
	p := &plan{machine: m, config: normalized, settings: m.Flow().Complete(settings), files: given}
	if len(broken) > 0 {
		return nil, errors.Join(append(besides(l.check(p, nil), broken), broken...)...)
	}
	return p, nil
}

// besides returns the findings without those about files that could not be taken: nothing describes such a file, and that is no
// mistake of its own.
func besides(found, broken flow.Findings) flow.Findings {
	return slices.DeleteFunc(found, func(err error) bool {
		own, ok := errors.AsType[*flow.Error](err)
		return ok && slices.ContainsFunc(broken, func(err error) bool {
			file, ok := errors.AsType[*flow.Error](err)
			return ok && strings.HasPrefix(own.Field, file.Field+".")
		})
	})
}

// planOf returns the plan of a conversation that has not started.
func (l *Engine) planOf(r *flow.Record) *plan {
	return &plan{machine: l.machines[r.Flow()], config: r.Config(), settings: r.Settings()}
}

// withoutPrompts returns the plan of the same conversation with the engine's own prompts. Models obey the words of templates, so those of a
// log from elsewhere are not rendered.
func (p *plan) withoutPrompts() *plan {
	own, settings := *p, *p.settings
	settings.Prompts, own.settings = nil, &settings
	return &own
}

// start freezes what a conversation needs.
func (l *Engine) start(p *plan) (*flow.Start, error) {
	s := &flow.Start{
		Version: flow.LogVersion, Config: flow.Value{Go: p.config}, Settings: *p.settings,
		Flow: p.machine.Flow().Name, FlowVersion: p.machine.Flow().Version,
		Seed: l.newSeed(),
	}
	if name := p.machine.Flow().Shape; name != nil {
		s.Shape = name(p.config)
	}
	for _, name := range p.settings.Tools {
		tool := l.tools[name]
		if tool == nil {
			err := unregistered("tool", "Tools", name, l.tools)
			return nil, &flow.Error{Kind: provider.KindValidation, Op: string(flow.TriggerStart), Field: "tools", Err: err}
		}
		if s.Tools == nil {
			s.Tools = make(map[string]flow.ToolInfo, len(p.settings.Tools))
		}
		s.Tools[name] = described(tool)
	}
	if freeze := p.machine.Flow().Freeze; freeze != nil {
		frozen, err := freeze(p.config)
		if err != nil {
			return nil, err
		}
		s.Frozen.Go = frozen
	}
	known, _ := l.setupOf(p)
	made, err := l.rendered(p, known.key, s.Frozen.Go, s.Seed)
	if err != nil {
		return nil, err
	}
	s.Models, s.Views, s.Texts = known.rows, made.views, made.fenced(s.Seed)
	return s, nil
}

// described returns what a tool is to models. If all vendors take its schema only in a longer form, that is frozen, because budgets count
// its bytes.
func described(tool flow.Tool) flow.ToolInfo {
	info := tool.Describe()
	info.Description = text.Shown(info.Description) // an MCP server may have written it
	if info.LeftOut != "" {
		info.LeftOut = text.OneLine(text.Shown(info.LeftOut), maxLeftOut)
		return info
	}
	switch lowered, err := toolschema.Lower(info.Parameters); {
	case err != nil:
		info.LeftOut = err.Error()
	case len(lowered) > len(info.Parameters):
		info.Parameters = lowered
	}
	return info
}

const maxLeftOut = 300 // bytes of the reason why a tool is left out

// leftOut has a warning for each tool that models are not offered.
func (l *Engine) leftOut(t *flow.Settings) []flow.Warning {
	var out []flow.Warning
	for _, name := range t.Tools[:min(len(t.Tools), flow.MaxTools)] { // a longer list is refused
		tool := l.tools[name]
		if tool == nil {
			continue // the checks say so
		}
		if why := described(tool).LeftOut; why != "" {
			out = append(out, flow.Warning{Kind: flow.WarnTool, Evidence: fmt.Sprintf("the tool %s is not offered to models: %s", name, why)})
		}
	}
	return out
}

// fenceHole stands for the fence in prompts that several debates share. Its runes are of private use.
const fenceHole = "\uE001fence\uE001"

// rendering is the prompts of a conversation, with a hole for the fence, and who reads what.
type rendering struct {
	views flow.Views
	texts map[string]string
}

// size returns the bytes of the prompts.
func (r *rendering) size() (size int) {
	for _, text := range r.texts {
		size += len(text)
	}
	return size
}

// fenced returns the prompts of a debate. Prompts that hold the fence are its own copies. The others are shared.
func (r *rendering) fenced(seed string) map[string]string {
	fence := secret.Fence(seed)
	texts := make(map[string]string, len(r.texts))
	for name, text := range r.texts {
		texts[name] = strings.ReplaceAll(text, fenceHole, fence)
	}
	return texts
}

// render renders the prompts of a plan, for what is frozen and drawn.
func (l *Engine) render(p *plan, frozen, drawn any) (*rendering, error) {
	f, made := p.machine.Flow(), &rendering{}
	prompts, err := l.prompts.With(p.settings.Prompts)
	if err != nil {
		return nil, &flow.Error{Kind: provider.KindValidation, Op: string(flow.TriggerStart), Field: "prompts", Err: err}
	}
	s := flow.Setup{Config: p.config, Settings: p.withoutID(), Frozen: frozen, Drawn: drawn, Prompts: prompts, Fence: fenceHole}
	if f.Views != nil {
		made.views = f.Views(s)
	}
	if made.texts, err = f.Render(s, made.views); err != nil { // it names the template, or says what else is too much
		return nil, &flow.Error{Kind: provider.KindValidation, Op: string(flow.TriggerStart), Err: err}
	}
	return made, nil
}

// sameConfig reports where two configs differ, as an error of kind conflict that names the field and both values.
// Two differences do not count: the id, which the log does not hold twice, and what is chosen where no person is
// asked. For the latter, the log's choice stays.
func sameConfig(stored, given *flow.Record) error {
	a, err := jsondiff.Tree(stored.Config())
	if err != nil {
		return &flow.Error{Kind: provider.KindValidation, Op: string(flow.TriggerStart), Err: err}
	}
	b, err := jsondiff.Tree(given.Config())
	if err != nil {
		return &flow.Error{Kind: provider.KindValidation, Op: string(flow.TriggerStart), Err: err}
	}
	for _, side := range []any{a, b} {
		if object, ok := side.(map[string]any); ok {
			delete(object, "id")
			delete(object, "unattended")
		}
	}
	if stored.Flow() != given.Flow() {
		a, b = map[string]any{"flow": stored.Flow()}, map[string]any{"flow": given.Flow()}
	}
	field, left, right := jsondiff.Compare("", a, b)
	if field == "" {
		return nil
	}
	other := fmt.Errorf("a debate of this id exists with another value: it has %s, and %s is given", left, right)
	return &flow.Error{Kind: provider.KindConflict, Op: string(flow.TriggerStart), Field: field, Err: other}
}

// DecodeConfig reads a config of any registered flow; see debate.Engine.
func (l *Engine) DecodeConfig(data []byte) (flow.Config, error) {
	wrong := func(field string, err error) error {
		return errors.Join(&flow.Error{Kind: provider.KindValidation, Op: "read config", Field: field, Err: err})
	}
	tree, err := strictjson.Decode(string(data), strictjson.Limits{Bytes: MaxSnapshot, Depth: 100, Path: 200, Exact: true})
	if err != nil {
		return nil, wrong("", err)
	}
	if _, ok := tree.(map[string]any); !ok {
		return nil, wrong("", fmt.Errorf("the JSON is %s, not an object", strictjson.KindOf(data)))
	}
	fields := make(map[string]json.RawMessage)
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, wrong("", err)
	}
	name := l.first
	if given, ok := fields["flow"]; ok {
		if err := json.Unmarshal(given, &name); err != nil || string(given) == "null" {
			return nil, wrong("flow", fmt.Errorf("is %s, not a text", strictjson.KindOf(given)))
		}
		delete(fields, "flow")
	}
	m := l.machines[name]
	if m == nil {
		return nil, wrong("flow", l.noFlow(name))
	}
	own, err := json.Marshal(fields)
	if err != nil {
		return nil, wrong("", err)
	}
	config, err := m.DecodeConfig(own)
	if err != nil {
		return nil, err
	}
	if config.Flow() != name {
		config = flow.Named(name, config)
	}
	return config, nil
}

// ConfigSchema returns the JSON schema of the configs of a flow; see debate.Engine.
func (l *Engine) ConfigSchema(name string) ([]byte, error) {
	var why error
	switch m := l.machines[name]; {
	case m == nil:
		why = l.noFlow(name)
	case m.Flow().ConfigSchema == "":
		why = fmt.Errorf("the flow %q has no schema of its configs", name)
	default:
		return []byte(m.Flow().ConfigSchema), nil
	}
	return nil, &flow.Error{Kind: provider.KindValidation, Op: "config schema", Field: "flow", Err: why}
}
