package evaluation_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Two evaluators score a solution, and a third refuses: the average is over two.
func ExampleOf() {
	models := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Self == "eda" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "I would rather not."}}
		}
		score := map[string]string{"eva": "7", "eli": "8"}[req.Self]
		mark := `{"reasoning":"It says how.","score":` + score + `}`
		var fields []string
		for _, name := range []string{
			"functionalCompleteness", "performanceScalability", "security", "maintainabilityEvolvability", "regulatoryCompliance",
			"testability", "requirementsFulfilment", "overall",
		} {
			fields = append(fields, `"`+name+`":`+mark)
		}
		return scripted.Reply{Text: "{" + strings.Join(fields, ",") + "}"}
	}}
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": models},
		Flows:     map[string]*flow.Flow{evaluation.FlowName: evaluation.Flow()},
	}
	config := evaluation.Config{
		Problem:  "Count the readings of 1,000 meters, and lose none.",
		Solution: "One table, one row for each reading, written before it is acknowledged.",
		Evaluators: []evaluation.Evaluator{
			{ID: "eva", Model: "acme/large"}, {ID: "eli", Model: "acme/large"}, {ID: "eda", Model: "acme/small"},
		},
		OnFailure: []flow.FailureRule{{Do: flow.OptionSkip}}, // without this rule a person would be asked about Eda
	}
	session, err := engine.Start(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	scores, _ := evaluation.Of(record)
	report := scores.Report()
	fmt.Printf("%d of %d have answered\n", report.Answered, report.Asked)
	overall := report.Overall.Spread
	fmt.Printf("%s: %.1f, from %g to %g, deviation %.1f\n", report.Overall.Title, overall.Mean, overall.Min, overall.Max, overall.Deviation)
	for _, opinion := range report.Overall.Opinions {
		if opinion.Value == nil {
			fmt.Printf("%s: %s\n", opinion.Evaluator, opinion.Gap)
			continue
		}
		fmt.Printf("%s: %g\n", opinion.Evaluator, *opinion.Value)
	}
	// Output:
	// 2 of 3 have answered
	// Overall: 7.5, from 7 to 8, deviation 0.5
	// eva: 7
	// eli: 8
	// eda: no answer: the call has failed for good
}
