package engine

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// A host program that plays the same debate many times pays once for its checks and its prompts: the engine keeps a setup of each of the
// latest configs, which says that the config has no mistakes, and has the rows of its models. Beside it, it keeps the latest renderings.
//
// A conversation never runs on the config of another one. At each start its own config is normalized, its files are taken out, its
// providers are asked about their models, its tools describe themselves, the flow freezes and draws, and its budget is checked. Only what
// follows from equal values alone is taken from a setup:
//
//   - A setup is that of a plan if flow, normalized config and settings are equal, in every field but the ID.
//   - A rendering is that of a plan with the same setup if what the flow has frozen and drawn is equal too.
//   - The rows of a setup, and that the config has no mistakes, count as long as the providers tell the same of its models.
//
// Nothing else can change it: an engine's flows, templates, functions and rows are those with which it was made. A setup is compared by
// copies that nobody can write to, since they are made by the flow and share no memory with the config from which they are made. A config
// that cannot be copied so, or that holds functions, channels or hidden fields, has no setup, and pays each time.
//
// An engine keeps 16 setups and 16 renderings. A config of more than mostValues values has none.

// setup is what the engine has found out about a config. Only sound changes.
type setup struct {
	plan  *plan                 // of a copy of the config; its settings have no ID
	told  []told                // by model of its roster
	rows  map[string]flow.Model // of these models, by name
	sound atomic.Bool           // with these rows, the config has no mistakes
}

// told is what a provider tells of one of its models. With the engine's rows and the embedded table it decides what the row is.
type told struct {
	vendor  string
	vouches bool // that a model of this name has the vocabulary that is published for it
}

// told asks the provider of a model.
func (l *Engine) told(model string) (t told) {
	host, id, _ := flow.SplitModel(model)
	if v, ok := provider.As[provider.Vendor](l.providers[host]); ok {
		t.vendor = v.Vendor()
	}
	if v, ok := provider.As[provider.Voucher](l.providers[host]); ok {
		t.vouches = v.Vouches(id)
	}
	return t
}

// setupOf returns the setup of a plan, whose settings have no ID yet. nil: its config has none.
func (l *Engine) setupOf(p *plan) *setup {
	known := l.setups.find(func(s *setup) bool {
		return s.plan.machine == p.machine && same(s.plan.config, p.config) && same(s.plan.settings, p.settings) && l.current(s)
	})
	if known != nil {
		return known
	}
	return l.newSetup(p)
}

// newSetup makes and keeps the setup of a plan. nil: the config has none.
func (l *Engine) newSetup(p *plan) *setup {
	config, err := p.machine.Normalized(p.config)
	if err != nil || !apart(config, p.config) {
		return nil
	}
	own := settled(p.machine, config, p.settings.Unattended)
	if !same(own.settings, p.settings) {
		return nil
	}
	own.roster = rosterOf(config)
	s := &setup{plan: own, rows: make(map[string]flow.Model, len(own.roster.models))}
	for _, one := range own.roster.models {
		t := l.told(one.name)
		s.told = append(s.told, t)
		s.rows[one.name] = l.row(one.name, t)
	}
	l.setups.keep(s)
	return s
}

// current reports whether the rows of a setup are what they would be now.
func (l *Engine) current(s *setup) bool {
	for i, one := range s.plan.roster.models {
		if l.told(one.name) != s.told[i] {
			return false
		}
	}
	return true
}

// sound reports whether a plan is known to have no mistakes.
func (l *Engine) sound(p *plan) bool {
	idOK := p.settings.ID == "" || store.CheckID(p.settings.ID) == nil
	return p.setup != nil && p.setup.sound.Load() && idOK && l.current(p.setup)
}

// foundSound notes that a plan has no mistakes, unless what the checks have read of its models is not what its setup has.
func (l *Engine) foundSound(p *plan) {
	if p.setup != nil && l.current(p.setup) {
		p.setup.sound.Store(true)
	}
}

// rowsOf returns the rows of the models of a plan. They are read only, since others may have the same.
func (l *Engine) rowsOf(p *plan) map[string]flow.Model {
	if p.setup != nil && l.current(p.setup) {
		return p.setup.rows
	}
	rows := make(map[string]flow.Model, len(p.roster.models))
	for _, one := range p.roster.models {
		rows[one.name] = l.model(one.name)
	}
	return rows
}

// rendered returns the prompts of a plan, and who reads what. They are read only, since others may have the same. frozen is what the
// conversation has frozen.
func (l *Engine) rendered(p *plan, frozen any, seed string) (*rendering, error) {
	drawn := p.drawn(seed)
	if p.setup == nil {
		return l.render(p, frozen, drawn)
	}
	known := l.renderings.find(func(r *rendering) bool { return r.of == p.setup && same(r.frozen, frozen) && same(r.drawn, drawn) })
	if known != nil {
		return known, nil
	}
	own := p.setup.plan
	ownFrozen, err := own.frozen()
	ownDrawn := own.drawn(seed)
	if err != nil || !apart(ownFrozen, frozen) || !apart(ownDrawn, drawn) {
		return l.render(p, frozen, drawn)
	}
	made, err := l.render(own, ownFrozen, ownDrawn)
	if err != nil {
		return nil, err
	}
	made.of = p.setup
	l.renderings.keep(made)
	return made, nil
}

// latest keeps the latest 16 values. It is safe for concurrent use.
type latest[T any] struct {
	mu   sync.Mutex
	last [16]*T
	next int
}

// find returns a value that suits; nil: none is kept. Others find and keep values meanwhile.
func (k *latest[T]) find(suits func(*T) bool) *T {
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	for _, one := range last {
		if one != nil && suits(one) {
			return one
		}
	}
	return nil
}

// keep keeps a value in place of the oldest one.
func (k *latest[T]) keep(one *T) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last[k.next%len(k.last)] = one
	k.next++
}

// mostValues bounds what is compared of a config: its fields, elements and entries, and all that they hold.
const mostValues = 1 << 16

// same reports whether two values are equal data, with all that they refer to.
func same(a, b any) bool {
	c := comparison{left: mostValues}
	return c.equal(reflect.ValueOf(a), reflect.ValueOf(b))
}

// apart reports whether two values are equal data, and neither can be changed by way of the other.
func apart(a, b any) bool {
	c := comparison{left: mostValues, apart: true}
	return c.equal(reflect.ValueOf(a), reflect.ValueOf(b))
}

// comparison is a comparison of two values. Functions, channels and hidden fields are equal only where nothing is in them.
type comparison struct {
	left  int  // how many values may still be compared; so a value that holds itself is equal to none
	apart bool // values that share memory are not equal
}

func (c *comparison) equal(a, b reflect.Value) bool {
	if c.left--; c.left < 0 || a.IsValid() != b.IsValid() {
		return false
	}
	if !a.IsValid() { // nil as an interface
		return true
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return a.IsNil() && b.IsNil()
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return !(c.apart && shared(a, b)) && c.inside(a, b)
	case reflect.Interface, reflect.Struct, reflect.Array:
		return c.inside(a, b)
	default:
		return a.Equal(b)
	}
}

// inside compares what two values hold or refer to.
func (c *comparison) inside(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		return c.equal(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			x, y := a.Field(i), b.Field(i)
			hidden := !x.CanInterface()
			if hidden && !(x.IsZero() && y.IsZero()) || !hidden && !c.equal(x, y) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() || a.Type().Key().Kind() != reflect.String {
			return false
		}
		for entries := a.MapRange(); entries.Next(); {
			other := b.MapIndex(entries.Key())
			if !other.IsValid() || !c.equal(entries.Value(), other) {
				return false
			}
		}
		return true
	default: // lists
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !c.equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
}

// shared reports whether two pointers, lists or maps refer to the same memory. A list without room refers to none.
func shared(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && (a.Cap() == 0 || b.Cap() == 0) {
		return false
	}
	return a.Pointer() == b.Pointer()
}
