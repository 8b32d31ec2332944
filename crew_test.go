package debate_test

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// crew is a debate of so many, who are of these sides, or of none.
func crew(n int, sides ...debate.Side) debate.Config {
	config := twoDebaters()
	config.Participants = nil
	for i, name := range []string{"Ada", "Ben", "Cyd", "Dan", "Eve", "Fay"}[:n] {
		p := debate.Participant{Name: name, Model: "test/debater", Position: name + " has a position."}
		if i < len(sides) {
			p.Side = sides[i]
		}
		config.Participants = append(config.Participants, p)
	}
	return config
}

// attended is a debate of two with a person who is asked about every failure.
func attended() debate.Config {
	config := twoDebaters()
	config.Unattended = false
	return config
}

// abiding makes judges name exactly those whom they are to judge.
func abiding(p *scripted.Provider) {
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return reply(req)
		}
		var names []string
		for _, name := range []string{"Ada", "Ben", "Cyd", "Dan", "Eve", "Fay", "Speaker A", "Speaker B", "Speaker C"} {
			if strings.Contains(string(req.Schema.JSON), `"`+name+`"`) {
				names = append(names, name)
			}
		}
		return script(names)(req)
	}
}

// inSlots yields who spoke, in the order of rounds and slots.
func inSlots(r *debate.Record) (out []string) {
	for round := 1; round <= r.Round; round++ {
		for _, turn := range r.RoundTurns(round) {
			out = append(out, fmt.Sprintf("r%d %s", turn.Round, turn.Speaker))
		}
	}
	return out
}
