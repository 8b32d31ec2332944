package debates_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// changed is a well-formed plan for two, with one thing changed.
func changed(how func(p *debate.PositionPlan)) string {
	p := stage.PlanOf(stage.NoonPosition, stage.QuarterPosition)
	how(&p)
	return stage.JSON(p)
}

func TestPlansThatAreAskedForAgain(t *testing.T) {
	first := func(how func(*debate.PlannedPosition)) string {
		return changed(func(p *debate.PositionPlan) { how(&p.Positions[0]) })
	}
	for name, tc := range map[string]struct{ answer, problem string }{
		"none":                 {changed(func(p *debate.PositionPlan) { p.Positions = []debate.PlannedPosition{} }), "positions: there are 0, but 2 to be found"},
		"null":                 {changed(func(p *debate.PositionPlan) { p.Positions = nil }), "positions"},
		"too few":              {stage.JSON(stage.PlanOf(stage.NoonPosition)), "there is 1, but 2 to be found"},
		"too many":             {stage.JSON(stage.PlanOf(stage.NoonPosition, stage.QuarterPosition, trainPosition)), "there are 3, but 2 to be found"},
		"a blank position":     {first(func(p *debate.PlannedPosition) { p.Position = " \n" }), "positions[0].position: is blank"},
		"a blank persona":      {first(func(p *debate.PlannedPosition) { p.Persona = "" }), "positions[0].persona: is blank"},
		"no argument":          {first(func(p *debate.PlannedPosition) { p.KeyArguments = []string{} }), "positions[0].keyArguments: is empty"},
		"a blank argument":     {first(func(p *debate.PlannedPosition) { p.KeyArguments = []string{"air", " "} }), "positions[0].keyArguments"},
		"no reasoning":         {changed(func(p *debate.PositionPlan) { p.Reasoning = " " }), "reasoning: is blank"},
		"a long position":      {first(func(p *debate.PlannedPosition) { p.Position = strings.Repeat("a word ", 300) }), "positions[0]: is too long"},
		"a long persona":       {first(func(p *debate.PlannedPosition) { p.Persona = strings.Repeat("a word ", 300) }), "positions[0]: is too long"},
		"many arguments":       {first(func(p *debate.PlannedPosition) { p.KeyArguments = slices.Repeat([]string{"air"}, 21) }), "positions[0]: is too long"},
		"nobody's":             {first(func(p *debate.PlannedPosition) { p.Participant = "Dan" }), "positions[0].participant: is no speaker without a position"},
		"for one who has one":  {first(func(p *debate.PlannedPosition) { p.Participant = "Ada" }), "positions[0].participant: is no speaker without a position"},
		"two for one":          {first(func(p *debate.PlannedPosition) { p.Participant = "Cyd" }), "positions[1].participant: Cyd has a position already"},
		"a side for nobody":    {first(func(p *debate.PlannedPosition) { p.Side = "against" }), `positions[0].side: the side of Ben is "none"`},
		"no such side":         {first(func(p *debate.PlannedPosition) { p.Side = "both" }), "/positions/0/side: value must be one of"},
		"no JSON":              {"Ada should close every street.", ""},
		"another field":        {strings.Replace(stage.JSON(stage.PlanOf(stage.NoonPosition, stage.QuarterPosition)), `"reasoning"`, `"winner":"Ada","reasoning"`, 1), "winner"},
		"a missing field":      {`{"positions":[]}`, "reasoning"},
		"a number":             {strings.Replace(stage.JSON(stage.PlanOf(stage.NoonPosition, stage.QuarterPosition)), `"They collide."`, `7`, 1), "reasoning"},
		"the same twice":       {stage.JSON(stage.PlanOf(stage.NoonPosition, stage.NoonPosition)), "positions[1].position: says the same as another one"},
		"nearly the same":      {stage.JSON(stage.PlanOf(stage.NoonPosition, "So: close EVERY street at noon, and open them again at night!")), "positions[1].position: says the same"},
		"what Ada says":        {stage.JSON(stage.PlanOf(trainPosition, "Streets are for the people who live in them.")), "positions[1].position: says the same"},
		"nearly what Ada says": {stage.JSON(stage.PlanOf("And streets are for the people who live in them.", trainPosition)), "positions[0].position: says the same"},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.Unplaced(1, 2)
			config.Participants[0].Position = "Streets are for the people who live in them."
			engine, p := stage.Engine(config)
			asked := stage.Planner(p, tc.answer, stage.JSON(stage.PlanOf(stage.NoonPosition, stage.QuarterPosition)))
			record := stage.Run(t, engine, config)
			require.Len(t, asked(), 2, "asked again, once")
			require.Len(t, record.Rejections, 1)
			assert.Contains(t, strings.Join(record.Rejections[0].Problems, "\n"), tc.problem)
			assert.Equal(t, "assigner", record.Rejections[0].By)
			for _, problem := range record.Rejections[0].Problems {
				assert.Contains(t, asked()[1].Last.Text, problem, "the re-ask says what was wrong")
			}
			assert.Contains(t, asked()[1].Last.Text, asked()[0].Last.Text)
			require.NotNil(t, stage.View(record).Assignment)
			assert.Equal(t, stage.NoonPosition, stage.View(record).Assignment.Positions[0].Position)
		}))
	}
}

// Positions that share words, as those on one topic do, are not taken for the same.
func TestPositionsThatDiffer(t *testing.T) {
	config := stage.Unplaced(1, 2)
	config.Participants[0].Position = "Cities should ban cars from their centres."
	engine, p := stage.Engine(config)
	asked := stage.Planner(p, stage.JSON(stage.PlanOf("Cities should not ban cars from their centres but price them.", "Cities should leave cars in their centres alone.")))
	stage.Run(t, engine, config)
	assert.Len(t, asked(), 1)
}

// Without positions no round begins: a person is asked, or the debate goes to the error state.
func TestPositionsThatAreNotFoundHaltTheDebateBeforeTheFirstRound(t *testing.T) {
	for name, tc := range map[string]struct {
		failure *provider.Error // nil: the answers are not accepted
		kind    debate.Kind
		calls   int
	}{
		"an answer that is not accepted": {nil, provider.KindInvalidResponse, 2},
		"a refusal":                      {&provider.Error{Kind: provider.KindRefusal}, provider.KindRefusal, 1},
		"no key":                         {&provider.Error{Kind: provider.KindAuthentication, Status: 401}, provider.KindAuthentication, 1},
		"a vendor's failure":             {&provider.Error{Kind: provider.KindAPI, Status: 500}, provider.KindAPI, 3},
		"a window that is too small":     {&provider.Error{Kind: provider.KindContextOverflow, Status: 400}, provider.KindContextOverflow, 1},
	} {
		for _, unattended := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, unattended), stage.Bubbled(func(t *testing.T) {
				config := stage.Unplaced(0, 2)
				config.MaxTokens = 500 // too little to be lowered after an overflow
				config.Unattended = unattended
				engine, p := stage.Engine(config)
				stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition)))
				if tc.failure != nil {
					p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Err: tc.failure} }
				}
				session := stage.Started(t, engine, config)
				record, err := session.Wait(t.Context())
				var failure *debate.Error
				if unattended {
					failure = stage.RequireKind(t, err, tc.kind)
					assert.Equal(t, flow.StateError, record.State)
					assert.Empty(t, record.Answers, "no rule does without positions")
				} else {
					q := stage.Question(t, record, err)
					failure = q.Failure
					assert.Equal(t, tc.kind, failure.Kind)
					assert.Equal(t, "assign", q.About[0].Call)
					assert.Equal(t, []debate.Option{flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionEnd}, q.Options)
				}
				assert.Equal(t, "assigner", failure.Participant)
				assert.Equal(t, "assign", failure.Op)
				assert.NotEmpty(t, failure.Hint())
				assert.Equal(t, flow.StateInitializing, record.Working())
				assert.Zero(t, record.Round)
				assert.Empty(t, record.Turns)
				assert.Nil(t, stage.View(record).Assignment)
				assert.Equal(t, tc.calls, p.Calls())
			}))
		}
	}
}
