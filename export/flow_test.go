package export_test

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// notes is the config of a flow in which everybody writes one note.
type notes struct {
	Topic   string            `json:"topic"`
	Writers map[string]string `json:"writers"` // their models
}

func (*notes) Flow() string { return "notes" }

func (n *notes) Settings() flow.Settings {
	return flow.Settings{
		ID: "notes-1", Topic: n.Topic, Participants: []string{"Ada", "Ben"}, OnFailure: []flow.FailureRule{{Do: flow.OptionDrop}},
	}
}

func (n *notes) Seats() flow.Seats {
	return func(yield func(flow.Seat) bool) {
		for _, name := range slices.Sorted(maps.Keys(n.Writers)) {
			if !yield(flow.Seat{Field: "writers." + name, By: name, Model: new(n.Writers[name])}) {
				return
			}
		}
	}
}

func notesFlow() *flow.Flow {
	const writing flow.State = "writing"
	return &flow.Flow{
		Name: "notes", Version: 1, Start: writing,
		Rules: []flow.Rule{{From: writing, On: "written", To: flow.StateCompleting}},
		Steps: map[flow.State]flow.Step{writing: {
			Calls: func(r *flow.Record) (calls []*flow.Call) {
				for _, name := range r.Active() {
					config, ok := r.Config().(*notes)
					if id := "note." + name; ok && !r.Done(id) {
						calls = append(calls, &flow.Call{
							ID: id, Kind: "note", By: name, Model: config.Writers[name], OnFail: flow.OnFail{Drop: flow.RuleToo},
							Last: func(*flow.Record) string { return "Write a note." },
						})
					}
				}
				return calls
			},
			Next: func(*flow.Record) (flow.Trigger, flow.Exit, bool) { return "written", flow.Exit{}, true },
		}},
		Decode: flow.DecodeTo[notes],
	}
}

// TestAnotherFlow: a record of another flow gives a plain report.
func TestAnotherFlow(t *testing.T) {
	engine := &debate.Engine{
		Flows: map[string]*flow.Flow{"notes": notesFlow()},
		Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
			if req.Self == "Ben" {
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "no"}}
			}
			return scripted.Reply{Text: "A *note*."}
		}}},
	}
	session, err := engine.Start(context.Background(), &notes{"What is new?", map[string]string{"Ada": "acme/large", "Ben": "acme/small"}})
	require.NoError(t, err)
	defer session.Close()
	record := stage.Ended(t, session)
	var md bytes.Buffer
	require.NoError(t, export.Markdown(&md, record))
	for _, want := range []string{
		"# What is new?\n\nConversation notes-1 · ", "\n\n**Completed.**", "## Participants, and what it took\n\n- **Rounds:** 0\n- **Took:** ",
		"- **State:** completed\n\n### Ada\n\nacme/large · 1 turn · price not known\n\n### Ben\n\nacme/small · 0 turns · $0 · dropped\n\n",
		"## Outside the rounds\n\n### Ada\n\nnote\n\n> A *note*.\n\n## Failures and open questions\n\n**Dropped**\n\n",
		"## How it ran\n\n### Facts\n\n- **Flow:** notes\n- **Turns:** 1\n", "### Usage and cost",
	} {
		assert.Contains(t, md.String(), want)
	}
	for _, not := range []string{"Outcome", "verdict"} {
		assert.NotContains(t, md.String(), not)
	}
	_, err = structures(&export.Document{Record: record})
	require.NoError(t, err)
}

// mark is what Ada and Ben answer with.
type mark struct {
	Grade int    `json:"grade"`
	Why   string `json:"why"`
}

// TestAnswersAsJSON: what a model answers as data in a flow of the host's stands as indented JSON.
func TestAnswersAsJSON(t *testing.T) {
	schema, err := flow.NewSchema[mark]("mark", nil)
	require.NoError(t, err)
	assert.Contains(t, markedNotes(t, schema), "json\n> {\n>   \"grade\": 7,\n>   \"why\": \"```\\n# Sound\"\n> }\n")
}

// TestTheSpokenFieldOfAnAnswerIsText: a field of the answer that is the text of the turn stands as such, and the rest behind it.
func TestTheSpokenFieldOfAnAnswerIsText(t *testing.T) {
	md := markedNotes(t, flow.AnswerSchema[mark]("mark", flow.AnswerOf[mark]{Spoken: "why"}))
	assert.Contains(t, md, "json\n> {\n>   \"grade\": 7\n> }\n")
	assert.NotContains(t, md, `"why"`)
	assert.Equal(t, 2, strings.Count(md, "Sound"), "of Ada and of Ben")
}

// markedNotes is the document of notes that are answers of this schema.
func markedNotes(t *testing.T, schema *flow.Schema) string {
	t.Helper()
	f := notesFlow()
	step := f.Steps["writing"]
	calls := step.Calls
	step.Calls = func(r *flow.Record) []*flow.Call {
		all := calls(r)
		for i := range all {
			all[i].Schema = "mark"
		}
		return all
	}
	f.Steps["writing"], f.Schemas = step, map[string]*flow.Schema{"mark": schema}
	engine := &debate.Engine{
		Flows: map[string]*flow.Flow{"notes": f},
		Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
			return scripted.Reply{Text: `{"grade":7,"why":"` + "```" + `\n# Sound"}`}
		}}},
	}
	session, err := engine.Start(t.Context(), &notes{"What is new?", map[string]string{"Ada": "acme/large", "Ben": "acme/small"}})
	require.NoError(t, err)
	defer session.Close()
	record := stage.Ended(t, session)
	var md bytes.Buffer
	require.NoError(t, export.Markdown(&md, record))
	_, err = structures(&export.Document{Record: record})
	require.NoError(t, err)
	return md.String()
}
