package store

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/bell"
)

// Memory is a [Store] with all optional abilities but [Summer] and [StateCounter]: it has no faster way than its list. It keeps logs in
// memory, each until it is deleted. The zero value is ready to use. It is safe for concurrent use, and must not be copied.
type Memory struct {
	// Now replaces the clock of the store. If it is nil, time.Now is used.
	Now func() time.Time

	work bell.Bell

	mu   sync.Mutex
	logs map[string]*memoryLog
}

type memoryLog struct {
	mu     sync.Mutex
	facts  [][]fact // in blocks, so that a growing log is not copied
	length int64
	writer string // of the last commit
	before int64  // where the last commit began
	info   Info
	owner  string
	until  time.Time
	watch  bell.Ears
	blobs  map[string][]byte // by hash

	quarantine  Quarantine
	quarantined time.Time // until when
	alarm       time.Time // as it was set since the last append; zero: it was not
}

var (
	_ Store     = (*Memory)(nil)
	_ Watcher   = (*Memory)(nil)
	_ Announcer = (*Memory)(nil)
	_ Blobs     = (*Memory)(nil)
	_ Redactor  = (*Memory)(nil)
	_ Clock     = (*Memory)(nil)
	_ Describer = (*Memory)(nil)
	_ Alarms    = (*Memory)(nil)

	_ Quarantines = (*Memory)(nil)
)

// fact is an event as it is stored in memory. Its number follows from its place, and its time takes one word.
type fact struct {
	at   int64 // in nanoseconds since 1970
	body flow.Body
}

// Append implements [Store].
func (s *Memory) Append(_ context.Context, id string, after int64, writer string, events []flow.Event) error {
	if len(events) == 0 {
		return nil
	}
	l := s.log(id, false)
	if l == nil { // the id of an existing log is valid
		if err := CheckID(id); err != nil {
			return err
		}
		if l = s.log(id, after == 0); l == nil {
			return flow.ErrConflict
		}
	}
	defer l.mu.Unlock()
	if l.length != after {
		if l.writer == writer && writer != "" && l.before == after && l.length == after+int64(len(events)) {
			return nil
		}
		return flow.ErrConflict
	}
	rested := l.info.State.Idle()
	for i := range events {
		l.add(pack(&events[i]))
		l.info.Add(&events[i])
	}
	l.writer, l.before, l.alarm = writer, after, time.Time{}
	l.watch.Ring()
	if rested && !l.info.State.Idle() {
		s.work.Ring()
	}
	return nil
}

// factBlock is the length of a block.
const factBlock = 64

func (l *memoryLog) add(f fact) {
	if l.length%factBlock == 0 {
		l.facts = append(l.facts, make([]fact, 0, factBlock))
	}
	last := &l.facts[len(l.facts)-1]
	*last = append(*last, f)
	l.length++
}

// Read implements [Store].
func (s *Memory) Read(ctx context.Context, id string, after int64) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		l := s.log(id, false)
		if l == nil {
			yield(flow.Event{}, flow.ErrNotFound)
			return
		}
		facts, length := slices.Clone(l.facts), l.length
		l.mu.Unlock()
		if length == 0 {
			yield(flow.Event{}, flow.ErrNotFound)
			return
		}
		for i := max(0, after); i < length; i++ {
			if err := ctx.Err(); err != nil {
				yield(flow.Event{}, err)
				return
			}
			if !yield(unpack(facts[i/factBlock][i%factBlock], i+1), nil) {
				return
			}
		}
	}
}

// List implements [Store].
func (s *Memory) List(ctx context.Context, filter Filter) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		given, each := 0, make(map[string]int)
		for _, info := range s.infos(filter) {
			if err := ctx.Err(); err != nil {
				yield(Info{}, err)
				return
			}
			if !s.finds(info.ID, filter) || !filter.Shares(info, each) {
				continue
			}
			if !yield(info, nil) {
				return
			}
			if given++; given == filter.Limit {
				return
			}
		}
	}
}

func (s *Memory) infos(filter Filter) []Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	var infos []Info
	for id, l := range s.logs {
		l.mu.Lock()
		info := l.listed(id, s.now())
		l.mu.Unlock()
		if info.Seq > 0 && filter.Matches(info) {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b Info) int { return filter.Order(a.ID, b.ID) })
	return infos
}

// listed returns what a list shows of a log, which is locked.
func (l *memoryLog) listed(id string, now time.Time) Info {
	info := l.info
	info.ID, info.Labels, info.Quarantine = id, maps.Clone(l.info.Labels), l.left(now)
	if l.until.After(now) {
		info.Owner = l.owner
	}
	info.AlarmAt(l.alarm, now)
	return info
}

// Describe implements [Describer].
func (s *Memory) Describe(_ context.Context, id string) (Info, error) {
	l := s.log(id, false)
	if l == nil {
		return Info{}, cmp.Or(CheckID(id), flow.ErrNotFound)
	}
	defer l.mu.Unlock()
	if l.length == 0 {
		return Info{}, flow.ErrNotFound
	}
	return l.listed(id, s.now()), nil
}

// finds reports whether a log contains the filter's text.
func (s *Memory) finds(id string, filter Filter) bool {
	if filter.Text == "" {
		return true
	}
	for event, err := range s.Read(context.Background(), id, 0) {
		if err == nil && filter.Finds(&event) {
			return true
		}
	}
	return false
}

// Delete implements [Store].
func (s *Memory) Delete(_ context.Context, id string) error {
	l := s.log(id, false)
	if l == nil {
		return nil
	}
	l.facts, l.length, l.writer, l.before, l.info = nil, 0, "", 0, Info{}
	l.owner, l.until, l.blobs = "", time.Time{}, nil
	l.quarantine, l.quarantined, l.alarm = Quarantine{}, time.Time{}, time.Time{}
	l.watch.Ring()
	l.mu.Unlock()
	s.forget(id, l)
	return nil
}

// PutBlob implements [Blobs].
func (s *Memory) PutBlob(_ context.Context, id, hash string, data []byte) error {
	if err := cmp.Or(CheckID(id), CheckBlob(hash, data)); err != nil {
		return err
	}
	l := s.log(id, true)
	defer l.mu.Unlock()
	if l.blobs == nil {
		l.blobs = make(map[string][]byte)
	}
	if _, there := l.blobs[hash]; !there {
		l.blobs[hash] = slices.Clone(data)
	}
	return nil
}

// Blob implements [Blobs].
func (s *Memory) Blob(_ context.Context, id, hash string) ([]byte, error) {
	l := s.log(id, false)
	if l == nil {
		return nil, flow.ErrNoFile
	}
	defer l.mu.Unlock()
	if data, there := l.blobs[hash]; there {
		return data, nil
	}
	return nil, flow.ErrNoFile
}

// Lease implements [Store].
func (s *Memory) Lease(_ context.Context, id, owner string, d time.Duration) error {
	if err := CheckID(id); err != nil {
		return err
	}
	l := s.log(id, true)
	defer l.mu.Unlock()
	now := s.now()
	if l.owner != owner && l.until.After(now) {
		return flow.ErrLeased
	}
	l.owner, l.until = owner, now.Add(d)
	return nil
}

// Release implements [Store].
func (s *Memory) Release(_ context.Context, id, owner string) error {
	l := s.log(id, false)
	if l == nil {
		return nil
	}
	released := l.owner == owner && !l.until.IsZero()
	if released {
		l.owner, l.until = "", time.Time{}
	}
	working := !l.info.State.Idle()
	l.mu.Unlock()
	if released && working {
		s.work.Ring()
	}
	s.forget(id, l)
	return nil
}

// Quarantine implements [Quarantines].
func (s *Memory) Quarantine(_ context.Context, id string) (Quarantine, error) {
	if err := CheckID(id); err != nil {
		return Quarantine{}, err
	}
	l := s.log(id, false)
	if l == nil {
		return Quarantine{}, nil
	}
	defer l.mu.Unlock()
	return l.left(s.now()), nil
}

// SetQuarantine implements [Quarantines].
func (s *Memory) SetQuarantine(_ context.Context, id string, q Quarantine) error {
	if err := CheckID(id); err != nil {
		return err
	}
	l := s.log(id, q != Quarantine{})
	if l == nil {
		return nil
	}
	ended := l.quarantine != Quarantine{} && q == Quarantine{} && !l.info.State.Idle()
	l.quarantine, l.quarantined = q, s.now().Add(time.Duration(q.Left))
	l.mu.Unlock()
	if ended {
		s.work.Ring()
	}
	s.forget(id, l)
	return nil
}

// left returns the quarantine as it is now.
func (l *memoryLog) left(now time.Time) Quarantine {
	q := l.quarantine
	q.Left = max(0, min(q.Left, flow.Duration(l.quarantined.Sub(now))))
	return q
}

// SetAlarm implements [Alarms].
func (s *Memory) SetAlarm(_ context.Context, id string, seq int64, d time.Duration) error {
	l := s.log(id, false)
	if l == nil {
		return CheckID(id)
	}
	defer l.mu.Unlock()
	switch {
	case l.length == 0 || l.length != seq:
	case d > 0:
		l.alarm = s.now().Add(d)
	default:
		l.alarm = time.Time{}
	}
	return nil
}

// Announce implements [Announcer].
func (s *Memory) Announce(ctx context.Context) <-chan struct{} { return s.work.Listen(ctx) }

// Watch implements [Watcher].
func (s *Memory) Watch(ctx context.Context, id string) <-chan struct{} {
	l := s.log(id, true)
	w := make(chan struct{}, 1)
	l.watch = append(l.watch, w)
	l.mu.Unlock()
	context.AfterFunc(ctx, func() {
		l.mu.Lock()
		l.watch.Remove(w)
		l.mu.Unlock()
		s.forget(id, l)
	})
	return w
}

// forget removes a log that is empty, has no lease and no quarantine, and is not watched.
func (s *Memory) forget(id string, l *memoryLog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.logs[id] == l && l.length == 0 && l.owner == "" && len(l.watch) == 0 && len(l.blobs) == 0 &&
		l.quarantine == (Quarantine{}) {
		delete(s.logs, id)
	}
}

func (s *Memory) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

// Time implements [Clock].
func (s *Memory) Time(context.Context) (time.Time, error) { return s.now(), nil }

// log returns a log, locked before forget can remove it. It returns nil if there is no log and create is not set.
func (s *Memory) log(id string, create bool) *memoryLog {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.logs[id]
	if l == nil && create {
		if s.logs == nil {
			s.logs = make(map[string]*memoryLog)
		}
		l = &memoryLog{}
		s.logs[id] = l
	}
	if l != nil {
		l.mu.Lock()
	}
	return l
}

// pack makes a fact of an event. An event whose time does not fit keeps its time beside its body.
func pack(e *flow.Event) fact {
	at := e.At.UnixNano()
	if e.At != time.Unix(0, at).UTC() {
		return fact{body: &timed{e.At, e.Body}}
	}
	return fact{at, e.Body}
}

// timed is a body with the time of its event.
type timed struct {
	at time.Time
	flow.Body
}

// unpack is the inverse of pack.
func unpack(f fact, seq int64) flow.Event {
	if whole, ok := f.body.(*timed); ok {
		return flow.Event{Seq: seq, At: whole.at, Body: whole.Body}
	}
	return flow.Event{Seq: seq, At: time.Unix(0, f.at).UTC(), Body: f.body}
}
