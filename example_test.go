package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// models stands in for a real provider: everybody says a sentence, and the judge is content.
func models() *scripted.Provider {
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		names := []string{"Ada", "Ben"}
		switch {
		case req.Schema == nil:
			return scripted.Reply{Text: "I am " + req.Self + ", and I stand by that."}
		case req.Schema.Name == string(debate.KindVerdict):
			return scripted.Reply{Text: stage.Verdict(names)}
		default:
			return scripted.Reply{Text: stage.Judgement(names, true)}
		}
	}}
}

// stalled is models of which Ben has not answered for an hour.
func stalled() *scripted.Provider {
	acme := models()
	quick := acme.Reply
	acme.Reply = func(req *provider.Request) scripted.Reply {
		reply := quick(req)
		if req.Self == "Ben" {
			reply.Delay = time.Hour
		}
		return reply
	}
	return acme
}

// cars is a debate of two rounds.
func cars() debate.Config {
	return debate.Config{
		Topic:  "Should cities ban private cars from their centres?",
		Format: format.StructuredRounds,
		Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"},
			{Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: "acme/talker"}}},
	}
}

// Run is all that a program needs that only watches. A real one would register, say,
// openaicompat.OpenAI in place of the script.
func ExampleEngine_Run() {
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": models()}}
	for event, err := range engine.Run(context.Background(), cars()) {
		switch {
		case err != nil:
			fmt.Println(err)
			return
		case body.As[flow.Round](event) != nil:
			fmt.Printf("Round %d of %d: %s\n", body.As[flow.Round](event).N, body.As[flow.Round](event).Of, body.As[flow.Round](event).Phase)
		case body.As[debate.Turn](event) != nil:
			fmt.Printf("%s: %s\n", body.As[debate.Turn](event).Speaker, body.As[debate.Turn](event).Text)
		case body.As[debate.Verdict](event) != nil:
			fmt.Println(body.As[debate.Verdict](event).Winner.Participant, "wins:", body.As[debate.Verdict](event).Summary)
		}
	}
	// Output:
	// Round 1 of 2: opening
	// Ada: I am Ada, and I stand by that.
	// Ben: I am Ben, and I stand by that.
	// Round 2 of 2: closing
	// Ada: I am Ada, and I stand by that.
	// Ben: I am Ben, and I stand by that.
	// Ada wins: A close debate.
}

// Start gives a session with controls; Wait yields the record when the debate is over.
func ExampleEngine_Start() {
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": models()}}
	ctx := context.Background()
	session, err := engine.Start(ctx, cars())
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
	// Output: completed after 4 turns: the format has 2 rounds
}

// A turn can be shown as it is spoken: its chunks add up to its text.
func ExampleSession_Events() {
	acme := &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
		return scripted.Reply{Text: "Word by word.", ChunkSize: 5}
	}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	config := cars()
	config.Rounds, config.Judging = 1, nil
	ctx := context.Background()
	session, err := engine.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	for event, err := range session.Events(ctx, 0) {
		switch {
		case err != nil:
			fmt.Println(err)
			return
		case body.As[flow.Chunk](event) != nil && body.As[flow.Chunk](event).Offset == 0:
			fmt.Print(body.As[flow.Chunk](event).By, ": ", body.As[flow.Chunk](event).Text)
		case body.As[flow.Chunk](event) != nil:
			fmt.Print(body.As[flow.Chunk](event).Text)
		case body.As[debate.Turn](event) != nil:
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
	acme := models()
	quick := acme.Reply
	acme.Reply = func(req *provider.Request) scripted.Reply {
		reply := quick(req)
		if strings.Contains(req.ID, "/r1.opening.Ben/") {
			reply.Chunks, reply.Hold = 2, talk // stops in the middle
		}
		return reply
	}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	ctx := context.Background()
	session, err := engine.Start(ctx, cars())
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
		if body.As[flow.Chunk](event) != nil && body.As[flow.Chunk](event).By == "Ben" {
			break
		}
	}
	if err := session.Pause(ctx, debate.Drain); err != nil {
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
	first := &debate.Engine{Providers: map[string]debate.Provider{"acme": stalled()}, Store: store}
	config := cars()
	config.ID = "cars-1"
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
		if body.As[debate.Turn](event) != nil {
			break // Ada has spoken
		}
	}
	if err := first.Shutdown(ctx); err != nil {
		fmt.Println(err)
		return
	}

	acme := models()
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
	fmt.Println(record.State, "after", len(record.Turns), "turns and a verdict")
	fmt.Println(acme.Calls(), "of 7 calls were left")
	// Output:
	// completed after 4 turns and a verdict
	// 6 of 7 calls were left
}

// A snapshot is the whole log as JSON. Restore goes on with it in another engine.
func ExampleSession_Snapshot() {
	ctx := context.Background()
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": stalled()}}
	session, err := engine.Start(ctx, cars())
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

	elsewhere := &debate.Engine{Providers: map[string]debate.Provider{"acme": models()}}
	restored, err := elsewhere.Restore(ctx, snapshot)
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
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": models()}}
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
	// format: no format "free-for-all" is known
	// participants[1].model: no provider "nowhere" is registered
	// participants[1].name: can be confused with the name of participants[0]
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
			for _, p := range task.Participants {
				marks = append(marks, debate.ParticipantMark{
					Participant: p.Name, Strengths: []string{}, Weaknesses: []string{}, Score: min(10, said[p.Name]/10),
				})
			}
			return json.Marshal(debate.Judgement{
				Assessments: marks, QualityScore: 5, Reasoning: "I have counted.", Recommendations: "Say more.",
			})
		}
		best, points := task.Participants[0].Name, []debate.KeyPoints{}
		for _, p := range task.Participants {
			if said[p.Name] > said[best] {
				best = p.Name
			}
			points = append(points, debate.KeyPoints{Participant: p.Name, MainArguments: []string{}})
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
	config := cars()
	config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Counter", Judge: "longest"}}}
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
	fmt.Println(stage.View(record).Verdict.Winner.Participant, "wins:", stage.View(record).Verdict.Winner.Reasoning)
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
	// debate: validation: read config: runds: is not a known key
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
	config := cars()
	config.Judging = nil
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
	// closing by Ada
	// closing by Ben
	// Ada 2 200 $0.0028
	// Ben 2 200 $0.0028
	// in all $0.0056
}
