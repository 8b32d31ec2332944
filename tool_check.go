package debate

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
)

// checkTool reports why a tool cannot be offered to models. The names it accepts are those that all vendors accept.
func checkTool(name string, tool flow.Tool) error {
	bad := len(name) == 0 || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r)
	})
	if bad {
		return errors.New("the name is not 1 to 64 letters, digits, '-' and '_'")
	}
	if tool == nil {
		return errors.New("is nil")
	}
	tree, err := strictjson.Decode(string(tool.Describe().Parameters), strictjson.Limits{})
	if schema, ok := tree.(map[string]any); err != nil || !ok || schema["type"] != "object" {
		return errors.New("its parameters are no JSON schema of an object")
	}
	return nil
}

func (l *engine) checkTools(f *flow.Findings, t *flow.Terms) {
	if len(t.Tools) > flow.MaxTools {
		return // a list that is too long is not worked through
	}
	for i, name := range t.Tools {
		field := "tools[" + strconv.Itoa(i) + "]"
		switch {
		case l.tools[name] == nil || !flow.Registrable(name):
			f.Addf(field, "no tool %q is registered", text.OneLine(name, 80))
		case slices.Contains(t.Tools[:i], name):
			f.Addf(field, "%q is named twice", text.OneLine(name, 80))
		}
	}
}
