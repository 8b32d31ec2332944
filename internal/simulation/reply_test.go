package simulation_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
)

// shown yields the names that a schema allows, as those who answer see them: labels, if names are hidden.
func shown(schema []byte) []string {
	const mark = `"enum":[`
	_, rest, ok := strings.Cut(string(schema), mark)
	if !ok {
		return nil
	}
	list, _, _ := strings.Cut(rest, "]")
	var names []string
	if json.Unmarshal([]byte("["+list+"]"), &names) != nil {
		return nil
	}
	return names
}

// structured is a well-formed answer to a call that has a schema.
func structured(dice *rand.Rand, kind flow.CallKind, schema []byte, config *debate.Config, f *debate.Format) string {
	names := shown(schema)
	if person, scored, winners := ofPerson(schema); person {
		return personOf(dice, kind, scored, winners)
	}
	switch kind {
	case debate.KindAssessment:
		return assessmentOf(dice, names, config.Judging.Rubric)
	case debate.KindVerdict:
		return verdictOf(dice, names, schema)
	case debate.KindBallot:
		return stage.JSON(map[string]any{"vote": oneOf(dice, debate.VoteFor, debate.VoteAgainst, debate.VoteUndecided), "reasoning": "so it seems"})
	case debate.KindFloor:
		return stage.JSON(debate.FloorAnswer{Because: "It is time.", To: oneOf(dice, names...)})
	default:
		return planOf(config, f)
	}
}

// ofPerson reports whether a schema is for people, and yields the names that it wants scores for and those who can win.
func ofPerson(schema []byte) (person bool, scored, winners []string) {
	var shape struct {
		Properties struct {
			Summary, Assessments, QualityScore json.RawMessage
			Scores                             struct {
				Required []string `json:"required"`
			} `json:"scores"`
			Winner struct {
				Enum []string `json:"enum"`
			} `json:"winner"`
		} `json:"properties"`
	}
	p := &shape.Properties
	if json.Unmarshal(schema, &shape) != nil || p.QualityScore == nil || p.Summary != nil || p.Assessments != nil {
		return false, nil, nil
	}
	return true, p.Scores.Required, p.Winner.Enum
}

// nobodyWins takes the winner out of a verdict, be it a model's or a person's.
func nobodyWins(text string) string {
	var v map[string]any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	switch v["winner"].(type) {
	case string:
		v["winner"] = ""
	case map[string]any:
		v["winner"] = nil
	default:
		return text
	}
	return stage.JSON(v)
}

// personOf is what a person who judges answers.
func personOf(dice *rand.Rand, kind flow.CallKind, names, winners []string) string {
	scores := make(map[string]float64)
	for _, name := range names {
		scores[name] = float64(dice.IntN(11))
	}
	if kind == debate.KindAssessment {
		return stage.JSON(debate.PersonJudgement{
			Scores: scores, QualityScore: float64(dice.IntN(11)), ShouldContinue: !chance(dice, 6), Reasoning: "Made out.",
		})
	}
	winner := ""
	if len(winners) > 0 && !chance(dice, 6) {
		winner = winners[dice.IntN(min(2, len(winners)))]
	}
	return stage.JSON(debate.PersonVerdict{Scores: scores, QualityScore: float64(dice.IntN(101)), Winner: winner, Reasoning: "was better"})
}

func assessmentOf(dice *rand.Rand, names []string, rubric *debate.Rubric) string {
	marks := make([]map[string]any, len(names))
	for i, name := range names {
		marks[i] = map[string]any{"participant": name, "strengths": []string{"clear"}, "weaknesses": []string{}}
		if rubric == nil {
			marks[i]["score"] = dice.IntN(11)
			continue
		}
		criteria := make(map[string]int)
		for _, c := range rubric.Criteria {
			criteria[c.Name] = dice.IntN(11)
		}
		marks[i]["criteria"] = criteria
	}
	return stage.JSON(map[string]any{
		"shouldContinue": !chance(dice, 6), "qualityScore": dice.IntN(11), "assessments": marks,
		"flags": map[string]bool{
			"repetitive": chance(dice, 3), "drifting": chance(dice, 4), "diminishingReturns": chance(dice, 6), "convergenceReached": chance(dice, 6),
		},
		"reasoning": "Made out.", "ending": "It is settled.",
	})
}

func verdictOf(dice *rand.Rand, names []string, schema []byte) string {
	points := make([]map[string]any, len(names))
	scores := make(map[string]int)
	for i, name := range names {
		points[i] = map[string]any{"participant": name, "mainArguments": []string{"one"}}
		scores[name] = dice.IntN(101)
	}
	var winner any
	sides, wins := stage.SidesIn(schema), len(names) > 0 && !chance(dice, 6)
	switch {
	case wins && len(sides) > 0:
		winner = map[string]any{"side": sides[dice.IntN(len(sides))], "reasoning": "was better"}
	case wins:
		winner = map[string]any{"participant": names[dice.IntN(min(2, len(names)))], "reasoning": "was better"}
	}
	return stage.InShape(schema, stage.JSON(map[string]any{
		"summary": "A debate.", "keyPoints": points, "areasOfAgreement": []string{}, "areasOfDisagreement": []string{"all"},
		"winner": winner, "scores": scores, "criteria": map[string]string{}, "qualityScore": dice.IntN(101), "insights": []string{},
	}))
}

// planOf finds a position for everybody who has none.
func planOf(config *debate.Config, f *debate.Format) string {
	var positions []map[string]any
	for i, p := range config.Participants {
		if p.Position == "" && (f.Chair == "" || p.Side != f.Chair) {
			positions = append(positions, map[string]any{
				"participant": p.Name, "side": cmp.Or(string(p.Side), "none"),
				"position": strings.Repeat(fmt.Sprintf("stand%d ", i), 4), "persona": "somebody", "keyArguments": []string{"because"},
			})
		}
	}
	return stage.JSON(map[string]any{"positions": positions, "reasoning": "they differ"})
}
