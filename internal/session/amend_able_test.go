package session_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// demanding is a debate with an image, in which Ada and the summarizer have options. The model "blind" reads no images, and "plain"
// has no effort.
func demanding(t *testing.T) (debate.Config, *debate.Engine, *scripted.Provider) {
	t.Helper()
	config := stage.TwoDebaters()
	config.Attachments = []flow.File{{Name: "chart.png", Data: stage.PNG}}
	effort := &provider.Options{Effort: provider.EffortLow, Extra: stage.TopK("1")}
	config.Participants[0].Options = effort
	config.Summarizer, config.SummarizerOptions = "test/summarizer", effort
	engine, p := stage.Engine(config)
	for name, lacks := range map[string][]provider.Ability{
		"blind": {provider.AbilityImage}, "plain": {provider.AbilityEffort}, "spare": nil,
	} {
		row := engine.Models["test/debater"]
		row.Unsupported = lacks
		engine.Models["test/"+name] = row
	}
	stage.Abiding(p)
	return config, engine, p
}

func choice(model string, fallbacks ...string) map[string]flow.ModelChoice {
	return map[string]flow.ModelChoice{"Ada": {Model: model, Fallbacks: fallbacks}}
}

// A model that an amendment names must be able to do what the start requires of its place: its field says which one is not.
func TestAnAmendedModelMustBeAble(t *testing.T) {
	for name, tc := range map[string]struct {
		amend flow.Amendment
		field string
	}{
		"reads no images":              {flow.Amendment{Models: choice("test/blind")}, "models.Ada"},
		"a fallback reads no images":   {flow.Amendment{Models: choice("test/spare", "test/plain", "test/blind")}, "models.Ada.fallbacks[1]"},
		"a summarizer reads no images": {flow.Amendment{Summarizer: new("test/blind")}, "summarizer"},
		"a rule's reads no images": {
			flow.Amendment{OnFailure: &[]flow.FailureRule{{Do: flow.OptionModel, Model: "test/blind"}}}, "onFailure[0].model",
		},
		"has no effort":               {flow.Amendment{Models: choice("test/plain")}, "models.Ada"},
		"a summarizer has no effort":  {flow.Amendment{Summarizer: new("test/plain")}, "summarizer"},
		"has all":                     {flow.Amendment{Models: choice("test/spare")}, ""},
		"nobody asks it for effort":   {flow.Amendment{Models: map[string]flow.ModelChoice{"Ben": {Model: "test/plain"}}}, ""},
		"a fallback goes without":     {flow.Amendment{Models: choice("test/spare", "test/plain")}, ""},
		"a rule's model goes without": {flow.Amendment{OnFailure: &[]flow.FailureRule{{Do: flow.OptionModel, Model: "test/plain"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, p := demanding(t)
			stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2))
			session := stage.Started(t, engine, config)
			_, err := session.Wait(t.Context())
			require.Error(t, err)
			calls := p.Calls()
			for _, amend := range []func() error{
				func() error { return session.Control(t.Context(), tc.amend) },
				func() error { return engine.Control(t.Context(), session.ID(), tc.amend) },
			} {
				err := amend()
				if tc.field == "" {
					require.NoError(t, err)
					continue
				}
				assert.Equal(t, []string{tc.field}, stage.FieldsOf(t, err))
				require.ErrorIs(t, err, flow.ErrUnsupported)
			}
			assert.Equal(t, calls, p.Calls(), "nothing is paid")
		})
	}
}

// A fallback that is chosen while the debate runs is asked without what it lacks, as one of the config is: also if the debate
// knows the model already, from a place without options.
func TestAnAmendedFallbackIsAskedWithoutWhatItLacks(t *testing.T) {
	for name, judge := range map[string]string{"a new model": "test/judge", "a judge's model": "test/plain"} {
		t.Run(name, func(t *testing.T) {
			config, engine, p := demanding(t)
			config.Judging.Judges[0].Model = judge
			reply := p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply {
				if req.Model == "spare" {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindValidation, Status: 404}}
				}
				return reply(req)
			}
			stage.Befall(p, provider.KindRefusal, stage.Said("Ada", 2))
			session := stage.Started(t, engine, config)
			_, err := session.Wait(t.Context())
			require.Error(t, err)
			require.NoError(t, session.Control(t.Context(), flow.Amendment{Models: choice("test/spare", "test/plain")}))
			require.NoError(t, session.Retry(t.Context()))
			record := resumed(t, engine, session)
			assert.Equal(t, []flow.LeftOut{{Model: "test/plain", What: []string{"effort"}}}, record.LeftOut())
			asked := 0
			for _, req := range p.Requests() {
				if req.Model == "plain" && req.Self == "Ada" {
					asked++
					assert.Equal(t, &provider.Options{Extra: stage.TopK("1")}, req.Options)
				}
			}
			assert.Positive(t, asked)
			read := stage.StoredRecord(t, engine, record.ID)
			row, _ := read.Model("test/plain")
			assert.Equal(t, []provider.Ability{provider.AbilityEffort}, row.Unsupported)
		})
	}
}

// The model that a person chooses must be able too, for all whom the question is about.
func TestAChosenModelMustBeAble(t *testing.T) {
	for name, tc := range map[string]struct {
		who, model string
		refused    bool
	}{
		"reads no images":           {"Ben", "test/blind", true},
		"has no effort":             {"Ada", "test/plain", true},
		"nobody asks it for effort": {"Ben", "test/plain", false},
		"has all":                   {"Ada", "test/spare", false},
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, p := demanding(t)
			config.Unattended = false
			stage.Befall(p, provider.KindRefusal, stage.Said(tc.who, 2))
			session := stage.Started(t, engine, config)
			record := stage.AwaitsInput(t, session)
			answer := flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: tc.model}
			for _, choose := range []func() error{
				func() error { return engine.Control(t.Context(), session.ID(), answer) },
				func() error { return session.Answer(t.Context(), answer) },
			} {
				err := choose()
				if !tc.refused {
					require.NoError(t, err)
					break
				}
				require.ErrorIs(t, err, flow.ErrUnsupported)
				assert.Equal(t, "model", stage.RequireKind(t, err, provider.KindValidation).Field)
			}
			if !tc.refused {
				record = stage.Ended(t, session)
				assert.Equal(t, flow.StateCompleted, record.State)
			}
		})
	}
}

// A fork with other models is refused like a start: its files are read by all, and the options must fit.
func TestTheModelsOfAForkMustBeAble(t *testing.T) {
	config, engine, _ := demanding(t)
	record := stage.Run(t, engine, config)
	for field, edit := range map[string]func(*debate.Config){
		"participants[1].model":          func(c *debate.Config) { c.Participants[1].Model = "test/blind" },
		"judging.judges[0].fallbacks[0]": func(c *debate.Config) { c.Judging.Judges[0].Fallbacks = []string{"test/blind"} },
		"participants[0].options.effort": func(c *debate.Config) { c.Participants[0].Model = "test/plain" },
		"summarizerOptions.effort":       func(c *debate.Config) { c.Summarizer = "test/plain" },
	} {
		for _, seq := range []int64{0, record.Seq / 2, record.Seq} {
			_, err := engine.Fork(t.Context(), record.ID, seq, debate.Editing(edit))
			assert.Equal(t, []string{field}, stage.FieldsOf(t, err), seq)
			require.ErrorIs(t, err, flow.ErrUnsupported)
		}
	}
	fork, err := engine.Fork(t.Context(), record.ID, record.Seq/2, debate.Editing(func(c *debate.Config) {
		c.Participants[0].Fallbacks = []string{"test/plain"}
	}))
	require.NoError(t, err)
	defer fork.Close()
}

// The edit of a fork adds a file: a model that was chosen in the copied part must read it too.
func TestAFileOfAForkIsReadByTheModelsInForce(t *testing.T) {
	config, engine, p := demanding(t)
	config.Attachments = nil
	stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2))
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	_, err = session.Wait(t.Context())
	require.Error(t, err)
	require.NoError(t, session.Control(t.Context(), flow.Amendment{Models: map[string]flow.ModelChoice{"Ben": {Model: "test/blind"}}}))
	record := stage.SessionRecord(t, session)
	illustrate := func(c *debate.Config) { c.Attachments = []flow.File{{Name: "chart.png", Data: stage.PNG}} }
	_, err = engine.Fork(t.Context(), record.ID, record.Seq, debate.Editing(illustrate))
	assert.Equal(t, []string{"models.Ben"}, stage.FieldsOf(t, err))
	require.ErrorIs(t, err, flow.ErrUnsupported)
	fork, err := engine.Fork(t.Context(), record.ID, record.Seq-1, debate.Editing(illustrate))
	require.NoError(t, err, "before that choice")
	defer fork.Close()
}
