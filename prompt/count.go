package prompt

import (
	"fmt"
	"reflect"
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

// mostCounted bounds a number and its noun in a template, in bytes: count is the only function that makes a text, and could make long ones
// out of its own.
const mostCounted = 200

// counted is the function count of the templates.
func counted(n any, one string, many ...string) (string, error) {
	number := reflect.ValueOf(n)
	size := len(one)
	switch {
	case number.Kind() == reflect.String:
		size += number.Len()
	case !number.CanInt() && !number.CanUint():
		return "", fmt.Errorf("count takes a number and its noun, as in {{count .Words \"word\"}}, and this is a %T", n)
	}
	for _, noun := range many {
		size += len(noun)
	}
	if size > mostCounted {
		return "", fmt.Errorf("count takes a number and its noun of at most %d bytes", mostCounted)
	}
	return count(n, one, many...), nil
}

// There returns the beginning of a sentence that says how many things exist: "there is 1", "there are 3".
func There(n int) string {
	if n == 1 {
		return "there is 1"
	}
	return "there are " + strconv.Itoa(n)
}
