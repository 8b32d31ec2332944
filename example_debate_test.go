package debate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// conclude runs a debate of the example's models to its end.
func conclude(config debate.Config, reply func(*provider.Request) scripted.Reply) (*debate.Record, error) {
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: reply}},
		Models: map[string]debate.Model{ // 1 and 4 USD for a million tokens
			"acme/talker": {Priced: true, Input: debate.USD / 1_000_000, Output: 4 * debate.USD / 1_000_000},
		},
	}
	ctx := context.Background()
	session, err := engine.Start(ctx, config)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.Wait(ctx)
}

// A format says who speaks; Schedule says it of a debate, before anybody is asked.
func ExampleFormat_Schedule() {
	hearing := debate.Format{
		Name: "hearing", Chair: debate.Neutral, End: format.EndByRounds,
		Phases: []format.Phase{{Name: "hearing", First: 1, Last: -1, Slots: []format.Slot{
			{Who: format.Everyone, Kind: "statement", Minutes: 2, Group: 1},      // at once
			{Who: format.TheChair, To: format.Others, Exchanges: 1, Minutes: 1},  // a question and an answer to each
			{Who: "for:1", Kind: "last word", Words: 60, Instruction: "Sum up."}, // the first of those for
			{Who: "audience:1", Kind: format.KindQuestion, To: format.TheChair},  // nobody: there is no audience
		}}},
	}
	config := debate.Config{Participants: []debate.Participant{
		{Name: "Mia", Side: debate.Neutral}, {Name: "Ada", Side: debate.For}, {Name: "Ben", Side: debate.Against},
	}}
	for _, s := range hearing.Schedule(config.Cast(), 1) {
		fmt.Printf("%d %s: %s → %q, %d words, group %d\n", s.Slot, s.Kind, s.Speaker, s.Target, s.Words, s.Group)
	}
	// Output:
	// 0 statement: Ada → "", 280 words, group 1
	// 1 statement: Ben → "", 280 words, group 1
	// 2 question: Mia → "Ada", 70 words, group 0
	// 3 answer: Ada → "Mia", 70 words, group 0
	// 4 question: Mia → "Ben", 70 words, group 0
	// 5 answer: Ben → "Mia", 70 words, group 0
	// 6 last word: Ada → "", 60 words, group 0
}

// The weights of a rubric sum to 100.
func ExampleDefaultRubric() {
	for _, c := range debate.DefaultRubric().Criteria {
		fmt.Printf("%2.0f %% %s: from %q to %q\n", c.Weight, c.Name, c.Low, c.High)
	}
	// Output:
	// 20 % logical consistency: from "contradictory" to "perfectly consistent"
	// 20 % evidence quality: from "none" to "strong throughout"
	// 20 % engagement: from "ignores the others" to "engages deeply, by name and point"
	// 15 % novelty: from "pure repetition" to "all new insight"
	// 15 % persuasiveness: from "unclear, weak" to "highly persuasive"
	// 10 % relevance: from "off topic" to "directly on topic"
}

// A judge marks by criterion. The total is computed, whatever the judge would have made of it.
func ExampleRubric_Total() {
	rubric := debate.Rubric{Criteria: []debate.Criterion{
		{Name: "evidence", Weight: 60, High: "every claim has a source"},
		{Name: "style", Weight: 40, High: "a pleasure to read"},
	}}
	fmt.Printf("%.1f\n", rubric.Total(map[string]float64{"evidence": 9, "style": 4}))
	// Output: 7.0
}

// The outcome of a panel is what its protocol makes of the verdicts. Who is outvoted is heard all the same.
func ExampleDebate_Outcome() {
	config := cars()
	config.Judging = &debate.Judging{When: debate.AtEnd, Protocol: debate.Majority, Judges: []debate.JudgeConfig{
		{Name: "Iris", Model: "acme/talker"}, {Name: "Juno", Model: "acme/talker"}, {Name: "Kai", Model: "acme/talker"},
	}}
	record, err := conclude(config, func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema == nil:
			return scripted.Reply{Text: "I am " + req.Self + "."}
		case req.Self == "Kai":
			return scripted.Reply{Text: stage.Verdict([]string{"Ben", "Ada"})} // for the first
		default:
			return scripted.Reply{Text: stage.Verdict([]string{"Ada", "Ben"})}
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	o := stage.View(record).Outcome()
	fmt.Println(o.Winner, "wins, who is", o.Side, "the topic:", o.Votes)
	fmt.Printf("%d of %d judges have judged; scores: Ada %.1f, Ben %.1f\n", o.Verdicts, o.Judges, o.Scores["Ada"], o.Scores["Ben"])
	for _, d := range o.Dissent {
		fmt.Printf("%s is for %s, who %s\n", d.Judge, d.Winner, d.Reasoning)
	}
	// Output:
	// Ada wins, who is for the topic: [{Ada 2} {Ben 1}]
	// 3 of 3 judges have judged; scores: Ada 79.7, Ben 79.3
	// Kai is for Ben, who answered every point
}

// The swing counts how the audience has moved: here two of four, both to the same side.
func ExampleDebate_Swing() {
	votes := map[string][2]string{ // before and after
		"Tom": {"for", "for"}, "Lena": {"undecided", "against"}, "Omar": {"for", "against"}, "Ines": {"for", "for"},
	}
	config := cars()
	config.Judging, config.Audience = nil, &debate.Audience{}
	for _, name := range []string{"Tom", "Lena", "Omar", "Ines"} {
		config.Audience.Members = append(config.Audience.Members, debate.Member{Name: name, Model: "acme/talker"})
	}
	record, err := conclude(config, func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema == nil:
			return scripted.Reply{Text: "I am " + req.Self + "."}
		case strings.Contains(req.ID, "/vote.before."):
			return scripted.Reply{Text: stage.JSON(debate.BallotPaper{Vote: debate.Vote(votes[req.Self][0]), Reasoning: "So I feel."})}
		default:
			return scripted.Reply{Text: stage.JSON(debate.BallotPaper{Vote: debate.Vote(votes[req.Self][1]), Reasoning: "So I think."})}
		}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	swing := stage.View(record).Swing()
	fmt.Println(swing)
	fmt.Println("moved the most:", swing.Winner, swing.Gain[debate.VoteAgainst])
	// Output:
	// of 4 voters: for 75 % → 50 %, against 0 % → 50 %
	// moved the most: against 50
}

// A debate that meets what only a person can mend waits, and says what may be chosen. Here Ben's key is refused.
func ExampleSession_Choose() {
	acme, quick := models(), models().Reply
	acme.Reply = func(req *provider.Request) scripted.Reply {
		if req.Self == "Ben" && req.Model == "talker" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Message: "this key has expired"}}
		}
		return quick(req)
	}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	ctx := context.Background()
	session, err := engine.Start(ctx, cars())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	if !errors.Is(err, debate.ErrAwaitingInput) {
		fmt.Println(err)
		return
	}
	inquiry := record.Inquiries[0]
	fmt.Println(record.State, "because of", inquiry.To, "for", inquiry.Failure.Kind)
	fmt.Println("it offers", inquiry.Options)
	if err := session.Choose(ctx, inquiry.ID, flow.OptionModel, "acme/spare"); err != nil {
		fmt.Println(err)
		return
	}
	record, err = session.Wait(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.State, "after", len(record.Turns), "turns, the second with", record.Turns[1].Model)
	// Output:
	// awaitingInput because of Ben for authentication
	// it offers [retry wait model skip end]
	// completed after 4 turns, the second with acme/spare
}

// A rule decides in a person's place. The question and the choice are in the record all the same.
func ExampleFailureRule() {
	config := cars()
	config.Unattended, config.OnFailure = true, []debate.FailureRule{{Calls: []flow.CallKind{debate.KindAssessment}, Do: flow.OptionSkip}}
	quick := models().Reply
	record, err := conclude(config, func(req *provider.Request) scripted.Reply {
		if strings.Contains(req.ID, "/r1.assessment.") {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "I would rather not"}}
		}
		return quick(req)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.State, "after", len(record.Turns), "turns")
	for _, a := range record.Answers {
		fmt.Println("by a rule:", a.Rule, "chosen:", a.Option)
	}
	for _, less := range stage.View(record).Outcome().Degraded {
		fmt.Println(less)
	}
	// Output:
	// completed after 4 turns
	// by a rule: true chosen: skip
	// judge has missed the assessment of round 1 (refusal)
}

// With Confirm a debate waits at the warning until somebody has seen it.
func ExampleSession_Acknowledge() {
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": models()},
		Models:    map[string]debate.Model{"acme/talker": {Priced: true, Input: debate.USD / 1_000_000, Output: debate.USD / 1_000_000}},
	}
	config := cars()
	config.Budget = &debate.Budget{Warn: debate.USD / 10_000, Confirm: true}
	ctx := context.Background()
	session, err := engine.Start(ctx, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer session.Close()
	record, err := session.Wait(ctx)
	if errors.Is(err, debate.ErrAwaitingInput) {
		fmt.Println(record.State, "at the warning:", record.Warnings[0].Kind, record.Warnings[0].Threshold)
		if err := session.Acknowledge(ctx); err != nil {
			fmt.Println(err)
			return
		}
		record, err = session.Wait(ctx)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(record.State, "after", len(record.Turns), "turns")
	// Output:
	// awaitingInput at the warning: cost $0.0001
	// completed after 4 turns
}

// A host that serves several tenants labels its debates, and bills by the label.
func ExampleSpentByLabel() {
	var records []*debate.Record
	for _, tenant := range []string{"north", "south", "north"} {
		config := cars()
		config.Judging, config.Labels = nil, map[string]string{"tenant": tenant}
		record, err := conclude(config, func(req *provider.Request) scripted.Reply {
			return scripted.Reply{Text: "I am " + req.Self + ".", Usage: provider.Usage{Input: 1000, Output: 100}}
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		records = append(records, record)
	}
	for _, account := range flow.SpentByLabel("tenant", records...) {
		fmt.Println(account.Name, account.Requests, account.Usage.Output, account.Cost)
	}
	// Output:
	// north 8 800 $0.0112
	// south 4 400 $0.0056
}

// Detectors measure what has been said. Here both have said the same twice.
func ExampleDebate_Findings() {
	config := cars()
	config.Judging, config.Watch = nil, []format.Detector{format.DetectRepetition}
	record, err := conclude(config, models().Reply)
	if err != nil {
		fmt.Println(err)
		return
	}
	for round := 1; round <= record.Round; round++ {
		for _, finding := range stage.View(record).Findings(round) {
			fmt.Printf("round %d: %s %s\n%s\n", round, finding.Level, finding.Kind, finding.Evidence)
		}
	}
	// Output:
	// round 2: strong repetition
	// Ada: The overlap with the speaker's own speeches is 1.000 at most (the speech before); 0.12 is noticeable, 0.30 repetitive.
}

// Assign lets a model find positions for those who have none. They are in the record, and in the prompts.
func ExampleAssign() {
	config := cars()
	config.Judging = nil
	config.Assign = &debate.Assign{Model: "acme/talker", Diversity: debate.Binary}
	config.Participants[0].Position = "Cars leave the centre by next spring."
	record, err := conclude(config, func(req *provider.Request) scripted.Reply {
		if req.Schema != nil {
			return scripted.Reply{Text: stage.JSON(debate.PositionPlan{
				Positions: []debate.PlannedPosition{{
					Participant: "Ben", Side: "against", Position: "A charge does what a ban does, and leaves the choice.", Persona: "a transport economist",
					KeyArguments: []string{"a price needs no list of exceptions"},
				}},
				Reasoning: "A ban and a price differ in who decides.",
			})}
		}
		return scripted.Reply{Text: fmt.Sprintf("My prompt tells my position: %t.", strings.Contains(req.System, "A charge does"))}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, found := range stage.View(record).Assignment.Positions {
		fmt.Printf("%s, %s: %s\n", found.Participant, found.Persona, found.Position)
	}
	fmt.Println(record.Turns[1].Speaker+":", record.Turns[1].Text)
	// Output:
	// Ben, a transport economist: A charge does what a ban does, and leaves the choice.
	// Ben: My prompt tells my position: true.
}
