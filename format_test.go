package debate_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
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
	}, names)
}

func TestBuiltinFormatsValidate(t *testing.T) {
	for _, f := range format.Builtin() {
		for _, c := range castings(f.Name) {
			t.Run(f.Name+"/"+c.title, func(t *testing.T) {
				engine, _ := ready(c.config)
				require.NoError(t, engine.Validate(t.Context(), c.config))
				// The same as a host would bring it along.
				c.config.CustomFormat, c.config.Format = &f, ""
				require.NoError(t, engine.Validate(t.Context(), c.config))
			})
		}
	}
}

// refused asserts that an error is of kind validation and names a field.
func refused(t *testing.T, err error, field string) {
	t.Helper()
	require.Error(t, err)
	var fields []string
	var each func(error)
	each = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				each(e)
			}
			return
		}
		var e *debate.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, provider.KindValidation, e.Kind)
		fields = append(fields, e.Field)
	}
	each(err)
	assert.Contains(t, fields, field, "%v", err)
	assert.Less(t, len(err.Error()), 20_000)
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
		"no examiner":         {format.Socratic, []string{"Ada", "Ben"}, "participants"},
		"no devil":            {format.DevilsAdvocate, []string{"Ada for", "Ben for"}, "participants"},
		"sides and two hosts": {format.Roundtable, []string{"Mia neutral", "Max neutral", "Ada for", "Ben against"}, "participants"},
		"no counter-plan":     {format.DialecticalInquiry, []string{"Ada for", "Ben neutral"}, "participants"},
	} {
		t.Run(name, func(t *testing.T) {
			config := debate.Config{Topic: "Cars?", Format: tc.format, Participants: actors(tc.names...), Audience: listeners(1)}
			engine, _ := ready(config)
			refused(t, engine.Validate(t.Context(), config), tc.field)
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
		engine, _ := ready(config)
		assert.Equal(t, f.Rounds, view(run(t, engine, config)).Config().Rounds)
		config.Rounds = f.Rounds + 1
		assert.Equal(t, f.Rounds, view(run(t, engine, config)).Config().Rounds)
		for _, fewer := range []int{1, f.Rounds - 1} {
			config.Rounds = fewer
			refused(t, engine.Validate(t.Context(), config), "rounds")
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
	before := toJSON(format.Builtin())
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
	assert.NotEqual(t, before, toJSON(first))
	assert.Equal(t, before, toJSON(second))
	assert.Equal(t, before, toJSON(format.Builtin()))
	config := twoDebaters()
	engine, _ := ready(config)
	assert.EqualValues(t, "opening", run(t, engine, config).Turns[0].Kind)
}
