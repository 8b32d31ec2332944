package flow

import (
	"maps"

	"github.com/agonist-dev/debate/prompt"
)

// Render renders the prompts of the flow, and those that every flow has.
func (f *Flow) Render(s Setup, views Views) (map[string]string, error) {
	texts := make(map[string]string)
	if f.Texts != nil {
		rendered, err := f.Texts(s)
		if err != nil {
			return nil, err
		}
		maps.Copy(texts, rendered)
	}
	if err := summaryTexts(texts, s, views); err != nil {
		return nil, err
	}
	if err := toolTexts(texts, s); err != nil {
		return nil, err
	}
	again, err := s.Prompts.Again(prompt.Again{Problems: []string{problemsMark}})
	texts[textAgain] = again
	return texts, err
}
