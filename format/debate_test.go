package format_test

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A debate is spoken as its format's schedule says, and every speaker is told what the format asks.
func TestADebateFollowsItsSchedule(t *testing.T) {
	for _, f := range format.Builtin() {
		for _, c := range castings(f.Name) {
			t.Run(f.Name+"/"+c.title, func(t *testing.T) {
				follow(t, &f, c.config)
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
	engine, source := stage.Ready(config)
	record := stage.Run(t, engine, config)
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
				assert.Contains(t, request.Last.Text, " "+strconv.Itoa(want.Words)+" words.")
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
			if !slices.Contains([]string{format.PhaseOpening, format.PhaseArgument, format.PhaseClosing}, phase.Name) { // the name says what is asked
				assert.NotEmpty(t, phase.Instruction+firstInstruction(phase.Slots), "%s, %s", f.Name, phase.Name)
			}
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
	engine, source := stage.Ready(config)
	stage.Run(t, engine, config)
	f := stage.Builtin(t, format.Socratic)
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
		m := stage.CallRound.FindStringSubmatch(request.ID)
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

// A chair speaks only where a slot says so, and is no contestant.
func TestTheChairLeads(t *testing.T) {
	for name, want := range map[string][]flow.CallKind{
		format.Roundtable: {"opening", "closing"},
		format.Socratic:   slices.Repeat([]flow.CallKind{format.KindQuestion}, 12),
	} {
		config := castings(name)[0].config
		engine, _ := stage.Ready(config)
		record := stage.Run(t, engine, config)
		var kinds []flow.CallKind
		for _, turn := range record.Turns {
			if turn.Speaker == "Mia" {
				kinds = append(kinds, turn.Kind)
			}
		}
		assert.Equal(t, want, kinds, name)
		for _, p := range stage.View(record).Contestants() {
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

	config := stage.TwoDebaters()
	config.Format, config.CustomFormat, config.Rounds = "", &f, 5
	engine, _ := stage.Ready(config)
	var spoken []string
	for _, turn := range stage.Run(t, engine, config).Turns {
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
	config := stage.TwoDebaters()
	config.Format, config.CustomFormat = "", &f
	engine, source := stage.Ready(config)
	stage.Run(t, engine, config)
	for _, request := range source.Requests() {
		if m := stage.CallRound.FindStringSubmatch(request.ID); m != nil && request.Schema == nil {
			assert.Contains(t, request.Last.Text, map[string]string{"1": "apples", "2": "pears", "3": "plums"}[m[1]], request.ID)
		}
	}
}

// A format of the engine's is known by its name there, and its own end rule holds.
func TestAFormatOfTheEngine(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds = "duel", 4
	engine, _ := stage.Engine(config)
	engine.Formats = map[string]debate.Format{"duel": {
		Name: "ignored", MinParticipants: 2, MaxParticipants: 2, End: format.EndByRounds,
		Phases: []format.Phase{{Name: "shot", First: 1, Last: -1}},
	}}
	record := stage.Run(t, engine, config)
	assert.Equal(t, "duel", stage.View(record).Format().Name)
	assert.Equal(t, 4, record.Round)
	assert.EqualValues(t, "shot", record.Turns[0].Kind)
}

func TestEveryFormatEndsWithoutAJudge(t *testing.T) {
	for _, f := range format.Builtin() {
		t.Run(f.Name, func(t *testing.T) {
			config := stage.CastFor(f)
			engine, source := stage.Engine(config)
			answer := source.Reply
			source.Reply = func(req *provider.Request) scripted.Reply {
				if req.Schema != nil {
					return scripted.Reply{Text: `{"vote":"for","reasoning":"so it seems"}`}
				}
				return answer(req)
			}
			record := stage.Run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, config.Rounds, record.Round, "the cap holds")
			assert.Equal(t, flow.EndRounds, record.Reason)
			assert.Empty(t, stage.View(record).Verdicts)
			assert.Nil(t, stage.View(record).Verdict)
			outcome := stage.View(record).Outcome()
			assert.Empty(t, outcome.Winner)
			assert.Zero(t, outcome.Judges)
			assert.Empty(t, outcome.Degraded, "no verdict was configured")
		})
	}
}
