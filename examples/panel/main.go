// Command panel has three judges from different model families decide one debate by majority.
//
//	go run ./examples/panel
//
// Each judge marks the speeches by a rubric, of which the totals are computed. Each gives its verdict twice, with the debaters in one
// order and in the other, and reads labels in place of names: a judge whose winner changes with the order votes for nobody. A judge
// whose model is of a debater's family is recused; none is here. A script plays them all.
//
// It prints:
//
//	Ada: Nobody at work is forbidden to look something up.
//	Ben: What is not in the head cannot be combined.
//	Iris marks Ada 7.50, Ben 6.95
//	Juno marks Ada 7.50, Ben 6.95
//	Kai marks Ada 6.60, Ben 7.30
//	Iris is for Ada, who has the only evidence
//	…
//	Kai is for Ben, who has the stronger rule
//	Kai is for Ben, who has the stronger rule
//
//	Ada wins by [{Ada 2} {Ben 1}]; mean scores: Ada 73.3, Ben 68.3; all 3 judges have judged
//	Kai dissents, for Ben, who has the stronger rule
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	engine := &debate.Engine{Providers: map[string]debate.Provider{"openrouter": &scripted.Provider{Reply: reply}}}
	config := debate.Config{
		Topic: "Should written exams be open-book?", Rounds: 1,
		Mode: debate.Simultaneous, // so that both orders of a round are equally true
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "openrouter/mistralai/mistral-small-3.2-24b-instruct"},
			{Name: "Ben", Side: debate.Against, Model: "openrouter/mistralai/mistral-small-3.2-24b-instruct"},
		},
		Judging: &debate.Judging{
			Judges: []debate.JudgeConfig{
				{Name: "Iris", Model: "openrouter/openai/gpt-4.1-mini"},
				{Name: "Juno", Model: "openrouter/anthropic/claude-haiku-4.5"},
				{Name: "Kai", Model: "openrouter/google/gemini-2.5-flash"},
			},
			Protocol: debate.Majority, Rubric: debate.DefaultRubric(), BothOrders: true, Anonymous: true,
		},
	}
	record, err := engine.Play(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	d, ok := debate.Of(record)
	if !ok {
		log.Fatal("the record is of no debate")
	}
	for _, turn := range d.Turns {
		fmt.Printf("%s: %s\n", turn.Speaker, turn.Text)
	}
	for _, a := range d.Assessments {
		total := make(map[string]float64)
		for _, mark := range a.Assessments {
			total[mark.Participant] = mark.Score
		}
		fmt.Printf("%s marks Ada %.2f, Ben %.2f\n", a.Judge, total["Ada"], total["Ben"])
	}
	for _, v := range d.Verdicts { // names again: the labels are the judges' alone
		fmt.Printf("%s is for %s, who %s\n", v.Judge, v.Winner.Participant, v.Winner.Reasoning)
	}
	o := d.Outcome()
	fmt.Printf("\n%s wins by %v; mean scores: Ada %.1f, Ben %.1f; ", o.Winner, o.Votes, o.Scores["Ada"], o.Scores["Ben"])
	if o.Verdicts == o.Judges {
		fmt.Printf("all %d judges have judged\n", o.Judges)
	} else {
		fmt.Println("less than was planned:", o.Degraded)
	}
	for _, other := range o.Dissent {
		fmt.Printf("%s dissents, for %s, who %s\n", other.Judge, other.Winner, other.Reasoning)
	}
}

// The speeches hold no names: a judge who reads labels tells the speakers apart only by their words.
const (
	ada = "Nobody at work is forbidden to look something up."
	ben = "What is not in the head cannot be combined."
)

type object = map[string]any

// reply plays everybody. Kai finds the case against stronger, the others the case for.
func reply(req *provider.Request) scripted.Reply {
	if req.Schema == nil {
		return scripted.Reply{Text: map[string]string{"Ada": ada, "Ben": ben}[req.Self], Delay: pace(req.Self)}
	}
	better, worse, why := "", "", "has the only evidence"
	for _, m := range req.Messages { // who is behind the labels
		switch m.Text {
		case ada:
			better = m.Speaker
		case ben:
			worse = m.Speaker
		}
	}
	best, least := 77.0, 66.0
	marks := []object{mark(better, 7, 7), mark(worse, 5, 6)}
	if req.Self == "Kai" {
		best, least, why = 73, 66, "has the stronger rule"
		better, worse = worse, better
		marks = []object{mark(better, 6, 7), mark(worse, 4, 5)}
	}
	answer := object{
		"shouldContinue": true, "qualityScore": 7, "reasoning": "Both answer the question.", "recommendations": "Bring a study.",
		"flags":       object{"repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false},
		"assessments": marks,
	}
	if req.Schema.Name == string(debate.KindVerdict) {
		criteria := object{}
		for _, c := range debate.DefaultRubric().Criteria {
			criteria[c.Name] = "as marked"
		}
		answer = object{
			"summary": "What are exams to show?", "winner": object{"participant": better, "reasoning": why},
			"scores": object{better: best, worse: least}, "criteria": criteria, "qualityScore": 70, "insights": []string{},
			"keyPoints":        []object{{"participant": better, "mainArguments": []string{}}, {"participant": worse, "mainArguments": []string{}}},
			"areasOfAgreement": []string{}, "areasOfDisagreement": []string{},
		}
	}
	text, err := json.Marshal(answer)
	return scripted.Reply{Text: string(text), Err: err, Delay: pace(req.Self)}
}

// pace lets those who speak at once end in the same order each time.
func pace(who string) time.Duration {
	return map[string]time.Duration{"Ben": 40 * time.Millisecond, "Juno": 40 * time.Millisecond, "Kai": 80 * time.Millisecond}[who]
}

// mark is what a judge writes of one debater. The total is computed.
func mark(name string, evidence, novelty float64) object {
	return object{"participant": name, "strengths": []string{}, "weaknesses": []string{}, "criteria": object{
		"logical consistency": 8, "evidence quality": evidence, "engagement": 7, "novelty": novelty, "persuasiveness": 7, "relevance": 10,
	}}
}
