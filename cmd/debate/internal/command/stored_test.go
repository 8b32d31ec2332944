package command_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store/file"
)

// ran is what a run of the program has left.
type ran struct {
	code     int
	out, err string
}

// run runs the program on the conversations in a folder. Its provider is that of the demonstration.
func run(t *testing.T, place string, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	at := min(len(args), strings.Count(args[0], "__")+1) // behind the name of the command
	code := command.Run(t.Context(), command.System{
		Args: slices.Insert(slices.Clone(args), at, "--store", place), In: strings.NewReader(""), Out: &out, Err: &err,
		Lookup: func(string) (string, bool) { return "", false },
	})
	return ran{code, out.String(), err.String()}
}

// hold runs conversations of a script in a folder, and leaves them there as they are.
func hold(t *testing.T, place string, reply func(*provider.Request) scripted.Reply, configs ...flow.Config) {
	t.Helper()
	kept, err := file.Open(place)
	require.NoError(t, err)
	defer func() { require.NoError(t, kept.Close()) }()
	engine := &debate.Engine{
		Store: kept, Providers: map[string]debate.Provider{"demo": &scripted.Provider{Reply: reply}},
		Models: map[string]debate.Model{"demo/script": {Window: 1_000_000, Priced: true}},
		Flows:  map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow(), deliberation.FlowName: deliberation.Flow()},
	}
	for _, config := range configs {
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		_, _ = session.WaitIdle(t.Context()) // the record says how it ended
		require.NoError(t, session.Close())
	}
}

func text(t *testing.T, v any) scripted.Reply {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return scripted.Reply{Text: string(data)}
}

// work is arbitrated work whose agent makes a plan of three steps. Then the arbiter fails.
func work(t *testing.T) (arbiter.Config, func(*provider.Request) scripted.Reply) {
	t.Helper()
	config := arbiter.Config{
		ID: "work", Task: "Write a function.", Unattended: true, MaxFailures: 1, Arbiter: arbiter.Arbiter{Model: "demo/script"},
		Agents: []arbiter.Agent{{Name: "Ada", Model: "demo/script"}, {Name: "Ben", Model: "demo/script"}},
	}
	return config, func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema.Name == "result":
			return text(t, arbiter.Result{Success: true, Output: "A plan.", PlanUpdates: &arbiter.PlanUpdate{Steps: []arbiter.StepUpdate{
				{Index: 0, Description: "Design"}, {Index: 1, Description: "Write\x1b[31m it"}, {Index: 2, Description: "Test"},
			}}})
		case strings.Contains(req.ID, "/d1/"):
			return text(t, arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{"Ada"}, Reason: "first the plan"})
		default:
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication}}
		}
	}
}

func TestWorkIsSteered(t *testing.T) {
	place := filepath.Join(t.TempDir(), "kept") + "/"
	config, reply := work(t)
	hold(t, place, reply, config)

	shown := run(t, place, "show", "work")
	assert.Zero(t, shown.code, shown.err)
	assert.Contains(t, shown.out, "Plan\n  1. pending: Design\n  2. pending: Write␛ it\n  3. pending: Test\n")

	for _, tc := range []struct {
		args []string
		said string
	}{
		{[]string{"amend", "work", "--skip", "4"}, `--skip: there is no step "4"; the steps are 1 to 3`},
		{[]string{"amend", "work", "--rerun", "0"}, `--rerun: there is no step "0"`},
		{[]string{"amend", "work", "--rerun", "first"}, `"first" is not a whole number`},
		{[]string{"amend", "work", "--next", "Eve"}, `--next: no agent "Eve" is known: there are Ada, Ben`},
		{[]string{"amend", "wonder", "--next", "Ada"}, "there is no conversation wonder"},
		{[]string{"amend", "work", "--skip", "current", "--reason", "two\nlines"}, "reason"},
	} {
		got := run(t, place, tc.args...)
		assert.Equal(t, 2, got.code, tc.args)
		assert.Contains(t, got.err, tc.said)
		assert.Empty(t, got.out)
	}

	require.Zero(t, run(t, place, "amend", "work", "--skip", "current").code)
	require.Zero(t, run(t, place, "amend", "work", "--skip", "3", "--reason", "others test").code)
	skipped := run(t, place, "amend", "work", "--skip", "3")
	assert.Equal(t, 2, skipped.code)
	assert.Contains(t, skipped.err, "step 3 is skipped; left are: 2\n")

	// Several changes are made in order: a refusal keeps those before it, and none behind it is made.
	several := run(t, place, "amend", "work", "--set", "turnTimeout=5m", "--rerun", "1", "--skip", "3", "--next", "Ada")
	assert.Equal(t, 2, several.code)
	assert.Contains(t, several.err, "Done before: the settings, --rerun.\n")
	assert.Contains(t, several.err, "step 3 is skipped")
	log := logged(t, place, "work")
	assert.Contains(t, log, `"reason":"otherstest"`)
	assert.Contains(t, log, `"trigger":"rerun-step"`)
	assert.NotContains(t, log, `"trigger":"force-agent"`, "what stands behind a refusal is not done")
	forced := run(t, place, "amend", "work", "--next", "Ben", "--json")
	assert.Zero(t, forced.code, forced.err)
	assert.JSONEq(t, `{"id": "work", "state": "error", "held": false}`, forced.out)
	assert.Contains(t, run(t, place, "show", "work").out, "1. pending: Design\n  2. pending: Write␛ it\n  3. skipped: Test\n")

	// The demonstration continues: Ben acts first.
	done := run(t, place, "resume", "work")
	assert.NotContains(t, done.err, "unknown")
	work := run(t, place, "show", "work", "--json")
	assert.Contains(t, work.out, `"forced": true`)
}

// TestAnotherModelBeforeItContinues: resume gives other models, to all or to one, and tries again what has failed.
func TestAnotherModelBeforeItContinues(t *testing.T) {
	place := filepath.Join(t.TempDir(), "kept") + "/"
	config, reply := work(t)
	hold(t, place, reply, config)
	for given, said := range map[string]string{
		"=demo/script": "want provider/model, or who=provider/model", "": "want provider/model", "Ada=": "want provider/model",
		"Eve=demo/script": "Eve",
	} {
		got := run(t, place, "resume", "work", "--model", given)
		assert.Equal(t, 2, got.code, given)
		assert.Contains(t, got.err, said)
	}
	got := run(t, place, "resume", "work", "--model", "demo/script", "--no-run", "--reason", "a new key")
	require.Zero(t, got.code, got.err)
	assert.Contains(t, got.err, "no process runs it. debate resume work continues it, unless a worker does.")
	log := logged(t, place, "work")
	for _, who := range []string{"Ada", "Ben", "arbiter"} {
		assert.Contains(t, log, `"`+who+`":{"model":"demo/script"}`)
	}
	assert.Contains(t, log, "anewkey")
}

// logged returns the log of a conversation without any blank.
func logged(t *testing.T, place, id string) string {
	t.Helper()
	return strings.Join(strings.Fields(run(t, place, "export", id).out), "")
}

// TestWhyAControlDoesNotFit: the sentence is one for people, without names of the engine.
func TestWhyAControlDoesNotFit(t *testing.T) {
	place := filepath.Join(t.TempDir(), "kept") + "/"
	config, reply := work(t)
	over := config
	over.ID = "over"
	hold(t, place, reply, config, over)
	require.Zero(t, run(t, place, "stop", "over", "--no-result").code)
	for _, tc := range []struct {
		args []string
		said string
	}{
		{[]string{"pause", "work"}, "A failure has stopped it already.\nwork: stopped by a failure; debate resume work tries again.\n"},
		{[]string{"pause", "over"}, "It is canceled already.\ndebate on --round N over begins another one where a round began.\n"},
		{[]string{"stop", "over", "--no-result"}, "It is canceled already.\n"},
		{[]string{"amend", "over", "--rounds", "9"}, "It is canceled already.\n"},
	} {
		got := run(t, place, tc.args...)
		assert.Equal(t, 1, got.code, tc.args)
		assert.True(t, strings.HasPrefix(got.err, tc.said), "%v: %s", tc.args, got.err)
	}
}

// shout is a text that would recolour a terminal, set its title, and turn a line around.
const shout = "loud\x1b[31m\x1b]0;title\a\u009b2J\u202e\x7f<b>"

// TestNoTextOfAModelControlsATerminal: whatever a command prints of a conversation, no model sends a control sequence by it.
func TestNoTextOfAModelControlsATerminal(t *testing.T) {
	place := filepath.Join(t.TempDir(), "kept") + "/"
	config := deliberation.Config{
		ID: "loud", Problem: "Say " + shout, Rounds: 1, Judge: deliberation.Judge{Model: "demo/script"},
		Agents: []deliberation.Agent{{ID: "ada", Model: "demo/script"}, {ID: "ben", Model: "demo/script"}},
		Labels: map[string]string{"team": "red"},
	}
	asking := config
	asking.ID, asking.Clarification.On = "loud-question", true
	hold(t, place, func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema == nil:
			return scripted.Reply{Text: shout}
		case strings.Contains(req.ID, "clarify"):
			return text(t, map[string]any{"questions": []string{shout}})
		default:
			return text(t, deliberation.Solution{
				Description: shout, Implementation: []string{}, Tradeoffs: []string{}, Recommendations: []string{},
				Requirements:  []deliberation.Requirement{{Text: shout, Fulfilled: true}},
				OpenQuestions: []string{shout}, Confidence: 80,
			})
		}
	}, config, asking)
	for _, args := range [][]string{
		{"list"},
		{"list", "--json"},
		{"list", "--label", "team=red"},
		{"show", "loud"},
		{"show", "loud", "--json"},
		{"show", "loud-question"},
		{"show", "loud-question", "--json"},
		{"watch", "loud"},
		{"watch", "loud", "--json"},
		{"resume", "loud"},
		{"resume", "loud-question"},
		{"export", "loud"},
		{"export", "loud", "--check"},
		{"answer", "loud-question", "what?"},
		{"__complete", "show", ""},
	} {
		got := run(t, place, args...)
		assert.NotEmpty(t, got.out+got.err, args)
		for _, r := range got.out + got.err {
			if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e') {
				assert.Fail(t, "a control character", "%q in %v: %q", r, args, got.out+got.err)
				break
			}
		}
	}
	var record struct {
		Solution struct {
			Text string `json:"solution"`
		} `json:"solution"`
	}
	require.NoError(t, json.Unmarshal([]byte(run(t, place, "show", "loud", "--json").out), &record))
	assert.Equal(t, shout, record.Solution.Text, "JSON keeps the text")
}

func TestAnIDMayBeCutShort(t *testing.T) {
	place := filepath.Join(t.TempDir(), "kept") + "/"
	config, reply := work(t)
	var configs []flow.Config
	for _, id := range []string{"a", "ab1", "ab2", "ab", "b-long-id", "b-long-ie", "cab1", "cab2", "cab3", "cab4"} {
		config.ID = id
		configs = append(configs, config)
	}
	hold(t, place, reply, configs...)
	for name, want := range map[string]string{
		"a": "a", "ab": "ab", "ab1": "ab1", "b-long-id": "b-long-id", "last": "cab4", "cab4": "cab4", "ng-id": "b-long-id",
	} {
		got := run(t, place, "show", name, "--json")
		assert.Zero(t, got.code, got.err)
		assert.Contains(t, got.out, `"id": "`+want+`"`)
	}
	for name, said := range map[string]string{
		"b":   "several ids begin or end with b: ab, b-long-id, b-long-ie",
		"c":   "several ids begin or end with c: cab1, cab2, cab3, …",
		"1":   "several ids begin or end with 1: ab1, cab1",
		"abc": "there is no conversation abc", "z": "there is no conversation z", "b-long-id2": "there is no conversation",
		"a/b": `"a/b" is no id`, "\x1b[31m": "is no id",
	} {
		got := run(t, place, "show", name)
		assert.Equal(t, 2, got.code, name)
		assert.Contains(t, got.err, said)
	}
	assert.Contains(t, run(t, place, "show").out, "cab4")
}

// TestAQuestionIsShownWithWhatItsPersonMayRead: no prompt is among that.
func TestAQuestionIsShownWithWhatItsPersonMayRead(t *testing.T) {
	place := filepath.Join(t.TempDir(), "kept") + "/"
	hold(t, place, func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "Tabs,\nsurely."} }, debate.Config{
		ID: "tabs", Topic: "Tabs or spaces?", Rounds: 1, Participants: []debate.Participant{
			{Name: "Ada", Model: "demo/script", Instructions: "a word for Ada alone"}, {Name: "Ben", Person: true},
		},
	})
	assert.Contains(t, run(t, place, "show", "tabs").out, "debate show --question r1.opening.Ben tabs\n")
	got := run(t, place, "show", "tabs", "--question", "r1.opening.Ben")
	require.Zero(t, got.code, got.err)
	assert.Regexp(t, `^Ada, .*opening.*\n\n> Tabs,\n> surely\.\n\nIt is your turn, Ben`, got.out)
	assert.Regexp(t, `at most [0-9,]+ bytes\n  debate answer tabs r1\.opening\.Ben TEXT\n$`, got.out)
	assert.NotContains(t, got.out, "a word for Ada alone")
	assert.Contains(t, run(t, place, "show", "tabs", "--question", "r1.opening.Ben", "--json").out, `"reads"`)
	got = run(t, place, "show", "tabs", "--question", "r1.opening.Ada")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.err, "r1.opening.Ben")
}

// TestNothingIsDeletedThatIsRunning: the lease of another process keeps all that was named.
func TestNothingIsDeletedThatIsRunning(t *testing.T) {
	place := filepath.Join(t.TempDir(), "kept") + "/"
	config, reply := work(t)
	other := config
	other.ID = "other"
	hold(t, place, reply, config, other)
	kept, err := file.Open(place)
	require.NoError(t, err)
	defer func() { require.NoError(t, kept.Close()) }()
	require.NoError(t, kept.Lease(t.Context(), "work", "somebody", time.Hour))
	got := run(t, place, "delete", "other", "work", "--yes")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "another process runs work: debate stop --no-result work ends it. Nothing is deleted")
	assert.Contains(t, run(t, place, "list").out, "other")
	got = run(t, place, "amend", "work", "--rounds", "9")
	assert.Zero(t, got.code, got.err)
	require.NoError(t, kept.Release(t.Context(), "work", "somebody"))
	assert.Zero(t, run(t, place, "delete", "other", "wor", "--yes").code)
	assert.Equal(t, "[]\n", run(t, place, "list", "--json").out)
}
