package demo

import "strings"

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

// plan is the whole plan as an agent reports it: a step for each agent, of which its own and those before are complete.
func (s *scene) plan() map[string]any {
	steps := []any{} // a replaced system prompt need not name the agents
	status, last := "complete", false
	for i, name := range s.agents() {
		description := s.fill(s.script.craftOf(name).Step)
		steps = append(steps, map[string]any{"index": i, "description": description, "status": status, "agent": name})
		if last = name == s.self; last {
			status = "pending"
		}
	}
	return map[string]any{"steps": steps, "isComplete": last}
}
