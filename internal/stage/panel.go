package stage

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Ruling is what a scripted judge finds: a winner, or nobody if it is empty, and scores. Where sides win, the winner is a side.
type Ruling struct {
	Winner string
	Scores map[string]float64
}

// Verdict is the ruling as a judge answers. why marks its texts.
func (r Ruling) Verdict(why string) string {
	points := []map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(r.Scores)) {
		points = append(points, map[string]any{"participant": name, "mainArguments": []string{why}})
	}
	out := map[string]any{
		"summary": "In sum: " + why, "keyPoints": points, "areasOfAgreement": []string{}, "areasOfDisagreement": []string{},
		"winner": nil, "scores": r.Scores, "criteria": map[string]string{"evidence": why}, "qualityScore": 70, "insights": []string{why},
	}
	if r.Winner != "" {
		out["winner"] = map[string]string{"participant": r.Winner, "reasoning": "Because " + why}
	}
	return JSON(out)
}

// Answer is the ruling as a judge answers who is given a schema.
func (r Ruling) Answer(schema []byte, why string) string {
	if r.Winner != "" && slices.Contains(SidesIn(schema), r.Winner) {
		var v map[string]any
		_ = json.Unmarshal([]byte(r.Verdict(why)), &v)
		v["winner"] = map[string]any{"side": r.Winner, "reasoning": "Because " + why}
		return JSON(v)
	}
	return InShape(schema, r.Verdict(why))
}

// Court is a debate of one round before a panel whose judges rule as rules say, by the call's id
// without its verdict's prefix: "judge-2", "judge-2.swapped". Who has no rule fails for good.
type Court struct {
	Config debate.Config
	Engine *debate.Engine
	Source *scripted.Provider
	Rules  map[string]Ruling
}

// RequestsTo yields the requests to those whose names have a prefix.
func (c *Court) RequestsTo(prefix string) []provider.Request {
	return slices.DeleteFunc(c.Source.Requests(), func(req provider.Request) bool { return !strings.HasPrefix(req.Self, prefix) })
}

// Scored makes a ruling for Ada, Ben and Cyd, as far as there are scores.
func Scored(winner string, scores ...float64) Ruling {
	out := Ruling{winner, map[string]float64{}}
	for i, score := range scores {
		out.Scores[[]string{"Ada", "Ben", "Cyd"}[i]] = score
	}
	return out
}

// NewCourt makes a court whose i-th judge rules as the i-th rule says, in both orders.
func NewCourt(rules ...Ruling) *Court {
	c := &Court{Config: TwoDebaters(), Rules: map[string]Ruling{}}
	c.Config.Rounds = 1
	c.Config.Judging = &debate.Judging{When: debate.AtEnd}
	for i, rule := range rules {
		name := fmt.Sprintf("judge-%d", i+1)
		c.Config.Judging.Judges = append(c.Config.Judging.Judges, debate.JudgeConfig{Name: name, Model: "test/" + name})
		c.Rules[name], c.Rules[name+".swapped"] = rule, rule
	}
	if len(rules) > 0 && len(rules[0].Scores) == 3 {
		c.Config.Participants = append(c.Config.Participants, debate.Participant{Name: "Cyd", Model: "test/debater"})
	}
	c.Engine, c.Source = Engine(c.Config)
	answer := c.Source.Reply
	c.Source.Reply = func(req *provider.Request) scripted.Reply {
		name := CallOf(req)
		switch {
		case req.Schema == nil:
			return answer(req)
		case KindOf(req) == debate.KindVerdict:
			if rule, ok := c.Rules[strings.TrimPrefix(name, "verdict.")]; ok {
				return scripted.Reply{Text: rule.Answer(req.Schema.JSON, "word of "+req.Self)}
			}
		default:
			if _, ok := c.Rules[req.Self]; ok {
				return scripted.Reply{Text: strings.ReplaceAll(answer(req).Text, "Both made their case.", "word of "+req.Self)}
			}
		}
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "no"}}
	}
	return c
}

// CallOf yields the id of the call that a request is for.
func CallOf(req *provider.Request) string {
	_, rest, _ := strings.Cut(req.ID, "/")
	call, _, _ := strings.Cut(rest, "/")
	return call
}

// Reasked reports whether a request asks again for an answer that was rejected.
func Reasked(req *provider.Request) bool {
	return strings.Contains(req.Last.Text, ", was refused") || strings.Contains(req.Last.Text, "was not accepted") // as old logs have it
}

// ForAda lets Ada win over Ben.
func ForAda() Ruling { return Scored("Ada", 80, 60) }

// ForBen is the contrary of ForAda.
func ForBen() Ruling { return Scored("Ben", 60, 80) }

// ForNobody gives both the same score.
func ForNobody() Ruling { return Scored("", 70, 70) }

// ReasonOfAVote marks what voters write: nobody else may read it.
const ReasonOfAVote = "my ballot's secret"

// Paper is how somebody of an audience votes.
func Paper(vote debate.Vote) string {
	return JSON(debate.BallotAnswer{Vote: vote, Reasoning: ReasonOfAVote})
}

// House is a debate before an audience whose i-th member votes as the i-th pair says, before and after
// ("for→against"). A dash: this vote fails.
func House(votes ...string) (debate.Config, *debate.Engine, *scripted.Provider) {
	config := TwoDebaters()
	config.Rounds, config.OnFailure = 2, Rules(debate.FailureRule{Calls: []flow.CallKind{debate.KindBallot}, Do: flow.OptionSkip})
	config.Audience = &debate.Audience{}
	votesOf := map[string][]string{}
	for i, pair := range votes {
		name := fmt.Sprintf("Voter %d", i+1)
		votesOf[name] = strings.Split(pair, "→")
		config.Audience.Members = append(config.Audience.Members, debate.Member{Name: name, Model: "test/voter"})
	}
	engine, source := Engine(config)
	answer := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil || req.Schema.Name != "ballot" {
			return answer(req)
		}
		votes := votesOf[req.Self]
		vote := votes[0]
		if strings.Contains(req.ID, "vote.after.") {
			vote = votes[1]
		}
		if vote == "-" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
		}
		return scripted.Reply{Text: Paper(debate.Vote(vote))}
	}
	return config, engine, source
}
