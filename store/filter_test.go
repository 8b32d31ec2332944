package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

func TestFilterMatches(t *testing.T) {
	started := time.Date(2026, time.May, 1, 12, 0, 0, 1, time.UTC)
	info := debate.Info{
		ID: "m", State: debate.StateJudging, Topic: "topic", Labels: map[string]string{"tenant": "blue", "trace": ""},
		Round: 2, Seq: 9, StartedAt: started, LastAt: started.Add(time.Hour),
	}
	in := func(edit func(*debate.Info)) debate.Info {
		i := info
		edit(&i)
		return i
	}
	state := func(s debate.State) debate.Info { return in(func(i *debate.Info) { i.State = s }) }
	held := in(func(i *debate.Info) { i.Owner = "me" })
	bare := in(func(i *debate.Info) { i.Labels = nil })
	zone := time.FixedZone("", -7*3600)
	for _, c := range []struct {
		name   string
		filter debate.Filter
		info   debate.Info
		want   bool
	}{
		{"nothing is asked", debate.Filter{}, info, true},
		{"nothing is known", debate.Filter{}, debate.Info{}, true},
		{"Text and Limit are others' to keep", debate.Filter{Text: "needle", Limit: 1}, info, true},

		{"one of the states", debate.Filter{States: []debate.State{flow.StatePaused, debate.StateJudging}}, info, true},
		{"none of the states", debate.Filter{States: []debate.State{flow.StatePaused, "Judging"}}, info, false},
		{"no states are any", debate.Filter{States: []debate.State{}}, info, true},

		{"a label", debate.Filter{Labels: map[string]string{"tenant": "blue"}}, info, true},
		{"all labels", debate.Filter{Labels: map[string]string{"tenant": "blue", "trace": ""}}, info, true},
		{"another value", debate.Filter{Labels: map[string]string{"tenant": "Blue"}}, info, false},
		{"one of two labels", debate.Filter{Labels: map[string]string{"tenant": "blue", "trace": "1"}}, info, false},
		{"an empty label", debate.Filter{Labels: map[string]string{"trace": ""}}, info, true},
		{"an empty label is none that is missing", debate.Filter{Labels: map[string]string{"none": ""}}, info, false},
		{"a debate without labels", debate.Filter{Labels: map[string]string{"trace": ""}}, bare, false},
		{"no labels are any", debate.Filter{Labels: map[string]string{}}, bare, true},

		{"unfinished", debate.Filter{Unfinished: true}, info, true},
		{"unfinished in error", debate.Filter{Unfinished: true}, state(flow.StateError), true},
		{"unfinished and paused", debate.Filter{Unfinished: true}, state(flow.StatePaused), true},
		{"completed", debate.Filter{Unfinished: true}, state(flow.StateCompleted), false},
		{"canceled", debate.Filter{Unfinished: true}, state(flow.StateCanceled), false},

		{"working", debate.Filter{Working: true}, info, true},
		{"paused", debate.Filter{Working: true}, state(flow.StatePaused), false},
		{"waiting", debate.Filter{Working: true}, state(flow.StateAwaitingInput), false},

		{"idle", debate.Filter{Idle: true}, info, true},
		{"held", debate.Filter{Idle: true}, held, false},
		{"held, and nobody minds", debate.Filter{}, held, true},

		{"from its start on", debate.Filter{From: started}, info, true},
		{"from its start on, elsewhere", debate.Filter{From: started.In(zone)}, info, true},
		{"from later on", debate.Filter{From: started.Add(1)}, info, false},
		{"until before its start", debate.Filter{Until: started}, info, false},
		{"until later", debate.Filter{Until: started.Add(1)}, info, true},
		{"in its nanosecond", debate.Filter{From: started, Until: started.Add(1)}, info, true},

		{"behind one before", debate.Filter{After: "l"}, info, true},
		{"behind itself", debate.Filter{After: "m"}, info, false},
		{"behind one behind", debate.Filter{After: "n"}, info, false},
		{"behind the beginning of its id", debate.Filter{After: "M"}, info, true},
		{"newest first, behind one behind", debate.Filter{After: "n", Newest: true}, info, true},
		{"newest first, behind itself", debate.Filter{After: "m", Newest: true}, info, false},
		{"newest first, behind one before", debate.Filter{After: "l", Newest: true}, info, false},

		{"all at once", debate.Filter{
			States: []debate.State{debate.StateJudging}, Labels: map[string]string{"tenant": "blue"}, Unfinished: true, Working: true,
			Idle: true, From: started, Until: started.Add(1), After: "l",
		}, info, true},
		{"all but one", debate.Filter{
			States: []debate.State{debate.StateJudging}, Labels: map[string]string{"tenant": "blue"}, Unfinished: true, Working: true,
			Idle: true, From: started, Until: started.Add(1), After: "m",
		}, info, false},
	} {
		assert.Equal(t, c.want, c.filter.Matches(c.info), c.name)
	}
}

func TestFilterFinds(t *testing.T) {
	turn := func(text string) debate.Event {
		return debate.Event{Body: &debate.Turn{Speaker: "needle", Text: text, Data: []byte(`"needle"`)}}
	}
	start := func(topic string) debate.Event {
		config := debate.Config{Topic: topic, Labels: map[string]string{"needle": "needle"}}
		return debate.Event{Body: &flow.Start{Config: flow.Value{Go: &config}, Settings: config.Settings(), Flow: "needle", Seed: "needle"}}
	}
	for _, c := range []struct {
		text  string
		event debate.Event
		want  bool
	}{
		{"", debate.Event{Body: &flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}}, true},
		{"", turn("hay"), true},
		{"needle", turn("hay"), false},
		{"needle", turn("a needle in hay"), true},
		{"needle", start("hay"), false},
		{"NEEDLE", start("One Needle"), true},
		{"needle", debate.Event{Body: &flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}}, false},
		{"needle", debate.Event{Body: &flow.Start{}}, false},
		{"needle", debate.Event{Body: &flow.Answer{Text: "needle"}}, false},
		{"needle", debate.Event{Body: &flow.Summarized{Text: "needle"}}, false},
		{"needle", debate.Event{Body: &flow.Rejection{Text: "needle"}}, false},
		{"ärzte", turn("ÄRZTE"), true},
		{"ÄRZTE", turn("ärzte"), true},
		{"Σοφός", turn("ΣΟΦΌΣ"), false}, // the small letter at the end of a word is another one
		{"σοφόσ", turn("ΣΟΦΌΣ"), true},
		{"%", turn("100 percent"), false},
		{"_", turn("a b"), false},
		{"100%", turn("100% sure"), true},
		{`\n`, turn("a\nb"), false},
		{"a\nb", turn("A\nB"), true},
		{"\x00", turn("a\x00b"), true},
		{"\xff", turn("a\ufffdb"), true}, // as it comes back from a store of JSON
		{"a b", turn("a  b"), false},
	} {
		assert.Equal(t, c.want, debate.Filter{Text: c.text}.Finds(&c.event), "%q in %+v", c.text, c.event)
	}
}

func TestFilterOrder(t *testing.T) {
	ids := []string{"b", "a.b", "A", "a", "0", "a-b", "_", "aa", "B", "-"}
	slices.SortFunc(ids, debate.Filter{}.Order)
	assert.Equal(t, []string{"-", "0", "A", "B", "_", "a", "a-b", "a.b", "aa", "b"}, ids)
	slices.SortFunc(ids, debate.Filter{Newest: true}.Order)
	assert.Equal(t, []string{"b", "aa", "a.b", "a-b", "a", "_", "B", "A", "0", "-"}, ids)
	assert.Zero(t, debate.Filter{}.Order("a", "a"))
	assert.Zero(t, debate.Filter{Newest: true}.Order("a", "a"))
}

func TestStateRests(t *testing.T) {
	for state, want := range map[debate.State]bool{
		"":                     true,
		flow.StateConfiguring:  true,
		flow.StateValidating:   true,
		flow.StateReady:        true,
		flow.StateInitializing: false,
		flow.StateRunning:      false,

		debate.StateAwaitingResponses: false,
		debate.StateJudging:           false,
		debate.StateRoundComplete:     false,
		"of a flow's own":             false,

		flow.StateCompleting:    false,
		flow.StatePaused:        true,
		flow.StateAwaitingInput: true,
		flow.StateCompleted:     true,
		flow.StateCanceled:      true,
		flow.StateError:         true,
	} {
		assert.Equal(t, want, state.Idle(), "%q", state)
	}
}

func TestInfoNote(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(n, 7).UTC() }
	config := debate.Config{Topic: "topic", Labels: map[string]string{"tenant": "blue"}}
	labels := map[string]string{"tenant": "blue"}
	info := debate.Info{ID: "a", Owner: "me"}
	for _, step := range []struct {
		event debate.Event
		want  debate.Info
	}{
		{
			debate.Event{Body: &flow.Start{Config: flow.Value{Go: &config}, Settings: config.Settings()}},
			debate.Info{ID: "a", Owner: "me", Topic: "topic", Labels: labels, StartedAt: at(1), Seq: 1, LastAt: at(1)},
		},
		{
			debate.Event{Body: &flow.Transition{From: flow.StateReady, To: flow.StateInitializing}},
			debate.Info{ID: "a", Owner: "me", State: flow.StateInitializing, Topic: "topic", Labels: labels, StartedAt: at(1), Seq: 2, LastAt: at(2)},
		},
		{
			debate.Event{Body: &flow.Round{N: 3, Of: 5}},
			debate.Info{ID: "a", Owner: "me", State: flow.StateInitializing, Topic: "topic", Labels: labels, Round: 3, StartedAt: at(1), Seq: 3, LastAt: at(3)},
		},
		{
			debate.Event{Body: &debate.Turn{Round: 4, Text: "text"}},
			debate.Info{ID: "a", Owner: "me", State: flow.StateInitializing, Topic: "topic", Labels: labels, Round: 3, StartedAt: at(1), Seq: 4, LastAt: at(4)},
		},
	} {
		step.event.Seq, step.event.At = step.want.Seq, step.want.LastAt
		info.Add(&step.event)
		assert.Equal(t, step.want, info)
	}
	info.Labels["tenant"] = "spoiled"
	assert.Equal(t, labels, config.Labels, "an Info shares nothing with the debate")
	info.Add(&debate.Event{Seq: 5, At: at(5), Body: &flow.Start{}}) // of no config
	assert.Equal(t, debate.Info{ID: "a", Owner: "me", State: flow.StateInitializing, Round: 3, StartedAt: at(5), Seq: 5, LastAt: at(5)}, info)
}

func TestCheckID(t *testing.T) {
	for _, id := range []string{
		"a", "A", "0", "-", "_", "a.b", "a..b", "-rf", "__proto__", "019a1b2c-3d4e-7f60-8a9b-0c1d2e3f4a5b", strings.Repeat("n", 128),
		"console", "com", "com10", "comx", "lpt", "a.con", "aux-", "null", "nulls.txt",
	} {
		assert.NoError(t, store.CheckID(id), "%q", id)
	}
	for _, id := range []string{
		"", ".", "..", ".a", "a.", "../x", "x/y", "/x", "a\\b", "C:x", "a b", " a", "a\x00", "a\n", "a*", "a?", "a%b", "a'b", "a\"b", "~", "$a", "é", "Ａ",
		"🙂", "\xff", strings.Repeat("n", 129),
		"con", "CON", "Con.txt", "prn", "aux.a.b", "nul", "com0", "com1", "COM9.log", "lpt1", "LPT9",
	} {
		err := store.CheckID(id)
		invalid, ok := errors.AsType[*debate.Error](err)
		if assert.True(t, ok, "%q: %v", id, err) {
			assert.Equal(t, provider.KindValidation, invalid.Kind)
			assert.Equal(t, "id", invalid.Field)
			assert.NotContains(t, err.Error(), "\n")
		}
	}
}
