package arbiter_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/progress"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What an agent reports streams as text, although it answers in JSON.
func TestOutputStreamsAsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result := toJSON(arbiter.Result{Success: true, Output: "I have written \"Max\".\nIt returns the larger of two numbers."})
		engine, _ := engineFor(answers{
			"r1.Ada": func(*provider.Request) scripted.Reply {
				return scripted.Reply{Text: result, ChunkSize: 3, Interval: time.Second}
			},
			"d2": completes("Done."),
		})
		text, pieces := "", 0
		for event, err := range engine.Run(t.Context(), config()) {
			require.NoError(t, err)
			if c, ok := event.Body.(*flow.Chunk); ok && c.Schema == "" {
				assert.Equal(t, "r1.Ada", c.Call)
				text, pieces = text[:c.Offset]+c.Text, pieces+c.Parts
			}
			if turn, ok := event.Body.(*flow.Turn); ok {
				assert.Equal(t, turn.Text, text)
				assert.JSONEq(t, result, string(turn.Data))
			}
		}
		assert.Equal(t, "I have written \"Max\".\nIt returns the larger of two numbers.", text)
		assert.Greater(t, pieces, 10)
	})
}

// A reader that comes after the turn gets the same text.
func TestALateReaderGetsTheOutputAsText(t *testing.T) {
	engine, _ := engineFor(answers{"d2": completes("Done.")})
	session := stage.Started(t, engine, config())
	stage.Ended(t, session)
	text := ""
	for event, err := range session.Events(t.Context(), 0) {
		require.NoError(t, err)
		if c, ok := event.Body.(*flow.Chunk); ok {
			text += c.Text
		}
	}
	assert.Equal(t, "What r1.Ada has done.", text)
}

// TestTextBesideAToolCallStreams: what an agent says before it uses a tool reaches readers while it is written, and the hook. It is the
// text of the event, whether it holds a brace or came in no pieces at all. Then the result streams as ever.
func TestTextBesideAToolCallStreams(t *testing.T) {
	for name, test := range map[string]struct {
		said  string
		size  int
		first string // what has come when the tool begins
	}{
		"words": {"I double it now.", 3, "I double it now."}, "code": {"I write func main() { } now.", 3, "I write func main() { } now."},
		"at once": {"I double it now.", 0, "I double it now."}, "nothing": {"", 0, ""}, "fenced": {"`double` does it.", 4, "`double` does it."},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			ask := uses("double", `{"n":21}`)
			ask.Text, ask.ChunkSize, ask.Interval = test.said, test.size, time.Second
			done := scripted.Reply{Text: toJSON(arbiter.Result{Success: true, Output: "It is 42."}), ChunkSize: 5, Interval: time.Second}
			engine, _ := engineFor(answers{"r1.Ada": byReply(ask, done), "d2": completes("Done.")})
			engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
			text, pieces, attempt, told := "", 0, 0, ""
			hooks := progress.Hooks{OnText: func(job progress.Job, chunk *flow.Chunk) {
				assert.Equal(t, "Ada", job.By)
				told += chunk.Text
			}}
			for event, err := range hooks.Events(engine.Run(t.Context(), equipped())) {
				require.NoError(t, err)
				switch body := event.Body.(type) {
				case *flow.Chunk:
					if body.Call != "r1.Ada" {
						continue
					}
					require.Empty(t, body.Schema)
					if body.Attempt != attempt {
						text, pieces, attempt = "", 0, body.Attempt
					}
					text, pieces = text[:body.Offset]+body.Text, pieces+1
				case *flow.ToolCalls:
					assert.Equal(t, test.first, text)
					assert.Equal(t, test.said, body.Text)
					if name == "words" {
						assert.Greater(t, pieces, 3, "while it is written")
					}
				case *flow.Turn:
					assert.Equal(t, "It is 42.", text)
				}
			}
			assert.Equal(t, test.said+"It is 42.", told)
		}))
	}
}

// TestWordsBeforeAResultAreReplacedByIt: the text of the turn is that of the field, whatever the model has written around the object.
// Only where an agent may use tools are words before the object watched: there they may be those beside a use.
func TestWordsBeforeAResultAreReplacedByIt(t *testing.T) {
	const output = "I have written it."
	result := toJSON(arbiter.Result{Success: true, Output: output})
	for name, test := range map[string]struct {
		written string
		tools   bool
		told    string // by the hook
	}{
		"words":                      {"Here it is:\n" + result, false, output + output}, // refused, and asked for again
		"words of one with tools":    {"Here it is:\n" + result, true, "Here it is:\n" + output + output},
		"a fence":                    {"```json\n" + result + "\n```", true, output},
		"a fence of tildes":          {"~~~json\n" + result + "\n~~~", true, output},
		"spaces":                     {"  " + result, true, output},
		"a byte-order mark":          {"\ufeff" + result, true, output},
		"a thought":                  {"<think>Is 42 {x} right?</think>" + result, true, output},
		"a long thought":             {"<thinking>The user is wrong.</thinking>\n" + result, true, output},
		"a thought without its mark": {"The user is wrong.</think>\n" + result, false, output},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			say := func(text string) func(*provider.Request) scripted.Reply {
				return func(*provider.Request) scripted.Reply {
					return scripted.Reply{Text: text, ChunkSize: 4, Interval: time.Second}
				}
			}
			engine, _ := engineFor(answers{"r1.Ada": say(test.written), "r1.Ada again": say(result), "d2": completes("Done.")})
			work := config()
			if test.tools {
				work = equipped()
				engine.Tools = map[string]debate.Tool{"double": double(t, flow.ToolInfo{Description: "doubles"})}
			}
			text, told := "", ""
			hooks := progress.Hooks{OnText: func(_ progress.Job, chunk *flow.Chunk) { told += chunk.Text }}
			for event, err := range hooks.Events(engine.Run(t.Context(), work)) {
				require.NoError(t, err)
				if c, ok := event.Body.(*flow.Chunk); ok && c.Call == "r1.Ada" {
					text = text[:c.Offset] + c.Text
				}
				if turn, ok := event.Body.(*flow.Turn); ok {
					assert.Equal(t, turn.Text, text)
				}
			}
			assert.Equal(t, output, text)
			assert.Equal(t, test.told, told)
		}))
	}
}
