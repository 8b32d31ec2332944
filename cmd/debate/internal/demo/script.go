package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed script.json
var written []byte

// script is what is said, as script.json has it. "{subject}" stands for what the conversation is about.
type script struct {
	Lenses   []lens              // of the roles; the last one fits everybody
	Speeches map[string][]string // of a debate, by side and in the order of the rounds; "": of another side
	Texts    map[string][]string // what there is to say in a field of an answer, or in each item of a list of that name
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

// read returns what is written.
func read() *script {
	out := &script{}
	if json.Unmarshal(written, out) != nil { //nolint:musttag // keys are the fields' names // it is part of the program
		return &script{Lenses: []lens{{}}}
	}
	return out
}

// lensOf returns the lens that fits what an agent is told of itself.
func (s *script) lensOf(about string) lens {
	about = strings.ToLower(about)
	for _, l := range s.Lenses {
		if hasOne(about, l.Words...) {
			return l
		}
	}
	return s.Lenses[len(s.Lenses)-1]
}

// signature stands at the end of a result, so that nobody takes it for one of a model.
const signature = "*A script has written this to show the program. No model has read the problem.*"

// about returns a text of the script about what the conversation is about.
func (s *scene) about(text string) string { return strings.ReplaceAll(text, "{subject}", s.subject) }

// texts returns what there is to say in a field, or in each item of a list of that name. There is one at least.
func (s *scene) texts(field string) []string {
	switch field {
	case "solution":
		return []string{"## " + s.subject + "\n\n" + s.script.Result + "\n\n" + signature}
	case "output":
		return []string{s.work()}
	case "openQuestions", "questions":
		return []string{s.lens.Asks}
	}
	said := s.script.Texts[field]
	out := make([]string, len(said))
	for i := range said {
		out[i] = s.about(said[i])
	}
	switch {
	case len(out) == 0:
		return []string{fmt.Sprintf("On %s: begin small, measure, and keep a way back.", s.subject)}
	case field == "strengths":
		return out[:2+s.variety%2]
	}
	return out
}
