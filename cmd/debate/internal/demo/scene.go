package demo

import (
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// scene is what a script knows of the call that it answers. It reads it from the request, as a model does.
type scene struct {
	kind    string // "propose", "critique", "verdict"
	round   int    // 0: outside the rounds
	self    string
	target  string // of a critique, whose proposal
	subject string // the first line of the problem, topic or task, without its last sign
	side    string // of a speaker
	script  *script
	lens    lens
	system  string   // who it is told to be
	last    string   // what is asked for
	authors []string // of the proposals that are shown
	variety uint32   // differs between the speakers and rounds of one conversation
	scale   float64  // the highest mark
}

// sceneOf reads a request.
func sceneOf(said *script, r *provider.Request) *scene {
	s := &scene{self: r.Self, system: r.System, last: r.Last.Text, script: said}
	if parts := strings.SplitN(r.ID, "/", 3); len(parts) > 1 {
		s.kind = parts[1]
	}
	parts := strings.Split(s.kind, ".")
	if n, ok := strings.CutPrefix(parts[0], "r"); ok && len(parts) > 1 {
		if round, err := strconv.Atoi(n); err == nil {
			s.round, parts = round, parts[1:]
		}
	}
	s.kind = parts[0]
	if s.kind == "critique" && len(parts) > 2 {
		s.target = parts[len(parts)-1]
	}
	s.subject = subjectOf(r.System)
	s.side, _, _ = strings.Cut(after(r.System, "Your side: "), " (") // what it means stands behind it
	s.lens = s.script.lensOf(r.Self + "\n" + aboutSelf(r.System))
	for _, found := range proposals().FindAllStringSubmatch(s.last, -1) {
		s.authors = append(s.authors, found[1])
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(s.self + "\x00" + strconv.Itoa(s.round))) // never fails
	s.variety = hash.Sum32()
	return s
}

// proposals matches the markers before the proposals that a vote is about.
func proposals() *regexp.Regexp { return regexp.MustCompile(`<<<\d+ (.+): proposal>>>`) }

// subjectOf returns what a system prompt says the conversation is about, on one line.
func subjectOf(system string) string {
	subject := ""
	for _, mark := range []string{"# Problem\n\n", "# Task\n\n", "Topic: ", "Motion: "} {
		if subject = after(system, mark); subject != "" {
			break
		}
	}
	subject = strings.TrimRight(strings.TrimLeft(subject, "# "), ".?! ")
	const longest = 80
	if runes := []rune(subject); len(runes) > longest {
		subject = strings.TrimSpace(string(runes[:longest])) + " …"
	}
	if subject == "" {
		return "The question"
	}
	return subject
}

// after returns the rest of the line that a mark begins.
func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// aboutSelf returns what a system prompt says of the agent itself, behind the problem.
func aboutSelf(system string) string {
	_, about, _ := strings.Cut(system, "who work together.")
	return about
}

// pick returns one of several texts: another one for another speaker or round.
func (s *scene) pick(texts ...string) string { return texts[int(s.variety)%len(texts)] }
