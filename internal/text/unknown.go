package text

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of an error about an unknown name: how many known names it lists, the bytes of each name, and how many names are compared with
// the unknown one. A config can hold thousands of names, and as many errors.
const (
	mostListed   = 12
	mostName     = 80
	mostCompared = 256
)

// UnknownName is the error about a name that is none of those that are known. Unknown and the functions beside it make it. It lists
// the known names when it is read: of many errors about one config, few are.
type UnknownName struct {
	what, state string // state "": it is a key, whose place is told beside the error
	name        string // one line
	where       string // the field in which a host program registers names; "": it registers none
	known       func() []string
}

// Error says that the name is unknown, and lists the known ones.
func (e *UnknownName) Error() string {
	switch there, _ := listed(e.name, e.known()); {
	case e.state == "":
		return "is not a known key: " + there
	case e.what == "":
		return fmt.Sprintf("%q is not %s: %s", e.name, e.state, there)
	default:
		return fmt.Sprintf("no %s %q is %s: %s", e.what, e.name, e.state, there)
	}
}

// Mend says what helps: which names there are to use, and where the name can be registered.
func (e *UnknownName) Mend() string {
	_, use := listed(e.name, e.known())
	set := e.Register()
	if use == "" || set == "" {
		return use + set
	}
	return use + ", or " + set
}

// Register says where a host program registers the name; "": it registers no such names.
func (e *UnknownName) Register() string {
	if e.where == "" {
		return ""
	}
	return fmt.Sprintf("set %s[%q] before the engine is first used", e.where, e.name)
}

// Unknown returns the error about a name that is none of the known ones. what says of which sort they are, such as "format"; it may be
// empty. The name is quoted as one line, and cut. At most twelve known names are listed, in order: if there are more, those that are most
// like the unknown one. If "" is among the known ones, the name may be left out. The caller must not change known afterwards.
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
	return &UnknownName{what, OneLine(state, 2*mostName), OneLine(string(name), mostName), where, func() []string {
		names := make([]string, len(known))
		for i, each := range known {
			names[i] = OneLine(string(each), mostName)
		}
		return names
	}}
}

// listed says which names there are, and which to use. It sorts the names.
func listed(name string, names []string) (there, mend string) {
	slices.Sort(names)
	names = slices.Compact(names)
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
	if len(names) <= mostListed {
		return names, 0
	}
	more = len(names) - mostListed
	if len(names) <= mostCompared {
		away := make(map[string]int, len(names))
		for _, each := range names {
			away[each] = distance(name, each)
		}
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(away[a], away[b]) })
	}
	kept = names[:mostListed]
	slices.Sort(kept)
	return kept, more
}

// distance counts the letters that differ between two names: those that one lacks, has besides, or has in place of others.
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		before := row[0] // of the row before, one column to the left
		row[0] = i + 1
		for j := range y {
			changed := before
			if x[i] != y[j] {
				changed++
			}
			before = row[j+1]
			row[j+1] = min(changed, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(y)]
}
