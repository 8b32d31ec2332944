package format_test

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
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

// told returns the system prompts of all who speak in a debate, by name.
func told(t *testing.T, config debate.Config) map[string]string {
	t.Helper()
	engine, source := stage.Ready(config)
	stage.Run(t, engine, config)
	out := make(map[string]string)
	for _, request := range source.Requests() {
		if request.Schema == nil {
			out[request.Self] = request.System
		}
	}
	return out
}

// standing returns the stances of which a system prompt speaks.
func standing(system string) []format.Stance {
	var found []format.Stance
	for _, one := range []struct {
		stance format.Stance
		says   string
	}{
		{format.Advocate, "Make the best honest case for it"},
		{format.Open, "The aim is to get the matter right together"},
		{format.Shared, "You are not here to win."},
		{format.Examined, "\"I do not know\" is a full answer."},
		{format.Proposer, "Your answer is a proposal, and that is at stake, not your pride."},
		{format.Critic, "You test, you do not propose"},
	} {
		if strings.Contains(system, one.says) {
			found = append(found, one.stance)
		}
	}
	return found
}

// In each format every speaker but the chair is told one stance, and no other.
func TestStanceOfEveryFormat(t *testing.T) {
	var b strings.Builder
	for _, f := range format.Builtin() {
		fmt.Fprintf(&b, "%s: judged by %s, decided by %s\n", f.Name, cmp.Or(f.Aim, format.ByArgument), cmp.Or(f.Decide, format.ByJudges))
		config := stage.CastFor(f)
		systems := told(t, config)
		for _, p := range config.Participants {
			stances := standing(systems[p.Name])
			if !f.Judged(p.Side) {
				assert.Empty(t, stances, "%s: the chair", f.Name)
				continue
			}
			require.Equal(t, []format.Stance{f.StanceOf(p.Side)}, stances, "%s: %s", f.Name, p.Name)
			fmt.Fprintf(&b, "  %s: %s\n", cmp.Or(p.Side, "no side"), stances[0])
		}
	}
	stage.Golden(t, "stances.golden", b.String())
}

// A config replaces the stances of a format, and a participant's stance that of the config.
func TestAConfigReplacesStances(t *testing.T) {
	config := stage.CastFor(stage.Builtin(t, format.DevilsAdvocate))
	assert.Equal(t, []format.Stance{format.Critic}, standing(told(t, config)["Speaker-B"]))
	config.Stance = format.Open
	for name, system := range told(t, config) {
		assert.Equal(t, []format.Stance{format.Open}, standing(system), name)
	}
	config.Participants[1].Stance = format.Advocate
	systems := told(t, config)
	assert.Equal(t, []format.Stance{format.Open}, standing(systems["Speaker-A"]))
	assert.Equal(t, []format.Stance{format.Advocate}, standing(systems["Speaker-B"]))

	own := format.Format{Stance: format.Shared, Seats: []format.Seats{{Side: format.For}, {Side: format.Against, Stance: format.Critic}}}
	assert.Equal(t, format.Shared, own.StanceOf(format.For))
	assert.Equal(t, format.Critic, own.StanceOf(format.Against))
	assert.Equal(t, format.Shared, own.StanceOf(format.Neutral), "a side without seats")
	assert.Equal(t, format.Advocate, (&format.Format{}).StanceOf(format.For))
}

// sentences returns the sentences of a prompt, without short ones.
func sentences(prompt string) []string {
	var out []string
	for line := range strings.Lines(prompt) {
		for sentence := range strings.SplitAfterSeq(strings.TrimSpace(line), ". ") {
			if sentence = strings.TrimSpace(sentence); len(sentence) > 25 {
				out = append(out, sentence)
			}
		}
	}
	return out
}

// Whoever speaks is asked for one thing: what the phase says or, if it says nothing, what its name calls for. No sentence comes twice.
func TestNothingIsAskedTwice(t *testing.T) {
	own := []string{"This is your only turn", "Open: ", "Close: ", "Go on: ", "Open the talk: the topic", "Close the talk: ", "Lead on: "}
	play := func(t *testing.T, config debate.Config, given []string) {
		t.Helper()
		engine, source := stage.Ready(config)
		stage.Run(t, engine, config)
		for _, request := range source.Requests() {
			if request.Schema != nil || request.Self == "" {
				continue
			}
			var asked []string
			for _, begin := range own {
				if strings.Contains(request.Last.Text, "\n"+begin) {
					asked = append(asked, begin)
				}
			}
			told := slices.ContainsFunc(given, func(text string) bool { return strings.Contains(request.Last.Text, text) })
			question := strings.Contains(request.Last.Text, "\nPut one short question") || strings.Contains(request.Last.Text, "\nAnswer the last question")
			switch {
			case told || question:
				assert.Empty(t, asked, request.ID)
			default:
				assert.Len(t, asked, 1, request.ID)
			}
			all := sentences(request.System + "\n" + request.Last.Text)
			slices.Sort(all)
			assert.Len(t, slices.Compact(slices.Clone(all)), len(all), request.ID)
		}
	}
	for _, f := range format.Builtin() {
		var given []string
		for _, phase := range f.Phases {
			given = append(given, phase.Instruction)
			for _, slot := range phase.Slots {
				given = append(given, slot.Instruction, slot.Answer)
			}
		}
		given = slices.DeleteFunc(given, func(text string) bool { return text == "" })
		for _, c := range castings(f.Name) {
			t.Run(f.Name+"/"+c.title, func(t *testing.T) { play(t, c.config, given) })
		}
		for rounds := 1; f.Rounds == 0 && rounds <= 4; rounds++ {
			config := stage.CastFor(f)
			config.Rounds = rounds
			t.Run(fmt.Sprintf("%s/%d rounds", f.Name, rounds), func(t *testing.T) { play(t, config, given) })
		}
	}
}

// Nobody is asked about what was said before anything was said.
func TestTheFirstQuestionIsAboutNothingThatWasSaid(t *testing.T) {
	config := castings(format.Socratic)[0].config
	engine, source := stage.Ready(config)
	stage.Run(t, engine, config)
	for _, request := range source.Requests() {
		if !strings.Contains(request.Last.Text, "Put one short question") {
			continue
		}
		first := strings.HasPrefix(stage.CallOf(&request), "r1.")
		assert.Equal(t, !first, strings.Contains(request.Last.Text, "about something that was said or left open"), request.ID)
	}
}

// A side means something to whoever is on it, and is said to be assigned.
func TestSidesAreExplained(t *testing.T) {
	config := debate.Config{Topic: "Should cities ban cars?", Rounds: 1, Participants: stage.Actors("Ada for", "Ben against", "Cem neutral")}
	for name, means := range map[string]string{
		"Ada": "for (you say yes to the topic)", "Ben": "against (you say no to the topic)", "Cem": "neutral (you say neither yes nor no)",
	} {
		system := told(t, config)[name]
		assert.Contains(t, system, "\nYour side: "+means+"\n")
		assert.Contains(t, system, "What you argue was assigned to you; nobody takes it for your own opinion.")
	}
	for _, f := range format.Builtin() { // a role says what its side means
		config := stage.CastFor(f)
		for name, system := range told(t, config) {
			if f.Decide == format.BySwing && strings.HasPrefix(name, "audience") {
				continue
			}
			assert.NotContains(t, system, "(you say", f.Name)
			assert.Equal(t, len(f.Seats) > 0, strings.Contains(system, "\nYour role: "), "%s: %s", f.Name, name)
		}
	}
}

// Those who begin at once and to whom nothing gives a view have a number each, which is drawn. Those who hear each other take what nobody
// has taken.
func TestSpeakersWithoutPositionsDiffer(t *testing.T) {
	config := debate.Config{Topic: "Should cities ban cars?", Rounds: 1, Participants: stage.Actors("Ada", "Ben", "Cem for")}
	for name, system := range told(t, config) {
		assert.Equal(t, name != "Cem", strings.Contains(system, "Take a side that nobody has taken yet"), name)
		assert.NotRegexp(t, `number \d`, system, name)
	}

	config.Mode = debate.Simultaneous
	number := regexp.MustCompile(`(?:take|begin with) (number \d of 2)\.`)
	numbers := func() (ada, ben string) {
		systems := told(t, config)
		assert.NotRegexp(t, `number \d`, systems["Cem"], "a side is enough")
		a, b := number.FindStringSubmatch(systems["Ada"]), number.FindStringSubmatch(systems["Ben"])
		require.NotNil(t, a)
		require.NotNil(t, b)
		return a[1], b[1]
	}
	first := map[string]bool{}
	for range 40 { // of one seat alone each time: 1 in 2^39
		ada, ben := numbers()
		first[ada] = true
		assert.ElementsMatch(t, []string{"number 1 of 2", "number 2 of 2"}, []string{ada, ben})
	}
	assert.Len(t, first, 2)

	config.Stance = format.Shared
	numbers()
	config.Stance = format.Open
	for name, system := range told(t, config) {
		assert.NotContains(t, system, " of 2.", "%s: the same answer of two who look for it is a result", name)
	}
	config.Stance, config.Participants[0].Position = "", "Ban them."
	for name, system := range told(t, config) {
		assert.NotContains(t, system, " of 2.", "%s: one alone needs no number", name)
	}

	own := debate.Config{Topic: "Should cities ban cars?", Rounds: 1, Participants: stage.Actors("Ada", "Ben")}
	own.CustomFormat = &format.Format{
		Name: "at-once", Phases: []format.Phase{{Name: "talk", First: 1, Last: -1, Slots: []format.Slot{{Who: format.Everyone, Group: 1}}}},
		End: format.EndByRounds, Seats: []format.Seats{{Role: "to speak as a resident"}},
	}
	systems := told(t, own)
	assert.Contains(t, systems["Ada"], "take number 1 of 2.", "a role alone gives nobody a view")
	assert.Contains(t, systems["Ben"], "take number 2 of 2.")
}

// Whatever the stance: what is assigned is a position or a side, who has one is told so, and who has none is not.
func TestWhatIsAssignedIsSaid(t *testing.T) {
	assigned := regexp.MustCompile(`was assigned`)
	for _, stance := range []format.Stance{
		format.Advocate, format.Open, format.Shared, format.Examined, format.Proposer, format.Critic,
	} {
		config := debate.Config{Topic: "Should cities ban cars?", Rounds: 1, Stance: stance, Participants: stage.Actors("Ada for", "Ben", "Cem", "Dia neutral")}
		config.Participants[1].Position = "Price them."
		config.CustomFormat = &format.Format{
			Name: "residents", Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}}, End: format.EndByRounds,
			Seats: []format.Seats{{Role: "to speak as a resident"}},
		}
		systems := told(t, config)
		for name, given := range map[string]int{"Ada": 1, "Ben": 1, "Cem": 0, "Dia": 1} {
			assert.Len(t, assigned.FindAllString(systems[name], -1), given, "%s: %s", stance, name)
			assert.Equal(t, []format.Stance{stance}, standing(systems[name]), name)
		}
		assert.Contains(t, systems["Ada"], "Your side: for (you say yes to the topic)", "the role is for any side")
		assert.NotContains(t, systems["Dia"], "Begin with", "neither yes nor no is no view")
	}
}

// Only where a phase releases speakers are they told that one may, and then its instructions do.
func TestARelease(t *testing.T) {
	for _, f := range format.Builtin() {
		config := stage.CastFor(f)
		engine, source := stage.Ready(config)
		stage.Run(t, engine, config)
		releases := slices.ContainsFunc(f.Phases, func(p format.Phase) bool { return p.Release })
		assert.Equal(t, f.Name == format.DialecticalInquiry, releases, f.Name)
		told := 0
		for _, req := range source.Requests() {
			if req.Schema != nil {
				continue
			}
			if strings.Contains(req.System, "Make the best honest case") {
				assert.Equal(t, releases, strings.Contains(req.System, "until the last message releases you from it"), req.ID)
			}
			if strings.Contains(req.Last.Text, "From here on your side no longer binds you.") {
				told++
				assert.Contains(t, stage.CallOf(&req), ".synthesis.")
			}
		}
		assert.Equal(t, releases, told > 0, f.Name)
	}
}

// TestAReleaseSaysWhatItReleases: to each speaker what has bound it, and to those whom nothing has bound nothing. The system prompt of
// a critic does not forbid what the release allows.
func TestAReleaseSaysWhatItReleases(t *testing.T) {
	config := debate.Config{
		Topic: "Is it so?", Rounds: 2, Participants: stage.Actors("Ada for", "Ben", "Cem for", "Dia", "Eve against", "Fay for", "Gus", "Hal"),
		CustomFormat: &format.Format{
			Name: "freed", MaxParticipants: 8, End: format.EndByRounds,
			Phases: []format.Phase{{Name: "talk", First: 1, Last: 1}, {Name: "free", First: 2, Last: 2, Release: true, Instruction: "Say what you would do."}},
		},
	}
	for name, edit := range map[string]func(*debate.Participant){
		"Ben": func(p *debate.Participant) { p.Position = "It is." },
		"Cem": func(p *debate.Participant) { p.Position = "It is." },
		"Eve": func(p *debate.Participant) { p.Stance = format.Critic },
		"Fay": func(p *debate.Participant) { p.Stance = format.Open },
		"Gus": func(p *debate.Participant) { p.Stance, p.Position = format.Proposer, "It is not." },
		"Hal": func(p *debate.Participant) { p.Stance = format.Proposer },
	} {
		edit(&config.Participants[slices.IndexFunc(config.Participants, func(p debate.Participant) bool { return p.Name == name })])
	}
	engine, source := stage.Ready(config)
	require.NoError(t, engine.Validate(t.Context(), config))
	stage.Run(t, engine, config)
	told := make(map[string]string)
	for _, req := range source.Requests() {
		_, line, ok := strings.Cut(req.Last.Text, "From here on ")
		if assert.Equal(t, ok, strings.Contains(req.Last.Text, "Round 2 of 2.") && req.Self != "Fay" && req.Self != "Hal", req.ID); ok {
			told[req.Self], _, _ = strings.Cut(line, "\n")
		}
		if req.Self == "Eve" {
			assert.Contains(t, req.System, "put nothing in its place")
			assert.Contains(t, req.System, "All this holds until the last message releases you from it.")
		}
	}
	assert.Equal(t, map[string]string{
		"Ada": "your side no longer binds you.", "Ben": "your position no longer binds you.",
		"Cem": "your side and your position no longer bind you.", "Dia": "the view that you took no longer binds you.",
		"Eve": "nothing that was assigned to you binds you, your part as a critic included: you may propose.",
		"Gus": "your position no longer binds you.",
	}, told)
}

// TestWhoHasNotSpokenIsAskedToOpen: in a first round that no phase covers or that has a name of its own, nobody can go on.
func TestWhoHasNotSpokenIsAskedToOpen(t *testing.T) {
	const toOpen, toGoOn = "Open: your answer to the topic", "Go on: meet the strongest point"
	for name, phases := range map[string][]format.Phase{
		"a name":   {{Name: "talk", First: 1, Last: -1}},
		"no phase": {{Name: "closing", First: -1, Last: -1, Instruction: "Go on: meet the strongest point as you like."}},
		"slots": {{Name: "talk", First: 1, Last: -1, Slots: []format.Slot{
			{Who: "for", Words: 50}, {Who: format.BothSides, Kind: "reply"},
		}}},
	} {
		config := debate.Config{
			Topic: "Is it so?", Rounds: 2, Participants: stage.Actors("Ada for", "Ben against"),
			CustomFormat: &format.Format{Name: "talk", End: format.EndByRounds, Phases: phases},
		}
		engine, source := stage.Ready(config)
		stage.Run(t, engine, config)
		opened := make(map[string]int)
		for _, req := range source.Requests() {
			opens := strings.Contains(req.Last.Text, toOpen)
			assert.NotEqual(t, opens, strings.Contains(req.Last.Text, toGoOn), "%s: %s", name, req.ID)
			if opens {
				opened[req.Self]++
				assert.Contains(t, req.Last.Text, "Round 1 of 2.", "%s: %s", name, req.ID)
			}
		}
		assert.Equal(t, map[string]int{"Ada": 1, "Ben": 1}, opened, name)
	}
}

// TestAChairOpensOnlyWhatItBegins: where others have spoken before it, it leads on. A member of the audience who is asked for nothing else
// asks.
func TestAChairOpensOnlyWhatItBegins(t *testing.T) {
	const toOpen, toLead, toAsk = "Open the talk: the topic", "Lead on: pick out", "Put one short question to the speakers"
	for _, tc := range []struct {
		phase string
		slots []format.Slot
		want  []string // of the first two turns of the chair
	}{
		{"talk", []format.Slot{{Who: format.TheChair}, {Who: format.Everyone}}, []string{toOpen, toLead}},
		{"talk", []format.Slot{{Who: format.Everyone}, {Who: format.TheChair}}, []string{toLead, toLead}},
		{"talk", []format.Slot{{Who: "audience:1"}, {Who: format.TheChair}, {Who: format.Everyone}}, []string{toLead, toLead}},
		{"talk", []format.Slot{{Who: "against:7"}, {Who: format.TheChair}}, []string{toOpen, toLead}},
		{"talk", []format.Slot{{Who: format.Everyone, Group: 1}, {Who: format.TheChair, Group: 1}}, []string{toOpen, toLead}},
		{"opening", []format.Slot{{Who: format.TheChair}, {Who: format.Everyone}}, []string{toOpen, toLead}},
		{"opening", []format.Slot{{Who: format.Everyone}, {Who: format.TheChair}}, []string{toLead, toLead}},
	} {
		config := debate.Config{
			Topic: "Is it so?", Rounds: 2, Participants: stage.Actors("Ada for", "Mia neutral", "Ben against"), Audience: listeners(1),
			CustomFormat: &format.Format{
				Name: "led", Chair: format.Neutral, End: format.EndByRounds,
				Phases: []format.Phase{{Name: tc.phase, First: 1, Last: -1, Slots: tc.slots}},
			},
		}
		engine, source := stage.Ready(config)
		stage.Run(t, engine, config)
		var chair []string
		for _, req := range source.Requests() {
			_, asked, _ := strings.Cut(req.Last.Text, ".\n\n")
			switch {
			case req.Self == "Mia":
				chair = append(chair, asked)
			case req.Schema == nil && strings.HasPrefix(req.Self, "audience"):
				assert.True(t, strings.HasPrefix(asked, toAsk), asked)
			}
		}
		if assert.Len(t, chair, 2) {
			for i, want := range tc.want {
				assert.True(t, strings.HasPrefix(chair[i], want), "%s, %v, round %d: %s", tc.phase, tc.slots, i+1, chair[i])
			}
		}
	}
}

// TestWhoOpensAfterAnAmendment: the first round may be another phase's by the time that it begins.
func TestWhoOpensAfterAnAmendment(t *testing.T) {
	config := debate.Config{
		Topic: "Is it so?", Rounds: 1, Participants: stage.Actors("Ada for", "Ben against"), Audience: listeners(1),
		CustomFormat: &format.Format{Name: "late", End: format.EndByRounds, Phases: []format.Phase{
			{Name: "early", First: 1, Last: -2}, {Name: "late", First: -1, Last: -1},
		}},
	}
	config.Audience.Members[0] = debate.Member{Name: "Vera", Person: true}
	engine, source := stage.Ready(config)
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	for {
		record, err := session.Wait(t.Context())
		if !errors.Is(err, debate.ErrAwaitingInput) {
			require.NoError(t, err)
			break
		}
		if record.Round == 0 {
			require.NoError(t, session.Control(t.Context(), flow.Amendment{Rounds: new(3)}))
		}
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: `{"vote":"for","reasoning":"Air."}`}))
	}
	requests := source.Requests()
	require.Len(t, requests, 6)
	for i, req := range requests {
		assert.Equal(t, i < 2, strings.Contains(req.Last.Text, "Open: your answer to the topic"), req.ID)
	}
}

// TestAReleaseHolds in all rounds after it: those of phases that do not say so, and those that no phase covers.
func TestAReleaseHolds(t *testing.T) {
	for name, tc := range map[string]struct {
		rounds, from int
		phases       []format.Phase
	}{
		"no phase":        {3, 1, []format.Phase{{Name: "joint", First: 1, Last: 1, Release: true, Instruction: "Join."}}},
		"before and then": {4, 3, []format.Phase{{Name: "joint", First: 3, Last: 3, Release: true, Instruction: "Join."}}},
		"another phase":   {4, 2, []format.Phase{{Name: "joint", First: 2, Last: 2, Release: true}, {Name: "talk", First: 1, Last: -1}}},
		"mixed signs":     {4, 3, []format.Phase{{Name: "joint", First: -2, Last: -2, Release: true}, {Name: "x", First: 3, Last: 5}}},
		"slots": {2, 1, []format.Phase{
			{Name: "joint", First: 1, Last: 1, Release: true},
			{Name: "x", First: 2, Last: 2, Slots: []format.Slot{{Who: "for", To: "against", Exchanges: 1}, {Who: "against"}, {Who: "for"}}},
		}},
	} {
		config := debate.Config{
			Topic: "Is it so?", Rounds: tc.rounds, Participants: stage.Actors("Ada for", "Ben against"),
			CustomFormat: &format.Format{Name: "joint", End: format.EndByRounds, Phases: tc.phases},
		}
		config.Participants[1].Stance = format.Critic
		engine, source := stage.Ready(config)
		record := stage.Run(t, engine, config)
		assert.Equal(t, tc.rounds, record.Round, name)
		for _, req := range source.Requests() {
			m := stage.CallRound.FindStringSubmatch(req.ID)
			require.NotNil(t, m, req.ID)
			round, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			freed := "From here on your side no longer binds you."
			if req.Self == "Ben" {
				freed = "your part as a critic included: you may propose."
			}
			assert.Equal(t, round >= tc.from, strings.Contains(req.Last.Text, freed), "%s: %s", name, req.ID)
		}
	}
}

// TestOnlyContestantsAreReleased: a chair and a member of the audience have nothing that binds them. Whoever answers them has.
func TestOnlyContestantsAreReleased(t *testing.T) {
	config := debate.Config{Topic: "Is it so?", Rounds: 1, Participants: stage.Actors("Mia neutral", "Ada for", "Ben against"), Audience: listeners(1)}
	config.CustomFormat = &format.Format{
		Name: "joined", Chair: format.Neutral, End: format.EndByRounds,
		Phases: []format.Phase{{Name: "join", First: 1, Last: -1, Release: true, Slots: []format.Slot{
			{Who: format.TheChair},
			{Who: "neutral", Instruction: "Say who begins."},
			{Who: "audience:1", Kind: format.KindQuestion, Instruction: "Ask all."},
			{Who: format.TheChair, To: format.Everyone, Exchanges: 1},
			{Who: format.BothSides, To: format.TheChair, Exchanges: 1},
			{Who: format.Everyone},
		}}},
	}
	engine, source := stage.Ready(config)
	require.NoError(t, engine.Validate(t.Context(), config))
	stage.Run(t, engine, config)
	told := make(map[string]int)
	for _, req := range source.Requests() {
		if strings.Contains(req.Last.Text, "your side no longer binds you") {
			told[req.Self]++
		}
	}
	assert.Equal(t, map[string]int{"Ada": 3, "Ben": 3}, told, "an answer to the chair, a question to it, and a turn")
}

// In a debate that looks for the right answer, all answer at once: first alone, and then having read the latest answers only.
func TestTruthSeeking(t *testing.T) {
	f := stage.Builtin(t, format.TruthSeeking)
	assert.Equal(t, []any{format.Open, format.ByTruth, format.EndByConvergence}, []any{f.Stance, f.Aim, f.End})
	assert.NotEqual(t, format.NoWinner, f.Decide)
	config := debate.Config{Topic: "Is it so?", Format: format.TruthSeeking, Rounds: 3, Participants: stage.Actors("Ada", "Ben", "Cem")}
	engine, source := stage.Engine(config)
	source.Reply = func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: "I am " + stage.CallOf(req) + "."}
	}
	record := stage.Run(t, engine, config)
	require.Len(t, record.Turns, 9)
	for _, request := range source.Requests() {
		m := stage.CallRound.FindStringSubmatch(request.ID)
		require.NotNil(t, m, request.ID)
		round, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		var read []string
		for i := range request.Messages {
			read = append(read, request.Messages[i].Text)
		}
		var want []string
		if round > 1 {
			phase := "first-answer"
			if round > 2 {
				phase = "revision"
			}
			for i, name := range []string{"Ada", "Ben", "Cem"} {
				want = append(want, fmt.Sprintf("I am r%d.%s.%d.%s.", round-1, phase, i+1, name))
			}
		}
		slices.Sort(read)
		assert.Equal(t, want, read, request.ID)
		assert.Equal(t, []format.Stance{format.Open}, standing(request.System))
		assert.Equal(t, round == 1, strings.Contains(request.Last.Text, "Give your answer to the topic"), request.ID)
		assert.Equal(t, round > 1, strings.Contains(request.Last.Text, "Give your answer as it is now"), request.ID)
	}
}
