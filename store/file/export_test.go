package file

import "time"

// What a disk of a test's own is made of.
type (
	Disk   = disk
	Handle = handle
	Stamp  = stamp
	Lock   = lock
)

// The limits, and the pause between two looks at watched journals.
const (
	MaxLine   = maxLine
	MaxOpen   = maxOpen
	MaxKnown  = maxKnown
	PollEvery = pollEvery
)

// NewStamp makes a stamp.
func NewStamp(size int64, at time.Time) Stamp { return stamp{size: size, at: at} }

// SetDisk gives a store a disk, before its first use.
func (s *Store) SetDisk(d Disk) { s.disk = d }

// Known returns how many journals a store remembers.
func (s *Store) Known() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.journals)
}

// Name returns the name of a debate's files, Identify the debate that has a name.
func Name(id string) string               { return name(id) }
func Identify(name string) (string, bool) { return identify(name) }

// Folder returns the disk of the operating system.
func Folder(dir string) Disk { return folder(dir) }
