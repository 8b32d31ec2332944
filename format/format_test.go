package format_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// The names are all there, each once.
func TestBuiltinFormats(t *testing.T) {
	var names []string
	for _, f := range format.Builtin() {
		names = append(names, f.Name)
	}
	assert.Equal(t, []string{
		format.FreeForm, format.StructuredRounds, format.RoundLimited, format.ConvergenceSeeker, format.Oxford, format.LincolnDouglas,
		format.Roundtable, format.KarlPopper, format.Socratic, format.DevilsAdvocate, format.DialecticalInquiry,
		format.TruthSeeking,
	}, names)
}

func TestBuiltinFormatsValidate(t *testing.T) {
	for _, f := range format.Builtin() {
		for _, c := range castings(f.Name) {
			t.Run(f.Name+"/"+c.title, func(t *testing.T) {
				engine, _ := stage.Ready(c.config)
				require.NoError(t, engine.Validate(t.Context(), c.config))
				// The same as a host would bring it along.
				c.config.CustomFormat, c.config.Format = &f, ""
				require.NoError(t, engine.Validate(t.Context(), c.config))
			})
		}
	}
}

// Who does not fit the seats of a format is refused.
func TestSeatsAreKept(t *testing.T) {
	for name, tc := range map[string]struct {
		format string
		names  []string
		field  string
	}{
		"two for":             {format.LincolnDouglas, []string{"Ada for", "Cem for", "Ben against"}, "participants"},
		"no side":             {format.LincolnDouglas, []string{"Ada for", "Ben"}, "participants[1].side"},
		"a moderator":         {format.LincolnDouglas, []string{"Ada for", "Ben against", "Mia neutral"}, "participants[2].side"},
		"a small team":        {format.KarlPopper, []string{"Ada for", "Cem for", "Eva for", "Ben against", "Dee against"}, "participants"},
		"two moderators":      {format.Oxford, []string{"Ada for", "Ben against", "Mia neutral", "Max neutral"}, "participants"},
		"five for":            {format.Oxford, []string{"A for", "B for", "C for", "D for", "E for", "Ben against"}, "participants"},
		"nobody against":      {format.Oxford, []string{"Ada for", "Cem for"}, "participants"},
		"two hosts":           {format.Roundtable, []string{"Mia neutral", "Max neutral", "Ada", "Ben"}, "participants"},
		"a host and one":      {format.Roundtable, []string{"Mia neutral", "Ada"}, "participants"},
		"an unknown side":     {format.Oxford, []string{"Ada for", "Ben left"}, "participants[1].side"},
		"a free seat":         {format.Roundtable, []string{"Mia neutral", "Ada left", "Ben"}, "participants[1].side"},
		"no examiner":         {format.Socratic, []string{"Ada", "Ben"}, "participants"},
		"no devil":            {format.DevilsAdvocate, []string{"Ada for", "Ben for"}, "participants"},
		"sides and two hosts": {format.Roundtable, []string{"Mia neutral", "Max neutral", "Ada for", "Ben against"}, "participants"},
		"no counter-plan":     {format.DialecticalInquiry, []string{"Ada for", "Ben neutral"}, "participants[1].side"},
	} {
		t.Run(name, func(t *testing.T) {
			config := debate.Config{Topic: "Cars?", Format: tc.format, Participants: stage.Actors(tc.names...), Audience: listeners(1)}
			engine, _ := stage.Ready(config)
			stage.Refused(t, engine.Validate(t.Context(), config), tc.field)
		})
	}
}

// A fixed number of rounds is written out. More may be allowed, but not fewer.
func TestAFormatFixesItsRounds(t *testing.T) {
	want := map[string]int{format.Oxford: 3, format.LincolnDouglas: 2, format.KarlPopper: 3, format.Socratic: 6}
	for _, f := range format.Builtin() {
		assert.Equal(t, want[f.Name], f.Rounds, f.Name)
		if f.Rounds == 0 {
			continue
		}
		config := castings(f.Name)[0].config
		engine, _ := stage.Ready(config)
		assert.Equal(t, f.Rounds, stage.View(stage.Run(t, engine, config)).Config().Rounds)
		config.Rounds = f.Rounds + 1
		assert.Equal(t, f.Rounds, stage.View(stage.Run(t, engine, config)).Config().Rounds)
		for _, fewer := range []int{1, f.Rounds - 1} {
			config.Rounds = fewer
			stage.Refused(t, engine.Validate(t.Context(), config), "rounds")
		}
	}
}

func TestFormatsRoundTripThroughJSON(t *testing.T) {
	town, _ := townHall(t)
	for _, f := range append(format.Builtin(), *town) {
		data, err := json.Marshal(f)
		require.NoError(t, err)
		again, err := format.Parse(data)
		require.NoError(t, err, f.Name)
		assert.Equal(t, f, again)
	}
}

// Nothing that a host does to one value shows in another, or in an engine.
func TestFormatsAreFreshValues(t *testing.T) {
	before := stage.JSON(format.Builtin())
	first, second := format.Builtin(), format.Builtin()
	for i := range first {
		f := &first[i]
		for k := range f.Phases {
			clear(f.Phases[k].Slots)
		}
		clear(f.Phases)
		clear(f.Seats)
		clear(f.Watch)
		clear(f.StopOn)
	}
	assert.NotEqual(t, before, stage.JSON(first))
	assert.Equal(t, before, stage.JSON(second))
	assert.Equal(t, before, stage.JSON(format.Builtin()))
	config := stage.TwoDebaters()
	engine, _ := stage.Ready(config)
	assert.EqualValues(t, "opening", stage.Run(t, engine, config).Turns[0].Kind)
}
