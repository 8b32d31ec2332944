package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func randomChecks() []check {
	var list []check
	for seed := range uint64(4) {
		list = append(list, check{fmt.Sprint("random/seed ", seed), func(x *exam) { randomly(x, seed) }})
	}
	return list
}

// model is what a storage should hold.
type model struct {
	debates map[string]*modelDebate
	owners  map[string]string
}

type modelDebate struct {
	log    []flow.Event
	writer string // of the last commit
	begin  int    // where it began
}

// list implements List in the simplest way.
func (m *model) list(f store.Filter) []store.Info {
	var infos []store.Info
	for _, id := range slices.SortedFunc(maps.Keys(m.debates), f.Order) {
		d := m.debates[id]
		info := describe(id, m.owners[id], d.log)
		found := slices.ContainsFunc(d.log, func(e flow.Event) bool { return f.Finds(&e) })
		if found && f.Matches(info) && (f.Limit == 0 || len(infos) < f.Limit) {
			infos = append(infos, info)
		}
	}
	return infos
}

// player takes random steps, in the store and in the model.
type player struct {
	*exam

	rng     *rand.Rand
	model   model
	handles []store.Store
	lives   []*life
	what    string // the step, in words
}

func randomly(x *exam, seed uint64) {
	const handles = 3
	p := &player{
		exam: x, rng: rand.New(rand.NewPCG(seed, 5)), //nolint:gosec // the same steps each time
		model:   model{debates: map[string]*modelDebate{}, owners: map[string]string{}},
		handles: make([]store.Store, handles), lives: make([]*life, handles),
	}
	for i := range p.lives {
		p.lives[i] = &life{TB: x.TB}
		x.Cleanup(p.lives[i].end)
		p.handles[i] = x.storage.Open(p.lives[i])
	}
	for step := range randomSteps() {
		id := p.id()
		p.step(id)
		p.compare(id)
		if x.Failed() {
			x.Fatalf("this was step %d of seed %d: %s", step, seed, p.what)
		}
	}
	for id := range p.model.debates {
		p.compare(id)
	}
}

func one[T any](p *player, of []T) T { return of[p.rng.IntN(len(of))] }

func (p *player) id() string { return one(p, []string{"a", "A", "b", "c.d", "e-f", "019a"}) }

func (p *player) word() string {
	return one(p, []string{"cars", "Trains", "ÄRZTE", "ärzte", "100%", "a_b", `"q"`, "one\ntwo", "🙂", "\x00"})
}

func (p *player) state() flow.State {
	return one(p, []flow.State{flow.StateRunning, arguing, flow.StatePaused, flow.StateCompleted, flow.StateError})
}

func (p *player) labels() map[string]string {
	labels := map[string]string{}
	for range p.rng.IntN(3) {
		labels[one(p, []string{tenant, "r.s", "k"})] = one(p, []string{"", "green", "%"})
	}
	return labels
}

// events returns events that follow a log of that length.
func (p *player) events(length int) []flow.Event {
	var events []flow.Event
	if length == 0 {
		events = append(events, started(flow.Settings{Topic: p.word(), Labels: p.labels()}))
	}
	for range 1 + p.rng.IntN(4) {
		events = append(events, one(p, []flow.Event{
			said(p.word() + " " + p.word()), said(p.word()), moved(p.state()),
			{Body: &flow.RetriedNow{}},
			{Body: &flow.Round{N: 1 + p.rng.IntN(9)}},
		}))
	}
	return after(int64(length), events...)
}

func (p *player) filter() store.Filter {
	var f store.Filter
	sometimes := func() bool { return p.rng.IntN(5) == 0 }
	if sometimes() {
		f.States = []flow.State{p.state(), p.state()}
	}
	if sometimes() {
		f.Labels = p.labels()
	}
	if sometimes() {
		f.From = moment(int64(p.rng.IntN(3)))
	}
	if sometimes() {
		f.Until = moment(int64(p.rng.IntN(3)))
	}
	if sometimes() {
		f.Text = strings.ToUpper(p.word())
	}
	if sometimes() {
		f.After = p.id()
	}
	if sometimes() {
		f.Limit = 1 + p.rng.IntN(4)
	}
	f.Unfinished, f.Working, f.Idle, f.Newest = sometimes(), sometimes(), sometimes(), p.rng.IntN(2) == 0
	return f
}

// doesf records what the step is, and checks its result.
func (p *player) doesf(err, want error, format string, args ...any) {
	p.Helper()
	p.what = fmt.Sprintf(format, args...)
	if !errors.Is(err, want) || (want == nil) != (err == nil) {
		p.Errorf("%s gave %v, want %s", p.what, err, sentinel(want))
	}
}

func sentinel(err error) string {
	switch {
	case errors.Is(err, flow.ErrConflict):
		return "flow.ErrConflict"
	case errors.Is(err, flow.ErrLeased):
		return "flow.ErrLeased"
	default:
		return fmt.Sprint(err)
	}
}

func (p *player) step(id string) {
	store, ctx := one(p, p.handles), p.Context()
	d := p.model.debates[id]
	place := p.rng.IntN(len(p.handles))
	owner := fmt.Sprint("owner ", place) // has the handle, and leases through it
	switch n := p.rng.IntN(100); {
	case n < 50:
		p.grow(store, id)
	case n < 60 && d != nil: // a writer that knows an older log, or a newer one
		if n := p.rng.IntN(len(d.log) + 3); n != len(d.log) {
			err := store.Append(ctx, id, int64(n), "late", p.events(n))
			p.doesf(err, flow.ErrConflict, "append %q after %d of %d", id, n, len(d.log))
		}
	case n < 70 && d != nil:
		want := error(nil)
		if d.writer == "" {
			want = flow.ErrConflict
		}
		p.doesf(store.Append(ctx, id, int64(d.begin), d.writer, d.log[d.begin:]), want, "append %q after %d again by %q", id, d.begin, d.writer)
	case n < 74:
		p.doesf(store.Delete(ctx, id), nil, "delete %q", id)
		delete(p.model.debates, id)
		delete(p.model.owners, id)
	case n < 84:
		want := error(nil)
		if held := p.model.owners[id]; held != "" && held != owner {
			want = flow.ErrLeased
		} else {
			p.model.owners[id] = owner
		}
		p.doesf(p.handles[place].Lease(ctx, id, owner, time.Hour), want, "lease %q to %s", id, owner)
	case n < 92:
		p.doesf(store.Release(ctx, id, owner), nil, "release %q by %s", id, owner)
		if p.model.owners[id] == owner {
			delete(p.model.owners, id)
		}
	default:
		p.what = fmt.Sprint("close handle ", place, " and open another")
		for id, held := range p.model.owners {
			if held == owner { // otherwise the store may or may not know that nobody holds it any more
				p.release(store, id, owner)
				delete(p.model.owners, id)
			}
		}
		p.lives[place].end()
		p.handles[place] = p.storage.Open(p.lives[place])
	}
}

func (p *player) grow(store store.Store, id string) {
	p.Helper()
	d := p.model.debates[id]
	if d == nil {
		d = &modelDebate{}
		p.model.debates[id] = d
	}
	writer := one(p, []string{"", "w", "v", "u"})
	length := len(d.log)
	events := p.events(length)
	err := store.Append(p.Context(), id, int64(length), writer, events)
	p.doesf(err, nil, "append %d to %q after %d by %q", len(events), id, length, writer)
	d.log, d.begin, d.writer = append(d.log, events...), length, writer
}

// compare checks one conversation and some list.
func (p *player) compare(id string) {
	p.Helper()
	store := one(p, p.handles)
	if d := p.model.debates[id]; d == nil {
		p.unknown(store, id)
	} else {
		cursor := p.rng.IntN(len(d.log) + 1)
		p.log(store, id, int64(cursor), d.log[cursor:])
	}
	filter := p.filter()
	p.infos(one(p, p.handles), filter, p.model.list(filter)...)
	if p.Failed() {
		p.Logf("the filter was %+v", filter)
	}
}
