package cassette

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// These are the codes of this package's own failures, all of kind validation.
const (
	CodeUnseen = "unseen"          // the cassette does not hold the request, and calls no provider
	CodeClosed = "cassette_closed" // the cassette was closed before the call
)

// unseen returns the error for a request that is not recorded. It names the nearest recorded request and
// where the two differ. It shows no text of either, because it will stand in a log.
func (c *Cassette) unseen(q *entry) error {
	fail := func(format string, args ...any) error {
		return &provider.Error{
			Kind: provider.KindValidation, Code: CodeUnseen, NotSent: true,
			Message: fmt.Sprintf("request %q of provider %q", clip(q.ID), clip(q.Provider)) + " " + fmt.Sprintf(format, args...),
		}
	}
	if all := c.known[q.key]; len(all) > 0 {
		return fail("was recorded %d times, and is asked once more", len(all))
	}
	asked := q.Request.parts()
	var nearest *entry
	most := -1
	for _, e := range c.entries {
		if e.Provider != q.Provider {
			continue
		}
		alike := 2 * common(asked, e.Request.parts())
		if e.ID == q.ID {
			alike++
		}
		if alike > most {
			nearest, most = e, alike
		}
	}
	if nearest == nil {
		return fail("is not recorded: the cassette has none of this provider")
	}
	return fail("is not recorded: the nearest, %q, differs first in %s", clip(nearest.ID), difference(asked, nearest.Request.parts()))
}

// part is one value of a request. Short values appear in messages.
type part struct {
	name, value string
	short       bool
}

// parts returns the values of a request, in order.
func (r *request) parts() []part {
	all := []part{
		{"model", r.Model, true},
		{"self", r.Self, true},
		{"maxTokens", strconv.Itoa(r.MaxTokens), true},
		{"temperature", string(plainJSON(r.Temperature)), true},
		{"options", string(plainJSON(r.Options)), false},
		{"system", string(r.System), false},
	}
	for i := range r.Messages {
		all = append(all, r.Messages[i].parts(fmt.Sprintf("messages[%d]", i))...)
	}
	all = append(all, r.Last.parts("last")...)
	all = append(all, part{"schema", string(plainJSON(r.Schema)), false})
	return append(all, part{"tools", string(plainJSON(r.Tools)), false})
}

func (m message) parts(name string) []part {
	return []part{
		{name + ".speaker", m.Speaker, true},
		{name + ".label", m.Label, true},
		{name + ".fence", m.Fence, true},
		{name + ".text", string(m.Text), false},
		{name + ".toolCalls", string(plainJSON(m.ToolCalls)), false},
		{name + ".toolResult", string(plainJSON(m.ToolResult)), false},
		{name + ".parts", string(plainJSON(m.Parts)), false},
	}
}

// common counts the parts that are equal.
func common(a, b []part) int {
	values := make(map[string]string, len(b))
	for _, p := range b {
		values[p.name] = p.value
	}
	n := 0
	for _, p := range a {
		if value, ok := values[p.name]; ok && value == p.value {
			n++
		}
	}
	return n
}

// difference says where a request first differs from a recorded one.
func difference(asked, recorded []part) string {
	for i := range asked {
		if i >= len(recorded) {
			return asked[i].name + ", which is not recorded"
		}
		a, r := asked[i], recorded[i]
		switch {
		case a.name != r.name && strings.HasPrefix(a.name, "messages"):
			return a.name + ", which is not recorded"
		case a.name != r.name:
			return r.name + ", which is not asked"
		case a.value == r.value:
		case a.short:
			return fmt.Sprintf("%s: recorded %q, asked %q", a.name, clip(r.value), clip(a.value))
		default:
			return fmt.Sprintf("%s, line %d", a.name, differs(a.value, r.value))
		}
	}
	if len(recorded) > len(asked) {
		return recorded[len(asked)].name + ", which is not asked"
	}
	return "its form"
}

// differs returns the first line in which two texts differ, counted from 1.
func differs(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return 1 + strings.Count(a[:i], "\n")
}
