// Command customjudge has a debate judged by a Go function and by a person, without a model as judge.
//
//	go run ./examples/customjudge
//	OPENAI_API_KEY=… go run ./examples/customjudge -me
//
// The function is deterministic: the speaker with more figures is ahead. The person is asked through an
// inquiry, which may wait for days and survives a restart; with -me you are asked, on the terminal.
// Without it, the program answers in the person's place. Both judge through the same interface: their
// answers are JSON that is checked. They decide by unanimity.
//
// The debaters are models if OPENAI_API_KEY is set, and a script otherwise.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	me := flag.Bool("me", false, "ask on the terminal who has won")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	input := io.Reader(strings.NewReader("Cyd\nBen\n")) // Cyd takes no part: the person is asked again
	if *me {
		input = os.Stdin
	}
	if err := run(ctx, bufio.NewScanner(input), debaters(os.Getenv("OPENAI_API_KEY"))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:gocritic // the context has nothing left to stop
	}
}

// debaters returns the provider of the debaters.
func debaters(key string) debate.Provider {
	if key != "" {
		return openaicompat.OpenAI(key)
	}
	fmt.Println("No API key: a script plays the debaters.")
	return &scripted.Provider{Replies: map[string][]scripted.Reply{
		"Ada": {{Text: "It saves 12 minutes a trip, for 30,000 people a day."}, {Text: "Its 4 years of works end; the saving does not."}},
		"Ben": {{Text: "900 million buy 60 trams, for 3 lines, in 2 years."}, {Text: "And 1 in 5 tunnels stays within its budget."}},
	}}
}

func run(ctx context.Context, person *bufio.Scanner, source debate.Provider) error {
	const model = "openai/gpt-4.1-mini"
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"openai": source},
		Judges:    map[string]debate.Judge{"figures": debate.JudgeFunc(countFigures)},
	}
	session, err := engine.Start(ctx, debate.Config{
		Topic: "Should the city dig a tunnel?", Format: format.StructuredRounds, Rounds: 2,
		Participants: []debate.Participant{{Name: "Ada", Side: debate.For, Model: model}, {Name: "Ben", Side: debate.Against, Model: model}},
		Judging: &debate.Judging{
			Judges: []debate.JudgeConfig{{Name: "Figures", Judge: "figures"}, {Name: "Pat", Person: true}},
			When:   debate.AtEnd, Protocol: debate.Unanimity,
		},
	})
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	record, err := session.Wait(ctx)
	for ; errors.Is(err, debate.ErrAwaitingInput); record, err = session.Wait(ctx) {
		q := record.Inquiries[0]
		if len(q.Options) > 0 { // a debater's model has failed for good: another attempt would fail too
			return err
		}
		if err := ask(ctx, session, q.ID, record, person); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	d, ok := debate.Of(record)
	if !ok {
		return errors.New("the record is not of a debate")
	}
	for _, v := range d.Verdicts {
		fmt.Printf("%s finds for %s: %s\n", v.Judge, v.Winner.Participant, v.Winner.Reasoning)
	}
	o := d.Outcome()
	fmt.Printf("Outcome: winner %q, a tie: %t, votes %v, dissent %d\n", o.Winner, o.Tie, o.Votes, len(o.Dissent))
	return nil
}

// ask shows the person the turns, and answers the inquiry with the person's choice. An answer that cannot be accepted is
// refused at once, and the inquiry stays open.
func ask(ctx context.Context, s *debate.Session, id string, r *debate.Record, person *bufio.Scanner) error {
	for _, turn := range r.Turns {
		fmt.Printf("%s: %q\n", turn.Speaker, turn.Text) // quoted, so that it cannot control the terminal
	}
	for {
		fmt.Print("Who has won, Ada or Ben? ")
		if !person.Scan() {
			return errors.Join(io.ErrUnexpectedEOF, person.Err())
		}
		winner := strings.TrimSpace(person.Text())
		fmt.Println(winner)
		answer, err := json.Marshal(debate.PersonVerdict{
			Winner: winner, Scores: map[string]float64{"Ada": 50, "Ben": 50}, QualityScore: 50, Reasoning: "Pat finds so.",
		})
		if err != nil {
			return err
		}
		err = s.Answer(ctx, flow.Answer{Inquiry: id, Text: string(answer)})
		failure, refused := errors.AsType[*debate.Error](err)
		if !refused || failure.Kind != provider.KindValidation {
			return err
		}
		fmt.Printf("That was not accepted: %q\n", failure.Err.Error())
	}
}

// countFigures judges by the figures in the speeches. It is only asked for a verdict; with EveryRound it
// would be asked for assessments too.
func countFigures(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
	figure, count := regexp.MustCompile(`\d+`), map[string]float64{}
	for _, turn := range task.Turns {
		count[turn.Speaker] += float64(len(figure.FindAllString(turn.Text, -1)))
	}
	winner := task.Participants[0].Name
	for _, p := range task.Participants {
		if count[p.Name] > count[winner] {
			winner = p.Name
		}
		count[p.Name] = min(100, count[p.Name])
	}
	return verdict(winner, fmt.Sprintf("%v figures were given.", count[winner]), count)
}

// verdict returns the answer in the form that every judge must give: all fields are required, and lists
// are empty rather than nil.
func verdict(winner, why string, scores map[string]float64) (json.RawMessage, error) {
	v := debate.FinalVerdict{
		Summary: why, Winner: &debate.Winner{Participant: winner, Reasoning: why}, Scores: scores, QualityScore: 50,
		AreasOfAgreement: []string{}, AreasOfDisagreement: []string{}, Insights: []string{}, Criteria: map[string]string{},
	}
	for name := range scores {
		v.KeyPoints = append(v.KeyPoints, debate.KeyPoints{Participant: name, MainArguments: []string{}})
	}
	return json.Marshal(v)
}
