package demo

import (
	"slices"
	"strings"
)

// agents returns the names of those who do a piece of work, in their order.
func (s *scene) agents() (names []string) {
	_, list, _ := strings.Cut(s.system, "# Agents\n")
	for line := range strings.Lines(list) {
		item, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			if strings.TrimSpace(line) != "" && len(names) > 0 {
				break
			}
			continue
		}
		name, _, _ := strings.Cut(item, ":")
		name, _, _ = strings.Cut(name, " (may use")
		names = append(names, name)
	}
	return names
}

// craft is what an agent of an arbiter does, by its name.
type craft int

const (
	crafting craft = iota // it does a part of the work
	planning
	reviewing
)

func craftOf(name string) craft {
	name = strings.ToLower(name)
	switch {
	case hasOne(name, "plan", "research", "analy"):
		return planning
	case hasOne(name, "review", "test", "critic", "check"):
		return reviewing
	default:
		return crafting
	}
}

// hasOne reports whether one of the words stands in a text.
func hasOne(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// work is what an agent of an arbiter reports to have done.
func (s *scene) work() string {
	switch craftOf(s.self) {
	case planning:
		return "## " + s.subject + ": how it is done\n\n1. Say for whom this is, and what is better for them afterwards.\n" +
			"2. Do the smallest whole that shows it.\n3. Look for what is wrong with it, and put that right.\n\n" +
			"It is done when somebody who was not here can use it without asking."
	case reviewing:
		return "I have read it as somebody who has to use it tomorrow.\n\n" +
			"- It keeps to the task, and each step says how one sees that it is done.\n" +
			"- The second step promises figures, and does not say who collects them. I would name a person.\n\n" +
			"Nothing stands in the way of using it."
	default:
		return "## " + s.subject + "\n\n" + s.script.Result
	}
}

// plan is the whole plan as an agent reports it: a step for each agent, of which its own and those before are complete.
func (s *scene) plan() map[string]any {
	steps := []any{} // a replaced system prompt need not name the agents
	status, last := "complete", false
	for i, name := range s.agents() {
		description := "Work it out: " + s.subject
		switch craftOf(name) {
		case planning:
			description = "Say how it is done, and when it is"
		case reviewing:
			description = "Find what is wrong with it"
		default:
		}
		steps = append(steps, map[string]any{"index": i, "description": description, "status": status, "agent": name})
		if last = name == s.self; last {
			status = "pending"
		}
	}
	return map[string]any{"steps": steps, "isComplete": last}
}
