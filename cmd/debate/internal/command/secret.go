package command

import (
	"context"
	"errors"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider/env"
)

// leastKey is how many bytes a key has that is replaced. A shorter one may stand in any text.
const leastKey = 16

// keyless returns what puts the name of a variable in the place of the key that it holds.
func (p *program) keyless() *strings.Replacer {
	var pairs []string
	for _, name := range env.Secrets() {
		if key := strings.TrimSpace(p.get(name)); len(key) >= leastKey {
			pairs = append(pairs, key, "["+name+"]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// discreet is a tool from which no model, and no log, gets a key. A program that a tool starts runs as the user, and so can read the
// variables of this one.
type discreet struct {
	flow.Tool

	keyless *strings.Replacer
}

// Use implements [flow.Tool].
func (t *discreet) Use(ctx context.Context, use flow.ToolUse) (string, error) {
	out, err := t.Tool.Use(ctx, use)
	return t.keyless.Replace(out), withoutKeys(t.keyless, err)
}

// withoutKeys returns an error that says no key.
func withoutKeys(keyless *strings.Replacer, err error) error {
	if err == nil {
		return nil
	}
	if said := keyless.Replace(err.Error()); said != err.Error() {
		return errors.New(said)
	}
	return err
}
