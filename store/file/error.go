package file

import "fmt"

// CorruptError says that a journal is damaged where no crash can have done it: whole commits follow, or
// what is there is not what was written. Nothing is cut off, and nothing more is appended.
type CorruptError struct {
	ID     string // of the debate
	Offset int64  // of the line that is wrong, in bytes
	Line   int    // its number, from 1; 0: it was not counted
	Err    error  // what is wrong with it
}

// Error names the debate and the line.
func (e *CorruptError) Error() string {
	line := ""
	if e.Line > 0 {
		line = fmt.Sprintf(" in line %d,", e.Line)
	}
	return fmt.Sprintf("the journal of debate %s is damaged%s at byte %d: %v", e.ID, line, e.Offset, e.Err)
}

// Unwrap yields the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// Torn tells of bytes behind the last whole commit of a journal, which a crash or a loss of power has
// left there. Nobody was ever told that they are kept.
type Torn struct {
	ID     string // of the debate
	Offset int64  // where in the journal they began
	Bytes  int64  // how many they were
	Kept   string // path of the file that they have been moved to
}

// damage is a place in a journal from which on it cannot be read. Whether that is a tear or corruption
// depends on what follows.
type damage struct {
	offset int64
	line   int
	err    error
}

func (d *damage) Error() string { return d.err.Error() }
