package debate_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// casting is a debate of a format with somebody in every part.
type casting struct {
	title  string
	config debate.Config
	// refused is the field with which Validate refuses it: a schedule can be had all the same.
	refused string
}

// actors makes participants of "Ada for" or, without a side, "Ada".
func actors(lines ...string) []debate.Participant {
	out := make([]debate.Participant, len(lines))
	for i, line := range lines {
		name, side, _ := strings.Cut(line, " ")
		out[i] = debate.Participant{Name: name, Side: debate.Side(side), Model: "test/debater"}
	}
	return out
}

// listeners makes an audience of n; of none: nil.
func listeners(n int) *debate.Audience {
	if n == 0 {
		return nil
	}
	a := &debate.Audience{}
	for range n {
		a.Members = append(a.Members, debate.Member{Model: "test/debater"})
	}
	return a
}

// castings yields typical casts of a built-in format.
func castings(f string) []casting {
	play := func(title string, rounds, audience int, mode debate.Mode, names ...string) casting {
		return casting{title: title, config: debate.Config{
			Topic: "Should cities ban cars from their centres?", Format: f, Rounds: rounds, Mode: mode,
			Participants: actors(names...), Audience: listeners(audience),
		}}
	}
	switch f {
	case format.Oxford:
		unheard := play("nobody listens", 0, 0, "", "Ada for", "Ben against")
		unheard.refused = "audience"
		return []casting{
			play("one a side, one listener", 0, 1, "", "Ada for", "Ben against"),
			play("two a side, a moderator, three listeners", 0, 3, "", "Mia neutral", "Ada for", "Cem for", "Ben against", "Dee against"),
			play("one against three, a moderator", 0, 2, "", "Ada for", "Ben against", "Dee against", "Fay against", "Mia neutral"),
			unheard,
		}
	case format.LincolnDouglas:
		return []casting{play("one a side", 0, 0, "", "Ben against", "Ada for")}
	case format.KarlPopper:
		return []casting{
			play("three a side", 0, 0, "", "Ada for", "Cem for", "Eva for", "Ben against", "Dee against", "Fay against"),
			play("in mixed order, simultaneous", 0, 0, debate.Simultaneous,
				"Ben against", "Ada for", "Dee against", "Cem for", "Eva for", "Fay against"),
		}
	case format.Roundtable:
		return []casting{
			play("three and a host", 3, 0, "", "Mia neutral", "Ada", "Ben", "Cem"),
			play("three and a host, simultaneous", 3, 0, debate.Simultaneous, "Ada", "Ben", "Mia neutral", "Cem"),
			play("three alone", 2, 0, "", "Ada", "Ben", "Cem"),
			play("one round with a host", 1, 0, "", "Mia neutral", "Ada", "Ben"),
			play("one round without", 1, 0, "", "Ada", "Ben"),
		}
	case format.Socratic:
		return []casting{play("an examiner and two", 0, 0, "", "Mia neutral", "Ada", "Ben")}
	case format.DevilsAdvocate, format.DialecticalInquiry:
		return []casting{
			play("one a side", 3, 0, "", "Ada for", "Ben against"),
			play("two against one, of two rounds", 2, 0, debate.Simultaneous, "Ben against", "Ada for", "Cem for"),
			play("one round", 1, 0, "", "Ada for", "Ben against"),
		}
	default:
		return []casting{
			play("sequential", 3, 0, debate.Sequential, "Ada for", "Ben against", "Cem"),
			play("simultaneous", 3, 0, debate.Simultaneous, "Ada for", "Ben against", "Cem"),
			play("sequential, two rounds, heard", 2, 2, debate.Sequential, "Ada", "Ben"),
		}
	}
}

// ready is an engine whose models speak, vote and judge for a config.
func ready(config debate.Config) (*debate.Engine, *scripted.Provider) {
	engine, source := engineFor(config)
	talk := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && req.Schema.Name == "ballot" {
			return scripted.Reply{Text: toJSON(debate.BallotPaper{Vote: debate.VoteUndecided, Reasoning: "Both have a point."})}
		}
		if req.Schema == nil {
			return scripted.Reply{Text: news(req.ID)}
		}
		return talk(req)
	}
	return engine, source
}

// news is a speech that no other repeats, so that no detector ends the debate.
func news(id string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(id))
	dice := rand.New(rand.NewPCG(hash.Sum64(), 0))
	var b strings.Builder
	for range 12 {
		b.WriteString(strconv.FormatUint(dice.Uint64(), 36) + " ")
	}
	return b.String()
}

// roundsOf yields how many rounds a config's debate has.
func roundsOf(f *debate.Format, config *debate.Config) int {
	if f.Rounds > 0 {
		return f.Rounds
	}
	return config.Rounds
}

// Which phase each round is, in debates of one to six rounds.
func TestPhases(t *testing.T) {
	var b strings.Builder
	for _, f := range format.Builtin() {
		fmt.Fprintf(&b, "%s, ends by %s\n", f.Name, f.End)
		for rounds := 1; rounds <= 6; rounds++ {
			if f.Rounds > 0 && rounds != f.Rounds {
				continue
			}
			var phases []string
			for round := 1; round <= rounds; round++ {
				phases = append(phases, f.Phase(round, rounds).Name)
			}
			fmt.Fprintf(&b, "  %d: %s\n", rounds, strings.Join(phases, ", "))
		}
	}
	golden(t, "format_schedules.golden", b.String())
}

// The speeches of every round of typical debates.
func TestSchedules(t *testing.T) {
	for _, f := range format.Builtin() {
		t.Run(f.Name, func(t *testing.T) {
			golden(t, "format_"+f.Name+".golden", programme(&f, castings(f.Name)))
		})
	}
	t.Run("town-hall", func(t *testing.T) {
		f, config := townHall(t)
		golden(t, "format_town-hall.golden", programme(f, []casting{{title: "a chair, three, a listener", config: config}}))
	})
}

// programme writes schedules as a table.
func programme(f *debate.Format, casts []casting) string {
	var b strings.Builder
	for i := range casts {
		config := &casts[i].config
		fmt.Fprintf(&b, "# %s\n", casts[i].title)
		rounds := roundsOf(f, config)
		for round := 1; round <= rounds; round++ {
			fmt.Fprintf(&b, "round %d of %d: %s\n", round, rounds, f.Phase(round, rounds).Name)
			for _, s := range f.Schedule(config.Cast(), round) {
				who := s.Speaker
				if s.Target != "" {
					who += " → " + s.Target
				}
				line := fmt.Sprintf("%4d  %-14s %-20s", s.Slot, s.Kind, who)
				if s.Words > 0 || s.MaxTokens > 0 {
					line += fmt.Sprintf(" %4d words %5d tokens", s.Words, s.MaxTokens)
				}
				if s.Group > 0 {
					line += fmt.Sprintf("  at once: %d", s.Group)
				}
				b.WriteString(strings.TrimRight(line, " ") + "\n")
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A debate is spoken as its format's schedule says, and every speaker is told what the format asks.
func TestADebateFollowsItsSchedule(t *testing.T) {
	for _, f := range format.Builtin() {
		for _, c := range castings(f.Name) {
			t.Run(f.Name+"/"+c.title, func(t *testing.T) {
				if c.refused == "" {
					follow(t, &f, c.config)
				}
			})
		}
		if f.Rounds == 0 {
			c := castings(f.Name)[0]
			for c.config.Rounds = 1; c.config.Rounds <= 6; c.config.Rounds++ {
				follow(t, &f, c.config)
			}
		}
	}
	f, config := townHall(t)
	config.CustomFormat = f
	follow(t, f, config)
}

func follow(t *testing.T, f *debate.Format, config debate.Config) {
	t.Helper()
	engine, source := ready(config)
	record := run(t, engine, config)
	require.Equal(t, roundsOf(f, &config), record.Round)

	requests := make(map[string]provider.Request)
	for _, request := range source.Requests() {
		requests[strings.Split(request.ID, "/")[1]] = request
	}
	turns, calls := slices.Clone(record.Turns), make(map[string]bool)
	slices.SortStableFunc(turns, func(a, b *debate.Turn) int { // who speaks at once ends in any order
		return cmp.Or(a.Round-b.Round, a.Slot-b.Slot)
	})
	for round := 1; round <= record.Round; round++ {
		phase := f.Phase(round, record.Round)
		for _, want := range f.Schedule(config.Cast(), round) {
			require.NotEmpty(t, turns, "round %d", round)
			turn := turns[0]
			turns = turns[1:]
			require.Equal(t, []any{round, want.Slot, want.Kind, want.Speaker, want.Target},
				[]any{turn.Round, turn.Slot, turn.Kind, turn.Speaker, turn.Target})
			require.False(t, calls[turn.Call], "the call %s is made twice", turn.Call)
			calls[turn.Call] = true

			request, ok := requests[turn.Call]
			require.True(t, ok, turn.Call)
			for _, text := range []string{phase.Instruction, want.Target} {
				assert.Contains(t, request.Last.Text, text)
			}
			if want.Words > 0 {
				assert.Contains(t, request.Last.Text, "about "+strconv.Itoa(want.Words)+" words")
			}
			if want.MaxTokens > 0 {
				assert.Equal(t, want.MaxTokens, request.MaxTokens)
			}
		}
	}
	assert.Empty(t, turns)
}

// Each slot's own instructions reach its speakers, and nobody else's do.
func TestEverySlotHasItsInstruction(t *testing.T) {
	for _, f := range format.Builtin() {
		for _, phase := range f.Phases {
			assert.NotEmpty(t, phase.Instruction+firstInstruction(phase.Slots), "%s, %s", f.Name, phase.Name)
			for i, slot := range phase.Slots {
				assert.NotEmpty(t, phase.Instruction+slot.Instruction, "%s, %s, slot %d", f.Name, phase.Name, i+1)
				assert.Equal(t, slot.Exchanges > 0, slot.Answer != "",
					"%s, %s, slot %d: who is asked is told how to answer", f.Name, phase.Name, i+1)
			}
		}
		assert.NotEmpty(t, f.Guidance, f.Name)
		for _, seats := range f.Seats {
			assert.NotEmpty(t, seats.Role, "%s, %q", f.Name, seats.Side)
		}
	}
	config := castings(format.Socratic)[0].config
	engine, source := ready(config)
	run(t, engine, config)
	f := builtin(t, format.Socratic)
	for _, request := range source.Requests() {
		said := ""
		for _, phase := range f.Phases {
			if strings.Contains(request.Last.Text, phase.Slots[0].Instruction) {
				said += phase.Name
			}
		}
		if request.Self != "Mia" {
			assert.Empty(t, said, "who is examined reads no instruction of the examiner")
			assert.Contains(t, request.Last.Text, f.Phases[0].Slots[0].Answer)
			continue
		}
		m := callRound.FindStringSubmatch(request.ID)
		require.NotNil(t, m)
		round, _ := strconv.Atoi(m[1])
		assert.Equal(t, f.Phases[round-1].Name, said, "one kind of question to a round")
	}
}

func firstInstruction(slots []format.Slot) string {
	if len(slots) == 0 {
		return ""
	}
	return slots[0].Instruction
}

func builtin(t *testing.T, name string) debate.Format {
	t.Helper()
	for _, f := range format.Builtin() {
		if f.Name == name {
			return f
		}
	}
	require.Fail(t, "no such format", name)
	return debate.Format{}
}

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

// The published tables: who speaks, to whom in a cross-examination, and for how many minutes.
func TestMinutesAreThoseOfThePublishedTables(t *testing.T) {
	for name, tc := range map[string]struct {
		table []string
		total float64
	}{
		format.LincolnDouglas: {[]string{
			"for:1 6", "against:1>for:1 3", "against:1 7", "for:1>against:1 3",
			"for:1 4", "against:1 6", "for:1 3",
		}, 32},
		format.KarlPopper: {[]string{
			"for:1 6", "against:3>for:1 3", "against:1 6", "for:3>against:1 3",
			"for:2 5", "against:1>for:2 3", "against:2 5", "for:1>against:2 3",
			"for:3 5", "against:3 5",
		}, 44},
	} {
		t.Run(name, func(t *testing.T) {
			f := builtin(t, name)
			var table []string
			total := 0.0
			for round := 1; round <= f.Rounds; round++ {
				for _, slot := range f.Phase(round, f.Rounds).Slots {
					who := string(slot.Who)
					if slot.To != "" {
						who += ">" + string(slot.To)
						assert.Equal(t, 3, slot.Exchanges)
					}
					table = append(table, fmt.Sprintf("%s %g", who, slot.Minutes))
					total += slot.Minutes
				}
			}
			assert.Equal(t, tc.table, table)
			assert.InDelta(t, tc.total, total, 0)
		})
	}
	f := builtin(t, format.Oxford)
	assert.InDelta(t, 7, f.Phase(1, 3).Slots[0].Minutes, 0)
	assert.InDelta(t, 2, f.Phase(3, 3).Slots[0].Minutes, 0)
}

// A slot's minutes are shared by the turns of its exchanges.
func TestMinutesBecomeWordsAndTokens(t *testing.T) {
	for name, tc := range map[string]struct {
		slot          format.Slot
		words, tokens int
	}{
		"a speech":              {format.Slot{Minutes: 6}, 840, 1680},
		"a cross-examination":   {format.Slot{To: "against", Exchanges: 3, Minutes: 3}, 70, 256},
		"a moment":              {format.Slot{Minutes: 0.001}, 1, 256},
		"words of its own":      {format.Slot{Minutes: 6, Words: 50}, 50, 256},
		"tokens of its own":     {format.Slot{Minutes: 6, MaxTokens: 90}, 840, 90},
		"words without minutes": {format.Slot{Words: 50}, 50, 0},
		"nothing":               {format.Slot{}, 0, 0},
	} {
		tc.slot.Who = "for"
		f := debate.Format{Phases: []format.Phase{{Name: "talk", First: 1, Last: -1, Slots: []format.Slot{tc.slot}}}}
		config := twoDebaters()
		speeches := f.Schedule(config.Cast(), 1)
		require.Len(t, speeches, max(1, 2*tc.slot.Exchanges), name)
		for _, s := range speeches {
			assert.Equal(t, []int{tc.words, tc.tokens}, []int{s.Words, s.MaxTokens}, name)
		}
	}
}

func TestBuiltinFormatsValidate(t *testing.T) {
	for _, f := range format.Builtin() {
		for _, c := range castings(f.Name) {
			t.Run(f.Name+"/"+c.title, func(t *testing.T) {
				engine, _ := ready(c.config)
				if err := engine.Validate(t.Context(), c.config); c.refused != "" {
					refused(t, err, c.refused)
				} else {
					require.NoError(t, err)
				}
				// The same as a host would bring it along.
				c.config.CustomFormat, c.config.Format = &f, ""
				if c.refused == "" {
					require.NoError(t, engine.Validate(t.Context(), c.config))
				}
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
		"a side at the table": {format.Roundtable, []string{"Ada for", "Ben", "Cem"}, "participants[0].side"},
		"two hosts":           {format.Roundtable, []string{"Mia neutral", "Max neutral", "Ada", "Ben"}, "participants"},
		"a host and one":      {format.Roundtable, []string{"Mia neutral", "Ada"}, "participants"},
		"no examiner":         {format.Socratic, []string{"Ada", "Ben"}, "participants"},
		"no devil":            {format.DevilsAdvocate, []string{"Ada for", "Ben for"}, "participants"},
		"no counter-plan":     {format.DialecticalInquiry, []string{"Ada for", "Ben neutral"}, "participants"},
	} {
		t.Run(name, func(t *testing.T) {
			config := debate.Config{Topic: "Cars?", Format: tc.format, Participants: actors(tc.names...), Audience: listeners(1)}
			engine, _ := ready(config)
			refused(t, engine.Validate(t.Context(), config), tc.field)
		})
	}
}

// A fixed number of rounds is written out, and no other is taken.
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
		config.Rounds = f.Rounds
		require.NoError(t, engine.Validate(t.Context(), config))
		for _, other := range []int{1, f.Rounds + 1} {
			config.Rounds = other
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

// Schedules of random casts: the same twice, every speech in a place of its own, by somebody who is there.
func TestSchedulesAreDeterministic(t *testing.T) {
	dice := rand.New(rand.NewPCG(4, 2))
	sides := []debate.Side{"", debate.For, debate.Against, debate.Neutral}
	formats := format.Builtin()
	for range 2000 {
		f := &formats[dice.IntN(len(formats))]
		config := debate.Config{
			Rounds: 1 + dice.IntN(8), Audience: listeners(dice.IntN(4)), Mode: []debate.Mode{"", debate.Simultaneous}[dice.IntN(2)],
		}
		present := []string{"audience-1", "audience-2", "audience-3"}
		for i := range 1 + dice.IntN(8) {
			p := debate.Participant{Name: string(rune('A' + i)), Side: sides[dice.IntN(4)]}
			present = append(present, p.Name)
			config.Participants = append(config.Participants, p)
		}
		given := toJSON(config)
		round := dice.IntN(12) - 1
		speeches := f.Schedule(config.Cast(), round)
		require.Equal(t, speeches, f.Schedule(config.Cast(), round))
		require.Equal(t, given, toJSON(config), "the config is only read")
		last := format.Speech{Target: "?"}
		for i, s := range speeches {
			require.Equal(t, i, s.Slot)
			require.Contains(t, present, s.Speaker)
			require.NotEqual(t, s.Speaker, s.Target)
			require.NotEmpty(t, s.Kind)
			require.True(t, s.Target == "" || slices.Contains(present, s.Target))
			if s.Kind == format.KindAnswer && last.Kind == format.KindQuestion && last.Target != "" {
				require.Equal(t, []string{last.Target, last.Speaker}, []string{s.Speaker, s.Target}, "who is asked answers")
			}
			last = s
		}
	}
}

// A chair speaks only where a slot says so, and is no contestant.
func TestTheChairLeads(t *testing.T) {
	for name, want := range map[string][]flow.CallKind{
		format.Roundtable: {"opening", "closing"},
		format.Socratic:   slices.Repeat([]flow.CallKind{format.KindQuestion}, 12),
	} {
		config := castings(name)[0].config
		engine, _ := ready(config)
		record := run(t, engine, config)
		var kinds []flow.CallKind
		for _, turn := range record.Turns {
			if turn.Speaker == "Mia" {
				kinds = append(kinds, turn.Kind)
			}
		}
		assert.Equal(t, want, kinds, name)
		for _, p := range view(record).Contestants() {
			assert.NotEqual(t, "Mia", p.Name)
		}
	}
}

func TestPhasesOfOnesOwn(t *testing.T) {
	f := debate.Format{Name: "own", End: format.EndByRounds, Phases: []format.Phase{
		{Name: "toast", First: -1, Last: -1}, {Name: "soup", First: 1, Last: 2}, {Name: "roast", First: 2, Last: -3},
	}}
	phases := func(rounds int) (out []string) {
		for round := 1; round <= rounds; round++ {
			out = append(out, f.Phase(round, rounds).Name)
		}
		return out
	}
	assert.Equal(t, []string{"toast"}, phases(1))
	assert.Equal(t, []string{"soup", "soup", "roast", "argument", "toast"}, phases(5), "a round that no phase covers is an argument")

	config := twoDebaters()
	config.Format, config.CustomFormat, config.Rounds = "", &f, 5
	engine, _ := ready(config)
	var spoken []string
	for _, turn := range run(t, engine, config).Turns {
		if turn.Slot == 0 {
			spoken = append(spoken, string(turn.Kind))
		}
	}
	assert.Equal(t, phases(5), spoken)
}

// The instructions of one phase are not taken for those of another whose name is like it.
func TestPhasesOfLikeNames(t *testing.T) {
	f := debate.Format{Name: "own", End: format.EndByRounds, Phases: []format.Phase{
		{Name: "a", First: 1, Last: 1, Slots: []format.Slot{{Who: format.Everyone, Instruction: "Speak of apples."}}},
		{Name: "a.1", First: 2, Last: 2, Instruction: "Speak of pears."},
		{Name: "A", First: 3, Last: 3, Instruction: "Speak of plums."},
	}}
	config := twoDebaters()
	config.Format, config.CustomFormat = "", &f
	engine, source := ready(config)
	run(t, engine, config)
	for _, request := range source.Requests() {
		if m := callRound.FindStringSubmatch(request.ID); m != nil && request.Schema == nil {
			assert.Contains(t, request.Last.Text, map[string]string{"1": "apples", "2": "pears", "3": "plums"}[m[1]], request.ID)
		}
	}
}

// A format of the engine's is known by its name there, and its own end rule holds.
func TestAFormatOfTheEngine(t *testing.T) {
	config := twoDebaters()
	config.Format, config.Rounds = "duel", 4
	engine, _ := engineFor(config)
	engine.Formats = map[string]debate.Format{"duel": {
		Name: "ignored", MinParticipants: 2, MaxParticipants: 2, End: format.EndByRounds,
		Phases: []format.Phase{{Name: "shot", First: 1, Last: -1}},
	}}
	record := run(t, engine, config)
	assert.Equal(t, "duel", view(record).Format().Name)
	assert.Equal(t, 4, record.Round)
	assert.EqualValues(t, "shot", record.Turns[0].Kind)
}

// Who speaks, by how a slot names them.
func TestWho(t *testing.T) {
	config := debate.Config{
		Participants: actors("Mia neutral", "Ben against", "Ada for", "Cem for", "Dee against", "Eva for", "Zoe"), Audience: listeners(2),
	}
	for who, want := range map[format.Who]string{
		"all":        "Ben Ada Cem Dee Eva Zoe",
		"sides":      "Ada Ben Cem Dee Eva",
		"chair":      "Mia",
		"for":        "Ada Cem Eva",
		"against":    "Ben Dee",
		"for:2":      "Cem",
		"for:4":      "",
		"against:2":  "Dee",
		"neutral:1":  "Mia",
		"name:Zoe":   "Zoe",
		"name:Yan":   "",
		"audience":   "audience-1 audience-2",
		"audience:2": "audience-2",
		"audience:3": "",
	} {
		f := debate.Format{Chair: debate.Neutral, Phases: []format.Phase{
			{Name: "talk", First: 1, Last: -1, Slots: []format.Slot{{Who: who}}},
			{Name: "reply", First: 1, Last: -1, Slots: []format.Slot{{Who: "name:Zoe", To: who}}},
		}}
		var names, targets []string
		for _, s := range f.Schedule(config.Cast(), 1) {
			names = append(names, s.Speaker)
		}
		assert.Equal(t, want, strings.Join(names, " "), string(who))

		f.Phases = f.Phases[1:]
		for _, s := range f.Schedule(config.Cast(), 1) {
			targets = append(targets, s.Target)
		}
		assert.Equal(t, strings.TrimSpace(strings.TrimSuffix(want, "Zoe")), strings.Join(targets, " "), "to %s: all but the speaker", who)
	}
}
