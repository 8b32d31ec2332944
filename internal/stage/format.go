package stage

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

// Actors makes participants of "Ada for" or, without a side, "Ada".
func Actors(lines ...string) []debate.Participant {
	out := make([]debate.Participant, len(lines))
	for i, line := range lines {
		name, side, _ := strings.Cut(line, " ")
		out[i] = debate.Participant{Name: name, Side: debate.Side(side), Model: "test/debater"}
	}
	return out
}

// Ready is an engine whose models speak, vote and judge for a config.
func Ready(config debate.Config) (*debate.Engine, *scripted.Provider) {
	engine, source := Engine(config)
	talk := source.Reply
	source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && req.Schema.Name == "ballot" {
			return scripted.Reply{Text: JSON(debate.BallotAnswer{Vote: debate.VoteUndecided, Reasoning: "Both have a point."})}
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

// Builtin is the format of a name.
func Builtin(t *testing.T, name string) debate.Format {
	t.Helper()
	for _, f := range format.Builtin() {
		if f.Name == name {
			return f
		}
	}
	require.Fail(t, "no such format", name)
	return debate.Format{}
}

// CastFor fills the seats of a format.
func CastFor(f debate.Format) debate.Config {
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
