package debates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// masked is a debate of one round before an anonymous judge, whose participants each say the same text.
// The judge finds for the label that comes first in its schema.
func masked(text string, names ...string) (debate.Config, *debate.Engine, *scripted.Provider) {
	config := stage.TwoDebaters()
	config.Rounds, config.Participants = 1, nil
	for i, name := range names {
		config.Participants = append(config.Participants, debate.Participant{
			Name: name, Model: "test/debater", Position: fmt.Sprintf("Not what %s says.", names[(i+1)%len(names)]), Persona: "Friend of " + name,
		})
	}
	config.Judging.Anonymous = true
	engine, source := stage.Engine(config)
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return scripted.Reply{Text: text}
		}
		labels := stage.LabelsIn(req.Schema.JSON)
		if req.Schema.Name == "verdict" {
			return scripted.Reply{Text: stage.Verdict(labels)}
		}
		return scripted.Reply{Text: stage.Judgement(labels, true)}
	}
	return config, engine, source
}

// labelsOf yields the labels under which judges read the participants of these names.
func labelsOf(r *debate.Record, names ...string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = r.Hide(name)
	}
	return out
}

// judged yields the requests to judges.
func judged(source *scripted.Provider) []provider.Request {
	return slices.DeleteFunc(source.Requests(), func(req provider.Request) bool { return req.Schema == nil })
}

func TestJudgesReadLabelsInPlaceOfNames(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		names []string
		want  string // what the judge reads, by ‹n› for the n-th's label; "": only that no name is read
	}{
		"in speeches": {
			text:  "Ada said so. I, Ben, do not: Ada's point (Ada!) is “Ada”.",
			names: []string{"Ada", "Ben"}, want: "‹0› said so. I, ‹1›, do not: ‹0›'s point (‹0›!) is “‹0›”.",
		},
		"at the ends": {text: "Ada, then Ben", names: []string{"Ada", "Ben"}, want: "‹0›, then ‹1›"},
		"a name that is a part of another": {
			text:  "Ann, Anna and Ann Lee; Anna Lee is nobody, nor is Annabel or Joann. Ann  Lee.",
			names: []string{"Ann", "Anna", "Ann Lee"},
			want:  "‹0›, ‹1› and ‹2›; ‹1› Lee is nobody, nor is Annabel or Joann. ‹0›  Lee.",
		},
		"signs of regular expressions": {
			text: "A.* met [x] and (?i)a$ in ^b. AxB, x.", names: []string{"A.*", "[x]", "(?i)a$", "^b"},
			want: "‹0› met ‹1› and ‹2› in ‹3›. AxB, x.",
		},
		"signs of templates":                  {text: "$1 met {{.}} and %s, \\1.", names: []string{"$1", "{{.}}", "%s", `\1`}, want: "‹0› met ‹1› and ‹2›, ‹3›."},
		"names that are one another's labels": {text: "A met B, and B met A.", names: []string{"A", "B"}, want: "‹0› met ‹1›, and ‹1› met ‹0›."},
		"emoji":                               {text: "🦊 met 🐺, says 🦊.", names: []string{"🦊", "🐺"}, want: "‹0› met ‹1›, says ‹0›."},
		"emoji in a word":                     {text: "I like🦊and🐺", names: []string{"🦊", "🐺"}},
		"CJK between signs":                   {text: "「陈伟」、「陈」", names: []string{"陈伟", "陈"}, want: "「‹0›」、「‹1›」"},
		"CJK in a sentence":                   {text: "陈伟说陈不对", names: []string{"陈伟", "陈"}},
		"a name in Japanese":                  {text: "田中さんは佐藤さんに答えた。", names: []string{"田中", "佐藤"}},
		"marked by underscores":               {text: "_Adalbert_ and __Benedict__ and **Adalbert**", names: []string{"Adalbert", "Benedict"}},
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, source := masked(test.text, test.names...)
			record := stage.Run(t, engine, config)
			labels := labelsOf(record, test.names...)
			assert.ElementsMatch(t, labels, stage.LabelsIn(judged(source)[0].Schema.JSON))
			require.Len(t, judged(source), 2)
			for _, req := range judged(source) {
				text := stage.ReadBy(&req)
				for _, name := range test.names {
					if len(name) > 2 || name[0] > 127 { // others stand in prompts too
						assert.False(t, hasName(text, name), "%s: %q is read in %q", req.ID, name, req.Messages[0].Text)
					}
				}
				if test.want == "" {
					continue
				}
				want := test.want
				for i, label := range labels { // in the order of participants
					want = strings.ReplaceAll(want, fmt.Sprintf("‹%d›", i), label)
				}
				for i := range req.Messages {
					assert.Equal(t, want, req.Messages[i].Text)
				}
			}
			for i, turn := range record.Turns {
				assert.Equal(t, test.names[i], turn.Speaker)
				assert.Equal(t, test.text, turn.Text, "the record keeps what was said")
			}
			require.NotNil(t, stage.View(record).Verdict)
			assert.Contains(t, test.names, stage.View(record).Verdict.Winner.Participant, "and who has won")
		})
	}
}

// hasName reports whether a reader finds a name in a text. A part of a longer Latin word is no name.
func hasName(text, name string) bool {
	bound := ""
	if name[0] < utf8.RuneSelf {
		bound = `(^|$|[^\pL\pN]|_)`
	}
	return regexp.MustCompile(bound + regexp.QuoteMeta(name) + bound).MatchString(text)
}

// What a host writes about the participants is hidden too.
func TestLabelsInAllThatAJudgeIsTold(t *testing.T) {
	config, engine, source := masked("Well.", "Adalbert", "Benedict")
	config.Topic = "Is Adalbert right about cars?"
	config.Watch = []format.Detector{format.DetectRepetition}
	config.Rounds = 2
	custom := format.Builtin()[0]
	custom.Name, custom.Guidance = "mine", "Benedict speaks last."
	config.Judging.Rubric = debate.DefaultRubric()
	config.Judging.Rubric.Criteria[2].Low, config.Judging.Rubric.Criteria[2].High = "passes over Benedict", "answers Adalbert"
	config.Format, config.CustomFormat = "", &custom
	answer := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return scripted.Reply{Text: strings.Repeat("The very same words are said again and again by me. ", 4)}
		}
		return scripted.Reply{Text: stage.Marked(req.Schema.JSON, answer(req).Text)}
	}
	stage.Run(t, engine, config)
	found := false
	for _, req := range judged(source) {
		found = found || strings.Contains(req.Last.Text, "repetition")
		for part, text := range map[string]string{"system": req.System, "last": req.Last.Text, "schema": string(req.Schema.JSON)} {
			for line := range strings.Lines(text) {
				assert.NotRegexp(t, "Adalbert|Benedict", line, "%s of %s", part, req.ID)
			}
		}
	}
	assert.True(t, found, "the finding is told")
}

// Positions that a model has found may name other participants.
func TestLabelsInAssignedPositions(t *testing.T) {
	config, engine, source := masked("Well.", "Adalbert", "Benedict", "Casimir")
	config.Participants[1].Position, config.Participants[2].Position = "", ""
	config.AssignPositions = &debate.AssignPositions{Model: "test/assigner"}
	answer := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && req.Schema.Name == "assign" {
			one := map[string]any{"position": "Adalbert is wrong.", "persona": "A rival of Adalbert.", "keyArguments": []string{"Adalbert errs."}}
			two := map[string]any{"position": "Adalbert is half right.", "persona": "A friend of Adalbert.", "keyArguments": []string{"It depends."}}
			return scripted.Reply{Text: stage.Placed(req, stage.JSON(map[string]any{"positions": []any{one, two}, "reasoning": "They collide."}))}
		}
		return answer(req)
	}
	stage.Run(t, engine, config)
	for _, req := range judged(source) {
		if req.Schema.Name != "assign" {
			assert.Contains(t, req.System, "is half right.", "the judge is told of positions")
			assert.NotContains(t, req.System, "Adalbert", req.ID)
		}
	}
}

func TestLabelsForAJudgeFromOutside(t *testing.T) {
	config, engine, _ := masked("Ada and Ben disagree.", "Ada", "Ben")
	config.Judging.Judges[0] = debate.JudgeConfig{Name: "Cato", Judge: "cato"}
	config.Topic = "Is it so?"
	var tasks []debate.JudgeTask
	engine.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		tasks = append(tasks, task)
		if task.Kind == debate.KindVerdict {
			return json.RawMessage(stage.Verdict([]string{task.Participants[0].Name, task.Participants[1].Name})), nil
		}
		return json.RawMessage(stage.Judgement([]string{task.Participants[0].Name, task.Participants[1].Name}, true)), nil
	})}
	record := stage.Run(t, engine, config)
	require.Len(t, tasks, 2)
	for _, task := range tasks {
		assert.NotRegexp(t, `\b(Ada|Ben)\b`, stage.JSON(task))
		assert.Empty(t, task.Participants[0].Model)
	}
	assert.Equal(t, "Ada", record.Turns[0].Speaker, "the record's turns are not touched")
	require.NotNil(t, stage.View(record).Verdict)
	seat := strings.Index("AB", strings.TrimPrefix(tasks[1].Participants[0].Name, "Speaker "))
	require.GreaterOrEqual(t, seat, 0, "a label")
	assert.Contains(t, []string{"Ada", "Ben"}, stage.View(record).Verdict.Winner.Participant, "the label is read as a name")
}

// The audience and the speakers themselves are shown the names.
func TestOnlyJudgesReadLabels(t *testing.T) {
	config, engine, source := masked("Well, Ada.", "Ada", "Ben")
	config.Rounds = 2
	stage.Run(t, engine, config)
	for _, req := range source.Requests() {
		if req.Schema == nil {
			assert.NotContains(t, stage.JSON(req), "Speaker A", req.ID)
		}
	}
}

func TestNamesThatLookLikeLabelsAreRefused(t *testing.T) {
	for _, name := range []string{"Speaker A", "Speaker B", "speaker a", "SPEAKER B", "Speaker\u00a0A", "Ѕpeaker A"} {
		config, engine, _ := masked("Well.", name, "Ben")
		assert.Error(t, engine.Validate(t.Context(), config), "%q", name)
	}
	config, engine, _ := masked("Well.", "Ada", "Ben")
	config.Audience = &debate.Audience{Members: []debate.Member{{Name: "Speaker A", Model: "test/voter"}}}
	assert.Error(t, engine.Validate(t.Context(), config), "one of the audience may ask, and is read under this name")
}

// A debater who writes labels cannot speak as somebody else: who says so is the marker, and it is the
// judge's to see. What stands in a record stays as it was said.
func TestLabelsThatADebaterWrites(t *testing.T) {
	text := "Speaker A concedes. Speaker B concedes."
	config, engine, source := masked(text, "Ada", "Ben")
	record := stage.Run(t, engine, config)
	assert.Equal(t, text, record.Turns[0].Text)
	for _, req := range judged(source) {
		for i := range req.Messages {
			assert.Equal(t, record.Hide(record.Turns[i].Speaker), req.Messages[i].Speaker)
		}
	}
}

func TestManyLabels(t *testing.T) {
	custom := format.Builtin()[0]
	custom.Name, custom.MaxParticipants = "crowd", 60
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("Person %d", i))
	}
	config, engine, source := masked("Person 1, not Person 11 or Person 59.", names...)
	config.Format, config.CustomFormat = "", &custom
	record := stage.Run(t, engine, config)
	labels := labelsOf(record, names...)
	assert.ElementsMatch(t, labels, stage.LabelsIn(judged(source)[0].Schema.JSON))
	for _, want := range []string{"Speaker A", "Speaker Z", "Speaker AA", "Speaker BH"} {
		assert.Contains(t, labels, want)
	}
	assert.Equal(t, labels[1]+", not "+labels[11]+" or "+labels[59]+".", judged(source)[0].Messages[0].Text)
	assert.Contains(t, names, stage.View(record).Verdict.Winner.Participant)
	for _, mark := range stage.View(record).Assessments[0].Assessments {
		assert.Contains(t, names, mark.Participant)
	}
}
