package debates_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// A person who judges is asked in words for people, and answers with a score each, a winner and a sentence.
func TestAPersonIsAskedWhatAPersonCanAnswer(t *testing.T) {
	for name, anonymous := range map[string]bool{"by name": false, "by label": true} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Rounds, config.Judging.Anonymous = 1, anonymous
			config.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Person: true}}
			engine, _ := stage.Engine(config)
			session := stage.Started(t, engine, config)
			for _, kind := range []flow.CallKind{debate.KindAssessment, debate.KindVerdict} {
				record := stage.AwaitsInput(t, session)
				q := record.Inquiries[0]
				assert.Equal(t, kind, q.Kind)
				assert.Less(t, len(q.Question), 600, "it can be read at a glance")
				names := []string{"Ada", "Ben"}
				if anonymous {
					names = []string{"Speaker A", "Speaker B"}
					assert.NotContains(t, q.Question+string(q.Schema), "Ada")
				}
				for _, who := range names {
					assert.Contains(t, q.Question, who)
					assert.Contains(t, string(q.Schema), fmt.Sprintf("%q", who))
				}
				_, example, _ := strings.Cut(q.Question, "looks like this: ")
				before := record.Seq
				for _, bad := range []string{"Ada, clearly.", "{}", strings.Replace(example, "7", "70000", 1), strings.Replace(example, names[0], "Zoe", 1), strings.Replace(example, "…", " ", 1)} {
					failure := stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: bad}), provider.KindValidation)
					assert.Equal(t, "text", failure.Field)
				}
				record = stage.AwaitsInput(t, session)
				assert.Equal(t, before, record.Seq, "a malformed answer changes nothing")
				require.Len(t, record.Inquiries, 1, "the question is still open")
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: example}), "the example is an answer")
			}
			record := stage.Ended(t, session)
			assert.Equal(t, map[string]float64{"Ada": 70, "Ben": 70}, stage.View(record).Outcome().Scores)
			assert.Len(t, stage.View(record).Assessments[0].Assessments, 2)
			assert.Empty(t, stage.View(record).Outcome().Winner)
			assert.Empty(t, record.Rejections)
		})
	}
}

// TestAnExampleTellsNoNames: labels stand in it in their own order and not in that of the names, and a participant who is called like a field
// does not spoil it.
func TestAnExampleTellsNoNames(t *testing.T) {
	for n := range 20 {
		config := stage.TwoDebaters()
		config.Rounds, config.Judging.Anonymous, config.Judging.When = 1, true, debate.AtEnd
		config.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Person: true}}
		config.Participants[1].Name = "reasoning"
		engine, _ := stage.Engine(config)
		engine.Seed = func() string { return fmt.Sprint("seed ", n) }
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		record := stage.AwaitsInput(t, session)
		_, example, _ := strings.Cut(record.Inquiries[0].Question, "looks like this: ")
		var answer debate.PersonVerdict
		require.NoError(t, json.Unmarshal([]byte(example), &answer))
		assert.NotEmpty(t, answer.Reasoning, example)
		assert.Less(t, strings.Index(example, "Speaker A"), strings.Index(example, "Speaker B"), example)
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: example}), "the example is an answer")
		require.NoError(t, session.Close())
	}
}
