package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
)

// bound is a bound of a config: how to fill it to n, and the most that is allowed.
type bound struct {
	field string
	most  int
	fill  func(c *debate.Config, n int)
}

func names(format string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, i)
	}
	return out
}

func bounds() []bound {
	own := func(how func(*debate.Format, int)) func(*debate.Config, int) {
		return func(c *debate.Config, n int) {
			c.Format, c.CustomFormat = "", &debate.Format{
				Name: "own", Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}}, End: format.EndByJudge,
			}
			how(c.CustomFormat, n)
		}
	}
	detectors := func(n int) []format.Detector { return slices.Repeat([]format.Detector{format.DetectDrift}, n) }
	return []bound{
		{"participants[1].fallbacks", 16, func(c *debate.Config, n int) { c.Participants[1].Fallbacks = names("test/%d", n) }},
		{"judging.judges[0].fallbacks", 16, func(c *debate.Config, n int) { c.Judging.Judges[0].Fallbacks = names("test/%d", n) }},
		{"audience.members[0].fallbacks", 16, func(c *debate.Config, n int) {
			c.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/m", Fallbacks: names("test/%d", n)}}}
		}},
		{"assignPositions.fallbacks", 16, func(c *debate.Config, n int) {
			c.AssignPositions = &debate.AssignPositions{Model: "test/m", Fallbacks: names("test/%d", n)}
		}},
		{"judging.judges", 100, func(c *debate.Config, n int) { stage.PanelOf(n)(c) }},
		{"judging.criteria", 50, func(c *debate.Config, n int) { c.Judging.Criteria = names("criterion %d", n) }},
		{"judging.rubric.criteria", 50, func(c *debate.Config, n int) {
			c.Judging.Rubric = &debate.Rubric{}
			for _, name := range names("criterion %d", n) {
				c.Judging.Rubric.Criteria = append(c.Judging.Rubric.Criteria, debate.Criterion{Name: name, Weight: 100 / float64(n)})
			}
		}},
		{"audience.members", 1000, func(c *debate.Config, n int) {
			c.Audience = &debate.Audience{Members: slices.Repeat([]debate.Member{{Model: "test/m"}}, n)}
		}},
		{"watch", 16, func(c *debate.Config, n int) { c.Watch = detectors(n) }},
		{"stopOn", 16, func(c *debate.Config, n int) { c.StopOn = detectors(n) }},
		{"customFormat.watch", 16, own(func(f *debate.Format, n int) { f.Watch = detectors(n) })},
		{"customFormat.stopOn", 16, own(func(f *debate.Format, n int) { f.StopOn = detectors(n) })},
		{"labels", 64, func(c *debate.Config, n int) {
			c.Labels = map[string]string{}
			for _, name := range names("label %d", n) {
				c.Labels[name] = ""
			}
		}},
		{"labels.a", 1024, func(c *debate.Config, n int) { c.Labels = map[string]string{"a": strings.Repeat("v", n)} }},
		{"participants[0].model", 256, func(c *debate.Config, n int) { c.Participants[0].Model = "test/" + strings.Repeat("m", n-5) }},
		{"summarizer", 256, func(c *debate.Config, n int) { c.Summarizer = "test/" + strings.Repeat("m", n-5) }},
		{"topic", 20_000, func(c *debate.Config, n int) { c.Topic = strings.Repeat("t", n) }},
	}
}

// What is at its bound is taken, what is above is refused by its field, and what is far above costs no time.
func TestBoundsOfAConfig(t *testing.T) {
	longform.Lone(t)
	for _, b := range bounds() {
		t.Run(b.field, func(t *testing.T) {
			engine, _ := stage.Engine(stage.TwoDebaters())
			validate := func(n int) error {
				config := stage.TwoDebaters()
				b.fill(&config, n)
				return engine.Validate(t.Context(), config)
			}
			require.NoError(t, validate(b.most))
			assert.Equal(t, []string{b.field}, stage.FieldsOf(t, validate(b.most+1)))
			var err error
			stage.Soon(t, func() { err = validate(longform.Or(200_000, 25_000)) })
			assert.Equal(t, []string{b.field}, stage.FieldsOf(t, err))
		})
	}
}

// A debate has at most 1000 participants, whatever its format says.
func TestTheMostParticipants(t *testing.T) {
	longform.Lone(t)
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	config.Format, config.CustomFormat = "", &debate.Format{
		Name: "own", MaxParticipants: 1 << 30, Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}}, End: format.EndByJudge,
		Seats: []format.Seats{{Side: debate.For}, {Side: ""}},
	}
	config.Participants = nil
	for _, name := range names("P%d", longform.Or(200_000, 25_000)) {
		config.Participants = append(config.Participants, debate.Participant{Name: name, Model: "test/debater"})
	}
	var err error
	stage.Soon(t, func() { err = engine.Validate(t.Context(), config) })
	assert.Equal(t, []string{"participants"}, stage.FieldsOf(t, err))
	config.Participants = config.Participants[:1000]
	require.NoError(t, engine.Validate(t.Context(), config))

	config.CustomFormat.Reads = format.Reads{Graph: format.GivenEdges, Edges: map[string][]string{}}
	everybody := names("P%d", 1000)
	for _, name := range everybody {
		config.CustomFormat.Reads.Edges[name] = everybody
	}
	stage.Soon(t, func() { err = engine.Validate(t.Context(), config) })
	require.NoError(t, err)
	config.CustomFormat.Reads.Edges["P0"] = append(everybody, "P0")
	assert.Equal(t, []string{"customFormat.reads.edges"}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
	for _, name := range everybody {
		config.CustomFormat.Reads.Edges[name] = names("Q%d", 1000)
	}
	stage.Soon(t, func() { err = engine.Validate(t.Context(), config) })
	assert.Len(t, stage.FieldsOf(t, err), 200, "a million are not told")
}

// TestPromptsThatGrowWithTheSquare: everybody is told of everybody's position, so a config within each bound of its own can still ask for
// more prompts than a machine holds.
func TestPromptsThatGrowWithTheSquare(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.CustomFormat = "", &debate.Format{
		Name: "own", MaxParticipants: 1000, Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}}, End: format.EndByJudge,
	}
	config.Participants = nil
	for _, name := range names("P%d", 400) {
		config.Participants = append(config.Participants, debate.Participant{Name: name, Model: "test/debater", Position: strings.Repeat("x", flow.MaxText)})
	}
	engine, _ := stage.Engine(config)
	require.NoError(t, engine.Validate(t.Context(), config))
	_, err := engine.Start(t.Context(), config)
	require.ErrorContains(t, err, "the prompts of the debate have more than 128 MiB")
}

func TestNamesOfWhatIsRegistered(t *testing.T) {
	for name, bad := range map[string]string{
		"two lines": "test/a\nb", "a control sign": "test/\x1b[31m", "a NUL": "test/\x00", "no UTF-8": "test/\xff", "turned round": "test/\u202ea",
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			engine, _ := stage.Engine(config)
			config.Participants[0].Model, config.Participants[1].Fallbacks, config.Summarizer = bad, []string{"test/ok", bad}, bad
			config.Judging.Judges[0].Model = bad
			err := engine.Validate(t.Context(), config)
			assert.Equal(t, []string{"judging.judges[0].model", "participants[0].model", "participants[1].fallbacks[1]", "summarizer"}, stage.FieldsOf(t, err))
			assert.NotContains(t, err.Error(), bad)
		})
	}
}

// Whoever writes a log chooses its names: nothing need be registered, and yet they are names.
func TestImportChecksBounds(t *testing.T) {
	longform.Lone(t)
	config := stage.TwoDebaters()
	config.ID = "one"
	l := stage.PlayedLog(t, config)
	imported := func(change func(*debate.Config)) error {
		events := l.Copied(t)
		stage.Reconfigure(body.As[flow.Start](events[0]), change)
		data := stage.Snapshot(t, l.ID, events)
		_, err := new(debate.Engine).Import(t.Context(), bytes.NewReader(data))
		return err
	}
	require.NoError(t, imported(func(*debate.Config) {}))
	for _, b := range bounds() {
		if strings.HasPrefix(b.field, "customFormat") {
			continue // which a log has beside its config
		}
		err := imported(func(c *debate.Config) { b.fill(c, longform.Or(25_000, b.most+1)) })
		assert.Contains(t, stage.FieldsOf(t, err), "events[0].body.config."+b.field)
	}
	stage.Soon(t, func() {
		require.Error(t, imported(func(c *debate.Config) { c.Participants[0].Fallbacks = names("test/%d", 40_000) }))
	})
	odd := strings.Repeat("x", 1000)
	assert.Equal(t, []string{
		"events[0].body.config.context", "events[0].body.config.judging.judges[0].judge", "events[0].body.config.participants[0].model",
	}, stage.FieldsOf(t, imported(func(c *debate.Config) {
		c.Context, c.Judging.Judges[0] = odd, debate.JudgeConfig{Name: "judge", Judge: "a\nb"}
		c.Participants[0].Model = "test/" + odd
	})))
}

// A setting of kinds that do not exist is told once if there are more of them than there are kinds.
func TestTooManyKindsOfRetries(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	config.Retry = &debate.RetryPolicy{Max: map[debate.Kind]int{}}
	for _, name := range names("kind %d", 100) {
		config.Retry.Max[debate.Kind(name)] = 1
	}
	assert.Equal(t, []string{"retry.max"}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
}

func TestTooManyTools(t *testing.T) {
	f := stage.OneState(stage.CallsOf(func(*flow.Call) {}))
	engine, _, config := stage.WithFlow(f)
	tool, err := flow.NewTool(flow.ToolInfo{Description: "adds", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) { return "", nil })
	require.NoError(t, err)
	engine.Tools, config.Tools = map[string]debate.Tool{}, names("tool%d", 128)
	for _, name := range config.Tools {
		engine.Tools[name] = tool
	}
	require.NoError(t, engine.Validate(t.Context(), stage.InFlow(engine, config)))
	config.Tools = append(config.Tools, "more")
	assert.Equal(t, []string{"tools"}, stage.FieldsOf(t, engine.Validate(t.Context(), stage.InFlow(engine, config))))
}
