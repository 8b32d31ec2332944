package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// fields yields the field that each of the joined errors names, sorted.
func fields(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	var out []string
	for _, one := range all {
		var failure *debate.Error
		require.ErrorAs(t, one, &failure)
		assert.Equal(t, provider.KindValidation, failure.Kind, "%v", one)
		assert.NotEmpty(t, failure.Hint())
		assert.Contains(t, err.Error(), failure.Field)
		out = append(out, failure.Field)
	}
	slices.Sort(out)
	return out
}

// unchecked is a store that fails the test if anything is written.
type unchecked struct{ *store.Memory }

func TestBadConfigs(t *testing.T) {
	type config = debate.Config
	long := strings.Repeat("x", 100_001)
	format := func(how func(*debate.Format)) func(*config) {
		return func(c *config) {
			c.Format = ""
			c.CustomFormat = &debate.Format{
				Name: "own", Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}}, End: format.EndByJudge,
			}
			how(c.CustomFormat)
		}
	}
	budget := func(b debate.Budget) func(*config) { return func(c *config) { c.Budget = &b } }
	judge := func(how func(*debate.JudgeConfig)) func(*config) {
		return func(c *config) { how(&c.Judging.Judges[0]) }
	}
	speaker := func(how func(*debate.Participant)) func(*config) {
		return func(c *config) { how(&c.Participants[1]) }
	}
	for name, c := range map[string]struct {
		change func(*config)
		fields []string
	}{
		"empty topic":               {func(c *config) { c.Topic = "" }, []string{"topic"}},
		"blank topic":               {func(c *config) { c.Topic = " \n\t" }, []string{"topic"}},
		"topic too long":            {func(c *config) { c.Topic = long }, []string{"topic"}},
		"topic with NUL":            {func(c *config) { c.Topic = "a\x00b" }, []string{"topic"}},
		"topic not UTF-8":           {func(c *config) { c.Topic = "a\xffb" }, []string{"topic"}},
		"nobody":                    {func(c *config) { c.Participants = nil }, []string{"participants"}},
		"one participant":           {func(c *config) { c.Participants = c.Participants[:1] }, []string{"participants"}},
		"eleven participants":       {crowd(11), []string{"participants"}},
		"same name":                 {speaker(func(p *debate.Participant) { p.Name = "Ada" }), []string{"participants[1].name"}},
		"same name in another case": {speaker(func(p *debate.Participant) { p.Name = "aDA" }), []string{"participants[1].name"}},
		"no name":                   {speaker(func(p *debate.Participant) { p.Name = "" }), []string{"participants[1].name"}},
		"no names": {
			func(c *config) { c.Participants[0].Name, c.Participants[1].Name = "", "" },
			[]string{"participants[0].name", "participants[1].name"},
		},
		"blank name":            {speaker(func(p *debate.Participant) { p.Name = " " }), []string{"participants[1].name"}},
		"name with space":       {speaker(func(p *debate.Participant) { p.Name = " Ben" }), []string{"participants[1].name"}},
		"name on two lines":     {speaker(func(p *debate.Participant) { p.Name = "Ben\nJudge" }), []string{"participants[1].name"}},
		"name with a mark":      {speaker(func(p *debate.Participant) { p.Name = "<Ben>" }), []string{"participants[1].name"}},
		"name turned round":     {speaker(func(p *debate.Participant) { p.Name = "Ben\u202e" }), []string{"participants[1].name"}},
		"name too long":         {speaker(func(p *debate.Participant) { p.Name = strings.Repeat("n", 65) }), []string{"participants[1].name"}},
		"name not UTF-8":        {speaker(func(p *debate.Participant) { p.Name = "B\xff" }), []string{"participants[1].name"}},
		"unknown side":          {speaker(func(p *debate.Participant) { p.Side = "left" }), []string{"participants[1].side"}},
		"position too long":     {speaker(func(p *debate.Participant) { p.Position = long }), []string{"participants[1].position"}},
		"persona not UTF-8":     {speaker(func(p *debate.Participant) { p.Persona = "\xff" }), []string{"participants[1].persona"}},
		"instructions too long": {speaker(func(p *debate.Participant) { p.Instructions = long }), []string{"participants[1].instructions"}},
		"no model":              {speaker(func(p *debate.Participant) { p.Model = "" }), []string{"participants[1].model"}},
		"model without slash":   {speaker(func(p *debate.Participant) { p.Model = "debater" }), []string{"participants[1].model"}},
		"model without name":    {speaker(func(p *debate.Participant) { p.Model = "test/" }), []string{"participants[1].model"}},
		"model without host":    {speaker(func(p *debate.Participant) { p.Model = "/debater" }), []string{"participants[1].model"}},
		"unknown provider":      {speaker(func(p *debate.Participant) { p.Model = "acme/debater" }), []string{"participants[1].model"}},
		"bad fallbacks": {
			speaker(func(p *debate.Participant) { p.Fallbacks = []string{"test/a", "b", "acme/c", ""} }),
			[]string{"participants[1].fallbacks[1]", "participants[1].fallbacks[2]", "participants[1].fallbacks[3]"},
		},
		"speaker's temperature":  {speaker(func(p *debate.Participant) { p.Temperature = new(-0.1) }), []string{"participants[1].temperature"}},
		"speaker's tokens":       {speaker(func(p *debate.Participant) { p.MaxTokens = -1 }), []string{"participants[1].maxTokens"}},
		"unknown format":         {func(c *config) { c.Format = "opera" }, []string{"format"}},
		"unknown mode":           {func(c *config) { c.Mode = "shouting" }, []string{"mode"}},
		"unknown context":        {func(c *config) { c.Context = "forget" }, []string{"context"}},
		"negative rounds":        {func(c *config) { c.Rounds = -1 }, []string{"rounds"}},
		"negative reserve":       {func(c *config) { c.Reserve = -1 }, []string{"reserve"}},
		"negative tokens":        {func(c *config) { c.MaxTokens = -1 }, []string{"judging.judges[0].maxTokens", "maxTokens"}},
		"negative delay":         {func(c *config) { c.RoundDelay = -1 }, []string{"roundDelay"}},
		"negative turn timeout":  {func(c *config) { c.TurnTimeout = -1 }, []string{"turnTimeout"}},
		"negative judge timeout": {func(c *config) { c.JudgeTimeout = -1 }, []string{"judgeTimeout"}},
		"temperature below 0":    {func(c *config) { c.Temperature = new(-1.0) }, []string{"temperature"}},
		"temperature above 2":    {func(c *config) { c.Temperature = new(2.1) }, []string{"temperature"}},
		"temperature NaN":        {func(c *config) { c.Temperature = new(math.NaN()) }, []string{"temperature"}},
		"temperature infinite":   {func(c *config) { c.Temperature = new(math.Inf(1)) }, []string{"temperature"}},
		"negative retry": {
			func(c *config) { c.Retry = &debate.RetryPolicy{Base: -1, Cap: -1, Jitter: -1, RateLimit: -1} },
			[]string{"retry.base", "retry.cap", "retry.jitter", "retry.rateLimit"},
		},
		"negative retries": {
			func(c *config) { c.Retry = &debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindNetwork: -1}} },
			[]string{"retry.max.network"},
		},
		"retries of what comes again": {
			func(c *config) {
				c.Retry = &debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindQuota: 2, provider.KindRefusal: 0}}
			},
			[]string{"retry.max.quota"},
		},
		"no judge in judging": {func(c *config) { c.Judging.Judges = nil }, []string{"judging.judges"}},
		"two judges of one name": {
			func(c *config) {
				c.Judging.Judges[0].Name = "First"
				c.Judging.Judges = append(c.Judging.Judges, debate.JudgeConfig{Name: "first", Model: "test/judge"})
			}, []string{"judging.judges[1].name"},
		},
		"a hundred and one judges": {panelOf(101), []string{"judging.judges"}},
		"a quorum of nobody":       {func(c *config) { c.Judging.Quorum = -1 }, []string{"judging.quorum"}},
		"a quorum above all":       {func(c *config) { panelOf(3)(c); c.Judging.Quorum = 4 }, []string{"judging.quorum"}},
		"an unknown protocol":      {func(c *config) { c.Judging.Protocol = "by lot" }, []string{"judging.protocol"}},
		"unknown time of judging":  {func(c *config) { c.Judging.When = "never" }, []string{"judging.when"}},
		"bad criterion":            {func(c *config) { c.Judging.Criteria = []string{"wit", ""} }, []string{"judging.criteria[1]"}},
		"judge without a model":    {judge(func(j *debate.JudgeConfig) { j.Model = "" }), []string{"judging.judges[0].model"}},
		"judge's model":            {judge(func(j *debate.JudgeConfig) { j.Model = "judge" }), []string{"judging.judges[0].model"}},
		"judge's provider":         {judge(func(j *debate.JudgeConfig) { j.Model = "acme/judge" }), []string{"judging.judges[0].model"}},
		"judge's fallback":         {judge(func(j *debate.JudgeConfig) { j.Fallbacks = []string{"judge"} }), []string{"judging.judges[0].fallbacks[0]"}},
		"unknown judge":            {judge(func(j *debate.JudgeConfig) { j.Model, j.Judge = "", "Solomon" }), []string{"judging.judges[0].judge"}},
		"judge and model":          {judge(func(j *debate.JudgeConfig) { j.Judge = "Solomon" }), []string{"judging.judges[0]"}},
		"judge's temperature":      {judge(func(j *debate.JudgeConfig) { j.Temperature = new(3.0) }), []string{"judging.judges[0].temperature"}},
		"judge's tokens":           {judge(func(j *debate.JudgeConfig) { j.MaxTokens = -1 }), []string{"judging.judges[0].maxTokens"}},
		"judge has a name taken":   {judge(func(j *debate.JudgeConfig) { j.Name = "ben" }), []string{"judging.judges[0].name"}},
		"judge's name":             {judge(func(j *debate.JudgeConfig) { j.Name = "a\tb" }), []string{"judging.judges[0].name"}},
		"negative budget":          {budget(debate.Budget{Warn: -1, Soft: -1, Hard: -1}), []string{"budget.hard", "budget.soft", "budget.warn"}},
		"soft above hard":          {budget(debate.Budget{Soft: 2, Hard: 1}), []string{"budget.soft"}},
		"limits below one round": {
			budget(debate.Budget{Soft: 1, Hard: 1, SoftTokens: 1, HardTokens: 1, SoftCalls: 1, HardCalls: 1}),
			[]string{"budget.hard", "budget.hardCalls", "budget.hardTokens", "budget.soft", "budget.softCalls", "budget.softTokens"},
		},
		"confirm nothing": {budget(debate.Budget{Confirm: true}), []string{"budget.confirm"}},
		"a budget without prices": {
			func(c *config) {
				c.Budget = &debate.Budget{Hard: debate.USD}
				c.Participants[0].Model, c.Participants[1].Fallbacks, c.Judging.Judges[0].Model = "test/free", []string{"test/new"}, "test/odd"
			},
			[]string{"judging.judges[0].model", "participants[0].model", "participants[1].fallbacks[0]"},
		},
		"a label without a name": {func(c *config) { c.Labels = map[string]string{"": "x"} }, []string{"labels"}},
		"labels of bytes": {
			func(c *config) { c.Labels = map[string]string{"a": "\xff", "b\xff": "x", "c": "\x00", "d": "x"} },
			[]string{"labels.a", "labels.b\ufffd", "labels.c"},
		},
		"two formats":            {func(c *config) { format(func(*debate.Format) {})(c); c.Format = "free-form" }, []string{"format"}},
		"a format's name":        {format(func(f *debate.Format) { f.Name = "a\nb" }), []string{"customFormat.name"}},
		"a format's guidance":    {format(func(f *debate.Format) { f.Guidance = long }), []string{"customFormat.guidance"}},
		"no phases":              {format(func(f *debate.Format) { f.Phases = nil }), []string{"customFormat.phases"}},
		"a phase without a name": {format(func(f *debate.Format) { f.Phases[0].Name = "" }), []string{"customFormat.phases[0].name"}},
		"a phase of no rounds":   {format(func(f *debate.Format) { f.Phases[0].First = 0 }), []string{"customFormat.phases[0]"}},
		"an instruction":         {format(func(f *debate.Format) { f.Phases[0].Instruction = "\x00" }), []string{"customFormat.phases[0].instruction"}},
		"a phase twice": {
			format(func(f *debate.Format) { f.Phases = append(f.Phases, f.Phases[0]) }), []string{"customFormat.phases[1].name"},
		},
		"an unknown end":   {format(func(f *debate.Format) { f.End = "tired" }), []string{"customFormat.end"}},
		"negative bounds":  {format(func(f *debate.Format) { f.MinParticipants = -2 }), []string{"customFormat.minParticipants"}},
		"too few for it":   {format(func(f *debate.Format) { f.MinParticipants = 3 }), []string{"participants"}},
		"too many for it":  {format(func(f *debate.Format) { f.MinParticipants, f.MaxParticipants = 1, 1 }), []string{"participants"}},
		"an id with slash": {func(c *config) { c.ID = "a/b" }, []string{"id"}},
		"an id of dots":    {func(c *config) { c.ID = ".." }, []string{"id"}},
		"an id too long":   {func(c *config) { c.ID = strings.Repeat("i", 129) }, []string{"id"}},
		"all at once": {
			func(c *config) {
				c.Topic, c.Format, c.Mode, c.Rounds = "", "opera", "shouting", -3
				c.Participants[0].Model, c.Participants[1].Name, c.Judging.Judges[0].Judge = "acme/x", "ada", "Solomon"
				c.Temperature = new(9.0)
			},
			[]string{
				"format", "judging.judges[0]", "mode", "participants[0].model", "participants[1].name", "rounds", "temperature", "topic",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			engine, source := engineFor(config)
			store := &store.Memory{}
			engine.Store = unchecked{store}
			c.change(&config)
			assert.Equal(t, c.fields, fields(t, engine.Validate(t.Context(), config)))

			session, err := engine.Start(t.Context(), config)
			assert.Nil(t, session)
			assert.Equal(t, c.fields, fields(t, err), "Start says the same")
			for _, err := range engine.Run(t.Context(), config) {
				assert.Equal(t, c.fields, fields(t, err), "and Run")
			}
			assert.Zero(t, source.Calls(), "nothing was asked")
			for info, err := range store.List(t.Context(), debate.Filter{}) {
				assert.Fail(t, "something was stored", "%+v (%v)", info, err)
			}
		})
	}
}

func crowd(n int) func(*debate.Config) {
	return func(c *debate.Config) {
		c.Participants = nil
		for i := range n {
			c.Participants = append(c.Participants, debate.Participant{Name: string(rune('A' + i)), Model: "test/debater"})
		}
	}
}

// panelOf makes a panel of so many judges.
func panelOf(n int) func(*debate.Config) {
	return func(c *debate.Config) {
		c.Judging.Judges = nil
		for range n {
			c.Judging.Judges = append(c.Judging.Judges, debate.JudgeConfig{Model: "test/judge"})
		}
	}
}

// What is only just allowed is allowed.
func TestGoodConfigs(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"ten participants":   crowd(10),
		"temperature 0":      func(c *debate.Config) { c.Temperature = new(0.0) },
		"temperature 2":      func(c *debate.Config) { c.Temperature = new(2.0) },
		"64 letters":         func(c *debate.Config) { c.Participants[0].Name = strings.Repeat("é", 64) },
		"a budget of zero":   func(c *debate.Config) { c.Budget, c.Participants[0].Model = &debate.Budget{}, "test/free" },
		"slashes":            func(c *debate.Config) { c.Participants[0].Model = "test/org/model" },
		"two judges":         panelOf(2),
		"a hundred judges":   panelOf(100),
		"a quorum of all":    func(c *debate.Config) { panelOf(3)(c); c.Judging.Quorum = 3 },
		"nobody judges":      func(c *debate.Config) { c.Judging = nil },
		"many rounds":        func(c *debate.Config) { c.Rounds = 1_000_000 },
		"a zero RetryPolicy": func(c *debate.Config) { c.Retry = &debate.RetryPolicy{} },
		"one's own format": func(c *debate.Config) {
			c.Format, c.CustomFormat = "", &debate.Format{
				Name: "duel", MinParticipants: 2, MaxParticipants: 2, Phases: []format.Phase{{Name: "shot", First: 1, Last: -1}}, End: format.EndByRounds,
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := twoDebaters()
			engine, _ := engineFor(config)
			change(&config)
			assert.NoError(t, engine.Validate(t.Context(), config))
		})
	}
}

// A limit holds one round with its verdict, to the last unit, or is refused before anything is paid.
func TestALimitHoldsTheFirstRound(t *testing.T) {
	config := twoDebaters()
	engine, _ := engineFor(config)
	estimate, err := engine.Estimate(t.Context(), config)
	require.NoError(t, err)
	require.Positive(t, int64(estimate.FirstRound))
	for _, limit := range []func(debate.Money) *debate.Budget{
		func(m debate.Money) *debate.Budget { return &debate.Budget{Soft: m} },
		func(m debate.Money) *debate.Budget { return &debate.Budget{Hard: m} },
	} {
		config.Budget = limit(estimate.FirstRound)
		assert.NoError(t, engine.Validate(t.Context(), config))
		config.Budget = limit(estimate.FirstRound - 1)
		assert.Len(t, fields(t, engine.Validate(t.Context(), config)), 1)
	}
}

func TestBadEngines(t *testing.T) {
	for name, c := range map[string]struct {
		engine *debate.Engine
		fields []string
	}{
		"negative numbers": {&debate.Engine{MaxCalls: -1, ChunkInterval: -1}, []string{"ChunkInterval", "MaxCalls"}},
		"a broken prompt":  {&debate.Engine{Prompts: map[string]string{"debater": "{{.Nonsense"}}, []string{"Prompts"}},
		"providers that nobody can name": {
			&debate.Engine{Providers: map[string]debate.Provider{"a/b": &scripted.Provider{}, "": &scripted.Provider{}}},
			[]string{"Providers[]", "Providers[a/b]"},
		},
		"a flow of nil": {&debate.Engine{Flows: map[string]*debate.Flow{"x": nil}}, []string{"Flows"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.fields, fields(t, c.engine.Validate(t.Context(), twoDebaters())))
			for _, use := range []func() error{
				func() error { _, err := c.engine.New(twoDebaters()); return err },
				func() error { _, err := c.engine.Open(t.Context(), "x"); return err },
				func() error { _, err := c.engine.Record(t.Context(), "x"); return err },
				func() error { _, err := c.engine.NewCore("x", nil); return err },
				func() error { _, err := c.engine.Restore(t.Context(), nil); return err },
				func() error { return c.engine.Shutdown(t.Context()) },
			} {
				assert.Equal(t, c.fields, fields(t, use()))
			}
		})
	}
	t.Run("the zero engine", func(t *testing.T) {
		var engine debate.Engine
		assert.Equal(t, []string{"judging.judges[0].model", "participants[0].model", "participants[1].model"},
			fields(t, engine.Validate(t.Context(), twoDebaters())))
		assert.NoError(t, engine.Shutdown(t.Context()))
	})
}

// full is a config with every field set.
func full() debate.Config {
	return debate.Config{
		ID: "a.b-c_1", Topic: "Ünïcode \"quoted\" <b>?", Format: "own",
		CustomFormat: &debate.Format{
			Name: "own", Guidance: "g", MinParticipants: 2, MaxParticipants: 3, End: format.EndByRounds,
			Phases: []format.Phase{{Name: "p", First: 1, Last: -1, Instruction: "i"}},
		},
		Mode: debate.Simultaneous, Rounds: 7,
		Participants: []debate.Participant{{
			Name: "Ada", Side: debate.For, Position: "p", Persona: "q", Instructions: "r", Model: "a/b", Fallbacks: []string{"c/d"},
			Temperature: new(0.0), MaxTokens: 9,
		}},
		Judging: &debate.Judging{
			Judges: []debate.JudgeConfig{{
				Name: "J", Model: "a/j", Judge: "k", Fallbacks: []string{"e/f"}, Temperature: new(0.0), MaxTokens: 8,
			}},
			When: debate.AtEnd, Criteria: []string{"wit"},
		},
		Budget:  &debate.Budget{Warn: 1, Confirm: true, Soft: debate.USD/4 + 1, Hard: math.MaxInt64},
		Context: "truncate", Reserve: 1, MaxTokens: 2, Temperature: new(0.0),
		RoundDelay: 90 * time.Second, TurnTimeout: time.Millisecond + 1, JudgeTimeout: math.MaxInt64,
		Retry: &debate.RetryPolicy{
			Max: map[debate.Kind]int{provider.KindNetwork: 0}, Base: time.Second, Cap: time.Minute, Jitter: 1, RateLimit: 2,
		},
		Labels: map[string]string{"tenant": "blue"},
	}
}

func TestAConfigReadsWhatItWrites(t *testing.T) {
	for name, config := range map[string]debate.Config{"full": full(), "two debaters": twoDebaters(), "zero": {}} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(config)
			require.NoError(t, err)
			var read debate.Config
			require.NoError(t, json.Unmarshal(data, &read))
			assert.Equal(t, config, read)
		})
	}
	data, err := json.Marshal(full())
	require.NoError(t, err)
	for _, part := range []string{
		`"roundDelay":"1m30s"`, `"soft":0.250000000001`, `"warn":0.000000000001`, `"hard":9223372.036854775807`, `"temperature":0`,
	} {
		assert.Contains(t, string(data), part)
	}
}

func TestConfigsThatDoNotRead(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"not JSON":                 {`topic: cars`, ""},
		"nothing":                  {``, ""},
		"a list":                   {`[]`, ""},
		"a misspelt key":           {`{"topic":"x","rouds":3}`, "rouds"},
		"a flow":                   {`{"topic":"x","flow":"debate"}`, "flow: is not a known key"},
		"a config for a flow":      {`{"topic":"x","flowConfig":{}}`, "flowConfig: is not a known key"},
		"a participant's":          {`{"participants":[{"name":"Ada","mdl":"a/b"}]}`, "mdl"},
		"a judge's":                {`{"judging":{"judges":[{"mdl":"a/b"}]}}`, "mdl"},
		"judging's":                {`{"judging":{"judge":[]}}`, "judge"},
		"a budget's":               {`{"budget":{"harsh":1}}`, "harsh"},
		"a format's":               {`{"customFormat":{"fases":[]}}`, "fases"},
		"a phase's":                {`{"customFormat":{"phases":[{"frist":1}]}}`, "frist"},
		"a retry policy's":         {`{"retry":{"bass":1}}`, "bass"},
		"more behind it":           {`{"topic":"x"} {}`, ""},
		"a duration as a number":   {`{"roundDelay":90}`, ""},
		"no duration":              {`{"roundDelay":"soon"}`, "soon"},
		"a duration without units": {`{"turnTimeout":"90"}`, "90"},
		"money with 13 decimals":   {`{"budget":{"hard":0.0000000000001}}`, ""},
		"money in words":           {`{"budget":{"hard":"ten"}}`, ""},
		"rounds as text":           {`{"rounds":"3"}`, "rounds"},
	} {
		t.Run(name, func(t *testing.T) {
			var config debate.Config
			err := config.UnmarshalJSON([]byte(c.text))
			requireKind(t, err, provider.KindValidation)
			assert.ErrorContains(t, err, c.says)
			assert.Equal(t, debate.Config{}, config, "nothing of it is taken")
			assert.Error(t, json.Unmarshal([]byte(c.text), &config))
		})
	}
}

// A debate shares nothing with its host's config.
func TestTheConfigIsTheDebatesOwn(t *testing.T) {
	config := twoDebaters()
	config.Labels = map[string]string{"tenant": "blue"}
	config.Participants[0].Temperature = new(0.5)
	engine, _ := engineFor(config)
	session, err := engine.New(config)
	require.NoError(t, err)
	config.Participants[0].Name, *config.Participants[0].Temperature = "Mallory", 2
	config.Labels["tenant"], config.Judging.Judges[0].Model = "red", "acme/x"
	require.NoError(t, session.Validate(t.Context()))
	require.NoError(t, session.Start(t.Context()))
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Ada", view(record).Config().Participants[0].Name)
	assert.InDelta(t, 0.5, *view(record).Config().Participants[0].Temperature, 0)
	assert.Equal(t, "blue", view(record).Config().Labels["tenant"])
}

func TestAFlowsConfigIsTheDebatesOwn(t *testing.T) {
	config, engine, _ := newSurvey(t)
	config.Tone = json.RawMessage(`"calm"`)
	session, err := engine.New(config)
	require.NoError(t, err)
	defer session.Close()
	copy(config.Tone, `"rude"`)
	config.People[0] = "Mallory"
	require.NoError(t, session.Validate(t.Context()))
	require.NoError(t, session.Start(t.Context()))
	copy(config.Tone, `"loud"`)
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	stored, err := engine.Record(t.Context(), session.ID())
	require.NoError(t, err)
	for _, r := range []*debate.Record{record, stored} {
		assert.JSONEq(t, `"calm"`, string(r.Config().(*survey).Tone))
		assert.Equal(t, []string{"Ada", "Ben"}, r.Active())
	}
}

func TestDefaults(t *testing.T) {
	config := twoDebaters()
	config.Format, config.Rounds = "", 0
	engine, source := engineFor(config)
	record := run(t, engine, config)
	c := view(record).Config()
	assert.Equal(t, debate.FlowName, record.Flow())
	assert.Equal(t, format.FreeForm, c.Format)
	assert.Equal(t, debate.Sequential, c.Mode)
	assert.Equal(t, 5, c.Rounds)
	assert.Equal(t, 4096, c.MaxTokens)
	assert.Equal(t, 4096, c.Reserve)
	assert.Equal(t, 2*time.Minute, c.TurnTimeout)
	assert.Equal(t, 3*time.Minute, c.JudgeTimeout)
	assert.Zero(t, c.RoundDelay)
	assert.Equal(t, debate.EveryRound, c.Judging.When)
	assert.Equal(t, 5, record.Round)
	for _, request := range source.Requests() {
		want := 0.8
		if request.Schema != nil {
			want = 0.2
		}
		assert.InDelta(t, want, *request.Temperature, 0)
		assert.Equal(t, 4096, request.MaxTokens)
	}
}

// A zero is a value where nil is the default.
func TestTemperatureZero(t *testing.T) {
	config := twoDebaters()
	config.Temperature, config.Judging.Judges[0].Temperature = new(1.5), new(0.0)
	config.Participants[1].Temperature, config.Participants[1].MaxTokens = new(0.0), 77
	engine, source := engineFor(config)
	run(t, engine, config)
	for _, request := range source.Requests() {
		want := map[string]float64{"Ada": 1.5, "Ben": 0, "judge": 0}[request.Self]
		assert.InDelta(t, want, *request.Temperature, 0, request.Self)
		assert.Equal(t, request.Self == "Ben", request.MaxTokens == 77)
	}
}

// FuzzConfig: a config is read without panic, and what is read is written as it was. What is not read is refused by
// its fields, or as no JSON.
func FuzzConfig(f *testing.F) {
	for _, config := range []debate.Config{full(), twoDebaters(), {}} {
		data, err := json.Marshal(config)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, seed := range []string{
		`null`, `{"topic":1}`, `{"roundDelay":"1h"}`, `{"budget":{"hard":1e-12}}`, `{"temperature":-0}`, `{"x":1}`, `{} {}`,
		`{"budget":{"hrad":1}}`, `{"retry":{"max":{"network":"x"}}}`, `{"participants":[{"name":1},null]}`, `[]`, `{"":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var config debate.Config
		if err := config.UnmarshalJSON(data); err != nil {
			plain(t, errors.New(strings.ReplaceAll(err.Error(), string(data), ""))) // but for what it was given
			all := fields(t, err)
			if slices.Contains(all, "") && !strings.Contains(err.Error(), "JSON") || len(all) > 50 {
				t.Fatalf("no field is named, or too many: %v", err)
			}
			return
		}
		written, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		var again debate.Config
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%v: %s", err, written)
		}
		twice, err := json.Marshal(again)
		if err != nil || string(written) != string(twice) {
			t.Fatalf("%v\n%s\n%s", err, written, twice)
		}
		var engine debate.Engine
		_ = engine.Validate(t.Context(), config) // never panics
	})
}

// All that is wrong is told at once, what only a provider knows too.
func TestValidateTellsAllStagesAtOnce(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	engine.Providers["test"] = picky{p}
	config.Participants[1].Model = "test/unheard-of"
	config.Budget = &debate.Budget{HardTokens: 1}
	assert.Equal(t, []string{"budget.hardTokens", "participants[1].model"}, fields(t, engine.Validate(t.Context(), config)))
	config.Topic = ""
	assert.Equal(t, []string{"participants[1].model", "topic"}, fields(t, engine.Validate(t.Context(), config)))
}

// picky is a provider that knows its models.
type picky struct{ *scripted.Provider }

func (picky) Check(_ context.Context, model string) error {
	if model == "unheard-of" {
		return &provider.Error{Kind: provider.KindValidation, Message: "no such model"}
	}
	return nil
}
