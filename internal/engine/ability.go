package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// abilities is what a provider has said that a model can do, and when.
type abilities struct {
	has provider.Abilities
	at  time.Time
}

// askAbilities asks for the abilities of models that the engine does not remember. Where the provider cannot tell, they
// are unknown.
func (q *inquest) askAbilities(ctx context.Context) {
	for _, model := range q.able {
		name := q.host + "/" + model
		if q.known.abilities(name) != nil {
			continue
		}
		_, err := provider.Through(ctx, q.provider, model, func(ctx context.Context, a provider.Able) error {
			has, err := a.Abilities(ctx, model)
			if err == nil {
				q.known.learn(name, maps.Clone(has))
			}
			return err
		})
		if ctx.Err() != nil && err != nil {
			return
		}
	}
}

// abilities returns what is known of a model, and nil if nothing is, or if it is too old.
func (m *memories) abilities(name string) *abilities {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.has[name]
	if !ok || time.Since(known.at) >= checkLifetime {
		return nil
	}
	return &known
}

func (m *memories) learn(name string, has provider.Abilities) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.has == nil {
		m.has = make(map[string]abilities)
	}
	m.has[name] = abilities{has, time.Now()}
}

// wanted is what a config asks of one model beyond text.
type wanted struct {
	abilities []provider.Ability
	options   []*provider.Options // each of which asks for some of them
}

// add adds what a seat asks of the model.
func (w *wanted) add(abilities []provider.Ability, o *provider.Options) {
	for _, ability := range abilities {
		if !slices.Contains(w.abilities, ability) {
			w.abilities = append(w.abilities, ability)
		}
	}
	if o != nil {
		w.options = append(w.options, o)
	}
}

// requirements returns what a config asks for beyond text, by model: of those that are asked first, of their fallbacks, and of
// the models of rules for failures, which may take over for anybody.
func requirements(config flow.Config) map[string]wanted {
	out := make(map[string]wanted)
	want := func(name string, abilities []provider.Ability, o *provider.Options) {
		if name == "" || len(abilities) == 0 {
			return
		}
		w := out[name]
		w.add(abilities, o)
		out[name] = w
	}
	if asks := abilitiesOf(neededBy(config)); len(asks) > 0 {
		for _, name := range config.Models() {
			want(name, asks, nil)
		}
	}
	for _, d := range seats(config) {
		want(d.Model, d.Asks(), d.Options)
	}
	for _, s := range substitutes(config) {
		want(s.model, s.Asks(), s.Options)
	}
	return out
}

// seats yields what a config asks of the models that are asked first. It ends where no valid config is as large.
func seats(config flow.Config) iter.Seq2[string, flow.Requirement] {
	return func(yield func(string, flow.Requirement) bool) {
		looked := 0
		for field, d := range flow.Requirements(config) {
			if looked++; looked > mostModels || !yield(field, d) {
				return
			}
		}
	}
}

// substitute is a model that may take over from the model of a seat.
type substitute struct {
	flow.Requirement // of the seat

	model string
}

// substitutes yields the models that may take over, with their fields: the fallbacks, and the models of rules for failures, which
// may take over for anybody.
func substitutes(config flow.Config) iter.Seq2[string, substitute] {
	return func(yield func(string, substitute) bool) {
		looked, seated := 0, make(map[string]flow.Requirement)
		var order []string
		for field, d := range seats(config) {
			if d.Options != nil || len(d.Asks()) > 0 {
				seat := strings.TrimSuffix(field, ".options")
				seated[seat], order = d, append(order, seat)
			}
		}
		for field, name := range config.Models() {
			seat, _, ok := strings.Cut(field, ".fallbacks[")
			d, asks := seated[seat]
			if looked++; looked > mostFields || ok && asks && !yield(field, substitute{d, name}) {
				return
			}
		}
		for i, rule := range config.Settings().OnFailure {
			field := "onFailure[" + strconv.Itoa(i) + "].model"
			for _, seat := range order {
				if looked++; looked > mostFields || rule.Model != "" && !yield(field, substitute{seated[seat], rule.Model}) {
					return
				}
			}
		}
	}
}

// sent returns the options of a requirement as a model gets them: fields of a vendor's own and headers are for the provider of
// the requirement's model alone, under each name of its account.
func (l *Engine) sent(name string, d flow.Requirement) *provider.Options {
	to, _, _ := flow.SplitModel(name)
	home, _, _ := flow.SplitModel(d.Model)
	if account := l.memories.account(to); to == home || account != "" && account == l.memories.account(home) {
		return d.Options
	}
	return d.Options.Portable()
}

// unable returns what a model surely lacks of what is asked for, sorted: what the host program says, what its provider has
// said, what the embedded table says, and what its provider has no words for.
func (l *Engine) unable(name string, w wanted) []provider.Ability {
	host, model, _ := flow.SplitModel(name)
	row := l.model(name)
	lacks := slices.Clone(row.Unsupported)
	known := l.memories.abilities(name)
	for _, ability := range w.abilities {
		can, told := false, false
		if known != nil {
			can, told = known.has[ability]
		}
		own := ability == provider.AbilityTemperature && row.OwnTemperature
		if told && !can || own || !told && l.tableLacks(host, model, ability) {
			lacks = append(lacks, ability)
		}
	}
	for _, o := range w.options {
		for range o.Asks() {
			rest := o.Portable().Without(lacks)
			failure := l.vet(name, rest)
			if failure == nil || !slices.Contains(rest.Asks(), provider.Ability(failure.Code)) {
				break
			}
			lacks = append(lacks, provider.Ability(failure.Code))
		}
	}
	slices.Sort(lacks)
	return slices.Compact(lacks)
}

// cannot returns why a model surely cannot be asked for what a config requires of an actor, or lacks abilities; nil: it can,
// or that is not known. It asks nobody.
func (l *Engine) cannot(name string, d flow.Requirement, abilities []provider.Ability) error {
	w := wanted{abilities: slices.Clone(abilities)}
	w.add(d.Asks(), d.Options)
	lacks := l.unable(name, w)
	missing := slices.DeleteFunc(w.abilities, func(a provider.Ability) bool {
		return a == provider.AbilitySchema || !slices.Contains(lacks, a) // a schema can be a part of the instruction
	})
	if len(missing) > 0 {
		return fmt.Errorf("%w: %q", flow.ErrUnsupported, missing)
	}
	if failure := l.vet(name, l.sent(name, d)); failure != nil {
		return fmt.Errorf("the options cannot be sent: %s", text.OneLine(failure.Message, 400)) //nolint:err113 // foreign text
	}
	return nil
}

// vet returns why a provider could not write a request with these options, or nil. It sends nothing.
func (l *Engine) vet(name string, o *provider.Options) *provider.Error {
	host, model, _ := flow.SplitModel(name)
	vetter, ok := provider.As[provider.Vetter](l.providers[host])
	if !ok || o == nil {
		return nil
	}
	err := vetter.Vet(&provider.Request{Model: model, Options: o, MaxTokens: flow.DefaultMaxTokens, Last: provider.Message{Text: "?"}})
	if err == nil {
		return nil
	}
	failure, ok := errors.AsType[*provider.Error](err)
	if !ok || failure == nil {
		failure = &provider.Error{Kind: provider.KindValidation, Message: err.Error()}
	}
	return failure
}

// refused returns why the models that are asked first cannot be asked for what the config wants of them, and why a request to
// a model that may take over could not be written.
func (l *Engine) refused(config flow.Config) (f flow.Findings) {
	for field, d := range seats(config) {
		l.refuse(&f, field, d)
	}
	for field, s := range substitutes(config) {
		if s.Options != nil && !reported(f, field) {
			o := l.sent(s.model, s.Requirement)
			l.unwritable(&f, field, s.model, o, l.unable(s.model, wanted{s.Asks(), []*provider.Options{o}}))
		}
	}
	l.checkReaders(&f, config, neededBy(config))
	return f
}

// refuse reports what the model of a requirement surely lacks. field is that of the options.
func (l *Engine) refuse(f *flow.Findings, field string, d flow.Requirement) {
	asks := d.Asks()
	if d.Model == "" || d.Options == nil && !d.Temperature && !d.Tools {
		return
	}
	lacks, seat := l.unable(d.Model, wanted{asks, []*provider.Options{d.Options}}), strings.TrimSuffix(field, "options")
	for _, ability := range asks {
		if !slices.Contains(lacks, ability) {
			continue
		}
		switch ability {
		case provider.AbilitySchema: // it reads the schema in its instruction
		case provider.AbilityTemperature:
			f.Addf(seat+"temperature", "%q: %w: it has a temperature of its own", text.OneLine(d.Model, 80), flow.ErrUnsupported)
		case provider.AbilityTools:
			f.Addf(seat+"model", "%q: %w: %q, and its requests offer tools", text.OneLine(d.Model, 80), flow.ErrUnsupported, ability)
		default:
			f.Addf(field+"."+string(ability), "%q: %w", text.OneLine(d.Model, 80), flow.ErrUnsupported)
		}
	}
	l.unwritable(f, field, d.Model, d.Options, lacks)
}

// unwritable reports that a request with options could not be written for a model, without what it lacks.
func (l *Engine) unwritable(f *flow.Findings, field, name string, o *provider.Options, lacks []provider.Ability) {
	if failure := l.vet(name, o.Without(lacks)); failure != nil {
		f.Addf(field, "the options cannot be sent to %q: %s", text.OneLine(name, 80), text.OneLine(failure.Message, 400))
	}
}

// neededBy returns what models need to read the files of a config, each ability with the field of the first such file.
func neededBy(config flow.Config) map[provider.Ability]string {
	return needed(flow.Files(config))
}

// needed returns what models need to read files, each ability with the field of the first file that needs it.
func needed(all iter.Seq2[string, *flow.File]) map[provider.Ability]string {
	var out map[provider.Ability]string
	for field, f := range all {
		ability := provider.MediaAbility(f.Type)
		if _, known := out[ability]; known {
			continue
		}
		if out == nil {
			out = make(map[provider.Ability]string)
		}
		out[ability] = field
	}
	return out
}

// abilitiesOf returns the abilities, sorted.
func abilitiesOf(needed map[provider.Ability]string) []provider.Ability {
	return slices.Sorted(maps.Keys(needed))
}

// checkReaders refuses each model that surely cannot read a file. Everybody reads the documents, fallbacks included, so each
// of the config's models is a reader.
func (l *Engine) checkReaders(f *flow.Findings, config flow.Config, needed map[provider.Ability]string) {
	asks := abilitiesOf(needed)
	if len(asks) == 0 {
		return
	}
	for field, name := range named(config) {
		if name == "" || name == flow.NoSummarizer {
			continue
		}
		lacks := l.unable(name, wanted{abilities: asks})
		for _, ability := range asks {
			if slices.Contains(lacks, ability) {
				f.Addf(field, "%q: %w: %q, which %s needs", text.OneLine(name, 80), flow.ErrUnsupported, ability, needed[ability])
			}
		}
	}
}

// tableLacks reports whether the embedded table says that a model lacks an ability.
func (l *Engine) tableLacks(host, model string, ability provider.Ability) bool {
	if ability != provider.AbilityEffort && ability != provider.AbilityReasoning {
		return false
	}
	vendor := host
	if v, ok := provider.As[provider.Vendor](l.providers[host]); ok {
		vendor = v.Vendor()
	}
	row, known := flow.LookupModel(vendor, model)
	return known && !row.Reasoning
}

// wantedBy returns what the requests of a conversation ask of models beyond text, its files included. A model may take over
// for anybody.
func wantedBy(r *flow.Record, config flow.Config) (w wanted) {
	for _, f := range r.Files() {
		w.abilities = append(w.abilities, provider.MediaAbility(f.Type))
	}
	for _, d := range flow.Requirements(config) {
		w.add(d.Asks(), d.Options)
	}
	slices.Sort(w.abilities)
	w.abilities = slices.Compact(w.abilities)
	return w
}

// row returns the row of a model that takes over in a conversation, with what it lacks of what that asks for.
func (l *Engine) row(name string, w wanted) flow.Model {
	row := l.model(name)
	row.Unsupported = l.unable(name, w)
	return row
}

// appoint finds out what models can do that are chosen for a conversation. It returns the record of that, and what it asks of
// them. nil: it has not begun, and nothing can be chosen.
func (l *Engine) appoint(ctx context.Context, id string, names []string) (*flow.Record, wanted, error) {
	record, err := l.host.Record(ctx, id)
	if errors.Is(err, flow.ErrNotFound) || err == nil && record.Config() == nil {
		return nil, wanted{}, nil
	}
	if err != nil {
		return nil, wanted{}, err
	}
	w := wantedBy(record, record.Config())
	return record, w, l.learn(ctx, names, w)
}

// learn asks the providers what models can do, if something is wanted of them.
func (l *Engine) learn(ctx context.Context, names []string, w wanted) error {
	if l.skipCheck || len(w.abilities) == 0 {
		return nil
	}
	asked := make(map[string]*inquest) // by the provider's name
	for _, name := range names {
		host, model, named := flow.SplitModel(name)
		if _, able := provider.As[provider.Able](l.providers[host]); !named || !able || !flow.Registrable(name) {
			continue
		}
		q := l.ask(asked, host)
		q.able = append(q.able, model)
	}
	l.inquire(ctx, asked)
	if err := ctx.Err(); err != nil {
		return explain(ctx, err)
	}
	return nil
}

// lackingToo returns all abilities of two lists, sorted. It returns the first if the second is empty.
func lackingToo(a, b []provider.Ability) []provider.Ability {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// lacking returns the rows of models with what they lack of what the config asks for. It changes no row of the given map.
func (l *Engine) lacking(config flow.Config, rows map[string]flow.Model) map[string]flow.Model {
	copied := false
	for name, w := range requirements(config) {
		row, ok := rows[name]
		lacks := l.unable(name, w)
		if !ok || len(lacks) == 0 {
			continue
		}
		if !copied {
			rows, copied = maps.Clone(rows), true
		}
		row.Unsupported = lackingToo(row.Unsupported, lacks)
		rows[name] = row
	}
	return rows
}
