package command

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// flagMistake says in plain words what is wrong with a flag.
func flagMistake(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = name[1:]
		}
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if known = append(known, "--"+f.Name); f.Shorthand != "" {
				known = append(known, "-"+f.Shorthand)
			}
		})
		err = unknownName("flag", name, known)
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		err = fmt.Errorf("--%s: %w", wrong.GetFlag().Name, wrongValue(wrong))
	}
	return exit(exitArguments, err)
}

// unknownName returns the error about a name that is none of the known ones: it offers the one that is a slip of the fingers away, or else
// all.
func unknownName(what, name string, known []string) error {
	for _, one := range known {
		if near(one, name) && len(strings.TrimLeft(one, "-")) > 2 {
			return fmt.Errorf("no %s %q is known: did you mean %s?", what, progress.Clean(name), one)
		}
	}
	return flow.Unknown(what, name, known...)
}

// wrongValue says which values the flag takes.
func wrongValue(wrong *pflag.InvalidValueError) error {
	takes := map[string]string{
		"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false",
		"duration": "a duration such as 90s or 5m", "stringToString": "key=value",
	}[wrong.GetFlag().Value.Type()]
	if errors.Is(wrong, strconv.ErrRange) {
		return fmt.Errorf("%q is out of range", wrong.GetValue())
	}
	return fmt.Errorf("%q is not %s", wrong.GetValue(), cmp.Or(takes, "a list with commas between its items"))
}
