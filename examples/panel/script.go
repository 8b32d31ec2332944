package main

import (
	"encoding/json"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Speeches of the demonstration, by speaker and phase. They contain no names, so that a judge who reads
// labels instead of names can tell the speakers apart only by their words.
const (
	adaOpening = "Nobody at work is forbidden to look something up. An open book rewards judgement where a closed one rewards cramming."
	benOpening = "What is not in the head cannot be combined. An exam without books shows who has made the subject their own."
	adaClosing = "Open-book questions ask for just that. Two classes of ours, asked a year later, knew equally much, with books and without."
	benClosing = "Two classes in one subject are thin. And who looks up every step runs out of time: the book helps those who need it least."
)

// script plays everybody. Kai finds the case against stronger, the others the case for.
func script() *scripted.Provider {
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema == nil:
			return scripted.Reply{Text: map[string]string{
				"opening Ada": adaOpening, "opening Ben": benOpening, "closing Ada": adaClosing, "closing Ben": benClosing,
			}[phase(req.ID)+" "+req.Self]}
		case req.Schema.Name == string(debate.KindVerdict):
			return answer(verdict(req))
		default:
			return answer(assessment(req))
		}
	}}
}

func phase(id string) string {
	if strings.Contains(id, "closing") {
		return "closing"
	}
	return "opening"
}

func answer(v any) scripted.Reply {
	data, err := json.Marshal(v)
	return scripted.Reply{Text: string(data), Err: err}
}

// sides returns the labels under which the judge knows Ada and Ben.
func sides(req *provider.Request) (ada, ben string) {
	for _, m := range req.Messages {
		switch m.Text {
		case adaOpening:
			ada = m.Speaker
		case benOpening:
			ben = m.Speaker
		}
	}
	return ada, ben
}

type object = map[string]any

func assessment(req *provider.Request) object {
	ada, ben := sides(req)
	marks := func(name string, evidence, novelty float64) object {
		return object{"participant": name, "strengths": []string{"clear"}, "weaknesses": []string{}, "criteria": object{
			"logical consistency": 8, "evidence quality": evidence, "engagement": 7, "novelty": novelty, "persuasiveness": 7, "relevance": 10,
		}}
	}
	list := []object{marks(ada, 7, 6), marks(ben, 5, 6)}
	if req.Self == "Kai" {
		list = []object{marks(ada, 4, 5), marks(ben, 6, 7.5)}
	}
	return object{
		"shouldContinue": true, "qualityScore": 7, "assessments": list,
		"flags":     object{"repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false},
		"reasoning": "Both answer the question that was asked.", "recommendations": "Bring more than one study.",
	}
}

func verdict(req *provider.Request) object {
	ada, ben := sides(req)
	winner, why, scores := ada, ada+" brought the only evidence, and turned the point about combining.", object{ada: 78, ben: 66}
	if req.Self == "Kai" {
		winner, why, scores = ben, ben+" showed how thin two classes are, and that was left unanswered.", object{ada: 64, ben: 73}
	}
	return object{
		"summary": "A short debate on what exams are to show.", "winner": object{"participant": winner, "reasoning": why}, "scores": scores,
		"keyPoints": []object{
			{"participant": ada, "mainArguments": []string{"judgement"}}, {"participant": ben, "mainArguments": []string{"mastery"}},
		},
		"areasOfAgreement": []string{"exams should show understanding"}, "areasOfDisagreement": []string{"what books do to it"},
		"criteria": criteria(), "qualityScore": 70, "insights": []string{"time is part of the question"},
	}
}

func criteria() object {
	out := object{}
	for _, c := range debate.DefaultRubric().Criteria {
		out[c.Name] = "as marked in the rounds"
	}
	return out
}
