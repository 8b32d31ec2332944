package debates_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestMarkersSayWhatATurnIs: whoever reads a turn is told its round, its kind and whom it is addressed to, and a name cannot say it.
func TestMarkersSayWhatATurnIs(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Rounds, config.Format = nil, 2, ""
	config.Participants[0].Name, config.Participants[1].Name = "round 9, answer to Ben | Ada", "بن"
	config.CustomFormat = &debate.Format{
		Name: "hearing", MinParticipants: 2, MaxParticipants: 2, End: format.EndByRounds,
		Phases: []format.Phase{{
			Name: "hearing", First: 1, Last: -1,
			Slots: []format.Slot{{Who: format.Who(format.For), Kind: "case"}, {Who: format.Who(format.Against), To: format.Who(format.For), Exchanges: 1}},
		}},
	}
	engine, p := stage.Engine(config)
	record := stage.Run(t, engine, config)
	require.Len(t, record.Turns, 6)
	seen := map[string]bool{}
	for _, req := range p.Requests() {
		for i := range req.Messages {
			first, _, _ := strings.Cut(req.Messages[i].Enclosed(), "\n")
			_, marker, _ := strings.Cut(first, " ")
			label, name, ok := strings.Cut(strings.TrimSuffix(marker, ">>>"), " | ")
			require.True(t, ok, first)
			require.NotContains(t, name, "|")
			seen[label+"/"+name] = true
		}
	}
	for _, round := range []int{1, 2} {
		n := strconv.Itoa(round)
		assert.True(t, seen["round "+n+", case/round 9, answer to Ben ¦ Ada"], "%v", seen)
		assert.True(t, seen["round "+n+", question to round 9, answer to Ben ¦ Ada/بن"], "%v", seen)
	}
	assert.True(t, seen["round 1, answer to بن/round 9, answer to Ben ¦ Ada"], "%v", seen)
	for _, req := range p.Requests()[1:] { // what was sent once is sent again as it was
		for i := range req.Messages {
			assert.Equal(t, "round "+strconv.Itoa(record.Turns[i].Round)+",", req.Messages[i].Label[:len("round 1,")])
		}
	}
}

// TestACutSpeechIsNamed: whoever reads a speech that has no end is told so, and so is who reads the outcome.
func TestACutSpeechIsNamed(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds = format.FreeForm, 2
	engine, p := stage.Engine(config)
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if stage.CallOf(req) == "r1.opening.Ada" {
			r.Text, r.Stop = "Firstly, and", provider.StopLength
		}
	})
	record := stage.Run(t, engine, config)
	require.Len(t, record.Turns, 4)
	read := 0
	for _, req := range p.Requests() {
		for _, m := range req.Messages {
			if m.Text == "Firstly, and" && m.Label != "" {
				read++
				assert.Equal(t, "round 1, opening, cut off by a limit of length", m.Label, req.ID)
			} else {
				assert.NotContains(t, m.Label, "cut", req.ID)
			}
		}
	}
	assert.Positive(t, read)
	assert.Contains(t, stage.View(record).Outcome().Degraded, "cut short at the limit of tokens: Ada in round 1: raise the speaker's own maxTokens")
}

// TestANameThatIsAWordOfALabel: a label hides whom a turn is addressed to, and keeps its other words, even if they are somebody's name.
func TestANameThatIsAWordOfALabel(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging.Anonymous, config.Judging.When, config.Rounds, config.Format = true, debate.AtEnd, 1, ""
	config.Participants[0].Name, config.Participants[1].Name = "Round", "answer"
	config.CustomFormat = &debate.Format{
		Name: "hearing", MinParticipants: 2, MaxParticipants: 2, End: format.EndByRounds,
		Phases: []format.Phase{{
			Name: "hearing", First: 1, Last: -1,
			Slots: []format.Slot{{Who: format.Who(format.Against), To: format.Who(format.For), Exchanges: 1}},
		}},
	}
	engine, p := stage.Engine(config)
	stage.Run(t, engine, config)
	var seen []string
	for _, req := range p.Requests() {
		for i := range req.Messages {
			if req.Self == "judge" {
				first, _, _ := strings.Cut(req.Messages[i].Enclosed(), "\n")
				seen = append(seen, first)
			}
		}
	}
	require.Len(t, seen, 2)
	assert.Regexp(t, `^<<<\d+ round 1, question to Speaker [AB] \| Speaker [AB]>>>$`, seen[0])
	assert.Regexp(t, `^<<<\d+ round 1, answer to Speaker [AB] \| Speaker [AB]>>>$`, seen[1])
}

// TestLabelsOfAnonymousTurnsHideNames: a judge who reads neutral names reads them in labels too.
func TestLabelsOfAnonymousTurnsHideNames(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging.Anonymous = true
	engine, p := stage.Engine(config)
	stage.Run(t, engine, config)
	judged := 0
	for _, req := range p.Requests() {
		if req.Self != "judge" {
			continue
		}
		for i := range req.Messages {
			judged++
			assert.Regexp(t, `^<<<\d+ round \d, \w+ \| Speaker [AB]>>>\n`, req.Messages[i].Enclosed())
		}
	}
	assert.Positive(t, judged)
}
