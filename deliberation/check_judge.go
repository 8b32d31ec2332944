package deliberation

import "slices"

func (v *validation) judge(c *Config) {
	j := &c.Judge
	switch {
	case c.JudgeTimeout < 0:
		v.Addf("judgeTimeout", "is negative")
	case c.JudgeTimeout > 0 && j.Model == "" && c.judged() == "" && c.Synthesis != SynthesisRegistered:
		v.Addf("judgeTimeout", "is set, but there is neither a judge nor a registered synthesizer")
	}
	s := j.seat()
	s.Check(&v.Findings, v.known)
	v.prompt("judge", j.PromptFile, j.Prompt)
	if j.Model != "" {
		return
	}
	before := len(v.Findings)
	// A negative limit is reported already.
	unused := slices.DeleteFunc(s.Given(), func(field string) bool { return field == "maxTokens" && j.MaxTokens < 0 })
	if c.Synthesis != SynthesisRegistered { // a registered synthesizer is told the prompt too
		if j.PromptFile != "" {
			unused = append(unused, "promptFile")
		}
		if j.Prompt != "" {
			unused = append(unused, "prompt")
		}
	}
	for _, field := range unused {
		v.Addf("judge."+field, "is set, but judge.model is not")
	}
	if needed := c.judged(); needed != "" && len(v.Findings) == before {
		v.Addf("judge.model", "is empty: %s needs a judge", needed)
	}
}
