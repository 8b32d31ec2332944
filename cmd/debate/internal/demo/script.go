package demo

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed script.json
var written []byte

// script is what is said, as script.json has it. Names in braces stand for what the conversation is about, and for what the speaker's lens
// has; see fill.
type script struct {
	Lenses   []lens              // of the roles; the last one fits everybody
	Turns    map[string][]string // by the kind of the call: one of them is said
	Speeches map[string][]string // of a debate, by side and in the order of the rounds; "": of another side
	Crafts   []craft             // of the agents of an arbiter; the last one fits everybody
	Texts    map[string][]string // what there is to say in a field of an answer, or in each item of a list of that name; "": in any other
	Result   string              // what is concluded of anything
}

// lens is how an agent looks at any problem: what its role makes it say.
type lens struct {
	Words []string // one of them stands in the agent's id or in what it is told of itself
	Title string   // of its proposal
	Cares string   // what it asks for first
	Steps []string // what it proposes
	Risk  string   // what it is afraid of
	Asks  string   // what it would ask a person
	Gives string   // what it learns from the critiques
}

// craft is what an agent of an arbiter does.
type craft struct {
	Words  []string // one of them stands in the agent's name
	Report string   // what it has done
	Step   string   // of the plan
}

// read returns what is written.
func read() *script {
	out := &script{}
	_ = json.Unmarshal(written, out) //nolint:musttag // keys are the fields' names, and it is part of the program
	return out
}

// lensOf returns the lens that fits what an agent is told of itself.
func (s *script) lensOf(about string) (l lens) {
	for _, l = range s.Lenses {
		if hasOne(about, l.Words) {
			break
		}
	}
	return l
}

// craftOf returns the craft of an agent by its name.
func (s *script) craftOf(name string) (c craft) {
	for _, c = range s.Crafts {
		if hasOne(name, c.Words) {
			break
		}
	}
	return c
}

// hasOne reports whether one of the words stands in a text.
func hasOne(text string, words []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// fill puts what the braces of a text name in their place.
func (s *scene) fill(text string) string {
	named := []string{
		"{subject}", s.subject, "{target}", cmp.Or(s.target, "This proposal"), "{result}", s.script.Result,
		"{title}", s.lens.Title, "{cares}", s.lens.Cares, "{risk}", s.lens.Risk, "{asks}", s.lens.Asks, "{gives}", s.lens.Gives,
		"{steps}", "- " + strings.Join(s.lens.Steps, "\n- "),
	}
	for i, step := range s.lens.Steps {
		named = append(named, fmt.Sprintf("{step %d}", i+1), step)
	}
	return strings.NewReplacer(named...).Replace(text)
}

// texts returns what there is to say in a field, or in each item of a list of that name. There is one at least.
func (s *scene) texts(field string) []string {
	said, known := s.script.Texts[field]
	switch {
	case field == "output":
		said = []string{s.script.craftOf(s.self).Report}
	case field == "strengths":
		said = said[:2+s.variety%2]
	case !known:
		said = s.script.Texts[""]
	}
	out := make([]string, len(said))
	for i := range said {
		out[i] = s.fill(said[i])
	}
	return out
}

// speech returns what is said where no answer in JSON is wanted.
func (s *scene) speech() string {
	if said := s.script.Turns[s.kind]; len(said) > 0 {
		return s.fill(s.pick(said...))
	}
	return s.argument()
}

// argument is a turn of a debate, by side and round. After the last one they begin again from the second.
func (s *scene) argument() string {
	if strings.Contains(s.last, "question") && s.side == "" {
		return s.texts("a question")[0]
	}
	said, known := s.script.Speeches[s.side]
	if !known {
		said = s.script.Speeches[""]
	}
	n := max(s.round, 1) - 1
	if n >= len(said) {
		n = 1 + (n-1)%(len(said)-1)
	}
	return s.fill(said[n])
}
