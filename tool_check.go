package debate

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/internal/strictjson"
)

// checkTool reports what keeps a tool from being offered to models. The names are those that all vendors take.
func checkTool(name string, tool Tool) error {
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

func (l *live) checkTools(f *Findings, t *Terms) {
	if len(t.Tools) > maxTools {
		return // nothing works through a list that is too long
	}
	for i, name := range t.Tools {
		field := "tools[" + strconv.Itoa(i) + "]"
		switch {
		case l.tools[name] == nil || !Registrable(name):
			f.Addf(field, "no tool %q is registered", oneLine(name, 80))
		case slices.Contains(t.Tools[:i], name):
			f.Addf(field, "%q is named twice", oneLine(name, 80))
		}
	}
}
