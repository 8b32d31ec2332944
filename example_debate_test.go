package debate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

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

// A config replaces what its own debate is told. prompt.Default shows what everybody is told without that.
func ExampleConfig_prompts() {
	text, _ := prompt.Default("turn")
	acme := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Self == "Ada" {
			fmt.Println(req.Last.Text)
		}
		return scripted.Reply{Text: "Both have a point."}
	}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	config := debate.Config{
		Topic: "Is it so?", Rounds: 1, Participants: []debate.Participant{{Name: "Ada", Model: "acme/a"}, {Name: "Ben", Model: "acme/a"}},
		Prompts: map[string]string{"turn": text + "{{if not (or .Question .Answer .Chair)}}Say how sure you are.{{end}}"},
	}
	for _, err := range engine.Run(context.Background(), config) {
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// Round 1 of 1.
	//
	// This is your only turn: your answer to the topic, the reasons that carry it, and the strongest objection with your reply.
	// Say how sure you are.
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
	// Kai is for Ben; a judge without a script is for Ada, and gives everybody one point.
	kai := `{"summary": "Ben knew the costs.", "winner": {"participant": "Ben", "reasoning": "answered every point"},
		"scores": {"Ada": 60, "Ben": 70}, "qualityScore": 65, "criteria": {}, "insights": [], "areasOfAgreement": [],
		"areasOfDisagreement": [], "keyPoints": [{"participant": "Ada", "mainArguments": []}, {"participant": "Ben", "mainArguments": []}]}`
	acme := &scripted.Provider{Replies: map[string][]scripted.Reply{"Kai": {{Text: kai}}}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Judging: &debate.Judging{When: debate.AtEnd, Protocol: debate.Majority, Judges: []debate.JudgeConfig{
			{Name: "Iris", Model: "acme/judge"}, {Name: "Juno", Model: "acme/judge"}, {Name: "Kai", Model: "acme/judge"},
		}},
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
	d, _ := debate.Of(record)
	o := d.Outcome()
	fmt.Println(o.Winner, "wins, who is", o.Side, "the topic:", o.Votes)
	fmt.Printf("%d of %d judges have judged; scores: Ada %.1f, Ben %.1f\n", o.Verdicts, o.Judges, o.Scores["Ada"], o.Scores["Ben"])
	for _, d := range o.Dissent {
		fmt.Printf("%s is for %s, who %s\n", d.Judge, d.Winner, d.Reasoning)
	}
	// Output:
	// Ada wins, who is for the topic: [{Ada 2} {Ben 1}]
	// 3 of 3 judges have judged; scores: Ada 20.7, Ben 24.0
	// Kai is for Ben, who answered every point
}

// The swing counts how the audience has moved: here two of four, both to the same side.
func ExampleDebate_Swing() {
	votes := map[string][2]string{ // before and after
		"Tom": {"for", "for"}, "Lena": {"undecided", "against"}, "Omar": {"for", "against"}, "Ines": {"for", "for"},
	}
	acme := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return scripted.Reply{Text: "I am " + req.Self + "."}
		}
		vote := votes[req.Self][1]
		if strings.Contains(req.ID, "/vote.before.") {
			vote = votes[req.Self][0]
		}
		return scripted.Reply{Text: fmt.Sprintf(`{"vote": %q, "reasoning": "So I think."}`, vote)}
	}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Audience: &debate.Audience{Members: []debate.Member{
			{Name: "Tom", Model: "acme/voter"}, {Name: "Lena", Model: "acme/voter"}, {Name: "Omar", Model: "acme/voter"}, {Name: "Ines", Model: "acme/voter"},
		}},
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
	d, _ := debate.Of(record)
	swing := d.Swing()
	fmt.Println(swing)
	fmt.Println("moved the most:", swing.Winner, swing.Gain[debate.VoteAgainst])
	// Output:
	// of 4 voters: for 75 % → 50 %, against 0 % → 50 %
	// moved the most: against 50
}

// A debate that meets what only a person can mend waits, and says what may be chosen. Here Ben's key is refused.
func ExampleSession_Answer() {
	acme := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Self == "Ben" && req.Model == "talker" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Message: "this key has expired"}}
		}
		return scripted.Reply{Text: "I am " + req.Self + "."}
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
	record, err := session.Wait(ctx)
	if !errors.Is(err, debate.ErrAwaitingInput) {
		fmt.Println(err)
		return
	}
	inquiry := record.Inquiries[0]
	fmt.Println(record.State, "because of", inquiry.To, "for", inquiry.Failure.Kind)
	fmt.Println("it offers", inquiry.Options)
	if err := session.Answer(ctx, flow.Answer{Inquiry: inquiry.ID, Option: flow.OptionModel, Model: "acme/spare"}); err != nil {
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
	refused := scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "I would rather not"}}
	acme := &scripted.Provider{ByID: map[string]scripted.Reply{"cars/r1.assessment.judge/1": refused}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	config := debate.Config{
		ID:    "cars",
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Judging:    &debate.Judging{Judges: []debate.JudgeConfig{{Model: "acme/judge"}}},
		Unattended: true,
		OnFailure:  []debate.FailureRule{{Calls: []flow.CallKind{debate.KindAssessment}, Do: flow.OptionSkip}},
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
	fmt.Println(record.State, "after", len(record.Turns), "turns")
	for _, a := range record.Answers {
		fmt.Println("by a rule:", a.Rule, "chosen:", a.Option)
	}
	if d, ok := debate.Of(record); ok {
		fmt.Println(d.Outcome().Degraded)
	}
	// Output:
	// completed after 4 turns
	// by a rule: true chosen: skip
	// [judge has missed the assessment of round 1 (refusal)]
}

// With Confirm a debate waits at the warning until somebody has seen it.
func ExampleSession_Answer_warning() {
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": &scripted.Provider{}},
		Models:    map[string]debate.Model{"acme/talker": {Priced: true, Input: debate.USD / 1_000_000, Output: debate.USD / 1_000_000}},
	}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Budget: &debate.Budget{Warn: debate.USD / 10_000, Confirm: true},
	}
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
		if err := session.Answer(ctx, flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}); err != nil {
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
	acme := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: "I am " + req.Self + ".", Usage: provider.Usage{Input: 1000, Output: 100}}
	}}
	engine := &debate.Engine{
		Providers: map[string]debate.Provider{"acme": acme},
		Models: map[string]debate.Model{ // 1 and 4 USD for a million tokens
			"acme/talker": {Priced: true, Input: debate.USD / 1_000_000, Output: 4 * debate.USD / 1_000_000},
		},
	}
	ctx := context.Background()
	var records []*debate.Record
	for _, tenant := range []string{"north", "south", "north"} {
		session, err := engine.Start(ctx, debate.Config{
			Topic: "Should cities ban private cars from their centres?", Rounds: 2, Labels: map[string]string{"tenant": tenant},
			Participants: []debate.Participant{{Name: "Ada", Model: "acme/talker"}, {Name: "Ben", Model: "acme/talker"}},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		record, err := session.Wait(ctx)
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
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{}}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker"}, {Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		Watch: []format.Detector{format.DetectRepetition},
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
	d, _ := debate.Of(record)
	for round := 1; round <= d.Round; round++ {
		for _, finding := range d.Findings(round) {
			fmt.Printf("round %d: %s %s\n%s\n", round, finding.Level, finding.Kind, finding.Evidence)
		}
	}
	// Output:
	// round 2: strong repetition
	// Ada: The overlap with the speaker's own speeches is 1.000 at most (the speech before); 0.12 is noticeable, 0.30 repetitive.
}

// A model can find positions for those who have none. They are in the record, and in the prompts.
func ExampleAssignPositions() {
	plan := `{"reasoning": "A ban and a price differ in who decides.", "positions": [{"participant": "Ben", "side": "against",
		"position": "A charge does what a ban does, and leaves the choice.", "persona": "a transport economist",
		"keyArguments": ["a price needs no list of exceptions"]}]}`
	acme := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Schema != nil {
			return scripted.Reply{Text: plan}
		}
		return scripted.Reply{Text: fmt.Sprintf("My prompt tells my position: %t.", strings.Contains(req.System, "A charge does"))}
	}}
	engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": acme}}
	config := debate.Config{
		Topic: "Should cities ban private cars from their centres?", Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "acme/talker", Position: "Cars leave the centre by next spring."},
			{Name: "Ben", Side: debate.Against, Model: "acme/talker"},
		},
		AssignPositions: &debate.AssignPositions{Model: "acme/talker", Diversity: debate.Binary},
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
	d, _ := debate.Of(record)
	for _, found := range d.Assignment.Positions {
		fmt.Printf("%s, %s: %s\n", found.Participant, found.Persona, found.Position)
	}
	fmt.Println(d.Turns[1].Speaker+":", d.Turns[1].Text)
	// Output:
	// Ben, a transport economist: A charge does what a ban does, and leaves the choice.
	// Ben: My prompt tells my position: true.
}
