package text

import (
	"fmt"
	"reflect"
)

// IsNo returns why a value is not one of those that are wanted. A pointer to one is not, although the compiler takes it where an interface
// is wanted.
func IsNo(value any, wanted string) error {
	if of := reflect.TypeOf(value); of != nil && of.Kind() == reflect.Pointer {
		return fmt.Errorf("%T is no %s: give the value, a %s, not a pointer to it", value, wanted, of.Elem())
	}
	return fmt.Errorf("%T is no %s", value, wanted)
}
