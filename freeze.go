package debate

import (
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
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

// format yields the format that a config names, or brings along.
func (l *live) format(c *Config) (*Format, bool) {
	if c.CustomFormat != nil {
		return c.CustomFormat, true
	}
	name := c.Format
	setIfZero(&name, FreeForm)
	known, ok := l.formats[name]
	return &known, ok
}

// withFormatRounds writes out the number of rounds that a config leaves to its format.
func (l *live) withFormatRounds(c Config) *Config {
	if format, ok := l.format(&c); ok && format.Rounds > 0 {
		setIfZero(&c.Rounds, format.Rounds)
	}
	return &c
}

// start freezes what a debate needs.
func (l *live) start(c *Config) (*Start, error) {
	m := l.machines[c.Flow]
	if m == nil {
		return nil, unknown("flow", "no flow %q is registered", c.Flow)
	}
	format, ok := l.format(c)
	if !ok {
		return nil, unknown("format", "no format %q is known", c.Format)
	}
	s := &Start{
		Version: LogVersion, Config: c, Format: format.clone(), Flow: m.flow.Name, FlowVersion: m.flow.Version, Seed: l.newSeed(),
	}
	for _, name := range c.Tools {
		tool := l.tools[name]
		if tool == nil {
			return nil, unknown("tools", "no tool %q is registered", name)
		}
		if s.Tools == nil {
			s.Tools = make(map[string]ToolInfo, len(c.Tools))
		}
		s.Tools[name] = tool.Describe()
	}
	made, err := l.rendered(m.flow, c, s.Format, s.Seed)
	if err != nil {
		return nil, err
	}
	s.Models, s.Texts = made.models, made.fenced(s.Seed)
	return s, nil
}

func unknown(field, format, name string) error {
	return &Error{Kind: KindValidation, Op: string(TriggerStart), Field: field, Err: fmt.Errorf(format, oneLine(name, 40))}
}

// fenceHole stands for the fence in prompts that several debates share. Its runes are of private use.
const fenceHole = "\uE001fence\uE001"

// rendering is what the debates of one setup share: the prompts, with the fence left open, and what is known of
// the models.
type rendering struct {
	flow   *Flow
	config Config
	format Format
	orders [][]int
	labels []string
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

// texts yields the prompts of a debate.
func (l *live) texts(flow *Flow, c *Config, f *Format, seed string) (map[string]string, error) {
	made, err := l.rendered(flow, c, f, seed)
	if err != nil {
		return nil, err
	}
	return made.fenced(seed), nil
}

// orders draws the order in which each judge is shown the participants.
func orders(seed string, c *Config) [][]int {
	if c.Judging == nil {
		return nil
	}
	out := make([][]int, len(c.Judging.Judges))
	for i := range out {
		out[i] = judgesOrder(seed, i, len(c.Participants))
	}
	return out
}

// shownLabels yields the labels by seat; nil: names are shown.
func shownLabels(seed string, c *Config) []string {
	if c.Judging == nil || !c.Judging.Anonymous {
		return nil
	}
	return labelsOf(seed, c.Participants).labels
}

// rendered yields what a debate shares with others of its setup. Nobody writes to it.
func (l *live) rendered(flow *Flow, c *Config, f *Format, seed string) (*rendering, error) {
	s := Setup{Config: c, Format: f, Prompts: l.prompts, Fence: fenceHole, Orders: orders(seed, c), Labels: shownLabels(seed, c)}
	key := *c
	key.ID, key.Labels, key.Budget, key.Retry = "", nil, nil, nil // no prompt speaks of them
	l.renderings.mu.Lock()
	defer l.renderings.mu.Unlock()
	for _, known := range l.renderings.last {
		if known != nil && known.flow == flow && slices.EqualFunc(known.orders, s.Orders, slices.Equal) && slices.Equal(known.labels, s.Labels) &&
			reflect.DeepEqual(&known.config, &key) && reflect.DeepEqual(&known.format, s.Format) {
			return known, nil
		}
	}
	texts, err := render(flow, s)
	if err != nil {
		return nil, &Error{Kind: KindValidation, Op: string(TriggerStart), Field: "Prompts", Err: err}
	}
	made := &rendering{
		flow: flow, config: *key.clone(), format: *f.clone(), orders: s.Orders, labels: s.Labels, texts: texts,
		models: make(map[string]Model),
	}
	for _, name := range c.models() {
		made.models[name] = l.model(name)
	}
	l.renderings.last[l.renderings.next%len(l.renderings.last)] = made
	l.renderings.next++
	return made, nil
}

// render renders the prompts of a flow, and the one with which every flow asks again.
func render(flow *Flow, s Setup) (map[string]string, error) {
	texts := make(map[string]string)
	if flow.Texts != nil {
		rendered, err := flow.Texts(s)
		if err != nil {
			return nil, err
		}
		maps.Copy(texts, rendered)
	}
	if err := summaryTexts(texts, s); err != nil {
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
		switch e := &events[i]; e.Kind {
		case EventTransition:
			l.logger.Info("debate", slog.String("id", id), slog.Int64("seq", e.Seq), slog.String("state", string(e.Transition.To)),
				slog.String("on", string(e.Transition.On)))
		case EventFailed:
			l.logger.Warn("attempt failed", slog.String("id", id), slog.Int64("seq", e.Seq), slog.String("call", e.Failure.Call),
				slog.Int("attempt", e.Failure.Attempt), slog.String("kind", string(e.Failure.Error.Kind)), slog.Bool("final", e.Failure.Final))
		}
	}
}
