package debate_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

func TestBadConfigs(t *testing.T) {
	t.Parallel()
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
		"chair's stance": {
			func(c *config) {
				c.Format, c.Participants = "roundtable", stage.Actors("Ada", "Ben", "Cem neutral")
				c.Participants[2].Stance = "open"
			}, []string{"participants[2].stance"},
		},
		"speaker's temperature":  {speaker(func(p *debate.Participant) { p.Temperature = new(-0.1) }), []string{"participants[1].temperature"}},
		"speaker's tokens":       {speaker(func(p *debate.Participant) { p.MaxTokens = -1 }), []string{"participants[1].maxTokens"}},
		"unknown format":         {func(c *config) { c.Format = "opera" }, []string{"format"}},
		"unknown mode":           {func(c *config) { c.Mode = "shouting" }, []string{"mode"}},
		"unknown stance":         {func(c *config) { c.Stance = "stubborn" }, []string{"stance"}},
		"speaker's stance":       {speaker(func(p *debate.Participant) { p.Stance = "stubborn" }), []string{"participants[1].stance"}},
		"unknown context":        {func(c *config) { c.Context = "forget" }, []string{"context"}},
		"negative rounds":        {func(c *config) { c.Rounds = -1 }, []string{"rounds"}},
		"negative reserve":       {func(c *config) { c.Reserve = -1 }, []string{"reserve"}},
		"negative tokens":        {func(c *config) { c.MaxTokens = -1 }, []string{"judging.judges[0].maxTokens", "maxTokens"}},
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
		"a hundred and one judges": {stage.PanelOf(101), []string{"judging.judges"}},
		"a quorum of nobody":       {func(c *config) { c.Judging.Quorum = -1 }, []string{"judging.quorum"}},
		"a quorum above all":       {func(c *config) { stage.PanelOf(3)(c); c.Judging.Quorum = 4 }, []string{"judging.quorum"}},
		"an unknown protocol":      {func(c *config) { c.Judging.Protocol = "by lot" }, []string{"judging.protocol"}},
		"an unknown aim":           {func(c *config) { c.Judging.Aim = "beauty" }, []string{"judging.aim"}},
		"instructions to judges":   {func(c *config) { c.Judging.Instructions = "a\x00b" }, []string{"judging.instructions"}},
		"instructions to a judge":  {judge(func(j *debate.JudgeConfig) { j.Instructions = "\xff" }), []string{"judging.judges[0].instructions"}},
		"unknown time of judging":  {func(c *config) { c.Judging.When = "never" }, []string{"judging.when"}},
		"bad criterion":            {func(c *config) { c.Judging.Criteria = []string{"wit", ""} }, []string{"judging.criteria[1]"}},
		"judge without a model":    {judge(func(j *debate.JudgeConfig) { j.Model = "" }), []string{"judging.judges[0].model"}},
		"judge's model":            {judge(func(j *debate.JudgeConfig) { j.Model = "judge" }), []string{"judging.judges[0].model"}},
		"judge's provider":         {judge(func(j *debate.JudgeConfig) { j.Model = "acme/judge" }), []string{"judging.judges[0].model"}},
		"judge's fallback":         {judge(func(j *debate.JudgeConfig) { j.Fallbacks = []string{"judge"} }), []string{"judging.judges[0].fallbacks[0]"}},
		"unknown judge":            {judge(func(j *debate.JudgeConfig) { j.Model, j.Judge = "", "Solomon" }), []string{"judging.judges[0].judge"}},
		"judge and model":          {judge(func(j *debate.JudgeConfig) { j.Judge = "Solomon" }), []string{"judging.judges[0]", "judging.judges[0].judge"}},
		"judge's temperature":      {judge(func(j *debate.JudgeConfig) { j.Temperature = new(3.0) }), []string{"judging.judges[0].temperature"}},
		"judge's tokens":           {judge(func(j *debate.JudgeConfig) { j.MaxTokens = -1 }), []string{"judging.judges[0].maxTokens"}},
		"judge has a name taken":   {judge(func(j *debate.JudgeConfig) { j.Name = "ben" }), []string{"judging.judges[0].name"}},
		"judge's name":             {judge(func(j *debate.JudgeConfig) { j.Name = "a\tb" }), []string{"judging.judges[0].name"}},
		"negative budget":          {budget(debate.Budget{Warn: -1, Soft: -1, Hard: -1}), []string{"budget.hard", "budget.soft", "budget.warn"}},
		"soft above hard":          {budget(debate.Budget{Soft: 2, Hard: 1}), []string{"budget.soft"}},
		"limits below one round": {
			budget(debate.Budget{Soft: 1, Hard: 2, SoftTokens: 1, HardTokens: 2, SoftCalls: 1, HardCalls: 2}),
			[]string{"budget.hard", "budget.hardCalls", "budget.hardTokens", "budget.soft", "budget.softCalls", "budget.softTokens"},
		},
		"one limit below one round": {
			budget(debate.Budget{Soft: 1, Hard: 1, SoftTokens: 1, HardTokens: 1, SoftCalls: 1, HardCalls: 1}),
			[]string{"budget.hard", "budget.hardCalls", "budget.hardTokens"},
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
				"format", "judging.judges[0]", "judging.judges[0].judge", "mode", "participants[0].model", "participants[1].name", "rounds", "temperature", "topic",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			engine, source := stage.Engine(config)
			store := &store.Memory{}
			engine.Store = store
			c.change(&config)
			assert.Equal(t, c.fields, stage.FieldsOf(t, engine.Validate(t.Context(), config)))

			session, err := engine.Start(t.Context(), config)
			assert.Nil(t, session)
			assert.Equal(t, c.fields, stage.FieldsOf(t, err), "Start says the same")
			for _, err := range engine.Run(t.Context(), config) {
				assert.Equal(t, c.fields, stage.FieldsOf(t, err), "and Run")
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

// What is only just allowed is allowed.
func TestGoodConfigs(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"ten participants":   crowd(10),
		"temperature 0":      func(c *debate.Config) { c.Temperature = new(0.0) },
		"temperature 2":      func(c *debate.Config) { c.Temperature = new(2.0) },
		"64 letters":         func(c *debate.Config) { c.Participants[0].Name = strings.Repeat("é", 64) },
		"a budget of zero":   func(c *debate.Config) { c.Budget, c.Participants[0].Model = &debate.Budget{}, "test/free" },
		"slashes":            func(c *debate.Config) { c.Participants[0].Model = "test/org/model" },
		"two judges":         stage.PanelOf(2),
		"a hundred judges":   stage.PanelOf(100),
		"a quorum of all":    func(c *debate.Config) { stage.PanelOf(3)(c); c.Judging.Quorum = 3 },
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
			config := stage.TwoDebaters()
			engine, _ := stage.Engine(config)
			change(&config)
			assert.NoError(t, engine.Validate(t.Context(), config))
		})
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
		"a function and a judge of one name": {
			&debate.Engine{
				Judges: map[string]debate.Judge{"cato": stage.Outsider(nil)}, Functions: map[string]flow.Function{"cato": arbiter.Func(nil)},
			},
			[]string{"Functions[cato]"},
		},
		"a flow of nil": {&debate.Engine{Flows: map[string]*debate.Flow{"x": nil}}, []string{"Flows"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.fields, stage.FieldsOf(t, c.engine.Validate(t.Context(), stage.TwoDebaters())))
			for _, use := range []func() error{
				func() error { _, err := c.engine.New(stage.TwoDebaters()); return err },
				func() error { _, err := c.engine.Open(t.Context(), "x"); return err },
				func() error { _, err := c.engine.Record(t.Context(), "x"); return err },
				func() error { _, err := c.engine.Import(t.Context(), strings.NewReader("")); return err },
				func() error { return c.engine.Shutdown(t.Context()) },
			} {
				assert.Equal(t, c.fields, stage.FieldsOf(t, use()))
			}
		})
	}
	t.Run("the zero engine", func(t *testing.T) {
		var engine debate.Engine
		assert.Equal(t, []string{"judging.judges[0].model", "participants[0].model", "participants[1].model"},
			stage.FieldsOf(t, engine.Validate(t.Context(), stage.TwoDebaters())))
		assert.NoError(t, engine.Shutdown(t.Context()))
	})
}

// All that is wrong is told at once, what only a provider knows too.
func TestValidateTellsAllStagesAtOnce(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	engine.Providers["test"] = picky{p}
	config.Participants[1].Model = "test/unheard-of"
	config.Budget = &debate.Budget{HardTokens: 1}
	assert.Equal(t, []string{"budget.hardTokens", "participants[1].model"}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
	config.Topic = ""
	assert.Equal(t, []string{"participants[1].model", "topic"}, stage.FieldsOf(t, engine.Validate(t.Context(), config)))
}

// picky is a provider that knows its models.
type picky struct{ *scripted.Provider }

func (picky) Check(_ context.Context, model string) error {
	if model == "unheard-of" {
		return &provider.Error{Kind: provider.KindValidation, Message: "no such model"}
	}
	return nil
}
