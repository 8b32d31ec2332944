package debates_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What a prompt claims holds in each format, with each number of rounds, before one judge and before three.
func TestPromptsAreTrue(t *testing.T) {
	t.Parallel()
	for _, f := range format.Builtin() {
		for _, rounds := range []int{1, 2, 5} {
			for _, judges := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%d rounds, %d judges", f.Name, rounds, judges), func(t *testing.T) {
					config := stage.CastFor(f)
					config.Rounds = rounds
					stage.PanelOf(judges)(withJudging(&config))
					engine, source := stage.Ready(config)
					fair(source, &f, config.Participants)
					if rounds < f.Rounds {
						stage.Refused(t, engine.Validate(t.Context(), config), "rounds")
						return
					}
					record := stage.View(stage.Run(t, engine, config))
					require.NotNil(t, record.Verdict)
					w := witness{t: t, format: &f, rounds: record.Config().Rounds, judges: judges, asked: source.Requests()}
					assert.Equal(t, w.rounds, record.Round)
					for i := range w.asked {
						w.read(i)
					}
				})
			}
		}
	}
}

// withJudging returns a config with judges to be named.
func withJudging(c *debate.Config) *debate.Config {
	c.Judging = &debate.Judging{}
	return c
}

// fair lets models judge those whom a format judges. What the schema does not ask for, such as a winner, they do not name.
func fair(source *scripted.Provider, f *debate.Format, all []debate.Participant) {
	var names []string
	for _, p := range all {
		if f.Judged(p.Side) {
			names = append(names, p.Name)
		}
	}
	reply := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil || req.Schema.Name == "ballot" {
			return reply(req)
		}
		return stage.Script(names)(req)
	}
}

// witness compares what the requests of a debate say with how the debate went.
type witness struct {
	t      *testing.T
	format *debate.Format
	rounds int
	judges int
	asked  []provider.Request
}

func (w *witness) read(i int) {
	req := &w.asked[i]
	last, all := req.Last.Text, req.System+"\n"+req.Last.Text
	if w.rounds == 1 {
		assert.NotRegexp(w.t, `earlier rounds|rounds before|last turn|Bring no new arguments|rounds between`, all, req.ID)
	}
	assert.NotContains(w.t, req.System, "fixed and small")
	swing := w.format.Decide == format.BySwing && req.Schema == nil && req.Self != "" && !strings.HasPrefix(req.Self, "audience")
	assert.Equal(w.t, swing, strings.Contains(req.System, "An audience votes before and after"), req.ID) // speakers alone are told
	switch id := stage.CallOf(req); {
	case strings.Contains(id, "assessment"):
		w.assess(req)
	case req.Schema == nil:
		own := w.turnsOf(req.Self)
		at := slices.Index(own, i)
		if strings.Contains(last, "your only turn") {
			assert.Len(w.t, own, 1, req.ID)
		}
		if strings.Contains(last, "This is your last turn") {
			assert.Equal(w.t, len(own)-1, at, req.ID)
		}
		if phase := w.format.Phase(1, 1); w.rounds == 1 && phase.Instruction == "" && len(phase.Slots) == 0 {
			assert.Contains(w.t, last, "This is your only turn: your answer to the topic", req.ID)
		}
	}
}

// assess reads what a judge is told about who ends the debate.
func (w *witness) assess(req *provider.Request) {
	last := req.Last.Text
	const alone, together, nothing = "false ends the debate", "if most judges say false, the debate ends", "this alone ends nothing"
	byJudges := w.format.End == format.EndByJudge
	assert.Equal(w.t, byJudges && w.judges > 1, strings.Contains(last, together), req.ID)
	assert.Equal(w.t, byJudges && w.judges == 1, strings.Contains(last, alone), req.ID)
	assert.Equal(w.t, !byJudges, strings.Contains(last, nothing), req.ID)
	first := strings.Contains(req.ID, "/r1.")
	assert.Equal(w.t, byJudges || w.format.End == format.EndByConvergence && !first, strings.Contains(last, `- "ending": `), req.ID)
	assert.Equal(w.t, !first, strings.Contains(last, `- "convergenceReached": `), req.ID)
}

// turnsOf returns the places of somebody's turns among the requests.
func (w *witness) turnsOf(name string) []int {
	var out []int
	for i := range w.asked {
		if w.asked[i].Schema == nil && w.asked[i].Self == name {
			out = append(out, i)
		}
	}
	return out
}

// What the specification's examples configure runs as it stands, and its prompts do not speak of what is not there.
func TestTheSpecificationsConfigsRun(t *testing.T) {
	for name, tc := range map[string]struct {
		format string
		cast   []string
		rounds int
	}{
		"oxford, five rounds, nobody listens":  {format.Oxford, []string{"Ada for", "Ben against", "Mia neutral"}, 3},
		"lincoln-douglas, five rounds":         {format.LincolnDouglas, []string{"Ada for", "Ben against"}, 2},
		"a roundtable with sides":              {format.Roundtable, []string{"Ada for", "Ben against"}, 5},
		"a roundtable with sides and a host":   {format.Roundtable, []string{"Ada for", "Ben against", "Mia neutral"}, 5},
		"a roundtable where one takes a side":  {format.Roundtable, []string{"Ada for", "Ben", "Cem"}, 5},
		"an examiner and those who take sides": {format.Socratic, []string{"Mia neutral", "Ada for", "Ben against"}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			config := debate.Config{Topic: "Should AI be regulated?", Format: tc.format, Rounds: max(5, tc.rounds), Participants: stage.Actors(tc.cast...)}
			stage.PanelOf(1)(withJudging(&config))
			engine, source := stage.Ready(config)
			shape := stage.Builtin(t, tc.format)
			fair(source, &shape, config.Participants)
			record := stage.View(stage.Run(t, engine, config))
			assert.Equal(t, tc.rounds, record.Round)
			require.NotNil(t, record.Verdict)
			outcome := record.Outcome()
			assert.Nil(t, outcome.Swing)
			if tc.format != format.Roundtable && tc.format != format.Socratic {
				assert.Equal(t, format.ByJudges, outcome.Decision)
				assert.NotEmpty(t, outcome.Winner)
			}
			for _, req := range source.Requests() {
				assert.NotRegexp(t, `(?i)audience|without sides|wins that moves`, req.System+req.Last.Text, req.ID)
				if seat := record.Seat(req.Self); seat >= 0 {
					assert.Contains(t, req.System, "Your role: ", req.ID)
				}
			}
		})
	}
}
