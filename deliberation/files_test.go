package deliberation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

var pixels = []byte("\x89PNG\r\n\x1a\npixels")

func image(name string) []flow.File { return []flow.File{{Name: name, Data: pixels}} }

func study(name string) []flow.Document { return []flow.Document{{Name: name, Files: image("a.png")}} }

// shownIn reports whether all requests begin with an image, under this text.
func shownIn(h *held, text string) bool {
	for i := range h.requests {
		if m := h.requests[i].Messages; len(m) == 0 || m[0].Text != text || string(m[0].Parts[0].Data) != string(pixels) {
			return false
		}
	}
	return true
}

// A person answers with an image. All who read the answer read the image: in the same process, and in another one.
func TestAPersonAnswersWithAnImage(t *testing.T) {
	config := three()
	config.ID, config.Clarification, config.Documents = "drawn", deliberation.Clarification{On: true, Iterations: 1}, study("The study")
	engine, p := engineFor(curious(map[string][]string{"clarify.1.ada": {"How does it look?"}}))
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	stage.AwaitsInput(t, session)

	sketch := []byte("\x89PNG\r\n\x1a\na sketch")
	for field, attachments := range map[string][]flow.File{
		"attachments[0]":      {{Name: "sketch.png", Type: "image/jpeg", Data: sketch}},
		"attachments[0].name": {{Name: "../sketch.png", Data: sketch}},
	} {
		err = session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.1", Text: "Like this.", Attachments: attachments})
		var failure *flow.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, []any{provider.KindValidation, field}, []any{failure.Kind, failure.Field})
	}
	err = session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.1", Text: "Like this.", Attachments: []flow.File{{Hash: flow.HashOf(sketch), Size: 5, Type: "image/png"}}})
	require.ErrorIs(t, err, flow.ErrNoFile)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.1", Text: "Like this.", Attachments: []flow.File{{Name: "sketch.png", Data: sketch}}}))
	r := stage.Ended(t, session)
	assert.Equal(t, flow.StateCompleted, r.State)
	read := 0
	for _, req := range p.Requests() {
		var names []string
		for _, m := range req.Messages {
			for _, part := range m.Parts {
				names = append(names, part.Name)
				assert.NotEmpty(t, part.Data)
			}
		}
		if callOf(&req) == "clarify.1.ada" || callOf(&req) == "clarify.1.ben" || callOf(&req) == "clarify.1.cyd" {
			assert.Equal(t, []string{"a.png"}, names, req.ID)
			continue
		}
		read++
		assert.Equal(t, []string{"a.png", "sketch.png"}, names, req.ID)
		assert.Contains(t, req.Messages[1].Text, "Like this.\n[image: sketch.png]")
	}
	assert.Greater(t, read, 10)
	data, err := engine.File(t.Context(), "drawn", flow.HashOf(sketch))
	require.NoError(t, err)
	assert.Equal(t, sketch, data)
}

// A person hands in a file while an agent has a model that reads no images: the answer is refused, whoever has chosen that
// model. A file that is there is read by whoever is chosen later, in a fork too.
func TestTheFilesOfAPersonAreReadByTheModelsInForce(t *testing.T) {
	config := three()
	config.ID, config.Clarification = "drawn", deliberation.Clarification{On: true, Iterations: 1}
	engine, _ := engineFor(curious(map[string][]string{"clarify.1.ada": {"How does it look?"}}))
	engine.Models = map[string]debate.Model{"test/blind": {Unsupported: []provider.Ability{provider.AbilityImage}}}
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	stage.AwaitsInput(t, session)
	models := func(model string, fallbacks ...string) flow.Amendment {
		return flow.Amendment{Models: map[string]flow.ModelChoice{"ada": {Model: model, Fallbacks: fallbacks}}}
	}
	refused := func(err error, field string) {
		t.Helper()
		var failure *flow.Error
		require.ErrorAs(t, err, &failure)
		require.ErrorIs(t, err, flow.ErrUnsupported)
		assert.Equal(t, field, failure.Field)
	}
	answer := flow.Answer{Inquiry: "question.1.ada.1", Text: "Like this.", Attachments: image("sketch.png")}
	require.NoError(t, session.Control(t.Context(), models("test/agent", "test/blind")), "there is no file yet")
	refused(session.Answer(t.Context(), answer), "models.ada")
	refused(engine.Control(t.Context(), "drawn", answer), "models.ada")
	require.NoError(t, session.Control(t.Context(), models("test/agent")))
	require.NoError(t, session.Pause(t.Context()))
	require.NoError(t, session.Answer(t.Context(), answer))
	refused(session.Control(t.Context(), models("test/blind")), "models.ada")
	refused(engine.Control(t.Context(), "drawn", models("test/agent", "test/blind")), "models.ada.fallbacks[0]")
	record := stage.SessionRecord(t, session)
	blind := debate.Editing(func(c *deliberation.Config) { c.Agents[1].Model = "test/blind" })
	_, err = engine.Fork(t.Context(), "drawn", record.Seq, blind)
	refused(err, "agents[1].model")
	fork, err := engine.Fork(t.Context(), "drawn", 0, blind)
	require.NoError(t, err, "nothing of the file is copied")
	defer fork.Close()
}

// An image that an agent cannot read is refused before it is stored, also by another engine.
func TestAnAnswerThatAnAgentCannotReadIsRefused(t *testing.T) {
	config := three()
	config.ID, config.Clarification = "blind", deliberation.Clarification{On: true, Iterations: 1}
	config.Agents[1].Fallbacks = []string{"test/blind"}
	kept := &store.Memory{}
	open := func() *debate.Engine {
		engine, _ := engineFor(curious(map[string][]string{"clarify.1.ada": {"How does it look?"}}))
		engine.Store = kept
		engine.Models = map[string]debate.Model{"test/blind": {Unsupported: []provider.Ability{provider.AbilityImage}}}
		return engine
	}
	session, err := open().Start(t.Context(), config)
	require.NoError(t, err)
	stage.AwaitsInput(t, session)
	require.NoError(t, session.Close())
	before := stage.SessionRecord(t, session)
	session = stage.Reopen(t, open(), config.ID)
	defer session.Close()
	err = session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.1", Text: "Like this.", Attachments: image("sketch.png")})
	var failure *flow.Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, []any{provider.KindValidation, "agents[1].fallbacks[0]"}, []any{failure.Kind, failure.Field})
	require.ErrorIs(t, err, flow.ErrUnsupported)
	_, err = kept.Blob(t.Context(), config.ID, flow.HashOf(pixels))
	require.ErrorIs(t, err, flow.ErrNoFile)
	after := stage.SessionRecord(t, session)
	assert.Equal(t, before.Seq, after.Seq)
}
