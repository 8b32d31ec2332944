// Command customjudge has a debate judged by a Go function and by a person, without a model as judge. They decide by unanimity.
//
//	go run ./examples/customjudge
//	go run ./examples/customjudge -me    # you are asked, on the terminal
//
// The function is deterministic: who gives more figures is ahead. The person is asked through an inquiry, which may wait for days and
// survives a restart. A script speaks, and answers in the person's place unless you do.
//
// It prints:
//
//	Ada: "It saves 12 minutes a trip, for 30,000 people a day."
//	Ben: "900 million buy 60 trams, for 3 lines, in 2 years."
//	Who has won, Ada or Ben? Cyd
//	That was not accepted: …
//	Who has won, Ada or Ben? Ben
//	Figures finds for Ben: 4 figures were given.
//	Pat finds for Ben: Pat finds so.
//	The outcome: "Ben" wins; votes [{Ben 2}]; dissent 0
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func main() {
	input := io.Reader(strings.NewReader("Cyd\nBen\n")) // Cyd takes no part: the person is asked again
	if slices.Contains(os.Args, "-me") {
		input = os.Stdin
	}
	if err := run(context.Background(), bufio.NewScanner(input)); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, person *bufio.Scanner) error {
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"script": &scripted.Provider{Replies: map[string][]scripted.Reply{
			"Ada": {{Text: "It saves 12 minutes a trip, for 30,000 people a day."}},
			"Ben": {{Text: "900 million buy 60 trams, for 3 lines, in 2 years."}},
		}}},
		Judges: map[string]debate.Judge{"figures": debate.JudgeFunc(countFigures)},
	}
	session, err := engine.Start(ctx, debate.Config{
		Topic: "Should the city dig a tunnel?", Rounds: 1,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "script/any"}, {Name: "Ben", Side: debate.Against, Model: "script/any"},
		},
		Judging: &debate.Judging{
			Judges: []debate.JudgeConfig{{Name: "Figures", Judge: "figures"}, {Name: "Pat", Person: true}},
			When:   debate.AtEnd, Protocol: debate.Unanimity,
		},
	})
	if err != nil {
		return err
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	for ; errors.Is(err, debate.ErrAwaitingInput); record, err = session.Wait(ctx) {
		q := record.Inquiries[0]
		if len(q.Options) > 0 { // what becomes of a call that has failed for good
			return err
		}
		for _, turn := range record.Turns {
			fmt.Printf("%s: %q\n", turn.Speaker, turn.Text) // quoted, so that it cannot control the terminal
		}
		if err := ask(ctx, session, q.ID, person); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	d, ok := debate.Of(record)
	if !ok {
		return errors.New("the record is of no debate")
	}
	for _, v := range d.Verdicts {
		fmt.Printf("%s finds for %s: %s\n", v.Judge, v.Winner.Participant, v.Winner.Reasoning)
	}
	o := d.Outcome()
	fmt.Printf("The outcome: %q wins; votes %v; dissent %d\n", o.Winner, o.Votes, len(o.Dissent))
	return nil
}

// ask answers the inquiry with the person's choice. An answer that cannot be accepted is refused at once, and the inquiry stays open.
func ask(ctx context.Context, session *debate.Session, inquiry string, person *bufio.Scanner) error {
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
		err = session.Answer(ctx, flow.Answer{Inquiry: inquiry, Text: string(answer)})
		failure, refused := errors.AsType[*debate.Error](err)
		if !refused || failure.Kind != provider.KindValidation {
			return err
		}
		fmt.Printf("That was not accepted: %q\n", failure.Err.Error())
	}
}

// countFigures judges by the figures in the speeches. It is asked for a verdict only; with When: debate.EveryRound it would be asked for
// assessments too. All fields of an answer are required, and lists are empty rather than nil.
func countFigures(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
	figure, count := regexp.MustCompile(`\d+`), map[string]float64{}
	for _, turn := range task.Turns {
		count[turn.Speaker] += float64(len(figure.FindAllString(turn.Text, -1)))
	}
	winner, points := task.Judged[0], []debate.KeyPoints{}
	for _, name := range task.Judged {
		if count[name] > count[winner] {
			winner = name
		}
		points = append(points, debate.KeyPoints{Participant: name, MainArguments: []string{}})
	}
	why := fmt.Sprintf("%v figures were given.", count[winner])
	return json.Marshal(debate.FinalVerdict{
		Summary: why, Winner: &debate.Winner{Participant: winner, Reasoning: why}, Scores: count, QualityScore: 50, KeyPoints: points,
		AreasOfAgreement: []string{}, AreasOfDisagreement: []string{}, Insights: []string{}, Criteria: map[string]string{},
	})
}
