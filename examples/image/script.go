package main

import (
	"encoding/json"
	"fmt"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// script plays everybody. Each tells what it was sent.
func script() *scripted.Provider {
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		seen := "I see no chart."
		for _, m := range req.Messages {
			for _, part := range m.Parts {
				seen = fmt.Sprintf("I see %s, %s of %d bytes.", part.Name, part.Type, len(part.Data))
			}
		}
		switch {
		case req.Schema != nil:
			return verdict(seen)
		case req.Self == "Ada":
			return scripted.Reply{Text: seen + " From the first bar to the last it nearly doubles: lanes bring cyclists."}
		default:
			return scripted.Reply{Text: seen + " In the third year it falls, with all the lanes in place: weather explains as much."}
		}
	}}
}

func verdict(seen string) scripted.Reply {
	data, err := json.Marshal(debate.FinalVerdict{
		Summary: seen + " It shows growth, and no cause.",
		KeyPoints: []debate.KeyPoints{
			{Participant: "Ada", MainArguments: []string{"the last bar is nearly twice the first"}},
			{Participant: "Ben", MainArguments: []string{"the third bar falls"}},
		},
		AreasOfAgreement: []string{"there are more cyclists"}, AreasOfDisagreement: []string{"why"}, Insights: []string{"a chart names no cause"},
		Winner: &debate.Winner{Participant: "Ben", Reasoning: "proof was asked for"}, Scores: map[string]float64{"Ada": 70, "Ben": 75},
		Criteria: map[string]string{}, QualityScore: 72,
	})
	return scripted.Reply{Text: string(data), Err: err}
}
