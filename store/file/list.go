package file

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// List implements [store.Store]. Of each journal it reads the last commit and, if needed, the start
// event. With Filter.Text, it reads all events of the conversations that match otherwise. A journal that cannot
// be read does not keep others from being listed: its error, a [*CorruptError] if it is damaged, comes
// after all conversations.
func (s *Store) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		l := &lister{store: s, filter: filter, alive: make(map[string]bool)}
		if err := l.run(ctx, func(info store.Info) bool { return yield(info, nil) }); err != nil {
			yield(store.Info{}, err)
		}
	}
}

// lister is one loop over List.
type lister struct {
	store  *Store
	filter store.Filter
	leased map[string]bool // ids of conversations that have a lease
	alive  map[string]bool // by handle: whether it is alive
}

func (l *lister) run(ctx context.Context, give func(store.Info) bool) error {
	if err := l.store.ready(); err != nil {
		return err
	}
	ids, err := l.ids()
	if err != nil {
		return err
	}
	var broken []error
	given := 0
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, ok, err := l.info(ctx, id)
		if err != nil {
			broken = append(broken, err)
		}
		if !ok {
			continue
		}
		if !give(info) {
			return nil
		}
		if given++; given == l.filter.Limit {
			return nil
		}
	}
	return errors.Join(broken...)
}

// ids returns the ids of the journals in the folder that the filter admits, in the filter's order.
func (l *lister) ids() ([]string, error) {
	names, err := l.store.disk.Names()
	if err != nil {
		return nil, err
	}
	l.leased = make(map[string]bool)
	var ids []string
	for _, file := range names {
		if name, ok := strings.CutSuffix(file, suffixLease); ok {
			l.leased[name] = true
		}
		name, ok := strings.CutSuffix(file, suffixLog)
		if !ok {
			continue
		}
		if id, ok := identify(name); ok && (store.Filter{After: l.filter.After, Newest: l.filter.Newest}).Matches(store.Info{ID: id}) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, l.filter.Order)
	return ids, nil
}

// info returns what is known of a conversation, and whether the filter selects it.
func (l *lister) info(ctx context.Context, id string) (store.Info, bool, error) {
	none := store.Info{}
	f, err := l.store.disk.Open(name(id)+suffixLog, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return none, false, nil // it was deleted just now
	}
	if err != nil {
		return none, false, err
	}
	defer func() { _ = f.Close() }()
	last, err := l.end(ctx, f, id)
	if err != nil || last.Last == 0 {
		return none, false, err
	}
	info := store.Info{ID: id, State: last.State, Round: last.Round, Seq: last.Last, LastAt: last.At}
	if !l.coarse().Matches(info) {
		return none, false, nil
	}
	if err := start(f, &last, &info); err != nil {
		if d, wrong := errors.AsType[*damage](err); wrong {
			err = &CorruptError{ID: id, Offset: last.Start, Err: d.err}
		}
		return none, false, err
	}
	if l.leased[name(id)] {
		if info.Owner, err = l.owner(name(id)); err != nil {
			return none, false, err
		}
	}
	if !l.filter.Matches(info) || l.filter.Text == "" {
		return info, l.filter.Matches(info), nil
	}
	found := false
	err = l.store.read(ctx, id, 0, func(e flow.Event) bool {
		found = l.filter.Finds(&e)
		return !found
	})
	return info, found, err
}

// coarse returns the part of the filter that the last commit can decide.
func (l *lister) coarse() store.Filter {
	return store.Filter{States: l.filter.States, Unfinished: l.filter.Unfinished, Working: l.filter.Working}
}

// end returns the last whole commit of a journal. If the journal does not end with it, a writer is
// appending or has died while appending; then the journal is read from its beginning.
func (l *lister) end(ctx context.Context, f handle, id string) (last block, err error) {
	for range 2 { // see reader.run
		var size int64
		if size, err = l.store.extent(ctx, id, f); err != nil {
			return block{}, err
		}
		if found, ok, err := atEnd(f, size, id); ok || err != nil {
			return found, err
		}
		_, err = walk(f, size, id, block{}, func(b *block) error {
			last = *b
			return nil
		})
		if err == nil {
			break
		}
	}
	return last, err
}

// atEnd returns the last block of a sound journal.
func atEnd(f handle, size int64, id string) (block, bool, error) {
	if _, err := top(f, size, id); err != nil {
		return block{}, false, nil //nolint:nilerr // reading the journal from its beginning reports the error
	}
	b, ok, err := tail(f, size)
	if ok {
		ok, err = b.verify(f)
	}
	return b, ok, err
}

// start adds what the start event says.
func start(f handle, last *block, info *store.Info) error {
	if last.Start == 0 {
		return nil
	}
	var buffer []byte
	text, err := whole(bufio.NewReader(io.NewSectionReader(f, last.Start, last.end-last.Start)), &buffer)
	if err != nil {
		return err
	}
	var e flow.Event
	if err := json.Unmarshal(text, &e); err != nil {
		return &damage{err: err}
	}
	told := *info
	told.Add(&e)
	info.Topic, info.Labels, info.StartedAt = told.Topic, told.Labels, told.StartedAt
	return nil
}

// owner returns who holds a conversation.
func (l *lister) owner(name string) (string, error) {
	held, err := l.store.lease(name)
	if err != nil || !held.Until.After(l.store.now()) {
		return "", err
	}
	alive, asked := l.alive[held.Handle]
	if !asked {
		if alive, err = l.store.alive(held.Handle); err != nil {
			return "", err
		}
		l.alive[held.Handle] = alive
	}
	if !alive {
		return "", nil
	}
	return string(held.Owner), nil
}
