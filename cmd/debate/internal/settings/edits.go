package settings

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Edits are fields that replace those of a stored config. They come from a file, and from the flags --set.
type Edits struct {
	root   *node
	merged *node // the last config that they were applied to; nil: none
}

// OpenEdits reads the fields that change: those of a file, unless path is empty, and then those of --set, each as
// name=value. A value is JSON, or else a text. The error joins an [Error] for each mistake.
func OpenEdits(path string, sets []string) (*Edits, error) {
	e := &Edits{root: objectNode(Place{})}
	var wrong mistakes
	if path != "" {
		source, err := Open(path)
		if err != nil {
			return nil, err
		}
		e.root, wrong = source.root, source.wrong
		promptsOf(e.root)
	}
	for _, set := range sets {
		name, text, ok := strings.Cut(set, "=")
		if !ok || name == "" {
			wrong.addf(flag("set"), "is %q: want name=value", set)
			continue
		}
		at := Place{Path: flag("set").Path + " " + name}
		value := textNode(at, text)
		if json.Valid([]byte(text)) {
			read, mistaken := parseJSON("", text)
			if len(mistaken) > 0 {
				wrong.addf(at, "%w", mistaken.err())
				continue
			}
			value = read
			value.move(at, at.Path)
		}
		e.root.put(strings.Split(name, "."), value)
	}
	return e, wrong.err()
}

// put sets a value at a path of keys. What stands on the way and is no object is replaced by one.
func (n *node) put(path []string, value *node) {
	for _, key := range path[:len(path)-1] {
		n = n.inner(key, value.Place)
	}
	n.set(path[len(path)-1], value)
}

// inner returns the object under a key. If something else stands there, or nothing, an object replaces it.
func (n *node) inner(key string, at Place) *node {
	if v := n.get(key); v != nil && v.form == formObject {
		return v
	}
	v := objectNode(at)
	n.set(key, v)
	return v
}

// merge writes edits into an object, by the rules of JSON Merge Patch (RFC 7396): objects field by field, all else as a whole,
// and null removes a field.
func (n *node) merge(edits *node) {
	for _, m := range edits.members {
		switch m.value.form {
		case formNull:
			n.remove(m.key)
		case formObject:
			n.inner(m.key, m.value.Place).merge(m.value)
		default:
			n.set(m.key, m.value)
		}
	}
}

// Empty reports whether nothing changes.
func (e *Edits) Empty() bool { return len(e.root.members) == 0 }

// Apply returns a stored config with the edits. decode reads the JSON of it. The error is as [Edits.Placed] returns it.
func (e *Edits) Apply(stored flow.Config, decode func(data []byte) (flow.Config, error)) (flow.Config, error) {
	data, err := flow.EncodeConfig(stored)
	if err != nil {
		return nil, err
	}
	merged, wrong := parseJSON("", string(data))
	if merged == nil {
		return nil, wrong.err()
	}
	merged.move(Place{}, "")
	merged.merge(e.root)
	e.merged = merged
	config, err := decode(merged.json())
	if err != nil { // an interface that holds a nil pointer is not nil
		return nil, e.Placed(err)
	}
	return config, nil
}

// Placed gives the mistakes that an error joins the places of the edits that they are about, as an [Error] each. The others stay
// what they are.
func (e *Edits) Placed(err error) error {
	all := each(err)
	for i, one := range all {
		failure, ok := errors.AsType[*flow.Error](one)
		if !ok || failure.Kind != provider.KindValidation || e.merged == nil {
			continue
		}
		if at := e.merged.placeOf(failure.Field); at.File != "" || strings.HasPrefix(at.Path, "--") {
			all[i] = &Error{at, failure.Err}
		}
	}
	return errors.Join(all...)
}

// Amend writes the edits into an amendment. Limits of the budget that they do not name stay as those of present; nil: there are none.
// The error is as [Edits.Placed] returns it.
func (e *Edits) Amend(change *flow.Amendment, present *flow.Budget) error {
	const key = "budget"
	merged, limits := objectNode(Place{}), e.root.get(key)
	if limits != nil && limits.form == formObject && present != nil {
		merged.set(key, nodeOf(Place{Path: key}, present))
	}
	merged.merge(e.root)
	if limits != nil && limits.form == formNull { // no limit is left
		merged.set(key, objectNode(limits.Place))
	}
	e.merged = merged
	return e.Placed(flow.DecodeStrict("read the amendment", merged.json(), change))
}
