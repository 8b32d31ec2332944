package prompt

import (
	"fmt"
	"strconv"
)

// Count writes a number with the noun that it counts: "1 word", "3 words". many is the plural if it does not just add an "s":
// Count(2, "entry", "entries"). The function count of the templates does the same, also for a number that is a text already.
func Count(n int, one string, many ...string) string { return count(n, one, many...) }

func count(n any, one string, many ...string) string {
	number, noun := fmt.Sprint(n), one
	switch {
	case number == "1":
	case len(many) > 0:
		noun = many[0]
	default:
		noun += "s"
	}
	return number + " " + noun
}

// There returns the beginning of a sentence that says how many things exist: "there is 1", "there are 3".
func There(n int) string {
	if n == 1 {
		return "there is 1"
	}
	return "there are " + strconv.Itoa(n)
}
