package file

import (
	"fmt"

	"github.com/agonist-dev/debate/store"
)

// CorruptError reports damage of a journal that no crash can have caused: whole commits follow it, or the
// bytes are not those that were written. Nothing is cut off, and nothing more is appended.
type CorruptError struct {
	ID     string // of the conversation
	Offset int64  // of the damaged line, in bytes
	Line   int    // its number, from 1; 0: unknown
	Err    error  // what is wrong with it
}

// Error returns a text with the conversation, the line and the cause.
func (e *CorruptError) Error() string {
	line := ""
	if e.Line > 0 {
		line = fmt.Sprintf(" in line %d,", e.Line)
	}
	return fmt.Sprintf("the journal of conversation %s is damaged%s at byte %d: %v", e.ID, line, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// Is reports whether target is [store.ErrDamaged], which each CorruptError is.
func (e *CorruptError) Is(target error) bool { return target == store.ErrDamaged }

// Torn describes bytes behind the last whole commit of a journal. A crash or a power loss leaves such bytes, of a
// commit that was never acknowledged. But if the file was shortened, or its end replaced by zeros, acknowledged
// commits are lost: no file tells the two cases apart. If Kept is empty, the bytes are gone: only the folder's index shows
// that the journal once had them, on the disk.
type Torn struct {
	ID     string // of the conversation
	Offset int64  // where in the journal they began, in bytes
	Bytes  int64  // how many they were
	Kept   string // the path of the file that they were moved to; "": they are gone
}

// damage is a place from which on a journal cannot be read. What follows it decides whether it is a tear
// or corruption.
type damage struct {
	offset int64
	line   int
	err    error
}

func (d *damage) Error() string { return d.err.Error() }
