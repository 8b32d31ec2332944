package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// play holds the speeches, by the ids of the calls.
//
//go:embed script.txt
var play string

// script plays the debaters and the judge.
func script() *scripted.Provider {
	said := stage.Speeches(play)
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		call := strings.Split(req.ID, "/")[1] // between the debate and the attempt
		switch {
		case said[call] != "":
			return scripted.Reply{Text: said[call]}
		case strings.HasPrefix(call, "verdict."):
			return answer(verdict())
		case strings.HasPrefix(call, "r1.assessment."):
			return answer(assessment(6.5, []float64{7, 5, 7, 8, 7, 9}, []float64{8, 4, 8, 7, 7, 9},
				"Both cases have a value, a criterion and a clash. Each gave something away under examination: Ada the principled "+
					"absentee, Ben the jury."))
		case strings.HasPrefix(call, "r2.assessment."):
			return answer(assessment(7, []float64{8, 5, 9, 6, 8, 9}, []float64{7, 4, 7, 6, 7, 9},
				"Ada builds on both admissions. Ben distinguishes the jury well, but says nothing of his own \"may not be enough\"."))
		default:
			return scripted.Reply{Err: fmt.Errorf("the script has nothing for %s", call)}
		}
	}}
}

func answer(v any) scripted.Reply {
	data, err := json.Marshal(v)
	return scripted.Reply{Text: string(data), Err: err}
}

// assessment marks Ada and Ben by the rubric, in the order of its criteria.
func assessment(quality float64, ada, ben []float64, why string) debate.Judgement {
	mark := func(name, strength string, marks []float64) debate.ParticipantMark {
		criteria := make(map[string]float64)
		for i, c := range debate.DefaultRubric().Criteria {
			criteria[c.Name] = marks[i]
		}
		return debate.ParticipantMark{Participant: name, Strengths: []string{strength}, Weaknesses: []string{}, Criteria: criteria}
	}
	return debate.Judgement{
		ShouldContinue: true, QualityScore: quality, Reasoning: why,
		Assessments: []debate.ParticipantMark{mark("Ada", "follows up on answers", ada), mark("Ben", "holds to one criterion", ben)},
	}
}

func verdict() debate.FinalVerdict {
	findings := make(map[string]string)
	for _, c := range debate.DefaultRubric().Criteria {
		findings[c.Name] = "as marked in the rounds"
	}
	return debate.FinalVerdict{
		Summary: "Equality against liberty, measured by whose voice counts and by who is harmed.",
		KeyPoints: []debate.KeyPoints{
			{Participant: "Ada", MainArguments: []string{"who is never there is never served", "a jury is compelled too"}},
			{Participant: "Ben", MainArguments: []string{"staying at home harms nobody", "an empty paper is no voice"}},
		},
		AreasOfAgreement:    []string{"the duty is to appear, not to choose"},
		AreasOfDisagreement: []string{"whether a pattern can be a harm"},
		Winner: &debate.Winner{Participant: "Ada", Reasoning: "Ada won the clash on Ben's own criterion: he granted the jury, and the " +
			"difference that he drew in his last speech does not answer why the same people are missing every time."},
		Scores: map[string]float64{"Ada": 74, "Ben": 68}, Criteria: findings, QualityScore: 70,
		Insights: []string{"The question turns on whether a pattern can harm somebody whom no single act has harmed."},
	}
}
