package export_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// seed is the secret of all debates here: it is in their logs, and must be in no document.
const seed = "3d1c0a55e7-canary-seed"

// scene is a debate that a script plays.
type scene struct {
	config debate.Config
	reply  func(req *provider.Request) scripted.Reply
	models map[string]flow.Model
	judges map[string]debate.Judge
	host   func(t *testing.T, s *debate.Session) // what the host does while the debate runs
}

// play runs a debate in a bubble, where no time passes but that of the script, and yields it with its log.
func (s *scene) play(t *testing.T) *export.Document {
	t.Helper()
	d := &export.Document{}
	synctest.Test(t, func(t *testing.T) {
		store := &store.Memory{}
		if s.models == nil {
			s.models = map[string]flow.Model{
				"acme/large": {Priced: true, Input: 3 * flow.USD / 1_000_000, CachedInput: flow.USD * 3 / 10_000_000, Output: 15 * flow.USD / 1_000_000, Family: "large"},
				"acme/small": {Priced: true, Input: flow.USD / 4_000_000, Output: 2 * flow.USD / 1_000_000, Family: "small"},
			}
		}
		engine := &debate.Engine{
			Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: s.reply}},
			Models:    s.models, Judges: s.judges, Store: store, Seed: func() string { return seed },
		}
		session, err := engine.Start(t.Context(), s.config)
		require.NoError(t, err)
		if s.host != nil {
			s.host(t, session)
		}
		d.Record, err = session.Wait(t.Context())
		if d.Record == nil {
			require.NoError(t, err)
		}
		for event, err := range store.Read(t.Context(), session.ID(), 0) {
			require.NoError(t, err)
			d.Tell(event)
		}
		require.NoError(t, engine.Shutdown(t.Context()))
	})
	return d
}

// toJSON writes a value that always has a JSON.
var toJSON = stage.JSON

// says makes a reply that took a while and was paid for.
func says(text string) scripted.Reply {
	return scripted.Reply{Text: text, Delay: 3 * time.Second, Usage: provider.Usage{Input: 1800, CachedInput: 1200, Output: len(text) / 4}}
}

const adaOpens = `# Clean streets are a public good

City centres were laid out for **people**, not for two tonnes of steel each. Three findings decide the question:

1. *Air.* Nitrogen dioxide at kerbside monitors fell by about a third where through traffic ended.
2. *Time.* A bus lane moves ten times as many people as the same metre of car lane.
3. *Money.* Shops near pedestrian streets report more visits, not fewer.

| Street use | People per hour and lane |
|:-----------|-------------------------:|
| Cars       |                    1,600 |
| Buses      |                   16,000 |

> "Streets are eighty per cent of a city's public space."

See [the survey](https://example.org/survey?year=2024&city=all) for the figures, and ask yourself who pays for the rest.`

const benOpens = "A ban is the bluntest tool there is. I accept the figures on air, but **not** the conclusion:\n\n" +
	"- nurses on night shift have no bus at 4 a.m.;\n- deliveries and repairs do not fit a tram;\n" +
	"    - and a van that circles the ban drives further;\n- a *price* does the same, and leaves the choice.\n\n" +
	"The rule of thumb is `benefit = flow * value`, and it is easily computed:\n\n" +
	"```python\ndef benefit(flow: list[float]) -> float:\n    return sum(f * VALUE for f in flow if f < LIMIT)\n```\n\n" +
	"So: charge, exempt, and spend the money on trams."

const adaCloses = `Ben asks for a price. A price keeps the street for those who can pay it, and keeps the noise for those who cannot.

**The exemptions he wants are the ones that every ban in force already has**: nurses, deliveries, people who cannot walk far. What is left is habit.`

const benCloses = `Ada has not said who enforces her ban, nor what it costs. London's charge pays for its own cameras *and* for buses.

Weigh what was shown: the same air, at a lower price, with fewer people left out.`

func duel() *scene {
	return &scene{
		config: debate.Config{
			ID: "cars-2026", Topic: "Should cities ban private cars from their centres?", Format: format.StructuredRounds, Rounds: 2,
			Participants: []debate.Participant{
				{Name: "Ada", Side: format.For, Model: "acme/large", Position: "Private cars should leave the centre by next spring.", Persona: "a traffic engineer of twenty years", Metadata: map[string]string{"team": "<red>"}},
				{Name: "Ben", Side: format.Against, Model: "acme/small", Position: "A charge does what a ban does, and leaves the choice."},
			},
			Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: "acme/large"}}, Rubric: debate.DefaultRubric()},
		},
		reply: func(req *provider.Request) scripted.Reply {
			switch {
			case req.Schema == nil:
				texts := map[string][]string{"Ada": {adaOpens, adaCloses}, "Ben": {benOpens, benCloses}}[req.Self]
				return says(texts[min(len(req.Messages)/2, 1)])
			case req.Schema.Name == string(debate.KindVerdict):
				return says(toJSON(debate.FinalVerdict{
					Summary: "A close debate on **means**, not on ends: both want quieter, cleaner streets, and differ on whether to forbid or to charge.",
					KeyPoints: []debate.KeyPoints{
						{Participant: "Ada", MainArguments: []string{"Space is used ten times better by buses", "Every ban in force has the exemptions that are asked for"}},
						{Participant: "Ben", MainArguments: []string{"A price has the same effect and funds the alternative"}},
					},
					AreasOfAgreement: []string{"The air must become cleaner", "Exemptions are needed"}, AreasOfDisagreement: []string{"Whether a price is fair"},
					Winner: &debate.Winner{Participant: "Ada", Reasoning: "She answered the strongest objection with what is in force already; the cost of enforcement stayed open on both sides."},
					Scores: map[string]float64{"Ada": 81.5, "Ben": 74}, QualityScore: 78,
					Criteria: map[string]string{"evidence quality": "Ada cites figures, Ben one example", "engagement": "Both answer each other by name"},
					Insights: []string{"Who is exempt matters more than what is forbidden"},
				}))
			default:
				mark := func(base float64) map[string]float64 {
					out := map[string]float64{}
					for i, c := range debate.DefaultRubric().Criteria {
						out[c.Name] = base - float64(i)/2
					}
					return out
				}
				return says(toJSON(debate.Judgement{
					ShouldContinue: true, QualityScore: 7.5,
					Assessments: []debate.ParticipantMark{
						{Participant: "Ada", Strengths: []string{"figures with sources"}, Weaknesses: []string{"silent on enforcement"}, Criteria: mark(9)},
						{Participant: "Ben", Strengths: []string{"concedes what is true"}, Weaknesses: []string{}, Criteria: mark(8)},
					},
					Reasoning: "Both made their case; Ada's figures weigh more.", Recommendations: "Say who enforces the rule, and what it costs.",
				}))
			}
		},
	}
}

// court is a panel of three who agree on nothing, before an audience.
func court(change ...func(*debate.Config)) *scene {
	winners := map[string]*debate.Winner{
		"Chair":   {Participant: "Mia", Reasoning: "Her case needed no assumption."},
		"Lay":     {Participant: "Noah", Reasoning: "He spoke to what people fear."},
		"Sceptic": nil,
	}
	votes := map[string][2]debate.Vote{
		"Olga": {debate.VoteUndecided, debate.VoteFor}, "Paul": {debate.VoteAgainst, debate.VoteAgainst}, "Quinn": {debate.VoteFor, debate.VoteUndecided},
	}
	voter := func(name string) debate.Member { return debate.Member{Name: name, Model: "acme/small"} }
	s := &scene{
		config: debate.Config{
			ID: "four-days", Topic: "This house would make the four-day week the law", Rounds: 1, Mode: debate.Simultaneous,
			Participants: []debate.Participant{
				{Name: "Mia", Side: format.For, Model: "acme/large"}, {Name: "Noah", Side: format.Against, Model: "acme/large"},
			},
			Judging: &debate.Judging{
				Judges:   []debate.JudgeConfig{{Name: "Chair", Model: "acme/large"}, {Name: "Lay", Model: "acme/small"}, {Name: "Sceptic", Model: "acme/small"}},
				Criteria: []string{"courage", "wit"}, Anonymous: true, Quorum: 2,
			},
			Audience: &debate.Audience{Members: []debate.Member{voter("Olga"), voter("Paul"), voter("Quinn")}},
		},
		reply: func(req *provider.Request) scripted.Reply {
			if req.Schema == nil {
				return says("I am " + req.Self + ", and I have one reason: a week is a convention.")
			}
			a, b := "Speaker A", "Speaker B"
			named := func(name string) string { // as the judges are shown the names
				if name == "Mia" {
					return a
				}
				return b
			}
			switch req.Schema.Name {
			case string(debate.KindBallot):
				after := 0
				if strings.Contains(req.ID, "vote.after.") {
					after = 1
				}
				return says(toJSON(debate.BallotAnswer{Vote: votes[req.Self][after], Reasoning: "I have " + []string{"no", "a better"}[after] + " reason | yet."}))
			case string(debate.KindVerdict):
				v := debate.FinalVerdict{
					Summary: "One reason each.", KeyPoints: []debate.KeyPoints{{Participant: a, MainArguments: []string{}}, {Participant: b, MainArguments: []string{}}},
					AreasOfAgreement: []string{}, AreasOfDisagreement: []string{}, Insights: []string{}, Scores: map[string]float64{a: 60, b: 60},
					Criteria: map[string]string{"courage": "some", "wit": "little"}, QualityScore: 40,
				}
				if w := winners[req.Self]; w != nil {
					v.Winner = &debate.Winner{Participant: named(w.Participant), Reasoning: w.Reasoning}
				}
				return says(toJSON(v))
			default:
				return says(toJSON(debate.Judgement{
					Assessments: []debate.ParticipantMark{
						{Participant: a, Strengths: []string{}, Weaknesses: []string{}, Score: 6}, {Participant: b, Strengths: []string{}, Weaknesses: []string{}, Score: 5.5},
					},
					QualityScore: 4, Flags: debate.Flags{Repetitive: true, ConvergenceReached: true}, Reasoning: "They say the same.", Ending: "Both have said it twice.", Recommendations: "Disagree.",
				}))
			}
		},
	}
	for _, c := range change {
		c(&s.config)
	}
	return s
}

// storm is a debate in which much goes wrong, and goes on: a failure that passes, a fallback, somebody who
// is dropped, a turn that is cut, an answer that is not accepted, a judge who fails.
func storm() *scene {
	tries := map[string]int{}
	names := []string{"Ada", "Ben", "Cleo"}
	return &scene{
		config: debate.Config{
			ID: "storm", Topic: "Is a ship safer in harbour?", Rounds: 2, Format: format.RoundLimited, Unattended: true, OnFailure: []flow.FailureRule{{Do: flow.OptionDrop}}, MaxTokens: 400,
			Participants: []debate.Participant{
				{Name: "Ada", Model: "acme/large", Fallbacks: []string{"acme/small"}},
				{Name: "Ben", Model: "acme/small"},
				{Name: "Cleo", Model: "acme/small"},
			},
			Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Judge", Model: "acme/large"}, {Name: "Absent", Judge: "absent"}}, Quorum: 1, AllowSameFamily: true},
			Retry:   &flow.RetryPolicy{Jitter: 1}, // the waits are to be the same each time
			Budget:  &flow.Budget{Warn: flow.USD / 100},
		},
		judges: map[string]debate.Judge{"absent": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
			return nil, &provider.Error{Kind: provider.KindRefusal, Message: "not today"}
		})},
		reply: func(req *provider.Request) scripted.Reply {
			tries[req.Self]++
			fails := func(kind provider.Kind, message string) scripted.Reply {
				return scripted.Reply{Err: &provider.Error{Kind: kind, Message: message}}
			}
			switch {
			case req.Self == "Ada" && req.Model == "large" && tries["Ada"] > 1:
				return fails(provider.KindAPI, "HTTP 500: overloaded | retry `later`")
			case req.Self == "Ben" && tries["Ben"] == 1:
				return fails(provider.KindNetwork, "connection reset by peer")
			case req.Self == "Cleo":
				return fails(provider.KindAuthentication, "the key is not known")
			case req.Schema == nil:
				reply := says("A ship in harbour is safe, " + req.Self + " says, but that is not what ships are built")
				if req.Self == "Ben" {
					reply.Stop = provider.StopLength
				}
				return reply
			case tries["Judge"] == 1:
				return says(`{"shouldContinue": "perhaps"}`)
			case req.Schema.Name == string(debate.KindVerdict):
				return says(verdict(names[:2]))
			default:
				return says(judgement(names[:2]))
			}
		},
	}
}

// world is a round table of people who write in many scripts, for whom a model finds positions. Nobody
// wins it.
func world() *scene {
	said := map[string]string{
		"Дарья":    "Город — это **общее** дело.",
		"李雷":       "街道属于所有人，而不是属于汽车。",
		"عائشة":    "الشوارع **للناس**، لا للسيارات (ABC) 123.",
		"Zoë 🦊":    "Naïve? *Non.* Voilà: `größe < 5`.",
		"नरेन्द्र": "सड़कें सबकी हैं।",
	}
	s := &scene{
		config: debate.Config{
			ID: "мир-1", Topic: "Whom do streets belong to? / 街道属于谁？ / لمن الشوارع؟", Format: format.Roundtable, Rounds: 2,
			AssignPositions: &debate.AssignPositions{Model: "acme/small"},
			Judging:         &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Судья", Model: "acme/large"}}, When: debate.AtEnd},
		},
	}
	s.config.ID = "world-1"
	var names []string
	for _, name := range []string{"Дарья", "李雷", "عائشة", "Zoë 🦊", "नरेन्द्र"} {
		s.config.Participants = append(s.config.Participants, debate.Participant{Name: name, Model: "acme/small"})
		names = append(names, name)
	}
	s.reply = func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema == nil:
			return says(said[req.Self])
		case strings.HasPrefix(req.Schema.Name, string(debate.KindVerdict)): // the format has no winner
			v := debate.FinalVerdict{
				Summary: "Все говорят об одном.", Scores: map[string]float64{}, Criteria: map[string]string{}, QualityScore: 50,
				AreasOfAgreement: []string{}, AreasOfDisagreement: []string{}, Insights: []string{},
			}
			for _, name := range names {
				v.KeyPoints = append(v.KeyPoints, debate.KeyPoints{Participant: name, MainArguments: []string{said[name]}})
				v.Scores[name] = 50
			}
			return says(toJSON(v))
		case req.Schema.Name == string(debate.KindAssign):
			plan := debate.PositionPlan{Reasoning: "Fünf Sprachen, fünf Blicke."}
			for i, name := range names {
				plan.Positions = append(plan.Positions, debate.PlannedPosition{
					Participant: name, Side: "none", Position: fmt.Sprintf("%d %s", i, said[name]), Persona: "👩‍🔬 " + name, KeyArguments: []string{"α", "β"},
				})
			}
			return says(toJSON(plan))
		default:
			return says(judgement(names))
		}
	}
	return s
}

// broken is a debate that has stopped in the error state, waiting for its host.
func broken() *scene {
	s := duel()
	s.config.ID, s.config.Judging, s.config.Unattended = "broken", nil, true
	reply := s.reply
	s.reply = func(req *provider.Request) scripted.Reply {
		if req.Self == "Ben" {
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindQuota, Message: "the account is empty"}}
		}
		return reply(req)
	}
	return s
}

// canceled is a debate that its host has cancelled in the second round.
func canceled() *scene {
	s := duel()
	s.config.ID, s.config.Judging = "canceled", nil
	s.host = func(t *testing.T, session *debate.Session) {
		for event, err := range session.Events(t.Context(), 0) {
			require.NoError(t, err)
			if body.As[flow.Turn](event) != nil && body.As[flow.Turn](event).Round == 1 && body.As[flow.Turn](event).Speaker == "Ben" {
				break
			}
		}
		require.NoError(t, session.Cancel(t.Context()))
	}
	return s
}

// judgement is a well-formed assessment.
func judgement(names []string) string {
	j := debate.Judgement{ShouldContinue: true, QualityScore: 7, Reasoning: "Both made their case.", Recommendations: "Address the costs."}
	for i, name := range names {
		j.Assessments = append(j.Assessments, debate.ParticipantMark{
			Participant: name, Strengths: []string{"clear"}, Weaknesses: []string{}, Score: float64(7 + i%3),
		})
	}
	return toJSON(j)
}

// verdict is a well-formed verdict for the first of the names.
func verdict(names []string) string {
	v := debate.FinalVerdict{
		Summary: "A close debate.", Scores: map[string]float64{}, Criteria: map[string]string{"evidence": "good"}, QualityScore: 78,
		AreasOfAgreement: []string{"air"}, AreasOfDisagreement: []string{"means"}, Insights: []string{"prices work"},
		Winner: &debate.Winner{Participant: names[0], Reasoning: "answered every point"},
	}
	for i, name := range names {
		v.KeyPoints = append(v.KeyPoints, debate.KeyPoints{Participant: name, MainArguments: []string{"one", "two"}})
		v.Scores[name] = float64(80 - i)
	}
	return toJSON(v)
}

// asked is a debate with people: one judges, and the host chooses what becomes of a participant who fails.
// It is long for its models, so that it is summarised.
func asked() *scene {
	s := duel()
	names := []string{"Ada", "Ben"}
	s.models = map[string]flow.Model{
		"acme/large": {Window: 9000, MaxOutput: 400}, "acme/small": {Window: 9000, MaxOutput: 400, Priced: true},
	}
	s.config.ID, s.config.Rounds, s.config.Format = "asked", 10, format.RoundLimited
	s.config.Context, s.config.Summarizer, s.config.AutoSummary, s.config.Reserve, s.config.MaxTokens = flow.ContextSummarize, "acme/small", true, 1000, 400
	s.config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Name: "Portia", Person: true}}}
	failed := false
	s.reply = func(req *provider.Request) scripted.Reply {
		switch {
		case req.Self == "Ben" && !failed:
			failed = true
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Message: "the key is not known"}}
		case req.Self == "Ada" || req.Self == "Ben":
			reply := says(req.Self + " insists. " + strings.Repeat("A city is *more* than its streets. ", 60))
			reply.Usage = provider.Usage{}
			return reply
		default:
			return says("They repeat themselves, **at length**.")
		}
	}
	s.host = func(t *testing.T, session *debate.Session) {
		for {
			record, err := session.Wait(t.Context())
			if err == nil {
				return
			}
			require.ErrorIs(t, err, flow.ErrAwaitingInput)
			for _, q := range record.Inquiries {
				if len(q.Options) > 0 {
					require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
				} else {
					answer, err := json.Marshal(debate.PersonVerdict{
						Scores: map[string]float64{names[0]: 80, names[1]: 70}, QualityScore: 75, Winner: names[0], Reasoning: "The better case, *by far*.",
					})
					require.NoError(t, err)
					require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: string(answer)}))
				}
			}
		}
	}
	return s
}
