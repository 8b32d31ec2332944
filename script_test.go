package debate_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// speech is what a scripted participant says: a pure function of who speaks and when, so that a
// debate is the same whatever is repeated.
func speech(name string, round int) string {
	return fmt.Sprintf("%s speaks in round %d. %s", name, round, strings.Repeat("A point of its own. ", 3))
}

// judgement is a well-formed assessment.
func judgement(names []string, goOn bool) string {
	marks := make([]map[string]any, len(names))
	for i, name := range names {
		marks[i] = map[string]any{"participant": name, "strengths": []string{"clear"}, "weaknesses": []string{}, "score": 7 + i%3}
	}
	return toJSON(map[string]any{
		"shouldContinue": goOn, "qualityScore": 7.5, "assessments": marks,
		"flags":     map[string]bool{"repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false},
		"reasoning": "Both made their case.", "recommendations": "Address the costs.",
	})
}

// verdict is a well-formed verdict for the first of the names.
func verdict(names []string) string {
	points := make([]map[string]any, len(names))
	scores := map[string]int{}
	for i, name := range names {
		points[i] = map[string]any{"participant": name, "mainArguments": []string{"one", "two"}}
		scores[name] = 80 - i
	}
	return toJSON(map[string]any{
		"summary": "A close debate.", "keyPoints": points, "areasOfAgreement": []string{"air"}, "areasOfDisagreement": []string{"means"},
		"winner": map[string]string{"participant": names[0], "reasoning": "answered every point"}, "scores": scores,
		"criteria": map[string]string{"evidence": "good"}, "qualityScore": 78, "insights": []string{"prices work"},
	})
}

func toJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

var callRound = regexp.MustCompile(`/r(\d+)\.`)

// script answers for everybody, by the request's id alone.
func script(names []string) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		round := 0
		if m := callRound.FindStringSubmatch(req.ID); m != nil {
			round, _ = strconv.Atoi(m[1])
		}
		switch {
		case req.Schema == nil:
			return scripted.Reply{Text: speech(req.Self, round), Usage: provider.Usage{Input: 100 * round, Output: 50}}
		case req.Schema.Name == "verdict":
			return scripted.Reply{Text: verdict(names), Usage: provider.Usage{Input: 900, Output: 200}}
		default:
			return scripted.Reply{Text: judgement(names, true), Usage: provider.Usage{Input: 500, Output: 100}}
		}
	}
}

// twoDebaters is a config of three rounds with a judge.
func twoDebaters() debate.Config {
	return debate.Config{
		Topic:  "Should cities ban cars from their centres?",
		Format: format.StructuredRounds,
		Rounds: 3,
		Participants: []debate.Participant{
			{Name: "Ada", Side: debate.For, Model: "test/debater", Position: "Yes, ban them."},
			{Name: "Ben", Side: debate.Against, Model: "test/debater", Position: "No, price them."},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/judge"}}},
	}
}

// engineFor is an engine whose only provider follows the script for the config's participants.
func engineFor(config debate.Config) (*debate.Engine, *scripted.Provider) {
	var names []string
	for _, p := range config.Participants {
		names = append(names, p.Name)
	}
	p := &scripted.Provider{Reply: script(names), Record: true}
	return &debate.Engine{
		Providers: map[string]debate.Provider{"test": p},
		Models: map[string]debate.Model{
			"test/debater": {Priced: true, Input: 1_000_000, Output: 2_000_000, CachedInput: 100_000, CacheWrite: 1_000_000},
			"test/judge":   {Priced: true, Input: 3_000_000, Output: 9_000_000, CachedInput: 300_000, CacheWrite: 3_000_000},
		},
	}, p
}

// run plays a debate to its end.
func run(t *testing.T, engine *debate.Engine, config flow.Config) *debate.Record {
	t.Helper()
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	return record
}

// speakers yields who spoke, in order, as "r1 Ada".
func speakers(r *debate.Record) []string {
	var out []string
	for _, turn := range r.Turns {
		out = append(out, fmt.Sprintf("r%d %s", turn.Round, turn.Speaker))
	}
	return slices.Clip(out)
}

// pass lets the time of a synctest bubble go by.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // in a bubble nobody waits
}
