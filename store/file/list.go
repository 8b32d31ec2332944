package file

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// List implements [store.Store]. The folder's index describes the journals that have not changed since it was
// written. Of each other journal List reads the last commit and the start event. With Filter.Text, it reads all events
// of the conversations that match otherwise. It never waits for a writer: while another handle appends to a conversation, the
// conversation is described as it was before. A journal that cannot be read is listed with its error in Info.Err, a
// [*CorruptError] if it is damaged.
func (s *Store) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		l := &lister{store: s, filter: filter, beside: make(map[string]bool), each: make(map[string]int), alive: make(map[string]bool)}
		if err := l.run(ctx, func(info store.Info) bool { return yield(info, nil) }); err != nil {
			yield(store.Info{}, err)
		}
	}
}

// lister is one loop over List.
type lister struct {
	store  *Store
	filter store.Filter
	index  *index
	beside map[string]bool // the names of leases, quarantines and alarms
	each   map[string]int  // see store.Filter
	alive  map[string]bool // by handle: whether it is alive
	text   []byte          // the last start event
	now    time.Time       // zero: nobody has asked
}

func (l *lister) run(ctx context.Context, give func(store.Info) bool) error {
	if err := l.store.ready(); err != nil {
		return err
	}
	names, err := l.store.disk.Names()
	if err != nil {
		return err
	}
	for _, file := range names {
		switch filepath.Ext(file) {
		case suffixLease, suffixQuarantine, suffixAlarm:
			l.beside[file] = true
		}
	}
	l.index = readIndex(l.store.disk)
	defer l.index.save(l.store.disk)
	given := 0
	for _, id := range l.order(journals(names)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		info, ok, err := l.info(ctx, id)
		switch {
		case err != nil:
			return err
		case !ok || !l.filter.Shares(info, l.each):
			continue
		case !give(info):
			return nil
		}
		if given++; given == l.filter.Limit {
			return nil
		}
	}
	return nil
}

// journals returns the sorted ids of the journals among the names of files.
func journals(names []string) []string {
	var ids []string
	for _, file := range names {
		if name, ok := strings.CutSuffix(file, suffixLog); ok {
			if id, ok := identify(name); ok {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// order returns the ids behind the filter's id, in the filter's order.
func (l *lister) order(all []string) []string {
	at, found := slices.BinarySearch(all, l.filter.After)
	if !l.filter.Newest {
		if found {
			at++
		}
		return all[at:]
	}
	if l.filter.After == "" {
		at = len(all)
	}
	newest := slices.Clone(all[:at])
	slices.Reverse(newest)
	return newest
}

// info describes a conversation, and reports whether the filter selects it. The error ends the list.
func (l *lister) info(ctx context.Context, id string) (store.Info, bool, error) {
	info := l.known(ctx, id)
	if info.Seq == 0 && info.Err == nil {
		return info, false, nil // it was deleted just now, or its first commit is being written
	}
	file := name(id)
	l.add(ctx, &info, l.beside[file+suffixLease], l.beside[file+suffixQuarantine], l.beside[file+suffixAlarm])
	if !l.filter.Matches(info) || l.filter.Text == "" {
		return info, l.filter.Matches(info), nil
	}
	found := false
	err := l.store.read(ctx, id, 0, func(e flow.Event) bool {
		found = l.filter.Finds(&e)
		return !found
	})
	switch {
	case ctx.Err() != nil:
		return info, false, ctx.Err()
	case errors.Is(err, flow.ErrNotFound):
		return info, info.Err != nil, nil
	case err != nil: // the rest may hold the text
		info.Err, found = err, true
	}
	return info, found, nil
}

// add adds to a description what stands beside the journal, in those files that there may be.
func (l *lister) add(ctx context.Context, info *store.Info, lease, quarantine, alarm bool) {
	if lease {
		owner, err := l.owner(name(info.ID))
		info.Owner, info.Err = owner, errors.Join(info.Err, err)
	}
	if quarantine {
		q, err := l.store.quarantine(name(info.ID))
		info.Quarantine, info.Err = q, errors.Join(info.Err, err)
	}
	var set time.Time
	if alarm {
		at, err := l.store.alarm(name(info.ID), info.Seq)
		set, info.Err = at, errors.Join(info.Err, err)
	}
	now := l.store.now()
	if set.IsZero() && !info.Wake.IsZero() {
		now = l.clock(ctx)
	}
	info.AlarmAt(set, now)
}

// clock returns the time by the clock that [Store.Time] tells, as the log has it. It is asked once.
func (l *lister) clock(ctx context.Context) time.Time {
	if l.now.IsZero() {
		var err error
		if l.now, err = l.store.Time(ctx); err != nil { // such as of a folder that nobody may write to
			l.now = l.store.now()
		}
	}
	return l.now
}

// Describe implements [store.Describer]. It reads the last commit of the journal and the start event. Like List, it never
// waits for a writer.
func (s *Store) Describe(ctx context.Context, id string) (store.Info, error) {
	if err := cmp.Or(store.CheckID(id), s.ready(), ctx.Err()); err != nil {
		return store.Info{}, err
	}
	l := &lister{store: s, alive: make(map[string]bool)}
	info, _ := l.look(id)
	if info.Seq == 0 && info.Err == nil {
		return store.Info{}, flow.ErrNotFound
	}
	l.add(ctx, &info, true, true, true)
	return info, nil
}

// known describes a conversation by the index, or by its journal.
func (l *lister) known(ctx context.Context, id string) store.Info {
	file, now := name(id)+suffixLog, time.Now()
	before, err := l.store.disk.Stat(file)
	if err != nil {
		return missing(id, err)
	}
	old, indexed := l.index.find(id)
	if indexed && old.describes(before) {
		return old.info()
	}
	info, settled := l.look(id)
	if indexed {
		if lost := old.lost(&info, before); lost != nil {
			l.store.reportLost(ctx, *lost)
		}
	}
	if settled && now.Sub(before.at) >= calm { // a journal that changes from now on gets another stamp
		l.index.add(&info, before)
	}
	return info
}

// missing describes a conversation whose journal cannot be opened.
func missing(id string, err error) store.Info {
	if errors.Is(err, fs.ErrNotExist) {
		return store.Info{}
	}
	return store.Info{ID: id, Err: err}
}

// look describes a conversation by its journal. If the journal cannot be read to its end, the info describes what
// precedes that place. It reports whether that holds for as long as the journal does not change: it is all on the disk,
// and the disk has not failed.
func (l *lister) look(id string) (store.Info, bool) {
	f, err := l.store.disk.Open(name(id)+suffixLog, os.O_RDONLY)
	if err != nil {
		return missing(id, err), false
	}
	defer func() { _ = f.Close() }()
	last, settled, err := l.end(f, id)
	info := store.Info{
		ID: id, State: last.State, Round: last.Round, Spent: last.Spent, Unsettled: last.Unsettled, Limit: last.Limit,
		Result: last.Result, Seq: last.Last, LastAt: last.At, Since: last.Since, Asks: last.Asks, AskedAt: last.Asked, Wake: last.Wake,
		Err: err,
	}
	if err := l.start(f, &last, &info); err != nil {
		if d, wrong := errors.AsType[*damage](err); wrong {
			err = &CorruptError{ID: id, Offset: last.Start, Err: d.err}
		}
		info = store.Info{ID: id, Err: err} // nothing precedes the damage
	}
	_, corrupt := errors.AsType[*CorruptError](info.Err)
	return info, settled && (corrupt || info.Err == nil)
}

// end returns the last whole commit of a journal, and whether the journal is all on the disk. If the journal does not
// end with that commit, a writer is appending or has died while appending; then the journal is read from its beginning.
// With an error, end returns the last commit before it.
func (l *lister) end(f handle, id string) (last block, settled bool, failed error) {
	for range 2 { // see reader.run
		known, err := l.store.extent(id, f)
		if err != nil {
			return block{}, false, err
		}
		found, ok, err := atEnd(f, known.end, id)
		switch {
		case err != nil:
			return block{}, false, err
		case ok:
			return found, known.settled, nil
		}
		last, settled = block{}, known.settled
		_, failed = walk(f, known.end, id, block{}, func(b *block) error {
			last = *b
			return nil
		})
		if failed == nil {
			break
		}
	}
	return last, settled, failed
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

// start adds what the start event says. It reads no more of the event than that, because the event is long.
func (l *lister) start(f handle, last *block, info *store.Info) error {
	if last.Start == 0 {
		return nil
	}
	text, err := whole(bufio.NewReader(io.NewSectionReader(f, last.Start, last.end-last.Start)), &l.text)
	if err != nil {
		return err
	}
	var e struct {
		At   time.Time      `json:"at"`
		Kind flow.EventKind `json:"kind"`
		Body struct {
			Flow     string `json:"flow"`
			Shape    string `json:"shape"`
			Settings struct {
				Topic  string            `json:"topic"`
				Labels map[string]string `json:"labels"`
			} `json:"settings"`
			Parent struct {
				Spent struct {
					Cost flow.Money `json:"cost"`
					flow.Unsettled
				} `json:"spent"`
			} `json:"parent"`
		} `json:"body"`
	}
	err = json.Unmarshal(text, &e)
	if err == nil && e.Kind != flow.EventStart {
		err = fmt.Errorf("an event of kind %q is in the place of the start", e.Kind)
	}
	if err != nil {
		return &damage{err: err}
	}
	info.Flow, info.Format, info.StartedAt = e.Body.Flow, e.Body.Shape, e.At
	info.Topic, info.Labels = e.Body.Settings.Topic, e.Body.Settings.Labels
	info.Copied, info.CopiedUnsettled = e.Body.Parent.Spent.Cost, e.Body.Parent.Spent.Unsettled
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
