package debate

import (
	"github.com/agonist-dev/debate/prompt"
)

// debateTexts renders the prompts of the debate flow: system prompts by name, the instruction of
// each phase, and what the judge is asked.
func debateTexts(s Setup) (map[string]string, error) {
	texts := make(map[string]string, len(s.Config.Participants)+8)
	var err error
	put := func(name string, render func() (string, error)) {
		if err == nil {
			texts[name], err = render()
		}
	}
	people := make([]prompt.Person, len(s.Config.Participants))
	for i, p := range s.Config.Participants {
		people[i] = prompt.Person{Name: p.Name, Side: string(p.Side), Position: p.Position}
	}
	for i, p := range s.Config.Participants {
		put("system."+p.Name, func() (string, error) { return s.Prompts.Debater(debater(s, people, i)) })
	}
	for i, phase := range s.Format.Phases {
		put("turn."+phase.Name, func() (string, error) { return s.Prompts.Turn(turnPrompt(s, i)) })
	}
	if s.Config.Judging != nil {
		names, criteria := namesOf(s.Config.Participants), s.Config.Judging.Criteria
		for _, judge := range s.Config.Judging.Judges {
			put("system."+judge.Name, func() (string, error) {
				return s.Prompts.Judge(prompt.Judge{
					Name: judge.Name, Topic: s.Config.Topic, Format: s.Format.Name, FormatGuidance: s.Format.Guidance,
					Participants: people, Criteria: criteria, Rounds: s.Config.Rounds, Fence: s.Fence,
				})
			})
		}
		put("assess", func() (string, error) {
			return s.Prompts.Assess(prompt.Assess{Participants: names, Rounds: s.Config.Rounds, Advisory: s.Format.End == EndByRounds})
		})
		for name, unfinished := range map[string]bool{"verdict": false, "verdict.unfinished": true} {
			put(name, func() (string, error) {
				return s.Prompts.Verdict(prompt.Verdict{
					Participants: names, Criteria: criteria, Rounds: s.Config.Rounds, Unfinished: unfinished,
				})
			})
		}
	}
	return texts, err
}

func debater(s Setup, people []prompt.Person, i int) prompt.Debater {
	p := s.Config.Participants[i]
	others := make([]prompt.Person, 0, len(people)-1)
	others = append(append(others, people[:i]...), people[i+1:]...)
	return prompt.Debater{
		Topic: s.Config.Topic, Name: p.Name, Side: string(p.Side), Position: p.Position, Persona: p.Persona,
		Instructions: p.Instructions, Format: s.Format.Name, FormatGuidance: s.Format.Guidance, Others: others,
		Rounds: s.Config.Rounds, Fence: s.Fence,
	}
}

func turnPrompt(s Setup, i int) prompt.Turn {
	phase, rounds := s.Format.Phases[i], s.Config.Rounds
	return prompt.Turn{
		Phase: phase.Name, Instruction: phase.Instruction, Rounds: rounds,
		Opening: phase.Name == phaseOpening, Closing: phase.Name == phaseClosing,
	}
}

// criteria yields what the judge judges by.
func (r *Record) criteria() []string {
	if r.config.Judging == nil || len(r.config.Judging.Criteria) == 0 {
		return prompt.DefaultCriteria()
	}
	return r.config.Judging.Criteria
}
