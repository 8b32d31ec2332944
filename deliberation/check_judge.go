package deliberation

func (v *validation) judge(c *Config) {
	f, j := &v.findings, &c.Judge
	switch {
	case c.JudgeTimeout < 0:
		f.addf("judgeTimeout", "is negative")
	case c.JudgeTimeout > 0 && j.Model == "" && c.judged() == "" && c.Synthesis != SynthesisRegistered:
		f.addf("judgeTimeout", "is set, but there is neither a judge nor a registered synthesizer")
	}
	f.temperature("judge.temperature", j.Temperature)
	f.options("judge.options", j.Options)
	if j.MaxTokens < 0 {
		f.addf("judge.maxTokens", "is negative")
	}
	v.prompt("judge", j.PromptFile, j.Prompt)
	if j.Model != "" {
		v.models("judge", j.Model, j.Fallbacks, true)
		return
	}
	before := len(*f)
	for _, set := range []struct {
		field string
		is    bool
	}{
		{"fallbacks", len(j.Fallbacks) > 0},
		{"temperature", j.Temperature != nil},
		{"maxTokens", j.MaxTokens > 0},
		{"options", j.Options != nil},
		{"promptFile", j.PromptFile != "" && c.Synthesis != SynthesisRegistered}, // a synthesizer is told it too
		{"prompt", j.Prompt != "" && c.Synthesis != SynthesisRegistered},
	} {
		if set.is {
			f.addf("judge."+set.field, "is set, but judge.model is not")
		}
	}
	if needed := c.judged(); needed != "" && len(*f) == before {
		f.addf("judge.model", "is empty: %s needs a judge", needed)
	}
}
