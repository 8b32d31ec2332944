package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/file"
)

// held is what the program did.
type held struct {
	code     int
	out, err string
}

// resume carries out debate resume for a conversation that was held before.
func resume(t *testing.T, dir string, args ...string) held {
	t.Helper()
	var out, err bytes.Buffer
	code := command.Run(t.Context(), command.System{
		Args: append([]string{"--store", dir + "/", "resume"}, args...), In: strings.NewReader(""), Out: &out, Err: &err,
		Lookup: func(string) (string, bool) { return "", false },
	})
	return held{code, out.String(), err.String()}
}

// engine returns an engine whose model follows a script by the names of calls. Any other call gets a sentence.
func engine(t *testing.T, dir string, script map[string]scripted.Reply) *debate.Engine {
	t.Helper()
	kept, err := file.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, kept.Close()) })
	model := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		call := strings.Split(req.ID, "/")[1]
		if reply, ok := script[call]; ok {
			return reply
		}
		return scripted.Reply{Text: "What " + call + " says."}
	}}
	return &debate.Engine{
		Providers: map[string]debate.Provider{"demo": model}, Store: kept,
		Models: map[string]debate.Model{"demo/script": {Window: 100_000, Priced: true}},
		Flows: map[string]*debate.Flow{
			deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow(), evaluation.FlowName: evaluation.Flow(),
		},
	}
}

func marshal(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return string(data)
}

const model = "demo/script"

func agents() deliberation.Config {
	return deliberation.Config{
		ID: "c", Problem: "Design a cache", Rounds: 1, Unattended: true,
		Agents: []deliberation.Agent{{ID: "ada", Model: model}, {ID: "ben", Model: model}}, Judge: deliberation.Judge{Model: model},
	}
}

func debaters(judging *debate.Judging) debate.Config {
	return debate.Config{
		ID: "c", Topic: "Cats or dogs", Format: format.StructuredRounds, Rounds: 1, Unattended: true, Judging: judging,
		Participants: []debate.Participant{{Name: "Ada", Model: model}, {Name: "Ben", Model: model}},
	}
}

func workers() arbiter.Config {
	return arbiter.Config{
		ID: "c", Task: "Write a parser", Unattended: true, MaxIterations: 1, Arbiter: arbiter.Arbiter{Model: model},
		Agents: []arbiter.Agent{{Name: "coder", Model: model}},
	}
}

func ruling(t *testing.T, move arbiter.Move) scripted.Reply {
	t.Helper()
	r := arbiter.Ruling{Move: move, Agents: []string{}, Reason: "why not"}
	switch move {
	case arbiter.MoveSelect:
		r.Agents = []string{"coder"}
	case arbiter.MoveComplete:
		r.Summary = "The parser **parses**.\x1b[2J"
	default:
	}
	return scripted.Reply{Text: marshal(t, r)}
}

// TestEnds: what the program prints of each flow, and its exit code, by how the conversation has ended.
func TestEnds(t *testing.T) {
	solution := scripted.Reply{Text: marshal(t, deliberation.Solution{
		Description: "# A cache\n\nwith \x1b[31mlimits\n", Implementation: []string{}, Tradeoffs: []string{}, Recommendations: []string{},
		Requirements:  []deliberation.Requirement{{Text: "It is fast", Fulfilled: true}, {Text: "It is small"}},
		OpenQuestions: []string{"How large?"}, Confidence: 70,
	})}
	verdict := scripted.Reply{Text: marshal(t, debate.FinalVerdict{
		Summary: "Ada was clear.", AreasOfAgreement: []string{}, AreasOfDisagreement: []string{}, Insights: []string{},
		KeyPoints: []debate.KeyPoints{{Participant: "Ada", MainArguments: []string{"a"}}, {Participant: "Ben", MainArguments: []string{"b"}}},
		Winner:    &debate.Winner{Participant: "Ada", Reasoning: "Facts."}, Scores: map[string]float64{"Ada": 80, "Ben": 60},
		Criteria: map[string]string{}, QualityScore: 70,
	})}
	assessment := scripted.Reply{Text: marshal(t, debate.Judgement{
		Assessments: []debate.ParticipantMark{
			{Participant: "Ada", Strengths: []string{}, Weaknesses: []string{}}, {Participant: "Ben", Strengths: []string{}, Weaknesses: []string{}},
		}, Reasoning: "So it is.", Ending: "Nothing is left.",
	})}
	nobody := scripted.Reply{Text: strings.NewReplacer("Ada was clear.", "Both were.", `{"participant":"Ada","reasoning":"Facts."}`, "null").Replace(verdict.Text)}
	vote := scripted.Reply{Text: marshal(t, debate.BallotAnswer{Vote: debate.VoteFor, Reasoning: "So it is."})}
	hall := debaters(&debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Name: "Iris", Model: model}, {Name: "Jo", Model: model}, {Name: "Kim", Model: model}}})
	hall.Format, hall.CustomFormat = "", &debate.Format{
		Name: "hall", Decide: format.BySwing, MinParticipants: 2, MaxParticipants: 2, End: format.EndByRounds,
		Phases: []format.Phase{{Name: format.PhaseOpening, First: 1, Last: -1}},
	}
	hall.Participants[0].Side, hall.Participants[1].Side = debate.For, debate.Against
	hall.Audience = &debate.Audience{Members: []debate.Member{{Model: model}}}
	success := scripted.Reply{Text: `{"success":true,"output":"done"}`}
	judged := &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Iris", Model: model}}}
	const spoken = "### Ada, round 1: opening\n\nWhat r1.opening.Ada says.\n\n### Ben, round 1: opening\n\nWhat r1.opening.Ben says.\n\n"
	cancel := func(s *debate.Session) error { return s.Cancel(context.Background()) }
	stop := func(s *debate.Session) error { return s.Stop(context.Background()) }
	tests := map[string]struct {
		config  flow.Config
		script  map[string]scripted.Reply
		control func(*debate.Session) error // before the first call has its answer
		code    int
		out     string
		err     []string
	}{
		"a solution": {
			agents(),
			map[string]scripted.Reply{"synthesis": solution},
			nil, 0, "# A cache\n\nwith ␛limits\n",
			[]string{"Confidence: 70 of 100", "Not fulfilled: It is small", "Open question: How large?"},
		},
		"a deliberation that was canceled": {
			agents(), nil, cancel, 6, "", []string{"ended without what was asked for"},
		},
		"a verdict": {
			debaters(judged),
			map[string]scripted.Reply{"r1.assessment.Iris": assessment, "verdict.Iris": verdict},
			nil, 0,
			spoken + "Ada wins.\n\n## Scores\n\n- Ada: 80\n- Ben: 60\n\n## Summary of Iris\n\nAda was clear.\n\nFacts.\n", nil,
		},
		"an audience decides, and the summary is that of the panel": {
			hall,
			map[string]scripted.Reply{
				"verdict.Iris": verdict, "verdict.Jo": nobody, "verdict.Kim": verdict,
				"vote.before.audience-1": vote, "vote.after.audience-1": vote,
			},
			nil, 0, spoken + "It is a tie.\n\n## Scores\n\n- Ada: 80\n- Ben: 60\n\n## Summary of Iris\n\nAda was clear.\n\nFacts.\n", nil,
		},
		"a debate that nobody judges": {
			debaters(nil), nil, nil, 0, spoken + "There is no verdict. No judge was configured. Rounds: 1\n", nil,
		},
		"a debate that was canceled":                          {debaters(judged), nil, cancel, 6, "", []string{"ended without"}},
		"a debate that was stopped before anybody has spoken": {debaters(nil), nil, stop, 6, "", []string{"ended without"}},
		"work that is complete": {
			workers(), map[string]scripted.Reply{
				"d1": ruling(t, arbiter.MoveSelect), "r1.coder": success, "d2": ruling(t, arbiter.MoveComplete),
			}, nil, 0, "The parser **parses**.␛\n", nil,
		},
		"work that its limit has ended": {
			workers(), map[string]scripted.Reply{
				"d1": ruling(t, arbiter.MoveSelect), "r1.coder": success, "d2": ruling(t, arbiter.MoveContinue),
			}, nil, 6, "", []string{"ended without what was asked for"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			e := engine(t, dir, tt.script)
			if tt.control != nil {
				e.Providers["demo"] = &scripted.Provider{Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Delay: 1 << 40} }}
			}
			s, err := e.Start(t.Context(), tt.config)
			require.NoError(t, err)
			if tt.control != nil {
				require.NoError(t, tt.control(s))
			}
			record, err := s.WaitIdle(t.Context())
			require.NotNil(t, record, "%v", err)
			require.NoError(t, s.Close())
			got := resume(t, dir, "c")
			assert.Equal(t, tt.code, got.code, got.err)
			assert.Equal(t, tt.out, got.out)
			for _, want := range tt.err {
				assert.Contains(t, got.err, want)
			}
			assert.NotContains(t, got.out+got.err, "\x1b")
		})
	}
}

// TestStoreFails: what stops a conversation from outside is no end. It is said how it is continued.
func TestStoreFails(t *testing.T) {
	e := engine(t, t.TempDir(), nil)
	session, err := e.Start(t.Context(), debaters(nil))
	require.NoError(t, err)
	_, err = session.WaitIdle(t.Context())
	require.NoError(t, err)
	full := &flow.Error{Kind: provider.KindStore, Op: "append"}
	var out bytes.Buffer
	require.ErrorIs(t, command.Finish(&out, session, full), full)
	assert.Contains(t, out.String(), "debate resume c continues it.")
}
