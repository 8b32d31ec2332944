package stage

import (
	"cmp"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/pin"
)

// Project writes the values of a debate's log, one event a line. See package pin.
func Project(log []debate.Event) string { return pin.Log(log, pinOwn) }

// pinOwn adds the values that only a debate has.
func pinOwn(l *pin.Line, body flow.Body) {
	switch body := body.(type) {
	case *flow.Start:
		pinStart(l, body)
	case *debate.Assignment:
		l.Spend(&body.Spend)
		for _, p := range body.Positions {
			l.Add("to", p.Participant, "position", p.Position, "persona", p.Persona, "arguments", p.KeyArguments)
		}
		l.Add("why", body.Reasoning)
	case *debate.Ballot:
		l.Spend(&body.Spend)
		l.Add("voter", body.Voter, "after", body.After, "vote", body.Vote, "why", body.Reasoning)
	case *debate.Assessment:
		pinAssessment(l, body)
	case *debate.Verdict:
		pinVerdict(l, body)
	}
}

func pinStart(l *pin.Line, s *flow.Start) {
	c := StartConfig(s)
	l.Add("version", s.Version, "topic", c.Topic, "mode", c.Mode, "rounds", c.Rounds, "format", StartFormat(s).Name, "flow", s.Flow,
		"flowVersion", s.FlowVersion)
	for _, p := range c.Participants {
		l.Add("participant", p.Name, "side", p.Side, "model", p.Model, "fallbacks", p.Fallbacks, "position", p.Position)
	}
	if c.Judging != nil {
		for _, j := range c.Judging.Judges {
			l.Add("judge", j.Name, "model", j.Model, "fallbacks", j.Fallbacks, "function", j.Judge, "person", j.Person)
		}
	}
	if c.Audience != nil {
		for _, m := range c.Audience.Members {
			l.Add("listener", m.Name, "model", m.Model)
		}
	}
}

func pinAssessment(l *pin.Line, a *debate.Assessment) {
	l.Spend(&a.Spend)
	l.Add("judge", a.Judge, "round", a.Round, "goOn", a.ShouldContinue, "quality", a.QualityScore)
	for _, m := range a.Assessments {
		l.Add("of", m.Participant, "score", m.Score, "criteria", m.Criteria, "strengths", m.Strengths, "weaknesses", m.Weaknesses)
	}
	f := a.Flags
	l.Add("repetitive", f.Repetitive, "drifting", f.Drifting, "diminishing", f.DiminishingReturns, "converged", f.ConvergenceReached,
		"why", a.Reasoning, "advice", a.Recommendations)
	if a.Ending != "" {
		l.Add("ending", a.Ending)
	}
}

func pinVerdict(l *pin.Line, v *debate.Verdict) {
	l.Spend(&v.Spend)
	l.Add("judge", v.Judge, "swapped", v.Swapped)
	if v.Winner != nil {
		l.Add("winner", cmp.Or(v.Winner.Participant, string(v.Winner.Side)), "why", v.Winner.Reasoning)
	}
	l.Add("scores", v.Scores, "criteria", v.Criteria, "quality", v.QualityScore, "summary", v.Summary, "agreed", v.AreasOfAgreement,
		"disagreed", v.AreasOfDisagreement, "insights", v.Insights)
	for _, k := range v.KeyPoints {
		l.Add("of", k.Participant, "points", k.MainArguments)
	}
}
