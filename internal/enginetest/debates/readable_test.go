package debates_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A judge of the host program's own reads what was said: no thoughts, no models and none of their options. With labels, the
// sources tell no names either.
func TestAJudgeFromOutsideReadsWhatOthersMayRead(t *testing.T) {
	for name, hidden := range map[string]bool{"by names": false, "by labels": true} {
		t.Run(name, func(t *testing.T) {
			config, engine, p := masked("Ada and Ben disagree.", "Ada", "Ben")
			config.Topic, config.Judging.Anonymous = "Is it so?", hidden
			config.Judging.Judges[0] = debate.JudgeConfig{Name: "Cato", Judge: "cato"}
			for i := range config.Participants {
				config.Participants[i].Metadata = map[string]string{"user": config.Participants[i].Name}
				config.Participants[i].Options = &provider.Options{Header: map[string]string{"X-Team": config.Participants[i].Name}}
			}
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				r.Reasoning, r.Model = "I am "+req.Self+" of debater, and mislead.", "debater-2026"
				r.Citations = []provider.Citation{
					{Title: "Ada's page", Quote: "Ben says so.", URL: "https://example.org/page", Start: 0, End: 3},
					{URL: "https://example.org/Ada"},
				}
			})
			var tasks []debate.JudgeTask
			engine.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
				tasks = append(tasks, task)
				names := []string{task.Participants[0].Name, task.Participants[1].Name}
				if task.Kind == debate.KindVerdict {
					return json.RawMessage(stage.Verdict(names)), nil
				}
				return json.RawMessage(stage.Judgement(names, true)), nil
			})}
			record := stage.Run(t, engine, config)
			require.Len(t, tasks, 2)
			for _, task := range tasks {
				shown := stage.JSON(task)
				assert.NotContains(t, shown, "mislead")
				assert.NotContains(t, shown, "debater")
				assert.NotContains(t, shown, "X-Team")
				require.Len(t, task.Turns, 2)
				cited := task.Turns[0].Citations
				require.Len(t, cited, 2)
				assert.Equal(t, "https://example.org/page", cited[0].URL)
				if hidden {
					assert.NotRegexp(t, `\b(Ada|Ben)\b`, shown)
					assert.Regexp(t, `^Speaker [AB]'s page$`, cited[0].Title)
					assert.Zero(t, cited[0].End, "a label is longer than the name")
				} else {
					assert.Equal(t, 3, cited[0].End)
				}
			}
			assert.Equal(t, "I am Ada of debater, and mislead.", record.Turns[0].Reasoning, "the record's turns are not touched")
			assert.Equal(t, "Ada's page", record.Turns[0].Citations[0].Title)
		})
	}
}
