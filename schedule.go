package debate

import (
	"strconv"
	"strings"
)

// Speech is one turn of a round's schedule.
type Speech struct {
	Slot    int      `json:"slot"` // place in the round, from 0
	Kind    CallKind `json:"kind"`
	Speaker string   `json:"speaker"`
	Target  string   `json:"target,omitempty"`
	// Words is the length to aim for, MaxTokens the cap; 0: none of the format's own.
	Words     int `json:"words,omitempty"`
	MaxTokens int `json:"maxTokens,omitempty"`
	// Group: speeches side by side with the same number run at once; 0: after the one before.
	Group int `json:"group,omitempty"`

	// ID is what the ids of its calls say after the round, Text the name of its instruction.
	ID   string `json:"-"`
	Text string `json:"-"`
	// Seat is the speaker's; -1: a member of the audience.
	Seat int `json:"-"`
}

// Kinds of the turns of a cross-examination.
const (
	KindQuestion CallKind = "question"
	KindAnswer   CallKind = "answer"
)

// WordsPerMinute is the speed at which minutes of speech are counted as words: speeches run at 130 to
// 150 a minute.
const WordsPerMinute = 140

// tokensPerWord and leastTokens make a cap of tokens from a target of words: English has about 1.3
// tokens to a word, and a cap is not a target.
const (
	tokensPerWord = 2
	leastTokens   = 256
)

// aloud is the group of a phase without slots whose speakers speak at once.
const aloud = 1

// Cast are those who may speak in a debate of some format, and how.
type Cast struct {
	Seats    []Seat   // the participants, in order
	Audience []string // by name; nil: there is none
	// AtOnce lets the speakers of a phase without slots speak at once.
	AtOnce bool
	// Rounds is the most rounds that there may be. A format that fixes them does not read it.
	Rounds int
}

// Seat is a participant as formats see one.
type Seat struct {
	Name string
	Side Side
}

// Schedule yields the speeches of a round. It is pure: the same cast has the same schedule.
func (f *Format) Schedule(cast Cast, round int) []Speech {
	rounds := cast.Rounds
	if f.Rounds > 0 {
		rounds = f.Rounds
	}
	return f.Speeches(f.PhaseIndex(round, rounds), cast)
}

// Speeches yields those of a phase by its index; -1: of a round that no phase covers.
func (f *Format) Speeches(phase int, in Cast) []Speech {
	cast := cast{f, in}
	p := &Phase{Name: phaseArgument}
	if phase >= 0 {
		p = &f.Phases[phase]
	}
	if len(p.Slots) == 0 {
		return cast.everybody(p.Name)
	}
	var out []Speech
	for n := range p.Slots {
		out = cast.perform(out, p.Name, &p.Slots[n], n)
	}
	return out
}

// cast finds the speakers of slots.
type cast struct {
	format *Format
	Cast
}

func (c *cast) everybody(phase string) []Speech {
	out := make([]Speech, 0, len(c.Seats))
	for seat, p := range c.Seats {
		if !c.format.Judged(p.Side) {
			continue
		}
		s := Speech{
			Slot: len(out), Kind: CallKind(phase), Speaker: p.Name, Seat: seat, ID: phase + "." + p.Name, Text: "turn." + phase,
		}
		if c.AtOnce {
			s.Group = aloud
		}
		out = append(out, s)
	}
	return out
}

// count is how many speeches a phase has, and no more than most+1: it makes none.
func (c *cast) count(phase *Phase, most int) int {
	if len(phase.Slots) == 0 {
		return len(c.find(Everyone, person{seat: -1}))
	}
	sum := 0
	for n := range phase.Slots {
		slot := &phase.Slots[n]
		speeches := len(c.find(slot.Who, person{seat: -1}))
		if slot.To != "" {
			speeches *= len(c.find(slot.To, person{seat: -1})) * max(1, 2*slot.Exchanges)
		}
		if sum += speeches; sum > most {
			return most + 1
		}
	}
	return sum
}

// perform adds the speeches of one slot.
func (c *cast) perform(out []Speech, phase string, slot *Slot, n int) []Speech {
	text := slotText(phase, n)
	kind := slot.Kind
	if kind == "" {
		kind = CallKind(phase)
	}
	words, tokens := slot.length()
	add := func(kind CallKind, speaker, target person, text string) {
		out = append(out, Speech{
			Slot: len(out), Kind: kind, Speaker: speaker.name, Target: target.name, Words: words, MaxTokens: tokens,
			Group: slot.Group, Seat: speaker.seat, Text: text,
			ID: phase + "." + strconv.Itoa(len(out)+1) + "." + speaker.name,
		})
	}
	for _, speaker := range c.find(slot.Who, person{seat: -1}) {
		if slot.To == "" {
			add(kind, speaker, person{}, text)
			continue
		}
		for _, target := range c.find(slot.To, speaker) {
			if target == speaker {
				continue
			}
			if slot.Exchanges == 0 {
				add(kind, speaker, target, text)
			}
			for range slot.Exchanges {
				add(KindQuestion, speaker, target, text)
				add(KindAnswer, target, speaker, answerText(phase, n))
			}
		}
	}
	return out
}

// slotText names the instruction of a slot. No name holds '<'.
func slotText(phase string, n int) string { return "turn." + phase + "<" + strconv.Itoa(n+1) + ">" }

func answerText(phase string, n int) string { return slotText(phase, n) + ".answer" }

// length yields the target of words and the cap of tokens of one turn.
func (s *Slot) length() (words, tokens int) {
	turns := max(1, 2*s.Exchanges)
	words = s.Words
	if words == 0 && s.Minutes > 0 {
		words = max(1, int(s.Minutes*WordsPerMinute)/turns)
	}
	tokens = s.MaxTokens
	if tokens == 0 && s.Minutes > 0 {
		tokens = max(leastTokens, tokensPerWord*words)
	}
	return words, tokens
}

// person is somebody who may speak.
type person struct {
	name string
	seat int
}

// find yields whom a slot names.
func (c *cast) find(who Who, speaker person) []person {
	switch who {
	case "", Everyone, Others:
		return c.those(func(p Seat, seat int) bool {
			return c.format.Judged(p.Side) && (who != Others || seat != speaker.seat)
		})
	case TheChair:
		return c.those(func(p Seat, _ int) bool { return c.format.Chair != "" && p.Side == c.format.Chair })
	case BothSides:
		return alternate(c.side(For), c.side(Against))
	}
	kind, rest, placed := strings.Cut(string(who), ":")
	var all []person
	switch kind {
	case "name":
		return c.those(func(p Seat, _ int) bool { return p.Name == rest })
	case "audience":
		all = c.listeners()
	default:
		all = c.side(Side(kind))
	}
	if !placed {
		return all
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < 1 || n > len(all) {
		return nil
	}
	return all[n-1 : n]
}

func (c *cast) listeners() []person {
	var out []person
	for _, name := range c.Audience {
		out = append(out, person{name, -1})
	}
	return out
}

func (c *cast) those(are func(s Seat, seat int) bool) []person {
	var out []person
	for seat, s := range c.Seats {
		if are(s, seat) {
			out = append(out, person{s.Name, seat})
		}
	}
	return out
}

func (c *cast) side(side Side) []person {
	return c.those(func(p Seat, _ int) bool { return p.Side == side })
}

// alternate yields one of a, one of b, and so on; what is left of the longer follows.
func alternate(a, b []person) []person {
	var out []person
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			out = append(out, a[i])
		}
		if i < len(b) {
			out = append(out, b[i])
		}
	}
	return out
}
