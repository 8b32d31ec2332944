package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// A host program that plays the same debate many times pays once for its checks and its prompts. The engine keeps:
//
//   - setups: that a config has no mistakes, and the rows of its models
//   - renderings: the prompts of a config, and who reads what
//
// Both are found by a key, which each start makes anew of its own config. So nothing of a config is kept, and a conversation never runs on
// the config of another one: at each start its config is normalized, its files are taken out, its providers are asked about their models,
// its tools describe themselves, the flow freezes and draws, and its budget is checked. Only what follows from equal values alone is
// shared:
//
//   - The key of a setup stands for flow, normalized config and settings, in every field but the ID of the settings.
//   - The key of a rendering stands for these, and for what the flow has frozen and drawn.
//   - A setup counts as long as the providers tell the same of its models.
//
// Nothing else can change what is kept: an engine's flows, templates, functions and rows are those with which it was made.
//
// An engine keeps the 16 setups and the 16 renderings that were used last. A config that has mistakes has no setup.

// setup is what the engine has found out about a config. It does not change, and conversations share it.
type setup struct {
	key    key
	roster *roster
	told   []told                // by model of the roster
	rows   map[string]flow.Model // of these models, by name
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

// setupOf returns the setup of a plan. sound says that it was kept: the config has no mistakes.
func (l *Engine) setupOf(p *plan) (s *setup, sound bool) {
	of := p.key()
	if s = l.setups.find(of); s != nil && l.current(s) {
		p.read = s.roster
		return s, true
	}
	all := p.roster()
	s = &setup{key: of, roster: all, told: make([]told, 0, len(all.models)), rows: make(map[string]flow.Model, len(all.models))}
	for _, one := range all.models {
		t := l.told(one.name)
		s.told = append(s.told, t)
		s.rows[one.name] = l.row(one.name, t)
	}
	return s, false
}

// keepSetup keeps the setup of a config in which the checks have found nothing, unless what they have read of its models may have changed
// meanwhile.
func (l *Engine) keepSetup(s *setup) {
	if l.current(s) {
		l.setups.keep(s.key, s)
	}
}

// current reports whether the rows of a setup are what they would be now.
func (l *Engine) current(s *setup) bool {
	for i, one := range s.roster.models {
		if l.told(one.name) != s.told[i] {
			return false
		}
	}
	return true
}

// key returns the key of the setup of a plan.
func (p *plan) key() key {
	return keyOf(p.machine.Flow().Name, p.config, p.withoutID())
}

// rendered returns the prompts of a plan, and who reads what. They are read only, since conversations share them. of is the key of the
// plan, and frozen is what the conversation has frozen.
func (l *Engine) rendered(p *plan, of key, frozen any, seed string) (*rendering, error) {
	var drawn any
	if draw := p.machine.Flow().Draw; draw != nil {
		drawn = draw(p.config, seed)
	}
	if of != (key{}) {
		of = keyOf(of, frozen, drawn)
	}
	if known := l.renderings.find(of); known != nil {
		return known, nil
	}
	made, err := l.render(p, frozen, drawn)
	if err != nil {
		return nil, err
	}
	if made.size() <= mostRendered {
		l.renderings.keep(of, made)
	}
	return made, nil
}

// latest keeps the 16 values that were used last, by their keys. It is safe for concurrent use.
type latest[T any] struct {
	mu   sync.Mutex
	last [16]kept[T] // the latest is the first
}

// kept is a value with its key; the zero key: there is none.
type kept[T any] struct {
	key   key
	value *T
}

// find returns the value of a key; nil: none is kept.
func (k *latest[T]) find(of key) *T {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.at(of)
	if at < 0 || of == (key{}) {
		return nil
	}
	return k.first(at, k.last[at])
}

// keep keeps a value in place of the former one of its key, or else of the one that was not used for the longest time.
func (k *latest[T]) keep(of key, value *T) {
	if of == (key{}) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.at(of)
	if at < 0 {
		at = len(k.last) - 1
	}
	k.first(at, kept[T]{of, value})
}

func (k *latest[T]) at(of key) int {
	return slices.IndexFunc(k.last[:], func(one kept[T]) bool { return one.key == of })
}

// first puts a value before all others, and takes the place at from what stands there.
func (k *latest[T]) first(at int, one kept[T]) *T {
	copy(k.last[1:at+1], k.last[:at])
	k.last[0] = one
	return one.value
}

// Bounds of what is kept.
const (
	mostKeyed    = 1 << 20 // values that a key stands for, and bytes of their texts
	mostNested   = 100     // values that one of them stands in
	mostRendered = 4 << 20 // bytes of all prompts of a conversation
)

// key stands for values. It is a SHA-256 of them, of their types and of all that they refer to, so two keys are equal if the values are,
// and only then. The zero key stands for nothing, and nothing is kept under it.
type key [sha256.Size]byte

// keyOf returns the key of values. It is zero for values that are not all data, because they hold functions, channels, complex numbers,
// hidden fields or maps whose keys are no texts, and for values that are too large or hold themselves.
func keyOf(values ...any) (of key) {
	k := keying{sum: sha256.New(), next: make([]byte, 0, 1024), left: mostKeyed}
	k.add(reflect.ValueOf(values))
	if k.left < 0 {
		return key{}
	}
	k.sum.Write(k.next)
	k.sum.Sum(of[:0])
	return of
}

// keying makes a key. No two values write the same: what has a length begins with it, what may be nil with whether it is, and what may be
// of several types with its type.
type keying struct {
	sum   hash.Hash
	next  []byte // what is still to be added to sum
	left  int    // values and bytes of texts that may still come; below 0: there is no key
	depth int
}

// none says that there is no key.
func (k *keying) none() { k.left = -1 }

func (k *keying) number(n uint64) {
	if len(k.next) >= 512 {
		k.sum.Write(k.next)
		k.next = k.next[:0]
	}
	k.next = binary.AppendUvarint(k.next, n)
}

func (k *keying) length(n int) { k.number(uint64(n)) } //nolint:gosec // it is not negative

func (k *keying) text(s string) {
	if k.left -= len(s); k.left >= 0 {
		k.length(len(s))
		k.next = append(k.next, s...)
	}
}

func (k *keying) add(v reflect.Value) {
	if k.depth++; k.depth > mostNested {
		k.none()
	}
	if k.left--; k.left >= 0 {
		k.value(v)
	}
	k.depth--
}

func (k *keying) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		k.either(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		k.number(uint64(v.Int())) //nolint:gosec // the same bits
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		k.number(v.Uint())
	case reflect.Float32, reflect.Float64: // as bits, since JSON and templates write -0 otherwise than 0
		k.number(math.Float64bits(v.Float()))
	case reflect.String:
		k.text(v.String())
	case reflect.Struct:
		k.fields(v)
	case reflect.Array:
		k.elements(v)
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if k.either(!v.IsNil()); !v.IsNil() {
			k.inside(v)
		}
	default: // complex numbers
		k.none()
	}
}

func (k *keying) either(yes bool) {
	if yes {
		k.number(1)
	} else {
		k.number(0)
	}
}

// inside adds what a value refers to.
func (k *keying) inside(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		k.add(v.Elem())
	case reflect.Interface:
		k.number(uint64(reflect.ValueOf(v.Elem().Type()).Pointer())) // a type has an address of its own
		k.add(v.Elem())
	case reflect.Slice:
		k.length(v.Len())
		k.elements(v)
	case reflect.Map:
		k.entries(v)
	default: // functions and channels
		k.none()
	}
}

func (k *keying) fields(v reflect.Value) {
	for _, field := range v.Fields() {
		switch {
		case field.CanInterface():
			k.add(field)
		case !field.IsZero(): // it is hidden
			k.none()
		}
	}
}

func (k *keying) elements(v reflect.Value) {
	for i := 0; i < v.Len() && k.left >= 0; i++ {
		k.add(v.Index(i))
	}
}

func (k *keying) entries(v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String || v.Len() > k.left {
		k.none()
		return
	}
	k.length(v.Len())
	names := v.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, name := range names {
		k.text(name.String())
		k.add(v.MapIndex(name))
	}
}
