package debate

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// model yields the prices and sizes of a model: the host's, or the embedded table's, by the
// provider's vendor or its registered name.
func (l *live) model(name string) Model {
	if m, ok := l.models[name]; ok {
		return m
	}
	host, id, _ := divide(name)
	if v, ok := provider.As[provider.Vendor](l.providers[host]); ok {
		if m, ok := tableModel(v.Vendor(), id); ok {
			return m
		}
	}
	m, _ := tableModel(host, id)
	return m
}

// plan is what is to be started.
type plan struct {
	machine *machine
	config  FlowConfig // settled
	terms   *Terms
}

// plan settles a config. unattended: nobody is asked, even if the config does not say what is chosen then.
func (l *live) plan(config FlowConfig, unattended bool) (*plan, error) {
	if unnamed(config) == nil {
		return nil, &Error{Kind: KindValidation, Op: "config", Err: errors.New("there is none")}
	}
	m := l.machines[config.Flow()]
	if m == nil {
		err := fmt.Errorf("no flow %q is registered", oneLine(config.Flow(), 40))
		return nil, &Error{Kind: KindValidation, Op: "config", Field: "flow", Err: err}
	}
	config = unnamed(config)
	id, settled := config.Terms().ID, config
	if m.flow.Settle != nil {
		var err error
		if settled, err = m.flow.Settle(config); err != nil {
			return nil, errors.Join(within("config", "", err)...)
		}
	}
	terms := settled.Terms()
	terms.ID = id
	if unattended && terms.Unattended == nil {
		terms.Unattended = &Unattended{}
	}
	return &plan{m, settled, terms.withDefaults()}, nil
}

// start freezes what a conversation needs.
func (l *live) start(p *plan) (*Start, error) {
	s := &Start{
		Version: LogVersion, Config: Value{Go: p.config}, Terms: *p.terms, Flow: p.machine.flow.Name, FlowVersion: p.machine.flow.Version,
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
	if freeze := p.machine.flow.Freeze; freeze != nil {
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

// rendering is what the conversations of one setup share: the prompts, with the fence left open, who reads what, and
// what is known of the models.
type rendering struct {
	flow   *Flow
	config any // what the prompts depend on
	frozen any
	drawn  any
	views  Views
	texts  map[string]string
	models map[string]Model
}

// fenced yields the prompts of a debate: its own copies where they hold the fence, shared ones elsewhere.
func (r *rendering) fenced(seed string) map[string]string {
	fence := fenceOf(seed)
	texts := make(map[string]string, len(r.texts))
	for name, text := range r.texts {
		texts[name] = strings.ReplaceAll(text, fenceHole, fence)
	}
	return texts
}

// renderings keep the last few, for a host that plays the same debate many times: executing the
// templates is the largest part of what a start costs.
type renderings struct {
	mu   sync.Mutex
	last [16]*rendering
	next int
}

// rendered yields what a conversation shares with others of its setup. Nobody writes to it.
func (l *live) rendered(p *plan, frozen any, seed string) (*rendering, error) {
	flow := p.machine.flow
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
	texts, err := render(flow, s, made.views)
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

// render renders the prompts of a flow, and the one with which every flow asks again.
func render(flow *Flow, s Setup, views Views) (map[string]string, error) {
	texts := make(map[string]string)
	if flow.Texts != nil {
		rendered, err := flow.Texts(s)
		if err != nil {
			return nil, err
		}
		maps.Copy(texts, rendered)
	}
	if err := summaryTexts(texts, s, views); err != nil {
		return nil, err
	}
	if err := toolTexts(texts, s); err != nil {
		return nil, err
	}
	again, err := s.Prompts.Again(prompt.Again{Problems: []string{problemsMark}})
	texts[TextAgain] = again
	return texts, err
}

// log writes a line for each change of state and each failed attempt; never a text.
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
