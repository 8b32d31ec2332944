package otel_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/otel"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// canary stands in every text that no trace may hold.
const canary = "sk-canary-0123456789"

// quiet marks what no span may show either. It has no form of a credential: a config with one is refused.
const quiet = "canary of a vendor"

// judgement is a well-formed assessment, with the canary in its texts. All have the same score.
func judgement(names ...string) string {
	return strings.NewReplacer(`"clear"`, `"`+canary+`"`, "Both made their case.", "Both made their case. "+canary, `"score":8`, `"score":7`,
		`"score":9`, `"score":7`).Replace(stage.Judgement(names, true))
}

// verdict is a well-formed verdict for the first of the names or, where a schema asks for a side, for the side "for".
func verdict(schema json.RawMessage, names ...string) string {
	return strings.Replace(stage.InShape(schema, stage.Verdict(names)), "A close debate.", "A close debate. "+canary, 1)
}

// cars is a debate of three in which much happens: Cy's key is refused, so he is dropped; Ada's first opening
// fails and is tried again; the judge's first answer is not accepted.
func cars() debate.Config {
	return debate.Config{
		ID:     "cars",
		Topic:  "Should cities ban cars? " + canary,
		Format: format.StructuredRounds,
		Rounds: 2,
		Participants: []debate.Participant{
			{Name: "Ada", Side: format.For, Model: "openai/talker", Position: canary},
			{Name: "Ben", Side: format.Against, Model: "mistral/talker", Instructions: canary, Options: asked()},
			{Name: "Cy", Side: format.Against, Model: "openai/talker", Persona: canary, Temperature: new(0.5)},
		},
		Judging:    &debate.Judging{Judges: []debate.JudgeConfig{{Model: "openai/judge"}}},
		Budget:     &flow.Budget{Warn: flow.USD / 1000, Hard: flow.USD},
		Retry:      &flow.RetryPolicy{Jitter: 1},
		Unattended: true, OnFailure: []flow.FailureRule{{Do: flow.OptionDrop}},
		Labels: map[string]string{"tenant": "acme", "mark": canary},
	}
}

// asked is what Ben's requests ask for beyond text.
func asked() *provider.Options {
	return &provider.Options{
		Effort: provider.EffortLow, TopP: new(0.9), Stop: []string{"\n\n", "END"}, Seed: new(int64(7)), ServiceTier: "flex",
		Verbosity: provider.VerbosityLow, Extra: map[string]json.RawMessage{"mark": []byte(`"` + quiet + `"`)},
		Header: map[string]string{"X-Mark": quiet},
	}
}

// script is what the models of cars answer, each after two seconds.
func script(req *provider.Request) scripted.Reply {
	reply := scripted.Reply{Text: "I stand by that. " + canary, Delay: 2 * time.Second, Usage: provider.Usage{Input: 100, Output: 50}}
	switch {
	case strings.HasSuffix(req.ID, "/r1.opening.Ada/1"):
		reply.Err = &provider.Error{Kind: provider.KindAPI, Status: 503, Message: "overloaded " + canary}
	case req.Self == "Cy":
		reply.Err = &provider.Error{Kind: provider.KindAuthentication, Status: 401, Message: "wrong key " + canary}
	case req.Self == "Ben":
		reply.ID, reply.Model = "resp-"+req.ID[strings.LastIndex(req.ID, "/r")+1:], "talker-2026-09-01"
	case strings.HasSuffix(req.ID, "/r1.assessment.judge/1"):
		reply.Text = "no JSON, but " + canary
	case req.Schema != nil && req.Schema.Name == string(debate.KindVerdict):
		reply.Text, reply.Usage = verdict(req.Schema.JSON, "Ada", "Ben"), provider.Usage{Input: 900, CachedInput: 600, Output: 200, Reasoning: 80}
		reply.ID, reply.Cost = "resp-verdict", new(0.0125)
	case req.Schema != nil:
		reply.Text = judgement("Ada", "Ben")
	}
	return reply
}

func engineOf(reply func(*provider.Request) scripted.Reply) *debate.Engine {
	models := &scripted.Provider{Reply: reply}
	return &debate.Engine{
		Providers: map[string]debate.Provider{"openai": models, "mistral": models},
		Models: map[string]flow.Model{
			"openai/talker":  {Priced: true, Input: 1_000_000, Output: 2_000_000},
			"mistral/talker": {Priced: true, Input: 1_000_000, Output: 2_000_000},
			"openai/judge":   {Priced: true, Input: 3_000_000, Output: 9_000_000, OwnTemperature: true},
		},
		Store: &store.Memory{},
	}
}

// play plays cars under the observer, with a pause of half a minute while Ben closes, and yields what is stored of it.
func play(t *testing.T, observer *otel.Observer) (events []flow.Event) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(script)
		session, err := engine.Start(t.Context(), cars())
		require.NoError(t, err)
		paused := false
		for event, err := range observer.Watch(t.Context(), session.Events(t.Context(), 0)) {
			require.NoError(t, err)
			if in := body.As[flow.Intent](event); in != nil && in.By == "Ben" && in.Round == 2 && !paused {
				paused = true
				stage.Pass(time.Second)
				require.NoError(t, session.Pause(t.Context()))
				stage.Pass(30 * time.Second)
				require.NoError(t, session.Resume(t.Context()))
			}
		}
		events = stored(t, engine, "cars")
		require.NoError(t, session.Close())
	})
	return events
}

func stored(t *testing.T, engine *debate.Engine, id string) (events []flow.Event) {
	t.Helper()
	for event, err := range engine.Store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}
