package debate

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/provider"
)

// model returns the prices and sizes of a model. A row of the host program takes precedence. The embedded table is
// searched by the provider's vendor, or by its registered name.
func (l *live) model(name string) Model {
	if m, ok := l.models[name]; ok {
		return m
	}
	host, id, _ := SplitModel(name)
	if v, ok := provider.As[provider.Vendor](l.providers[host]); ok {
		if m, ok := LookupModel(v.Vendor(), id); ok {
			return m
		}
	}
	m, _ := LookupModel(host, id)
	return m
}

// plan is a conversation that is to be started.
type plan struct {
	machine *Machine
	config  FlowConfig // settled
	terms   *Terms
}

// plan settles a config. If unattended is set, no person is asked, even if the config does not say what is chosen
// then.
func (l *live) plan(config FlowConfig, unattended bool) (*plan, error) {
	if Unnamed(config) == nil {
		return nil, &Error{Kind: KindValidation, Op: opConfig, Err: errors.New("there is none")}
	}
	m := l.machines[config.Flow()]
	if m == nil {
		err := fmt.Errorf("no flow %q is registered", oneLine(config.Flow(), 40))
		return nil, &Error{Kind: KindValidation, Op: opConfig, Field: fieldFlow, Err: err}
	}
	config = Unnamed(config)
	id, settled := config.Terms().ID, config
	if m.Flow().Settle != nil {
		var err error
		if settled, err = m.Flow().Settle(config); err != nil {
			return nil, errors.Join(Within("config", "", err)...)
		}
	}
	terms := settled.Terms()
	terms.ID = id
	if unattended && terms.Unattended == nil {
		terms.Unattended = &Unattended{}
	}
	return &plan{m, settled, terms.WithDefaults()}, nil
}

// planOf returns the plan of a conversation that has not started.
func (l *live) planOf(r *Record) *plan { return &plan{l.machines[r.Flow()], r.Config(), r.Terms()} }

// start freezes what a conversation needs.
func (l *live) start(p *plan) (*Start, error) {
	s := &Start{
		Version: LogVersion, Config: Value{Go: p.config}, Terms: *p.terms, Flow: p.machine.Flow().Name, FlowVersion: p.machine.Flow().Version,
		Seed: l.newSeed(),
	}
	for _, name := range p.terms.Tools {
		tool := l.tools[name]
		if tool == nil {
			return nil, unknown("tools", "no tool %q is registered", name)
		}
		if s.Tools == nil {
			s.Tools = make(map[string]ToolInfo, len(p.terms.Tools))
		}
		s.Tools[name] = tool.Describe()
	}
	var frozen any
	if freeze := p.machine.Flow().Freeze; freeze != nil {
		var err error
		if frozen, err = freeze(p.config); err != nil {
			return nil, err
		}
		s.Frozen = Value{Go: frozen}
	}
	made, err := l.rendered(p, frozen, s.Seed)
	if err != nil {
		return nil, err
	}
	s.Models, s.Views, s.Texts = made.models, made.views, made.fenced(s.Seed)
	return s, nil
}

func unknown(field, format, name string) error {
	return &Error{Kind: KindValidation, Op: string(TriggerStart), Field: field, Err: fmt.Errorf(format, oneLine(name, 40))}
}

// fenceHole stands for the fence in prompts that several debates share. Its runes are of private use.
const fenceHole = "\uE001fence\uE001"

// rendering holds what the conversations of one setup share: the prompts, with a hole for the fence; the views; and
// the rows of models.
type rendering struct {
	flow   *Flow
	config any // what the prompts depend on
	frozen any
	drawn  any
	views  Views
	texts  map[string]string
	models map[string]Model
}

// fenced returns the prompts of a debate. Prompts that hold the fence are its own copies. The others are shared.
func (r *rendering) fenced(seed string) map[string]string {
	fence := fenceOf(seed)
	texts := make(map[string]string, len(r.texts))
	for name, text := range r.texts {
		texts[name] = strings.ReplaceAll(text, fenceHole, fence)
	}
	return texts
}

// renderings keeps the latest renderings, for a host program that plays the same debate many times. Executing the
// templates is the largest part of what a start costs.
type renderings struct {
	mu   sync.Mutex
	last [16]*rendering
	next int
}

// rendered returns what a conversation shares with others of its setup. It must not be written to.
func (l *live) rendered(p *plan, frozen any, seed string) (*rendering, error) {
	flow := p.machine.Flow()
	s := Setup{Config: p.config, Terms: p.terms, Frozen: frozen, Prompts: l.prompts, Fence: fenceHole}
	if flow.Draw != nil {
		s.Drawn = flow.Draw(p.config, seed)
	}
	key := any(p.config)
	if flow.Prompted != nil {
		key = flow.Prompted(p.config)
	}
	l.renderings.mu.Lock()
	defer l.renderings.mu.Unlock()
	for _, known := range l.renderings.last {
		if known != nil && known.flow == flow && reflect.DeepEqual(known.drawn, s.Drawn) && reflect.DeepEqual(known.config, key) &&
			reflect.DeepEqual(known.frozen, frozen) {
			return known, nil
		}
	}
	made := &rendering{flow: flow, config: key, frozen: frozen, drawn: s.Drawn, models: make(map[string]Model)}
	if flow.Views != nil {
		made.views = flow.Views(s)
	}
	texts, err := flow.Render(s, made.views)
	if err != nil {
		return nil, &Error{Kind: KindValidation, Op: string(TriggerStart), Field: "Prompts", Err: err}
	}
	made.texts = texts
	for _, name := range models(p.config) {
		made.models[name] = l.model(name)
	}
	l.renderings.last[l.renderings.next%len(l.renderings.last)] = made
	l.renderings.next++
	return made, nil
}

// log writes a line for each change of state and each failed attempt, never a text.
func (l *live) log(id string, events []Event) {
	if l.logger == nil {
		return
	}
	for i := range events {
		switch body := events[i].Body.(type) {
		case *Transition:
			l.logger.Info("debate", slog.String("id", id), slog.Int64("seq", events[i].Seq), slog.String("state", string(body.To)),
				slog.String("on", string(body.On)))
		case *Failure:
			l.logger.Warn("attempt failed", slog.String("id", id), slog.Int64("seq", events[i].Seq), slog.String("call", body.Call),
				slog.Int("attempt", body.Attempt), slog.String("kind", string(body.Error.Kind)), slog.Bool("final", body.Final))
		}
	}
}
