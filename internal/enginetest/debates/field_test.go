package debates_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// scored yields whom a schema asks for scores of, in its order.
func scored(t *testing.T, schema json.RawMessage) (out []string) {
	t.Helper()
	for _, f := range stage.FieldsSent(t, schema) {
		if name, ok := strings.CutPrefix(f.Path, "scores."); ok {
			out = append(out, name)
		}
	}
	return out
}

// request is what the checks of package stage read of a request.
func request(text string, schema json.RawMessage, what string) *provider.Request {
	return &provider.Request{ID: what, Last: provider.Message{Text: text}, Schema: &provider.Schema{JSON: schema}}
}

// agree checks that a text and a schema name the same fields and the same people in the same order.
func agree(t *testing.T, text string, schema json.RawMessage, what string) {
	t.Helper()
	stage.AssertAsked(t, request(text, schema, what))
	names := stage.LabelsIn(schema)
	if names == nil { // a person is asked for scores
		names = scored(t, schema)
	}
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	assert.Contains(t, text, strings.Join(names, ", "), what)
	assert.NotContains(t, text, "\uE000", what)
	assert.NotContains(t, text, "\uE001", what)
}

// variants are the ways of judging whose instructions and schemas differ.
func variants() map[string]func(*debate.Config) {
	return map[string]func(*debate.Config){
		"one judge":   func(*debate.Config) {},
		"a panel":     stage.PanelOf(3),
		"labels":      func(c *debate.Config) { c.Judging.Anonymous = true },
		"a rubric":    func(c *debate.Config) { c.Judging.Rubric = debate.DefaultRubric() },
		"both orders": func(c *debate.Config) { c.Judging.BothOrders = true },
		"a person":    func(c *debate.Config) { c.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Person: true}} },
		"positions":   func(c *debate.Config) { c.AssignPositions = &debate.AssignPositions{} },
	}
}

// shapes are the built-in formats, and one of a host program's own.
func shapes() []debate.Format {
	own := debate.Format{
		Name: "own", Guidance: "One asks, one answers.", End: format.EndByConvergence,
		Phases: []format.Phase{{Name: "hearing", First: 1, Last: -1, Slots: []format.Slot{{Who: "for:1", To: "against:1", Exchanges: 1}}}},
		Seats:  []format.Seats{{Side: format.For, Min: 1}, {Side: format.Against, Min: 2}},
	}
	return append(format.Builtin(), own)
}

// castOf is a debate of up to three rounds in a format, with a judge.
func castOf(f debate.Format) debate.Config {
	config := stage.CastFor(f)
	if f.Name == "own" {
		config.Format, config.CustomFormat = "", &f
	}
	if config.Rounds = f.Rounds; f.Rounds == 0 {
		config.Rounds = 3
	}
	for i := range config.Participants {
		config.Participants[i].Name = []string{"Ada", "Ben", "Cem", "Dia", "Eve", "Fay"}[i]
	}
	stage.PanelOf(1)(withJudging(&config))
	return config
}

// planned answers a search for positions: each is unlike the others.
func planned(req *provider.Request) string {
	var positions []map[string]any
	for _, name := range stage.LabelsIn(req.Schema.JSON) {
		positions = append(positions, map[string]any{
			"participant": name, "position": fmt.Sprintf("%[1]s-first %[1]s-second %[1]s-third.", name), "persona": "A baker.",
			"keyArguments": []string{"One.", "Two."},
		})
	}
	return stage.Placed(req, stage.JSON(map[string]any{"positions": positions, "reasoning": "They collide."}))
}

// seen yields what a debate asks for with a schema: text and schema, by call.
func seen(t *testing.T, config debate.Config) (texts map[string]string, schemas map[string]json.RawMessage) {
	t.Helper()
	texts, schemas = make(map[string]string), make(map[string]json.RawMessage)
	engine, source := stage.Ready(config)
	reply := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && req.Schema.Name == "assign" {
			return scripted.Reply{Text: planned(req)}
		}
		return reply(req)
	}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	for {
		record, err := session.Wait(t.Context())
		if !errors.Is(err, debate.ErrAwaitingInput) {
			require.NoError(t, err)
			assert.Empty(t, record.Rejections, "what the script answers is what was asked for")
			break
		}
		q := record.Inquiries[0]
		texts[q.ID], schemas[q.ID] = q.Question, q.Schema
		_, example, ok := strings.Cut(q.Question, "looks like this: ")
		require.True(t, ok)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: example}))
	}
	for _, req := range source.Requests() {
		if req.Schema != nil {
			texts[stage.CallOf(&req)], schemas[stage.CallOf(&req)] = req.Last.Text, req.Schema.JSON
		}
	}
	return texts, schemas
}

// TestTextAndSchemaAgree: whatever is asked for as JSON, the instruction and the schema name the same fields in the same order, and the
// same people.
func TestTextAndSchemaAgree(t *testing.T) {
	t.Parallel()
	for _, f := range shapes() {
		for name, change := range variants() {
			t.Run(f.Name+"/"+name, stage.Bubbled(func(t *testing.T) {
				config := castOf(f)
				change(&config)
				texts, schemas := seen(t, config)
				for _, call := range slices.Sorted(maps.Keys(texts)) {
					agree(t, texts[call], schemas[call], call)
				}
			}))
		}
	}
}

// TestReasonsComeFirst: no number, no choice and no decision is asked for before the reasoning that stands beside it.
func TestReasonsComeFirst(t *testing.T) {
	t.Parallel()
	for _, f := range shapes() {
		synctest.Test(t, func(t *testing.T) {
			_, schemas := seen(t, castOf(f))
			for call, schema := range schemas {
				stage.AssertReasonsFirst(t, request("", schema, call))
			}
		})
	}
}

// TestNobodyIsMarkedForSilence: an assessment is about those who have had a turn in the round, in text, schema and check.
func TestNobodyIsMarkedForSilence(t *testing.T) {
	t.Parallel()
	for _, f := range shapes() {
		t.Run(f.Name, func(t *testing.T) {
			config := castOf(f)
			engine, _ := stage.Ready(config)
			record := stage.Run(t, engine, config)
			for _, a := range stage.View(record).Assessments {
				var marked, spoke []string
				for i := range a.Assessments {
					marked = append(marked, a.Assessments[i].Participant)
				}
				for _, turn := range record.RoundTurns(a.Round) {
					seat := record.Seat(turn.Speaker)
					if seat >= 0 && f.Judged(config.Participants[seat].Side) && !slices.Contains(spoke, turn.Speaker) {
						spoke = append(spoke, turn.Speaker)
					}
				}
				assert.ElementsMatch(t, spoke, marked, "round %d", a.Round)
			}
		})
	}
	t.Run("a superfluous mark is refused by name", stage.Bubbled(func(t *testing.T) {
		config := castOf(stage.Builtin(t, format.KarlPopper))
		engine, source := stage.Ready(config)
		stage.Altered(source, func(req *provider.Request, r *scripted.Reply) {
			if strings.HasSuffix(req.ID, "/r1.assessment.judge/1") {
				r.Text = stage.Judgement([]string{"Ada", "Ben", "Cem", "Dia", "Eve", "Fay"}, true)
			}
		})
		record := stage.Run(t, engine, config)
		require.Len(t, record.Rejections, 1)
		assert.Equal(t, []string{ // the second of each team says nothing in the first round
			`assessments[1]: "Ben" has not spoken in round 1`, `assessments[4]: "Eve" has not spoken in round 1`,
		}, record.Rejections[0].Problems)
	}))
}

// TestNoWinnerIsNotOffered: where nobody can win, neither a winner nor scores are asked for.
func TestNoWinnerIsNotOffered(t *testing.T) {
	tried := 0
	for _, f := range format.Builtin() {
		if f.Decide != format.NoWinner {
			continue
		}
		tried++
		config := castOf(f)
		engine, source := stage.Ready(config)
		outcome := stage.View(stage.Run(t, engine, config)).Outcome()
		assert.Empty(t, outcome.Scores, f.Name)
		assert.Empty(t, outcome.Winner, f.Name)
		for _, req := range source.Requests() {
			if req.Schema != nil && stage.KindOf(&req) == debate.KindVerdict {
				assert.Equal(t, "verdict-without-winner", req.Schema.Name)
				assert.NotRegexp(t, `"winner"|"scores"`, string(req.Schema.JSON)+req.Last.Text, f.Name)
			}
		}
	}
	assert.GreaterOrEqual(t, tried, 2)
}

// flagged lets the judge answer otherwise in a round.
func flagged(p *scripted.Provider, round int, change func(answer map[string]any)) {
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if strings.Contains(req.ID, fmt.Sprintf("/r%d.assessment", round)) {
			var answer map[string]any
			if json.Unmarshal([]byte(r.Text), &answer) == nil {
				change(answer)
				r.Text = stage.JSON(answer)
			}
		}
	})
}

// raise sets a flag, and says why if why is not empty.
func raise(flag, why string) func(map[string]any) {
	return func(answer map[string]any) {
		answer["flags"].(map[string]any)[flag] = true
		if why != "" {
			answer["ending"] = why
		}
	}
}

// TestFlagsEndOnlyWithAReason: an answer that would end the debate is refused until it says why, and what it says is the evidence.
func TestFlagsEndOnlyWithAReason(t *testing.T) {
	ends := func(why string) func(map[string]any) {
		return func(answer map[string]any) {
			answer["shouldContinue"] = false
			if why != "" {
				answer["ending"] = why
			}
		}
	}
	for name, test := range map[string]struct {
		format string
		round  int
		answer func(why string) func(map[string]any)
		reason flow.EndReason
	}{
		"convergence":         {format.ConvergenceSeeker, 2, func(why string) func(map[string]any) { return raise("convergenceReached", why) }, flow.EndConverged},
		"diminishing returns": {format.ConvergenceSeeker, 3, func(why string) func(map[string]any) { return raise("diminishingReturns", why) }, debate.EndDiminishing},
		"a wish":              {format.FreeForm, 1, ends, debate.EndJudge},
	} {
		for _, why := range []string{"", "  ", "\u200b\u2060\u3164\u2800", "Both now want a toll."} {
			t.Run(fmt.Sprintf("%s/%q", name, why), stage.Bubbled(func(t *testing.T) {
				config := stage.TwoDebaters()
				config.Format, config.Rounds = test.format, 5
				engine, p := stage.Ready(config)
				flagged(p, test.round, test.answer(why))
				record := stage.Run(t, engine, config)
				if !strings.Contains(why, "toll") {
					require.Len(t, record.Rejections, 2, "and left out")
					assert.Contains(t, record.Rejections[0].Problems, "ending: is blank, but the answer would end the debate: say why it should end")
					assert.Equal(t, 5, record.Round)
					return
				}
				assert.Empty(t, record.Rejections)
				assert.Equal(t, test.round, record.Round)
				assert.Equal(t, test.reason, record.Reason)
				assert.True(t, strings.HasSuffix(record.Evidence, ": "+why), record.Evidence)
				assert.Equal(t, why, stage.View(record).Assessments[test.round-1].Ending)
			}))
		}
	}
}

// TestAGoodOpeningConvergesNobody: in the first rounds no flag ends a debate, since there is nothing yet that could have converged.
func TestAGoodOpeningConvergesNobody(t *testing.T) {
	for round, flags := range map[int][]string{1: {"convergenceReached", "diminishingReturns"}, 2: {"diminishingReturns"}} {
		for _, flag := range flags {
			config := stage.TwoDebaters()
			config.Format, config.Rounds = format.ConvergenceSeeker, 4
			engine, p := stage.Ready(config)
			flagged(p, round, raise(flag, "All is clear."))
			record := stage.Run(t, engine, config)
			assert.Empty(t, record.Rejections, "a judge in Go writes every flag")
			assert.Equal(t, 4, record.Round, "%s in round %d", flag, round)
			for _, req := range p.Requests() {
				if strings.Contains(req.ID, fmt.Sprintf("/r%d.assessment", round)) {
					assert.NotContains(t, req.Last.Text+string(req.Schema.JSON), flag, "it is not asked for")
				}
			}
		}
	}
}

// TestAPanelSharesItsPrefix: the judges of a panel, in both orders and in all rounds, send the same text before their last message.
func TestAPanelSharesItsPrefix(t *testing.T) {
	three := stage.Scored("Ada", 90, 80, 70)
	c := stage.NewCourt(three, three, three)
	c.Config.Judging.When, c.Config.Judging.BothOrders, c.Config.Rounds = debate.EveryRound, true, 3
	c.Config.Judging.Judges[1].Instructions = "Weigh costs twice."
	stage.Run(t, c.Engine, c.Config)
	var all []string
	for _, req := range c.RequestsTo("judge") {
		text := req.System
		for i := range req.Messages {
			text += "\x00" + req.Messages[i].Enclosed()
		}
		all = append(all, text)
		assert.Equal(t, req.Self == "judge-2", strings.Contains(req.Last.Text, "Weigh costs twice."), "one judge's instructions are its own")
	}
	require.Len(t, all, 3*3+3*2)
	slices.SortFunc(all, func(a, b string) int { return len(a) - len(b) })
	for i := range all[1:] {
		assert.True(t, strings.HasPrefix(all[i+1], all[i]), "a prompt cache holds all of it")
	}
}

// TestScoresStandInTheDrawnOrder: the order of a judge is that of its schema too, and the second verdict has the reverse.
func TestScoresStandInTheDrawnOrder(t *testing.T) {
	three := stage.Scored("Ada", 90, 80, 70)
	c := stage.NewCourt(three, three)
	c.Config.Judging.BothOrders = true
	stage.Run(t, c.Engine, c.Config)
	orders := make(map[string][]string)
	for _, req := range c.RequestsTo("judge") {
		orders[stage.CallOf(&req)] = scored(t, req.Schema.JSON)
		assert.Equal(t, orders[stage.CallOf(&req)], stage.LabelsIn(req.Schema.JSON))
	}
	require.Len(t, orders, 4)
	for _, judge := range []string{"judge-1", "judge-2"} {
		assert.Equal(t, reversed(orders["verdict."+judge]), orders["verdict."+judge+".swapped"])
	}
}

// TestAJudgeKnowsItsFormerMarks: whether rounds yield less, a judge can see from its own marks.
func TestAJudgeKnowsItsFormerMarks(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	stage.Run(t, engine, config)
	told := make(map[string]bool)
	for _, req := range p.Requests() {
		_, marks, ok := strings.Cut(req.Last.Text, "Your quality scores so far: ")
		if ok {
			marks, _, _ = strings.Cut(marks, "\n")
			told[stage.CallOf(&req)+" "+marks] = true
		}
	}
	assert.Equal(t, map[string]bool{
		"r2.assessment.judge round 1: 7.5.": true, "r3.assessment.judge round 1: 7.5, round 2: 7.5.": true,
	}, told)
}

// TestTheSecondVoteKnowsTheFirst: a member of the audience is told how it has voted before.
func TestTheSecondVoteKnowsTheFirst(t *testing.T) {
	config, engine, source := stage.House("for→against", "undecided→for")
	config.Audience.Instructions, config.Audience.Members[1].Instructions = "You live in the city.", "You own a van."
	stage.Run(t, engine, config)
	first := map[string]string{"Voter 1": "for", "Voter 2": "undecided"}
	votes := 0
	for _, req := range source.Requests() {
		if req.Schema == nil || stage.KindOf(&req) != debate.KindBallot {
			continue
		}
		votes++
		after := strings.Contains(req.ID, "vote.after.")
		assert.Equal(t, after, strings.Contains(req.Last.Text, fmt.Sprintf("Before it you voted %q.", first[req.Self])), req.Last.Text)
		assert.Equal(t, after, strings.Contains(req.Last.Text, "you voted"))
		assert.Contains(t, req.System, "You live in the city.")
		assert.Equal(t, req.Self == "Voter 2", strings.Contains(req.System, "You live in the city.\nYou own a van."))
		agree(t, req.Last.Text, req.Schema.JSON, req.ID)
	}
	assert.Equal(t, 4, votes)
}

// TestJudgesAreToldWhatTheyJudge: the aim of the format, that of a config, the roles of the seats, and instructions.
func TestJudgesAreToldWhatTheyJudge(t *testing.T) {
	f := debate.Format{
		Name: "test", End: format.EndByRounds, Aim: format.ByTruth, Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}},
		Seats: []format.Seats{{Side: format.For, Min: 1, Role: "to make a proposal"}, {Side: format.Against, Min: 1, Role: "to test it"}},
	}
	for _, aim := range []format.Aim{"", format.ByArgument, format.ByUnderstanding} {
		config := stage.TwoDebaters()
		config.Format, config.CustomFormat, config.Rounds, config.Language = "", &f, 1, "German"
		config.Judging.Aim, config.Judging.Instructions = aim, "The burden of proof is Ada's."
		engine, p := stage.Engine(config)
		stage.Run(t, engine, config)
		words := map[format.Aim]string{
			"": "best supported by what was said", format.ByArgument: "who argued better", format.ByUnderstanding: "how far the discussion got",
		}
		for _, req := range p.Requests() {
			if req.Self != "judge" {
				continue
			}
			assert.Contains(t, req.System, words[aim])
			assert.Contains(t, req.System, "What was asked of them:\n\n- for: to make a proposal\n- against: to test it\n")
			assert.Contains(t, req.System, "The burden of proof is Ada's.")
			assert.Contains(t, req.System, "Write in German, ")
		}
	}
	config := stage.TwoDebaters()
	config.Judging.Aim = "beauty"
	engine, _ := stage.Engine(config)
	assert.Contains(t, stage.FieldsOf(t, engine.Validate(t.Context(), config)), "judging.aim")
}
