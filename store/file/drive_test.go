package file_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/agonist-dev/debate/store/file"
)

// sector is what a disk writes as a whole.
const sector = 512

// drive is a folder in memory that knows what of it is on the disk and what the system has only promised
// to write. It can lose its power at any moment, and any of its operations can fail.
type drive struct {
	mu      sync.Mutex
	names   map[string]*node // as programs see them
	kept    map[string]*node // as of the last sync of the folder
	locked  map[string]bool  // the files whose lock is held
	marks   map[string]int64 // the sizes of these files
	shared  map[string]int   // or by how many it is shared
	steps   int              // operations that change something so far
	epoch   int              // and before the last loss of power
	syncs   int
	after   func(step int)                  // called after each of them
	trouble func(step int, op string) error // fails one: errShort fails it halfway

	onRead     func() // called before each reading
	bytesRead  int64
	unreadable int // from this byte on no file can be read; negative: all can
}

// node is a file.
type node struct {
	data    []byte
	changed int // the step that changed it last: the time of modification in seconds
	// versions are what the file has been since the last sync that succeeded: first what the disk has for
	// sure, last what a sync would write. The disk may have any mixture.
	versions [][]byte
}

// errShort is how an operation fails with half of it done.
var errShort = syscall.ENOSPC

func newDrive() *drive {
	return &drive{names: map[string]*node{}, kept: map[string]*node{}, locked: map[string]bool{}, marks: map[string]int64{}, shared: map[string]int{}, unreadable: -1}
}

// put makes a file that is on the disk.
func (d *drive) put(name string, data []byte) {
	n := &node{data: data, versions: [][]byte{data}}
	d.names[name], d.kept[name] = n, n
}

// get returns what programs see of a file; nil: there is none.
func (d *drive) get(name string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.names[name]; n != nil {
		return n.data
	}
	return nil
}

// change does what changes something.
func (d *drive) change(op string, do func(fail error) error) error {
	d.mu.Lock()
	var fail error
	if d.trouble != nil {
		fail = d.trouble(d.steps, op)
	}
	d.steps++
	step := d.steps
	err := do(fail)
	d.mu.Unlock()
	if d.after != nil {
		d.after(step)
	}
	return err
}

func (d *drive) Open(name string, mode int) (file.Handle, error) {
	d.mu.Lock()
	n := d.names[name]
	d.mu.Unlock()
	if n == nil && mode&os.O_CREATE == 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if n == nil {
		n = &node{versions: [][]byte{nil}}
		err := d.change("create", func(fail error) error {
			if fail == nil {
				d.names[name] = n
			}
			return fail
		})
		if err != nil {
			return nil, err
		}
	}
	return &driveFile{drive: d, node: n}, nil
}

func (d *drive) Remove(name string) error {
	return d.change("remove", func(fail error) error {
		if fail != nil {
			return fail
		}
		if d.names[name] == nil {
			return fs.ErrNotExist
		}
		delete(d.names, name)
		return nil
	})
}

func (d *drive) Rename(from, to string) error {
	return d.change("rename", func(fail error) error {
		if fail == nil {
			d.names[to] = d.names[from]
			delete(d.names, from)
		}
		return fail
	})
}

func (d *drive) Stat(name string) (file.Stamp, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if mark, ok := d.marks[name]; ok {
		return file.NewStamp(mark, time.Time{}), nil
	}
	n := d.names[name]
	if n == nil {
		return file.Stamp{}, fs.ErrNotExist
	}
	return file.NewStamp(int64(len(n.data)), time.Unix(int64(n.changed), 0)), nil
}

func (d *drive) Names() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.names)), nil
}

func (d *drive) Sync() error {
	return d.change("syncdir", func(fail error) error {
		if fail == nil {
			d.kept = maps.Clone(d.names)
			d.syncs++
		}
		return fail
	})
}

// Lock needs no file here. Locks are no matter of power, and marks stay when it is lost.
func (d *drive) Lock(name string) (file.Lock, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked[name] || d.shared[name] > 0 {
		return nil, false, nil
	}
	d.locked[name] = true
	d.marks[name] += 0
	return driveLock{d, name}, true, nil
}

func (d *drive) Share(name string) (func() error, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked[name] {
		return nil, false, nil
	}
	d.shared[name]++
	return func() error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.shared[name]--
		return nil
	}, true, nil
}

type driveLock struct {
	drive *drive
	name  string
}

func (l driveLock) There() (bool, error) { return true, nil }

func (l driveLock) Mark(size int64) error {
	l.drive.mu.Lock()
	defer l.drive.mu.Unlock()
	l.drive.marks[l.name] = size
	return nil
}

func (l driveLock) Unlock(drop bool) error {
	l.drive.mu.Lock()
	defer l.drive.mu.Unlock()
	if drop {
		delete(l.drive.marks, l.name)
	}
	delete(l.drive.locked, l.name)
	return nil
}

func (d *drive) Free(name string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.locked[name] {
		delete(d.names, name)
	}
	return !d.locked[name], nil
}

// image is the drive after a loss of power. It keeps of a file what pick makes of its versions, and a name
// that was not synced if keep says so.
func (d *drive) image(pick func(versions [][]byte) []byte, keep func() bool) *drive {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := newDrive()
	out.marks, out.epoch = maps.Clone(d.marks), d.epoch+d.steps+1
	all := maps.Clone(d.kept)
	maps.Copy(all, d.names)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n := d.kept[name]
		if now := d.names[name]; now != n && keep() {
			n = now
		}
		if n == nil {
			continue
		}
		data := pick(n.versions)
		out.names[name] = &node{data: data, changed: n.changed, versions: [][]byte{data}}
	}
	out.kept = maps.Clone(out.names)
	return out
}

// copied is the drive as it is now, without its locks: all processes were killed.
func (d *drive) copied() *drive {
	d.mu.Lock()
	defer d.mu.Unlock()
	out, same := newDrive(), map[*node]*node{}
	out.marks, out.epoch = maps.Clone(d.marks), d.epoch+d.steps+1
	for to, from := range map[*map[string]*node]map[string]*node{&out.names: d.names, &out.kept: d.kept} {
		for name, n := range from {
			if same[n] == nil {
				same[n] = &node{n.data, n.changed, slices.Clone(n.versions)}
			}
			(*to)[name] = same[n]
		}
	}
	return out
}

// without is a copy without a file, in which the same locks are held.
func (d *drive) without(name string) *drive {
	out := d.copied()
	d.mu.Lock()
	defer d.mu.Unlock()
	out.locked = maps.Clone(d.locked)
	delete(out.names, name)
	return out
}

type driveFile struct {
	drive *drive
	node  *node
}

func (f *driveFile) Close() error { return nil }

func (f *driveFile) Size() (int64, error) {
	f.drive.mu.Lock()
	defer f.drive.mu.Unlock()
	return int64(len(f.node.data)), nil
}

func (f *driveFile) ReadAt(p []byte, at int64) (int, error) {
	if f.drive.onRead != nil {
		f.drive.onRead()
	}
	f.drive.mu.Lock()
	defer f.drive.mu.Unlock()
	if f.drive.unreadable >= 0 && at+int64(len(p)) > int64(f.drive.unreadable) {
		return 0, syscall.EIO
	}
	if at >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[at:])
	f.drive.bytesRead += int64(n)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *driveFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.drive.change("write", func(fail error) error {
		switch {
		case fail == nil:
			n = len(p)
		case errors.Is(fail, errShort):
			n = len(p) / 2
		default:
			return fail
		}
		data := slices.Clone(f.node.data)
		if grow := int(at) + n - len(data); grow > 0 {
			data = append(data, make([]byte, grow)...)
		}
		copy(data[at:], p[:n])
		f.node.data, f.node.changed = data, f.drive.epoch+f.drive.steps
		f.node.versions = append(f.node.versions, written(f.node.versions, data, int(at), int(at)+n))
		return fail
	})
	return n, err
}

// written is the last version with what was written to it now. What was written before a sync that has
// failed is not in it: the system takes it for written.
func written(versions [][]byte, data []byte, from, to int) []byte {
	next := slices.Clone(versions[len(versions)-1])
	from = from / sector * sector
	to = min(len(data), (to+sector-1)/sector*sector)
	if grow := to - len(next); grow > 0 {
		next = append(next, make([]byte, grow)...)
	}
	copy(next[from:to], data[from:to])
	return next
}

func (f *driveFile) Truncate(size int64) error {
	return f.drive.change("truncate", func(fail error) error {
		if fail != nil {
			return fail
		}
		f.node.data, f.node.changed = f.node.data[:size:size], f.drive.epoch+f.drive.steps
		last := f.node.versions[len(f.node.versions)-1]
		cut := min(int(size), len(last))
		f.node.versions = append(f.node.versions, last[:cut:cut])
		return nil
	})
}

// Sync fails as systems do: what it could not write it will not try to write again.
func (f *driveFile) Sync() error {
	return f.drive.change("sync", func(fail error) error {
		versions := f.node.versions
		if fail != nil {
			f.node.versions = append(f.node.versions, versions[0]) // and a mixture may have come to the disk
			return fail
		}
		f.node.versions = [][]byte{versions[len(versions)-1]}
		f.drive.syncs++
		return nil
	})
}

// What a loss of power leaves of a file.

func nothing(versions [][]byte) []byte { return versions[0] }

func everything(versions [][]byte) []byte { return versions[len(versions)-1] }

// part returns the last version cut off somewhere behind where it begins to differ from the disk's.
func part(share float64) func([][]byte) []byte {
	return func(versions [][]byte) []byte {
		old, last := versions[0], versions[len(versions)-1]
		same := 0
		for same < min(len(old), len(last)) && old[same] == last[same] {
			same++
		}
		cut := same + int(share*float64(len(last)-same))
		if cut < len(old) {
			return append(slices.Clone(last[:cut]), old[cut:]...) // a write in place
		}
		return last[:cut:cut]
	}
}

// mixture takes each sector from any version, and the length too.
func mixture(rng *rand.Rand) func([][]byte) []byte {
	return func(versions [][]byte) []byte {
		out := make([]byte, len(versions[rng.IntN(len(versions))]))
		for at := 0; at < len(out); at += sector {
			from := versions[rng.IntN(len(versions))]
			if at < len(from) {
				copy(out[at:min(at+sector, len(out))], from[at:])
			}
		}
		return out
	}
}
