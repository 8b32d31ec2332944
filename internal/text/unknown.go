package text

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Bounds of an error about an unknown name: how many known names it lists, the bytes of each name, and how many names are compared with
// the unknown one, the first of the alphabet. Vendors have hundreds of models.
const (
	mostListed   = 12
	mostName     = 80
	mostCompared = 500
)

// UnknownNameError is the error about a name that is none of those that are known. Unknown and the functions beside it make it.
type UnknownNameError struct {
	what, state string          // state "": it is a key, whose place is told beside the error
	name        string          // one line
	where       string          // the field in which a host program registers names; "": it registers none
	known       func() []string // each one line, in order, without duplicates

	// What the known names make, once, and only if it is read: a config can have a million unknown names.
	once        sync.Once
	there, mend string
}

// Error says that the name is unknown, and lists the known ones.
func (e *UnknownNameError) Error() string {
	switch there, _ := e.listed(); {
	case e.state == "":
		return "is not a known key: " + there
	case e.what == "":
		return fmt.Sprintf("%q is not %s: %s", e.name, e.state, there)
	default:
		return fmt.Sprintf("no %s %q is %s: %s", e.what, e.name, e.state, there)
	}
}

// Mend says what helps: which names there are to use, and where the name can be registered.
func (e *UnknownNameError) Mend() string {
	_, use := e.listed()
	set := e.Register()
	if use == "" || set == "" {
		return use + set
	}
	return use + ", or " + set
}

// Register says where a host program registers the name; "": it registers no such names.
func (e *UnknownNameError) Register() string {
	if e.where == "" {
		return ""
	}
	return fmt.Sprintf("set %s[%q] before the engine is first used", e.where, e.name)
}

// Unknown returns the error about a name that is none of the known ones. what says of which sort they are, such as "format"; it may be
// empty. The name is quoted as one line, and cut. At most twelve known names are listed, in order: if there are more, those that are most
// like the unknown one. If "" is among the known ones, the name may be left out.
func Unknown[S ~string](what string, name S, known ...S) error {
	return absent(what, "known", "", name, known)
}

// Absent is Unknown for names that have to be something else than known, such as "open".
func Absent[S ~string](what, state string, name S, known ...S) error {
	return absent(what, state, "", name, known)
}

// UnknownKey is Unknown for the key of an object. It does not name the key: who reports it names its place.
func UnknownKey(key string, known ...string) error { return absent("", "", "", key, known) }

// Unregistered is Unknown for the names that a host program registers. where is the field that holds them, such as "Engine.Tools".
func Unregistered[S ~string](what, where string, name S, known ...S) error {
	return absent(what, "registered", where, name, known)
}

func absent[S ~string](what, state, where string, name S, known []S) error {
	e := &UnknownNameError{what: what, state: OneLine(state, 2*mostName), name: OneLine(string(name), mostName), where: where}
	e.known = func() []string {
		names := make([]string, len(known))
		for i, each := range known {
			names[i] = OneLine(string(each), mostName)
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	return e
}

// listed says which names there are, and which to use.
func (e *UnknownNameError) listed() (there, mend string) {
	e.once.Do(func() { e.there, e.mend = listed(e.name, e.known()) })
	return e.there, e.mend
}

// listed says which of these names there are, and which to use in place of one. They come in order.
func listed(name string, names []string) (there, mend string) {
	optional := len(names) > 0 && names[0] == ""
	if optional {
		names = names[1:]
	}
	names, more := nearest(name, names)
	for i, one := range names {
		if strings.ContainsAny(one, " ,;:\"") {
			names[i] = strconv.Quote(one)
		}
	}
	list := strings.Join(names, ", ")
	if more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	switch len(names) {
	case 0:
		return "there is none", ""
	case 1:
		there, mend = "there is only "+list, "use "+list
	default:
		there, mend = "there are "+list, "use one of "+list
	}
	if optional {
		there, mend = there+"; it may be left out", mend+", or leave it out"
	}
	return there, mend
}

// nearest returns the names that are most like another one, in order, and how many it leaves out. The names come in order.
func nearest(name string, names []string) (kept []string, more int) {
	kept = slices.Clone(names[:min(len(names), mostCompared)])
	if len(names) <= mostListed {
		return kept, 0
	}
	away := make(map[string]int, len(kept))
	for _, each := range kept {
		away[each] = distance(name, each)
	}
	slices.SortStableFunc(kept, func(a, b string) int { return cmp.Compare(away[a], away[b]) })
	kept = kept[:mostListed]
	slices.Sort(kept)
	return kept, len(names) - mostListed
}

// distance says how little a known name is like what was written. A letter that was written and is not there, or is another one there,
// counts as much as four that were left out: people write the beginning of a name, or the part that they remember.
func distance(written, known string) int {
	const wrong, left = 4, 1
	x, y := []rune(strings.ToLower(written)), []rune(strings.ToLower(known))
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j * left
	}
	for i := range x {
		before := row[0] // of the row before, one column to the left
		row[0] += wrong
		for j := range y {
			same := before
			if x[i] != y[j] {
				same += wrong
			}
			before = row[j+1]
			row[j+1] = min(same, row[j+1]+wrong, row[j]+left)
		}
	}
	return row[len(y)]
}
