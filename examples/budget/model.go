package main

import (
	"encoding/json"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
)

const ada, ben = "Ada", "Ben"

// choose returns an engine with the model that the environment gives access to, or with a script.
func choose(getenv func(string) string) (engine *debate.Engine, model string) {
	for _, source := range []struct {
		key, name, model string
		provider         func(key string) *openaicompat.Provider
	}{
		{"OPENAI_API_KEY", "openai", "gpt-4.1-mini", openaicompat.OpenAI},
		{"OPENROUTER_API_KEY", "openrouter", "openai/gpt-4.1-mini", openaicompat.OpenRouter},
		{"MISTRAL_API_KEY", "mistral", "mistral-small-latest", openaicompat.Mistral},
	} {
		if key := getenv(source.key); key != "" {
			return &debate.Engine{Providers: map[string]debate.Provider{source.name: source.provider(key)}}, source.name + "/" + source.model
		}
	}
	script := &scripted.Provider{VendorName: "openai", Vouch: true, Reply: reply}
	return &debate.Engine{Providers: map[string]debate.Provider{"demo": script}}, "demo/gpt-4.1-mini"
}

// reply returns the script's answer: a speech, or the judge's verdict.
func reply(req *provider.Request) scripted.Reply {
	switch {
	case req.Schema != nil:
		text, err := json.Marshal(verdict())
		return scripted.Reply{Text: string(text), Err: err}
	case req.Self == ada:
		return scripted.Reply{Text: "Ben prices the road and leaves the jam where it is. A centre becomes a place only once the last car " +
			"has left it: then there is room for trees, for a tram at street level, and for children."}
	default:
		return scripted.Reply{Text: "Ada's ban asks an office whose errand counts. A charge asks everybody the same question, pays for " +
			"the buses, and is mended with a new number if it was wrong."}
	}
}

func verdict() debate.FinalVerdict {
	return debate.FinalVerdict{
		Summary: "Ada argued for a ban, Ben for a charge.",
		KeyPoints: []debate.KeyPoints{
			{Participant: ada, MainArguments: []string{"room is what a centre lacks"}},
			{Participant: ben, MainArguments: []string{"a price needs no list of exceptions"}},
		},
		AreasOfAgreement:    []string{"there are too many cars"},
		AreasOfDisagreement: []string{"who decides: a rule or a price"},
		Winner:              &debate.Winner{Participant: ben, Reasoning: "He answered what was said."},
		Scores:              map[string]float64{ada: 78, ben: 80},
		Criteria:            map[string]string{"evidence": "none on either side"},
		QualityScore:        60,
		Insights:            []string{"The quarrel is about who decides."},
	}
}
