package settings

// Evaluates reports whether a file holds evaluators, and no conversation: it has the key evaluators, or nothing but agents as the public
// program lists its evaluators, none of whom has a role or uses a tool.
func (s *Source) Evaluates() bool {
	if s.root.get("evaluators") != nil {
		return true
	}
	agents := s.root.get("agents")
	if agents == nil || len(s.root.members) > 1 || len(agents.list()) == 0 {
		return false
	}
	for _, one := range agents.list() {
		if one.form != formObject {
			return false
		}
		for _, m := range one.members {
			switch m.key {
			case "id", keyName, keyModel, "provider", "systemPrompt", "systemPromptPath", "timeout", keyEnabled:
			default:
				return false
			}
		}
	}
	return true
}
