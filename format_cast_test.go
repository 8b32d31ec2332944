package debate_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// casting is a debate of a format with somebody in every part.
type casting struct {
	title  string
	config debate.Config
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
		return []casting{
			play("one a side, one listener", 0, 1, "", "Ada for", "Ben against"),
			play("two a side, a moderator, three listeners", 0, 3, "", "Mia neutral", "Ada for", "Cem for", "Ben against", "Dee against"),
			play("one against three, a moderator", 0, 2, "", "Ada for", "Ben against", "Dee against", "Fay against", "Mia neutral"),
			play("nobody listens", 0, 0, "", "Ada for", "Ben against"),
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

// castFor fills the seats of a format.
func castFor(f debate.Format) debate.Config {
	config := debate.Config{Topic: "Is it so?", Format: f.Name, Rounds: f.Rounds}
	if config.Rounds == 0 {
		config.Rounds = 2
	}
	add := func(side debate.Side) {
		name := fmt.Sprintf("Speaker-%c", 'A'+len(config.Participants))
		config.Participants = append(config.Participants, debate.Participant{Name: name, Side: side, Model: "test/debater"})
	}
	for _, seats := range f.Seats {
		for range max(1, seats.Min) {
			add(seats.Side)
		}
	}
	for len(config.Participants) < max(2, f.MinParticipants) {
		side := debate.Side("")
		if len(f.Seats) > 0 {
			side = f.Seats[len(f.Seats)-1].Side
		}
		add(side)
	}
	if f.Decide == format.BySwing {
		config.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/voter"}}}
	}
	return config
}
