package wire

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used. There are many, for failures alone: a program would compile
// them all before its first line, and most programs need none.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
