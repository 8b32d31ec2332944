package debate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Run is all that a program needs that only watches. A real one would register, say,
// openaicompat.OpenAI in place of the script.
func ExampleEngine_Run() {
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Judging: &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Model: "acme/judge"}}},
	}
	for event, err := range engine.Run(context.Background(), config) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch body := event.Body.(type) {
		case *flow.Round:
			fmt.Printf("Round %d of %d: %s\n", body.N, body.Of, body.Phase)
		case *debate.Turn:
			fmt.Printf("%s: %s\n", body.Speaker, body.Text)
		case *debate.Verdict:
			fmt.Println(body.Winner.Participant, "wins")
		}
	}
	// Output:
	// Round 1 of 2: opening
	// Ada: This is what Ada has to say.
	// Ben: This is what Ben has to say.
	// Round 2 of 2: argument
	// Ada: This is what Ada has to say.
	// Ben: This is what Ben has to say.
	// Ada wins
}

// Start gives a session with controls; Wait yields the record when the debate is over.
func ExampleEngine_Start() {
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	ctx := context.Background()
	session, err := engine.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.State, "after", len(record.Turns), "turns:", record.Evidence)
	// Output: completed after 4 turns: all 2 rounds are spoken
}

// A turn can be shown as it is spoken: its chunks add up to its text.
func ExampleSession_Events() {
	acme := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
		return scripted.Reply{Text: "Word by word.", ChunkSize: 5}
	}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 1,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	ctx := context.Background()
	session, err := engine.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch body := event.Body.(type) {
		case *flow.Chunk:
			if body.Offset == 0 {
				fmt.Print(body.By, ": ")
			}
			fmt.Print(body.Text)
		case *debate.Turn:
			fmt.Println()
		}
	}
	// Output:
	// Ada: Word by word.
	// Ben: Word by word.
}

// A pause that drains lets the turn end that is being spoken, and begins no other.
func ExampleSession_Pause() {
	talk := make(chan struct{})
	acme := &scripted.Provider{Replies: map[string][]scripted.Reply{
		"Ben": {{Text: "Word by word.", Chunks: 2, Hold: talk}, {Text: "As I said."}}, // he stops in the middle
	}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	ctx := context.Background()
	session, err := engine.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if chunk, ok := event.Body.(*flow.Chunk); ok && chunk.By == "Ben" {
			break
		}
	}
	if err := session.Control(ctx, flow.Pause{Drain: true}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(session.State())
	close(talk) // Ben may finish
	if err := session.Resume(ctx); err != nil {
		fmt.Println(err)
		return
	}
	record, err := session.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.State, "after", len(record.Turns), "turns")
	// Output:
	// paused
	// completed after 4 turns
}

// Open continues a debate from its store, here after its first owner has let go of it in the middle.
// What has been said is not asked again.
func ExampleEngine_Open() {
	ctx := context.Background()
	store := &store.Memory{} // any store; a second process would use one that both reach
	slow := &scripted.Provider{Replies: map[string][]scripted.Reply{"Ben": {{Delay: time.Hour}}}}
	first := &debate.Engine{Providers: map[string]debate.Provider{"acme": slow}, Store: store}
	config := debate.Config{
		ID:    "cars-1",
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	session, err := first.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if _, ok := event.Body.(*debate.Turn); ok {
			break // Ada has spoken
		}
	}
	if err := session.Close(); err != nil { // aborts what Ben says
		fmt.Println(err)
		return
	}

	acme := &scripted.Provider{}
	second := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}, Store: store}
	session, err = second.Open(ctx, "cars-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.State, "after", len(record.Turns), "turns, of which", acme.Calls(), "were left")
	// Output: completed after 4 turns, of which 3 were left
}

// A snapshot is the whole log as JSON. Another engine imports it and goes on with it.
func ExampleSession_Snapshot() {
	ctx := context.Background()
	slow := &scripted.Provider{Replies: map[string][]scripted.Reply{"Ben": {{Delay: time.Hour}}}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": slow}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	session, err := engine.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := session.Pause(ctx); err != nil {
		fmt.Println(err)
		return
	}
	snapshot, err := session.Snapshot(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := session.Close(); err != nil {
		fmt.Println(err)
		return
	}

	elsewhere := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	id, err := elsewhere.Import(ctx, bytes.NewReader(snapshot))
	if err != nil {
		fmt.Println(err)
		return
	}
	restored, err := elsewhere.Open(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer restored.Close()
	fmt.Println(restored.ID() == session.ID(), restored.State())
	if err := restored.Resume(ctx); err != nil {
		fmt.Println(err)
		return
	}
	record, err := restored.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.State, "after", len(record.Turns), "turns")
	// Output:
	// true paused
	// completed after 4 turns
}

// Validate names everything that is wrong, not the first problem only.
func ExampleEngine_Validate() {
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	err := engine.Validate(context.Background(), debate.Config{
		Format: "free-for-all",
		Rounds: -1,
		Participants: []debate.Participant{
			{Name: "Ada", Model: "acme/talker"},
			{Name: "Ada", Model: "nowhere/talker"},
		},
	})
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, err := range joined.Unwrap() {
			if problem, ok := errors.AsType[*debate.Error](err); ok {
				fmt.Printf("%s: %v\n", problem.Field, problem.Err)
			}
		}
	}
	// Output:
	// topic: is empty
	// rounds: is negative
	// format: no format "free-for-all" is registered: there are convergence-seeking, devils-advocate, dialectical-inquiry, free-form, karl-popper, lincoln-douglas, oxford, round-limited, roundtable, socratic, structured-rounds, truth-seeking
	// participants[1].model: no provider "nowhere" is registered: there is only acme
	// participants[1].name: "Ada" is taken by participants[0]
}

// A judge can be a function: here one that gives the longer speeches the better marks.
func ExampleJudgeFunc() {
	longest := func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		said := map[string]float64{}
		for i := range task.Turns {
			said[task.Turns[i].Speaker] += float64(len(task.Turns[i].Text))
		}
		if task.Kind == debate.KindAssessment {
			var marks []debate.ParticipantMark
			for _, name := range task.Judged {
				marks = append(marks, debate.ParticipantMark{
					Participant: name, Strengths: []string{}, Weaknesses: []string{}, Score: min(10, said[name]/10),
				})
			}
			return json.Marshal(debate.Judgement{
				Assessments: marks, QualityScore: 5, Reasoning: "I have counted.", Ending: "I cannot count what is new.",
			})
		}
		best, points := task.Judged[0], []debate.KeyPoints{}
		for _, name := range task.Judged {
			if said[name] > said[best] {
				best = name
			}
			points = append(points, debate.KeyPoints{Participant: name, MainArguments: []string{}})
		}
		return json.Marshal(debate.FinalVerdict{
			Summary: "I have counted.", KeyPoints: points, Scores: said, QualityScore: 50, Criteria: map[string]string{},
			AreasOfAgreement: []string{}, AreasOfDisagreement: []string{}, Insights: []string{},
			Winner: &debate.Winner{Participant: best, Reasoning: "More was said."},
		})
	}
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": &scripted.Provider{Replies: map[string][]scripted.Reply{
			"Ada": {{Text: "Yes."}, {Text: "Indeed."}},
			"Ben": {{Text: "No, and I can say why."}, {Text: "You have heard why."}},
		}}},
		Judges: map[string]debate.Judge{"longest": debate.JudgeFunc(longest)},
	}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Counter", Judge: "longest"}}},
	}
	ctx := context.Background()
	session, err := engine.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if d, ok := debate.Of(record); ok {
		fmt.Println(d.Verdict.Winner.Participant, "wins:", d.Verdict.Winner.Reasoning)
	}
	// Output: Ben wins: More was said.
}

// A config is data. Reading it is strict: a misspelt key is an error.
func ExampleConfig_UnmarshalJSON() {
	var config debate.Config
	err := json.Unmarshal([]byte(`{
		"topic": "Is chess a sport?",
		"rounds": 2,
		"turnTimeout": "90s",
		"budget": {"soft": 0.25},
		"participants": [
			{"name": "Ada", "side": "for", "model": "acme/talker", "temperature": 0},
			{"name": "Ben", "side": "against", "model": "acme/talker"}
		]
	}`), &config)
	fmt.Println(config.Topic, config.TurnTimeout, config.Budget.Soft, *config.Participants[0].Temperature, err)

	err = json.Unmarshal([]byte(`{"topic": "Is chess a sport?", "runds": 2}`), &config)
	fmt.Println(err)
	// Output:
	// Is chess a sport? 1m30s $0.25 0 <nil>
	// debate: validation: read config: runds: is not a known key: there are audience, budget, documents, judging, participants, prompts, quotes, roundTimeout, rounds, toolUses, truncateTurns, unattended and 27 more
}

// The state machine is a table, and draws itself.
func ExampleFlow_Mermaid() {
	for line := range strings.Lines(debate.DebateFlow().Mermaid()) {
		if strings.Contains(line, "judging") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// awaitingResponses --> judging: responded [allArgumentsReceived]
	// judging --> roundComplete: judged
	// judging --> completing: judged [shouldEndDebate], judged [maxRoundsReached]
}

// The record answers what a report asks.
func ExampleRecord() {
	acme := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: "I am " + req.Self + ".", Usage: provider.Usage{Input: 1000, Output: 100}}
	}}
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": acme},
		Models: map[string]debate.Model{
			"acme/talker": {Priced: true, Input: debate.USD / 1_000_000, Output: 4 * debate.USD / 1_000_000},
		},
	}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
	}
	ctx := context.Background()
	session, err := engine.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, turn := range record.RoundTurns(2) {
		fmt.Println(turn.Kind, "by", turn.Speaker)
	}
	for _, account := range record.SpentByParticipant() {
		fmt.Println(account.Name, account.Requests, account.Usage.Output, account.Cost)
	}
	fmt.Println("in all", record.Spent().Cost)
	// Output:
	// argument by Ada
	// argument by Ben
	// Ada 2 200 $0.0028
	// Ben 2 200 $0.0028
	// in all $0.0056
}
