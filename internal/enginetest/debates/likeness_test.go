package debates_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// roles put two names into a debate, in two places that differ.
func roles() map[string]func(c *debate.Config, one, other string) (field string) {
	judge := func(c *debate.Config, i int, name string) {
		for len(c.Judging.Judges) <= i {
			c.Judging.Judges = append(c.Judging.Judges, debate.JudgeConfig{Model: "test/judge"})
		}
		c.Judging.Judges[i].Name = name
	}
	member := func(c *debate.Config, names ...string) {
		c.Audience = &debate.Audience{}
		for _, name := range names {
			c.Audience.Members = append(c.Audience.Members, debate.Member{Name: name, Model: "test/voter"})
		}
	}
	return map[string]func(c *debate.Config, one, other string) string{
		"two participants": func(c *debate.Config, one, other string) string {
			c.Participants[0].Name, c.Participants[1].Name = one, other
			return "participants[1].name"
		},
		"a participant and a judge": func(c *debate.Config, one, other string) string {
			c.Participants[0].Name = one
			judge(c, 0, other)
			return "judging.judges[0].name"
		},
		"two judges": func(c *debate.Config, one, other string) string {
			judge(c, 0, one)
			judge(c, 1, other)
			return "judging.judges[1].name"
		},
		"a participant and a listener": func(c *debate.Config, one, other string) string {
			c.Participants[1].Name = one
			member(c, "Wim", other)
			return "audience.members[1].name"
		},
		"a judge and a listener": func(c *debate.Config, one, other string) string {
			judge(c, 0, one)
			member(c, other)
			return "audience.members[0].name"
		},
		"two listeners": func(c *debate.Config, one, other string) string {
			member(c, one, other)
			return "audience.members[1].name"
		},
	}
}

// validated yields the fields of a debate that are wrong.
func validated(t *testing.T, change func(c *debate.Config)) []string {
	t.Helper()
	config := stage.TwoDebaters()
	config.Participants[0].Name, config.Participants[1].Name = "Uwe", "Vic"
	change(&config)
	engine, p := stage.Engine(config)
	err := engine.Validate(t.Context(), config)
	if err == nil {
		return nil
	}
	_, startErr := engine.Start(t.Context(), config)
	require.EqualError(t, startErr, err.Error())
	assert.Zero(t, p.Calls(), "nothing was paid")
	return stage.FieldsOf(t, err)
}

func TestNamesThatCannotBeToldApart(t *testing.T) {
	pairs := map[string][2]string{
		"the same":                   {"Tamara", "Tamara"},
		"case":                       {"Tamara", "TAMARA"},
		"case that changes length":   {"Strauß", "STRAUSS"},
		"wide letters":               {"Tamara", "Ｔａｍａｒａ"},
		"letters in bold":            {"Tamara", "𝐓𝐚𝐦𝐚𝐫𝐚"},
		"a ligature":                 {"Steffi", "Steﬃ"},
		"an accent apart":            {"José", "Jose\u0301"},
		"a space":                    {"Jo Ann", "JoAnn"},
		"two spaces":                 {"Jo Ann", "Jo  Ann"},
		"a small Cyrillic a":         {"Tamara", "T\u0430mara"},
		"a Cyrillic o and e":         {"Zoe", "Z\u043e\u0435"},
		"a Greek omicron":            {"Zoe", "Z\u03bfe"},
		"Greek and Cyrillic":         {"Z\u03bfe", "Z\u043ee"},
		"a Cyrillic A":               {"Ada", "\u0410da"},
		"a Greek Alpha":              {"Ada", "\u0391da"},
		"a Cyrillic V for a B":       {"Ben", "\u0412en"},
		"a Greek Beta for a B":       {"Ben", "\u0392en"},
		"a Cyrillic T":               {"Tom", "\u0422om"},
		"a Cyrillic M":               {"Mia", "\u041cia"},
		"a Greek Mu":                 {"Mia", "\u039cia"},
		"a Cyrillic N for an H":      {"Hana", "\u041dana"},
		"a Greek Eta for an H":       {"Hana", "\u0397ana"},
		"a Cyrillic K":               {"Kim", "\u041aim"},
		"a Greek Nu":                 {"Nina", "\u039dina"},
		"a Greek Upsilon for a Y":    {"Yara", "\u03a5ara"},
		"a Greek Epsilon":            {"Eve", "\u0395ve"},
		"a Greek Zeta":               {"Zed", "\u0396ed"},
		"a Cyrillic S for a C":       {"Cyd", "\u0421yd"},
		"all of it, in another case": {"PACO", "\u0440\u0430\u0441\u043e"},
		"an Armenian n":              {"Ben", "Be\u0578"},
		"a Lisu A":                   {"Ada", "\ua4eeda"},
		"a variation selector":       {"Ben", "Ben\ufe0f"},
		"a late variation selector":  {"Ben", "Be\U000e0100n"},
		"a Mongolian selector":       {"Ben", "Be\u180bn"},
		"a Hangul filler":            {"Ben", "Be\u3164n"},
		"a narrow Hangul filler":     {"Ben", "Be\uffa0n"},
		"a joiner of graphemes":      {"Ben", "Be\u034fn"},
		"a pattern without dots":     {"Ben", "Be\u2800n"},
	}
	all := roles()
	for i, name := range slices.Sorted(maps.Keys(pairs)) {
		for k, role := range slices.Sorted(maps.Keys(all)) {
			if (i+k)%min(longform.Fewer(), 3) != 0 {
				continue // the short form has each pair in a third of the roles
			}
			pair, put := pairs[name], all[role]
			t.Run(name+"/"+role, func(t *testing.T) {
				var field string
				got := validated(t, func(c *debate.Config) { field = put(c, pair[0], pair[1]) })
				assert.Equal(t, []string{field}, got)
				got = validated(t, func(c *debate.Config) { field = put(c, pair[1], pair[0]) })
				assert.Equal(t, []string{field}, got, "the other way round")
			})
		}
	}
}

// A stored debate whose names look alike can neither be imported nor forked.
func TestStoredNamesThatLookAlike(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "alike"
	l := stage.PlayedLog(t, config)
	events := l.Copied(t)[:1]
	stage.Reconfigure(body.As[flow.Start](events[0]), func(c *debate.Config) { c.Participants[0].Name = "Be\u0578" })
	const want = "participants[1].name: \"Ben\" can be confused with \"Be\u0578\" of participants[0]: another case"

	other, _ := stage.Engine(config)
	other.Store = &store.Memory{}
	_, err := other.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, events)))
	require.ErrorContains(t, err, want)
	require.NoError(t, other.Store.Append(t.Context(), l.ID, 0, "stored", events))
	_, err = other.Fork(t.Context(), l.ID, 1, nil)
	require.ErrorContains(t, err, want)
}

// What does not print is refused by itself, so it cannot make two names of one.
func TestNamesWithWhatDoesNotPrint(t *testing.T) {
	for _, sign := range []string{"\u200b", "\u200d", "\u2060", "\u00ad", "\ufeff", "\u202e", "\u0000", "\n", "\u2028", "\ue000", "\U000e0061"} {
		for role, put := range roles() {
			t.Run(fmt.Sprintf("%+q/%s", sign, role), func(t *testing.T) {
				var field string
				got := validated(t, func(c *debate.Config) { field = put(c, "Tamara", "Ta"+sign+"mara") })
				assert.Contains(t, got, field)
			})
		}
	}
}

// A name of which nobody sees anything is none.
func TestNamesThatNobodySees(t *testing.T) {
	for _, name := range []string{"\u3164", "\u2800", "\u3164\u2800\u3164", "\uffa0", "\ufe0f", "\u115f\u1160"} {
		for role, put := range roles() {
			t.Run(fmt.Sprintf("%+q/%s", name, role), func(t *testing.T) {
				var field string
				got := validated(t, func(c *debate.Config) { field = put(c, "Tamara", name) })
				assert.Equal(t, []string{field}, got)
			})
		}
	}
}

func TestTheErrorNamesWhomANameIsLike(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging.Judges[0].Name = "ada"
	engine, _ := stage.Engine(config)
	err := engine.Validate(t.Context(), config)
	assert.EqualError(t, err, `debate: validation: config: judging.judges[0].name: "ada" can be confused with "Ada" of participants[0]: `+
		"another case, accent or look-alike letter is not enough")
	const hint = `Correct judging.judges[0].name: give "ada" another name: another case, accent or look-alike letter is not enough.`
	assert.Equal(t, hint, stage.RequireKind(t, err, provider.KindValidation).Hint())
}

// Names that look different are different, in every script.
func TestNamesThatCanBeToldApart(t *testing.T) {
	for _, pair := range [][2]string{
		{"Ada", "Adam"},
		{"José", "Jose"},
		{"Иван", "Игорь"},
		{"Νίκη", "Νίκος"},
		{"Анна", "Инна"},
		{"张伟", "张玮"},
		{"Jo-Ann", "Jo Ann"},
		{"judge 1", "judge 2"},
		{"Speaker", "Speakers"},
		{"R2-D2", "C-3PO"},
		{"A1", "Al"},
		{"Arno", "Amo"},
		{"Ian", "Lan"},
	} {
		for role, put := range roles() {
			t.Run(pair[0]+" and "+pair[1]+"/"+role, func(t *testing.T) {
				assert.Empty(t, validated(t, func(c *debate.Config) { put(c, pair[0], pair[1]) }))
			})
		}
	}
}

// The names under which the library itself spends are nobody's.
func TestReservedNames(t *testing.T) {
	for _, name := range []string{"summarizer", "Summarizer", "assigner", "ASSIGNER", "ass igner", "\u0430ssigner", "(Summary of what was said before)"} {
		for role, put := range roles() {
			t.Run(name+"/"+role, func(t *testing.T) {
				var field string
				got := validated(t, func(c *debate.Config) { field = put(c, "Tamara", name) })
				assert.Equal(t, []string{field}, got)
			})
		}
	}
}

// Names that are given by default are names too.
func TestDefaultNamesAreTaken(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(c *debate.Config)
		field  string
	}{
		"a participant named judge": {func(c *debate.Config) { c.Participants[0].Name = "Judge" }, "judging.judges[0].name"},
		"a judge named like the second": {func(c *debate.Config) {
			c.Judging.Judges = []debate.JudgeConfig{{Name: "judge-2", Model: "test/judge"}, {Model: "test/judge"}}
		}, "judging.judges[1].name"},
		"a participant named like a listener": {func(c *debate.Config) {
			c.Participants[0].Name = "Audience-1"
			c.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/voter"}}}
		}, "audience.members[0].name"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, []string{tc.field}, validated(t, tc.change)) })
	}
}

// Where judges know labels, no name looks like one.
func TestNamesThatLookLikeLabels(t *testing.T) {
	for _, name := range []string{"Speaker A", "Speaker Z", "speaker A", "SPEAKER B", "Ѕpeaker A", "Speaker\u00a0A"} {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, validated(t, func(c *debate.Config) { c.Participants[1].Name, c.Judging.Anonymous = name, true }), "participants[1].name")
		})
	}
	assert.Empty(t, validated(t, func(c *debate.Config) { c.Participants[1].Name = "Speaker A" }), "without labels it is a name as any other")
}

// Names stand in the ids of calls: one that looks like another's second call is refused, or both are asked.
func TestNamesThatLookLikeCalls(t *testing.T) {
	for name, change := range map[string]func(c *debate.Config){
		"a judge's re-ask": func(c *debate.Config) {
			c.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Model: "test/judge"}, {Name: "Zoe.again", Model: "test/judge"}}
		},
		"a judge's other order": func(c *debate.Config) {
			c.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Model: "test/judge"}, {Name: "Zoe.swapped", Model: "test/judge"}}
			c.Judging.BothOrders = true
		},
		"a judge's verdict cut short": func(c *debate.Config) {
			c.Judging.Judges = []debate.JudgeConfig{{Name: "Zoe", Model: "test/judge"}, {Name: "Zoe.unfinished", Model: "test/judge"}}
		},
		"a listener's re-ask": func(c *debate.Config) {
			c.Audience = &debate.Audience{Members: []debate.Member{{Name: "Zoe", Model: "test/voter"}, {Name: "Zoe.again", Model: "test/voter"}}}
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Rounds = 1
			config.Unattended = true
			change(&config)
			engine, p := stage.Engine(config)
			answer := p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply {
				switch {
				case req.Self == "Zoe" && !stage.Reasked(req) && !strings.Contains(req.ID, ".swapped"):
					return scripted.Reply{Text: "no JSON"} // to be asked again
				case req.Schema != nil && req.Schema.Name == "ballot":
					return scripted.Reply{Text: `{"vote":"for","reasoning":"Yes."}`}
				default:
					return answer(req)
				}
			}
			if engine.Validate(t.Context(), config) != nil {
				return // refused, before anything is paid
			}
			record := stage.Run(t, engine, config)
			for _, judge := range config.Judging.Judges {
				want := 1
				if config.Judging.BothOrders {
					want = 2
				}
				got := 0
				for _, v := range stage.View(record).Verdicts {
					if v.Judge == judge.Name || judge.Name == "" {
						got++
					}
				}
				assert.Equal(t, want, got, "verdicts of %q", judge.Name)
			}
			if config.Audience != nil {
				assert.Len(t, stage.View(record).Ballots, 4)
			}
		}))
	}
}
