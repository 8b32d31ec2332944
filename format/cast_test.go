package format_test

import (
	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// casting is a debate of a format with somebody in every part.
type casting struct {
	title  string
	config debate.Config
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
			Participants: stage.Actors(names...), Audience: listeners(audience),
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

// roundsOf yields how many rounds a config's debate has.
func roundsOf(f *debate.Format, config *debate.Config) int {
	if f.Rounds > 0 {
		return f.Rounds
	}
	return config.Rounds
}
