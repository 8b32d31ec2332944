package file

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

const (
	// fileIndex is the name of the index. No file of a conversation is without a suffix.
	fileIndex = "index"
	// suffixNew ends the name of an index that is being written; the file is locked meanwhile.
	suffixNew = ".new"
	// lockIndex is locked while the index is written. It is empty, and there only meanwhile.
	lockIndex = fileIndex + "+" + suffixLock
	// headIndex is the text of its first line. It reads no other version.
	headIndex = `{"index":7}`
	// markEntry is how the text of its other lines begins.
	markEntry = `{"id":"`
	// calm is how long a journal must not have changed before the index describes it. It is longer than the time in
	// which a file system may give two changes the same time of modification.
	calm = 3 * time.Second
	// staleShare decides when the index is written again: when one part in staleShare of it would be new.
	staleShare = 16
)

// index describes journals, so that List need not read them. It only repeats what the journals say. Its lines have the
// form of a journal's, sorted by id. A line counts if its checksum is right and the journal has the size and the time
// of modification that the line names. So whatever happens to the index, or to a journal, costs only time: List reads
// those journals that it finds no such line of. When these are many, it writes a new index, under another name that it
// then changes. Appending leaves the index alone.
type index struct {
	text  []byte
	lines []int             // where they begin, the first not counted
	added map[string][]byte // lines to add, by id

	stamps map[string]stamp // of the journals that these describe
}

// entry is what a line says.
type entry struct {
	ID      string            `json:"id"`
	Size    int64             `json:"size"`    // of the journal
	Changed int64             `json:"changed"` // the journal's time of modification, in nanoseconds since 1970
	Flow    string            `json:"flow,omitempty"`
	Format  string            `json:"format,omitempty"`
	State   flow.State        `json:"state,omitempty"`
	Topic   string            `json:"topic,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Round   int               `json:"round,omitempty"`
	Spent   flow.Money        `json:"spent,omitempty"`
	flow.Unsettled
	Copied          flow.Money     `json:"copied,omitempty"`
	CopiedUnsettled flow.Unsettled `json:"copiedUnsettled,omitzero"`
	Limit           flow.Money     `json:"limit,omitempty"`
	Result          string         `json:"result,omitempty"`
	Seq             int64          `json:"seq"`
	Started         time.Time      `json:"started"`
	Last            time.Time      `json:"last"`
	Since           time.Time      `json:"since,omitzero"`
	Asks            int            `json:"asks,omitempty"`
	Asked           time.Time      `json:"asked,omitzero"`
	Wake            time.Time      `json:"wake,omitzero"`
	Damage          *damageNote    `json:"damage,omitempty"` // a damaged journal is long to read: all of it is searched for what is whole
}

// damageNote is a [CorruptError] in the index.
type damageNote struct {
	Offset int64  `json:"offset"`
	Line   int    `json:"line"`
	Says   string `json:"says"`
}

// readIndex reads the folder's index. An index that cannot be read is empty.
func readIndex(d disk) *index {
	x := &index{added: make(map[string][]byte), stamps: make(map[string]stamp)}
	f, err := d.Open(fileIndex, os.O_RDONLY)
	if err != nil {
		return x
	}
	defer func() { _ = f.Close() }()
	size, err := f.Size()
	if err != nil {
		return x
	}
	text := make([]byte, size)
	if n, err := f.ReadAt(text, 0); err != nil && err != io.EOF || n < len(text) { //nolint:errorlint // ReadAt returns it as it is
		return x
	}
	begin := bytes.IndexByte(text, '\n') + 1
	if _, head, err := check(text[:begin]); err != nil || string(head) != headIndex {
		return x
	}
	x.text, x.lines = text, make([]int, 0, bytes.Count(text, []byte{'\n'}))
	for begin < len(text) {
		x.lines = append(x.lines, begin)
		begin += len(x.line(begin))
	}
	return x
}

// line returns the line that begins at an offset.
func (x *index) line(begin int) []byte {
	rest := x.text[begin:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		return rest[:end+1]
	}
	return rest
}

// get returns the line of a conversation, unchecked; nil: there is none.
func (x *index) get(id string) []byte {
	at, found := sort.Find(len(x.lines), func(i int) int {
		return strings.Compare(id, lineID(x.line(x.lines[i])))
	})
	if !found {
		return nil
	}
	return x.line(x.lines[at])
}

// lineID returns the id in a line. An id needs no escapes.
func lineID(line []byte) string {
	if len(line) < sumWidth+len(markEntry) {
		return ""
	}
	id, _, _ := bytes.Cut(line[sumWidth+len(markEntry):], []byte{'"'})
	return string(id)
}

// find returns what the index says of a conversation, whether or not its journal has changed since.
func (x *index) find(id string) (entry, bool) {
	var e entry
	line := x.get(id)
	if line == nil {
		return e, false
	}
	_, text, err := check(line)
	return e, err == nil && json.Unmarshal(text, &e) == nil && e.ID == id
}

// describes reports whether the entry describes a journal that has a stamp.
func (e *entry) describes(now stamp) bool {
	return e.Size == now.size && e.Changed == now.at.UnixNano()
}

// info returns the description.
func (e *entry) info() store.Info {
	info := store.Info{
		ID: e.ID, Flow: e.Flow, Format: e.Format, State: e.State, Topic: e.Topic, Labels: e.Labels, Round: e.Round,
		Spent: e.Spent, Unsettled: e.Unsettled, Copied: e.Copied, CopiedUnsettled: e.CopiedUnsettled, Limit: e.Limit,
		Result: e.Result, Seq: e.Seq, StartedAt: e.Started, LastAt: e.Last, Since: e.Since,
		Asks: e.Asks, AskedAt: e.Asked, Wake: e.Wake,
	}
	if e.Damage != nil {
		info.Err = &CorruptError{ID: e.ID, Offset: e.Damage.Offset, Line: e.Damage.Line, Err: errors.New(e.Damage.Says)}
	}
	return info
}

// lost returns how much of its end a journal has lost since the entry was written. All of that was on the disk. A
// conversation that was deleted, and another one with the same id, have different times of their start.
func (e *entry) lost(info *store.Info, now stamp) *Torn {
	if info.Seq >= e.Seq || now.size >= e.Size || e.Started.IsZero() || !e.Started.Equal(info.StartedAt) {
		return nil
	}
	return &Torn{ID: e.ID, Offset: now.size, Bytes: e.Size - now.size}
}

// add notes the description of a journal that has a stamp. One that is very long is not worth its place.
func (x *index) add(info *store.Info, now stamp) {
	e := entry{
		ID: info.ID, Size: now.size, Changed: now.at.UnixNano(), Flow: info.Flow, Format: info.Format, State: info.State,
		Topic: info.Topic, Labels: info.Labels, Round: info.Round, Spent: info.Spent, Unsettled: info.Unsettled,
		Copied: info.Copied, CopiedUnsettled: info.CopiedUnsettled, Limit: info.Limit, Result: info.Result,
		Seq: info.Seq, Started: info.StartedAt, Last: info.LastAt, Since: info.Since,
		Asks: info.Asks, Asked: info.AskedAt, Wake: info.Wake,
	}
	if corrupt, ok := errors.AsType[*CorruptError](info.Err); ok {
		e.Damage = &damageNote{corrupt.Offset, corrupt.Line, corrupt.Err.Error()}
	}
	var line bytes.Buffer
	if err := appendLine(&line, 0, e); err == nil && line.Len() <= maxCommit {
		x.added[info.ID], x.stamps[info.ID] = line.Bytes(), now
	}
}

// save writes the index if much of it is new. It need not succeed, and need not survive a loss of power. The loop over a
// list may have taken long, so the lines are added to the index that is there now.
func (x *index) save(d disk) {
	if len(x.added)*staleShare <= len(x.lines) {
		return
	}
	// Who removes texts has this lock too: no line comes back that describes a journal as it was before.
	l, ok, err := d.Lock(lockIndex)
	if err != nil || !ok {
		return
	}
	defer func() { _ = l.Unlock(true) }()
	names, err := d.Names()
	if err != nil {
		return
	}
	for _, name := range names {
		if strings.HasSuffix(name, suffixNew) {
			_, _ = d.Free(name) // left by a process that died here
		}
	}
	now := readIndex(d)
	size := len(now.text) + 2*len(headIndex)
	for line := range maps.Values(x.added) {
		size += len(line)
	}
	text := bytes.NewBuffer(make([]byte, 0, size))
	_ = appendText(text, 0, func(w io.Writer) error {
		_, err := io.WriteString(w, headIndex+"\n")
		return err
	})
	for _, id := range journals(names) {
		line, ok := x.added[id]
		if ok && !x.holds(d, id) {
			continue
		}
		if !ok {
			line = now.get(id)
		}
		if bytes.HasSuffix(line, []byte{'\n'}) {
			text.Write(line)
		}
	}
	_ = replace(d, fileIndex, func(to handle) error {
		_, err := to.WriteAt(text.Bytes(), 0)
		return err
	}, nil)
}

// holds reports whether a journal is still as the line to add describes it.
func (x *index) holds(d disk, id string) bool {
	at, err := d.Stat(name(id) + suffixLog)
	return err == nil && at == x.stamps[id]
}

// replace gives a file another content, in one step. before is called right before that; nil: nothing is.
func replace(d disk, name string, write func(to handle) error, before func() error) error {
	draft := name + "-" + strings.ToLower(rand.Text()) + suffixNew
	l, ok, err := d.Lock(draft)
	if err != nil || !ok {
		return errors.Join(err, errDraft)
	}
	f, err := d.Open(draft, os.O_RDWR|os.O_CREATE)
	if err == nil {
		err = write(f)
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err == nil && before != nil {
		err = before()
	}
	if err != nil {
		_ = l.Unlock(true)
		return err
	}
	// Windows renames no file that is open. Whoever removes the file now takes it for what a process has left: nothing changes then.
	if err := l.Unlock(false); err != nil {
		return err
	}
	return d.Rename(draft, name)
}

// errDraft means that nothing was written, because somebody holds the file for it.
var errDraft = errors.New("file: another process holds the file that is to be written")
