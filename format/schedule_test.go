package format_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

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
	stage.Golden(t, "schedules.golden", b.String())
}

// The speeches of every round of typical debates.
func TestSchedules(t *testing.T) {
	for _, f := range format.Builtin() {
		t.Run(f.Name, func(t *testing.T) {
			stage.Golden(t, f.Name+".golden", programme(&f, castings(f.Name)))
		})
	}
	t.Run("town-hall", func(t *testing.T) {
		f, config := townHall(t)
		stage.Golden(t, "town-hall.golden", programme(f, []casting{{title: "a chair, three, a listener", config: config}}))
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
			f := stage.Builtin(t, name)
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
	f := stage.Builtin(t, format.Oxford)
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
		config := stage.TwoDebaters()
		speeches := f.Schedule(config.Cast(), 1)
		require.Len(t, speeches, max(1, 2*tc.slot.Exchanges), name)
		for _, s := range speeches {
			assert.Equal(t, []int{tc.words, tc.tokens}, []int{s.Words, s.MaxTokens}, name)
		}
	}
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
		given := stage.JSON(config)
		round := dice.IntN(12) - 1
		speeches := f.Schedule(config.Cast(), round)
		require.Equal(t, speeches, f.Schedule(config.Cast(), round))
		require.Equal(t, given, stage.JSON(config), "the config is only read")
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

// Who speaks, by how a slot names them.
func TestWho(t *testing.T) {
	config := debate.Config{
		Participants: stage.Actors("Mia neutral", "Ben against", "Ada for", "Cem for", "Dee against", "Eva for", "Zoe"), Audience: listeners(2),
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
