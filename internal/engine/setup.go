package engine

import (
	"hash/maphash"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// A host program that plays the same debate many times pays once for its checks and its prompts: the engine keeps a setup of each of the
// latest configs that have started more than once, which says that the config has no mistakes, and has the rows of its models. Beside it,
// it keeps the latest renderings.
//
// A conversation never runs on the config of another one. At each start its own config is normalized, its files are taken out, its
// providers are asked about their models, its tools describe themselves, the flow freezes and draws, and its budget is checked. Only what
// follows from equal values alone is taken from what is kept:
//
//   - A setup is that of a plan if flow, normalized config and settings are equal, in every field but the ID.
//   - A rendering is that of a plan if flow, normalized config, what the flow has frozen and what it has drawn are equal. Fields of the
//     config with the tag `prompt:"-"` do not count, since no prompt depends on them; see [flow.Setup].
//   - The rows of a setup, and that the config has no mistakes, count as long as the providers tell the same of its models.
//
// Nothing else can change it: an engine's flows, templates, functions and rows are those with which it was made. What is kept is compared by
// copies that nobody can write to, since they are made by the flow and share no memory with the config from which they are made.
//
// Copies cost more than a start without them, so what is met for the first time is only noted, by a number. The copies are made when the
// same number comes again: of a setup if nothing is wrong with the config, and of a rendering once it is needed. So a config that is
// different at each start costs no copy, and one that has mistakes leaves nothing.
//
// An engine keeps 16 setups and 16 renderings. It keeps none for a config of more than mostValues values or mostText bytes, for one that
// cannot be copied so, or that holds functions, channels, hidden fields or complex numbers, and no rendering of more than mostRendered bytes.

// setup is what the engine has found out about a config that has no mistakes. It never changes.
type setup struct {
	plan *plan                 // of a copy of the config; its settings have no ID
	told []told                // by model of its roster
	rows map[string]flow.Model // of these models, by name
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

// toldOf asks the providers of the models of a plan.
func (l *Engine) toldOf(p *plan) []told {
	all := make([]told, 0, len(p.roster.models))
	for _, one := range p.roster.models {
		all = append(all, l.told(one.name))
	}
	return all
}

// setupOf returns the setup of a plan, whose settings have no ID yet. nil: there is none, or no more.
func (l *Engine) setupOf(p *plan) *setup {
	if p.number == 0 {
		return nil
	}
	return l.setups.find(func(s *setup) bool {
		own := s.plan
		return own.number == p.number && own.machine == p.machine && same(own.config, p.config) && same(own.settings, p.settings) && l.current(s)
	})
}

// beforeChecks reports whether a plan is worth a setup if the checks find nothing wrong: a config equal to it has passed them lately. before
// is what the providers tell of its models now.
func (l *Engine) beforeChecks(p *plan) (before []told, worth bool) {
	if p.number == 0 || p.setup != nil || !l.met.has(p.number) || l.met.has(^p.number) {
		return nil, false
	}
	return l.toldOf(p), true
}

// foundSound notes that a plan has no mistakes.
func (l *Engine) foundSound(p *plan) {
	if p.number != 0 {
		l.met.note(p.number)
	}
}

// keepSetup makes and keeps the setup of a plan that has no mistakes, unless what the checks have read of its models may have changed
// meanwhile. before is what the providers told of them before the checks. A config that cannot be kept is not tried again.
func (l *Engine) keepSetup(p *plan, before []told) {
	own := p.copied()
	if own == nil {
		l.met.note(^p.number)
		return
	}
	own.number, own.roster = p.number, rosterOf(own.config)
	if !slices.Equal(before, l.toldOf(own)) || l.setupOf(own) != nil { // or another start has just kept one
		return
	}
	s := &setup{plan: own, told: before, rows: make(map[string]flow.Model, len(before))}
	for i, one := range own.roster.models {
		s.rows[one.name] = l.row(one.name, before[i])
	}
	l.setups.keep(s)
}

// copied returns a plan of a copy of the config that shares no memory with it. Its settings have no ID. nil: there is no such copy.
func (p *plan) copied() *plan {
	config, err := p.machine.Normalized(p.config)
	if err != nil || !apart(config, p.config) {
		return nil
	}
	settings := *p.settings
	settings.ID = ""
	own := settled(p.machine, config, settings.Unattended)
	if !same(own.settings, &settings) {
		return nil
	}
	return own
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
	return p.setup != nil && idOK && l.current(p.setup)
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
	number := uint64(0)
	if p.number != 0 {
		number = l.numbers.of(true, p.config, frozen, drawn)
	}
	if number == 0 {
		return l.render(p, frozen, drawn)
	}
	if known := l.renderingOf(p, frozen, drawn, number); known != nil {
		return known, nil
	}
	if !l.met.has(number) {
		l.met.note(number)
		return l.render(p, frozen, drawn)
	}
	if !l.met.has(^number) {
		if made := l.keepRendering(p, frozen, drawn, seed, number); made != nil {
			return made, nil
		}
		l.met.note(^number)
	}
	return l.render(p, frozen, drawn)
}

// renderingOf returns the rendering that is kept of what has this number; nil: there is none.
func (l *Engine) renderingOf(p *plan, frozen, drawn any, number uint64) *rendering {
	return l.renderings.find(func(r *rendering) bool {
		return r.number == number && r.plan.machine == p.machine && r.suits(p.settings) && alike(r.plan.config, p.config) &&
			same(r.frozen, frozen) && same(r.drawn, drawn)
	})
}

// keepRendering makes a rendering from copies, and keeps it. nil: the engine keeps none of this config.
func (l *Engine) keepRendering(p *plan, frozen, drawn any, seed string, number uint64) *rendering {
	var own *plan
	if p.setup != nil {
		own = p.setup.plan
	} else if own = p.copied(); own == nil {
		return nil
	}
	ownFrozen, err := own.frozen()
	ownDrawn := own.drawn(seed)
	if err != nil || !apart(ownFrozen, frozen) || !apart(ownDrawn, drawn) {
		return nil
	}
	made, err := l.render(own, ownFrozen, ownDrawn)
	if err != nil || made.size() > mostRendered {
		return nil
	}
	if known := l.renderingOf(own, ownFrozen, ownDrawn, number); known != nil { // another start has just kept one
		return known
	}
	made.plan, made.number = own, number
	l.renderings.keep(made)
	return made
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

// met are the numbers of what the engine has met lately. It is safe for concurrent use.
type met struct {
	mu   sync.Mutex
	last [512]uint64
	next int
}

func (k *met) has(number uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(k.last[:], number)
}

// note notes a number in place of the oldest one.
func (k *met) note(number uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.last[:], number) {
		k.last[k.next%len(k.last)] = number
		k.next++
	}
}

// Bounds of what is kept.
const (
	mostValues   = 1 << 16 // of a config: its fields, elements and entries, and all that they hold
	mostText     = 1 << 20 // bytes of all texts of a config
	mostRendered = 4 << 20 // bytes of all prompts of a conversation
)

// What a field of a config has in its tag "prompt".
const (
	noPrompt  = "-"   // no prompt depends on it
	anyPrompt = "any" // of a list or map: prompts depend on whether it is empty, and on nothing else of it
)

// promptTag returns the tag "prompt" of a field; "": it has none, or none that is known.
func promptTag(f reflect.StructField) string {
	switch tag, kind := f.Tag.Get("prompt"), f.Type.Kind(); {
	case tag == noPrompt, tag == anyPrompt && (kind == reflect.Slice || kind == reflect.Map):
		return tag
	default:
		return ""
	}
}

// same reports whether two values are equal data, with all that they refer to.
func same(a, b any) bool {
	c := comparison{left: mostValues}
	return c.equal(reflect.ValueOf(a), reflect.ValueOf(b))
}

// alike reports whether two values are equal data in all that prompts depend on.
func alike(a, b any) bool {
	c := comparison{left: mostValues, prompts: true}
	return c.equal(reflect.ValueOf(a), reflect.ValueOf(b))
}

// apart reports whether two values are equal data, and neither can be changed by way of the other.
func apart(a, b any) bool {
	c := comparison{left: mostValues, apart: true}
	return c.equal(reflect.ValueOf(a), reflect.ValueOf(b))
}

// comparison is a comparison of two values. Functions, channels and hidden fields are equal only where nothing is in them.
type comparison struct {
	left    int  // how many values may still be compared; so a value that holds itself is equal to none
	apart   bool // values that share memory are not equal
	prompts bool // fields on which no prompt depends are not compared
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
	case reflect.Float32, reflect.Float64: // JSON and templates write -0 otherwise than 0
		return a.Float() == b.Float() && math.Signbit(a.Float()) == math.Signbit(b.Float())
	case reflect.Complex64, reflect.Complex128:
		return false
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
			if !c.field(a, b, i) {
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

// field compares a field of two structs.
func (c *comparison) field(a, b reflect.Value, i int) bool {
	x, y := a.Field(i), b.Field(i)
	if !x.CanInterface() {
		return x.IsZero() && y.IsZero()
	}
	if c.equal(x, y) {
		return true
	}
	if !c.prompts {
		return false
	}
	switch promptTag(a.Type().Field(i)) {
	case noPrompt:
		return true
	case anyPrompt:
		return (x.Len() == 0) == (y.Len() == 0)
	default:
		return false
	}
}

// shared reports whether two pointers, lists or maps refer to the same memory. A list without room refers to none.
func shared(a, b reflect.Value) bool {
	if a.Kind() == reflect.Slice && (a.Cap() == 0 || b.Cap() == 0) {
		return false
	}
	return a.Pointer() == b.Pointer()
}

// numbers makes a number of values, which is the same for values that are the same. It is safe for concurrent use.
type numbers struct {
	seed maphash.Seed
	tags sync.Map // of the fields of a reflect.Type, as a []string; nil: none of them has one
}

// of returns the number of values; 0: nothing of them is kept. For prompts it is a number of what prompts depend on.
func (n *numbers) of(prompts bool, values ...any) uint64 {
	c := count{numbers: n, prompts: prompts, left: mostValues, text: mostText}
	number := uint64(1)
	if prompts {
		number = 2 // a number of prompts is no number of a config
	}
	for _, v := range values {
		number = c.add(number, reflect.ValueOf(v))
	}
	if c.left < 0 || c.text < 0 {
		return 0
	}
	return max(number, 1)
}

// tagsOf returns what the fields of a struct have in their tag "prompt"; nil: none has it.
func (n *numbers) tagsOf(t reflect.Type) []string {
	if known, ok := n.tags.Load(t); ok {
		tags, _ := known.([]string)
		return tags
	}
	tags, tagged := make([]string, t.NumField()), false
	for i := range tags {
		tags[i] = promptTag(t.Field(i))
		tagged = tagged || tags[i] != ""
	}
	if !tagged {
		tags = nil
	}
	n.tags.Store(t, tags)
	return tags
}

// count makes a number.
type count struct {
	*numbers

	prompts    bool
	left, text int // values and bytes that may still come; below 0: nothing of the values is kept
}

// never notes that nothing of the values is kept.
func (c *count) never() { c.left = -1 }

// add adds a value to a number.
func (c *count) add(number uint64, v reflect.Value) uint64 {
	if c.left <= 0 || c.text < 0 {
		c.never()
		return 0
	}
	c.left--
	if !v.IsValid() {
		return mixed(number, 0)
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return mixed(number, 1)
		}
		return mixed(number, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return mixed(number, uint64(v.Int())) //nolint:gosec // any bits will do
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return mixed(number, v.Uint())
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(v.Float()) { // it is never equal
			c.never()
		}
		return mixed(number, math.Float64bits(v.Float()))
	case reflect.String:
		return c.addText(number, v.String())
	case reflect.Struct:
		return c.addFields(number, v)
	case reflect.Array:
		return c.addList(number, v)
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		if v.IsNil() {
			return mixed(number, 0)
		}
		return c.addInside(mixed(number, 1), v)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if !v.IsNil() {
			c.never()
		}
		return number
	default: // complex numbers
		c.never()
		return number
	}
}

func (c *count) addText(number uint64, text string) uint64 {
	if c.text -= len(text); c.text < 0 {
		return 0
	}
	return mixed(number, maphash.String(c.seed, text))
}

// addInside adds what a value refers to.
func (c *count) addInside(number uint64, v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return c.add(number, v.Elem())
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			c.never()
			return 0
		}
		sum := uint64(0) // entries come in any order
		for entries := v.MapRange(); entries.Next() && c.left > 0; {
			sum += c.add(c.addText(1, entries.Key().String()), entries.Value())
		}
		return mixed(mixed(number, uint64(v.Len())), sum)
	default:
		return c.addList(number, v)
	}
}

func (c *count) addList(number uint64, v reflect.Value) uint64 {
	number = mixed(number, uint64(v.Len()))
	for i := 0; i < v.Len() && c.left >= 0 && c.text >= 0; i++ {
		number = c.add(number, v.Index(i))
	}
	return number
}

func (c *count) addFields(number uint64, v reflect.Value) uint64 {
	var tags []string
	if c.prompts {
		tags = c.tagsOf(v.Type())
	}
	for i := range v.NumField() {
		field := v.Field(i)
		switch {
		case !field.CanInterface():
			if !field.IsZero() {
				c.never()
			}
		case tags == nil || tags[i] == "":
			number = c.add(number, field)
		case tags[i] == anyPrompt && field.Len() > 0:
			number = mixed(number, 1)
		case tags[i] == anyPrompt:
			number = mixed(number, 0)
		}
	}
	return number
}

// mixed mixes a value into a number.
func mixed(number, value uint64) uint64 {
	number = (number ^ value ^ value>>32) * 0x9e3779b97f4a7c15
	return number ^ number>>29
}
