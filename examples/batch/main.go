// Command batch puts 50 questions to a debate each, eight at a time, and writes a table of the verdicts.
//
//	go run ./examples/batch
//	go run ./examples/batch debates   # keeps them in this folder: a batch that was broken off goes on, and asks nothing twice
//
// A script plays the models. Its judge knows no divisor but 2, 3 and 5.
//
// It prints:
//
//	number,verdict,true,calls,cost
//	51,composite,composite,3,…
//	52,composite,composite,3,…
//	53,prime,prime,3,…
//	…
//	77,prime,composite,3,…
//	…
//	100,composite,composite,3,…
//
//	The verdict is right in 48 of 50 debates.
package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log"
	"math/big"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/file"
)

const first, questions, parallel = 51, 50, 8

// row is a line of the table.
type row struct {
	number  int
	verdict string
	calls   int
	cost    debate.Money
	err     error
}

// truth says what a number is.
func truth(number int) string {
	if big.NewInt(int64(number)).ProbablyPrime(0) {
		return "prime"
	}
	return "composite"
}

// hold holds one debate. Its id is made from the question: a debate that is there already is continued, or just read.
func hold(ctx context.Context, engine *debate.Engine, number int) row {
	const model = "openai/gpt-4.1-mini"
	session, err := engine.Start(ctx, debate.Config{
		ID: fmt.Sprintf("prime-%d", number), Topic: fmt.Sprintf("Is %d a prime number?", number), Rounds: 1,
		Participants: []debate.Participant{
			{Name: "Prime", Side: debate.For, Model: model}, {Name: "Composite", Side: debate.Against, Model: model},
		},
		Judging:    &debate.Judging{Judges: []debate.JudgeConfig{{Model: model}}, When: debate.AtEnd},
		Budget:     &debate.Budget{HardCalls: 10},
		Unattended: true, // a failure is a row of the table, and not a question to a person
	})
	if err != nil {
		return row{number: number, err: err}
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	if err != nil {
		return row{number: number, err: err}
	}
	spent, verdict := record.Spent(), "open"
	if d, ok := debate.Of(record); ok && d.Outcome().Winner != "" {
		verdict = strings.ToLower(d.Outcome().Winner)
	}
	return row{number, verdict, spent.Requests, spent.Cost, nil}
}

func main() {
	ctx := context.Background()
	engine := &debate.Engine{Providers: map[string]debate.Provider{"openai": &scripted.Provider{Reply: reply}}}
	if len(os.Args) > 1 {
		store, err := file.Open(os.Args[1])
		if err != nil {
			log.Fatal(err)
		}
		defer store.Close()
		engine.Store = store
	}
	rows, numbers := make([]row, questions), make(chan int)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for number := range numbers {
				rows[number-first] = hold(ctx, engine, number)
			}
		})
	}
	for number := first; number < first+questions; number++ {
		numbers <- number
	}
	close(numbers)
	workers.Wait()

	table, right := csv.NewWriter(os.Stdout), 0
	_ = table.Write([]string{"number", "verdict", "true", "calls", "cost"})
	for _, r := range rows {
		if r.err != nil {
			r.verdict = r.err.Error()
		}
		if r.verdict == truth(r.number) {
			right++
		}
		_ = table.Write([]string{strconv.Itoa(r.number), r.verdict, truth(r.number), strconv.Itoa(r.calls), r.cost.String()})
	}
	table.Flush()
	if err := table.Error(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("\nThe verdict is right in %d of %d debates.\n", right, questions)
}

// reply plays the debaters, and a judge who tries three divisors.
func reply(req *provider.Request) scripted.Reply {
	if req.Schema == nil {
		return scripted.Reply{Text: "I say that it is " + strings.ToLower(req.Self) + ", and have tried it."}
	}
	var number int
	_, topic, _ := strings.Cut(req.System, "Topic: ")
	_, _ = fmt.Sscanf(topic, "Is %d a prime", &number)
	winner, scores := "Prime", map[string]float64{"Prime": 70, "Composite": 40}
	if number%2 == 0 || number%3 == 0 || number%5 == 0 {
		winner, scores = "Composite", map[string]float64{"Prime": 40, "Composite": 70}
	}
	text, err := json.Marshal(debate.FinalVerdict{
		Summary: "I have tried 2, 3 and 5.", Winner: &debate.Winner{Participant: winner, Reasoning: "So it comes out."}, Scores: scores,
		QualityScore: 50, Criteria: map[string]string{}, Insights: []string{}, AreasOfAgreement: []string{}, AreasOfDisagreement: []string{},
		KeyPoints: []debate.KeyPoints{{Participant: "Prime", MainArguments: []string{}}, {Participant: "Composite", MainArguments: []string{}}},
	})
	return scripted.Reply{Text: string(text), Err: err}
}
