package format

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Speech is one turn of a round's schedule.
type Speech struct {
	Slot    int           `json:"slot"` // place in the round, from 0
	Kind    flow.CallKind `json:"kind"`
	Speaker string        `json:"speaker"`
	Target  string        `json:"target,omitempty"`
	// Words is the length to aim for, and MaxTokens the cap. 0 means that the format sets none.
	Words     int `json:"words,omitempty"`
	MaxTokens int `json:"maxTokens,omitempty"`
	// Group lets neighbouring speeches with the same number run at once. 0 means that the speech waits for the one before.
	Group int `json:"group,omitempty"`

	// ID is the part of its calls' ids after the round, and Text the name of its instruction.
	ID   string `json:"-"`
	Text string `json:"-"`
	// Seat is the speaker's seat, or -1 for a member of the audience.
	Seat int `json:"-"`
}

// Kinds of the turns of a cross-examination.
const (
	KindQuestion flow.CallKind = "question"
	KindAnswer   flow.CallKind = "answer"
)

// WordsPerMinute converts minutes of speech into words. Spoken speeches run at 130 to 150 words a minute.
const WordsPerMinute = 140

// tokensPerWord and minTokens turn a target of words into a cap of tokens. English has about 1.3 tokens to a
// word. The cap is higher, since it is not a target.
const (
	tokensPerWord = 2
	minTokens     = 256
)

// aloud is the group of a phase without slots whose speakers speak at once.
const aloud = 1

// Cast are the participants and the audience of a debate, as formats see them.
type Cast struct {
	Seats    []Seat   // the participants, in order
	Audience []string // by name; nil if there is none
	// AtOnce lets the speakers of a phase without slots speak at once.
	AtOnce bool
	// Rounds limits the number of rounds. A format that fixes its rounds does not read it.
	Rounds int
}

// Seat is a participant as formats see it.
type Seat struct {
	Name string
	Side Side
}

// Schedule returns the speeches of a round. It is pure: the same cast gets the same schedule.
func (f *Format) Schedule(cast Cast, round int) []Speech {
	rounds := cast.Rounds
	if f.Rounds > 0 {
		rounds = f.Rounds
	}
	return f.Speeches(f.PhaseIndex(round, rounds), cast)
}

// Speeches returns the speeches of a phase by its index. -1 stands for a round that no phase covers.
func (f *Format) Speeches(phase int, in Cast) []Speech {
	cast := cast{f, in}
	p := &Phase{Name: PhaseArgument}
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
			Slot: len(out), Kind: flow.CallKind(phase), Speaker: p.Name, Seat: seat, ID: phase + "." + p.Name, Text: "turn." + phase,
		}
		if c.AtOnce {
			s.Group = aloud
		}
		out = append(out, s)
	}
	return out
}

// countSpeeches returns how many speeches a phase has, at most most+1. It does not make them.
func (c *cast) countSpeeches(phase *Phase, most int) int {
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
	text := SlotText(phase, n)
	kind := slot.Kind
	if kind == "" {
		kind = flow.CallKind(phase)
	}
	words, tokens := slot.Length()
	add := func(kind flow.CallKind, speaker, target person, text string) {
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
				add(KindAnswer, target, speaker, AnswerText(phase, n))
			}
		}
	}
	return out
}

// SlotText returns the name under which the prompts of a debate hold the instruction of the slot with index n of a
// phase; see [Speech].Text. It is unique, because names of phases cannot contain '<'.
func SlotText(phase string, n int) string { return "turn." + phase + "<" + strconv.Itoa(n+1) + ">" }

// AnswerText returns the name, as SlotText does, of the instruction for the speaker who answers in a slot.
func AnswerText(phase string, n int) string { return SlotText(phase, n) + ".answer" }

// Length returns the target of words and the cap of output tokens of one turn. 0: the slot sets none.
func (s *Slot) Length() (words, tokens int) {
	turns := max(1, 2*s.Exchanges)
	words = s.Words
	if words == 0 && s.Minutes > 0 {
		words = max(1, int(s.Minutes*WordsPerMinute)/turns)
	}
	tokens = s.MaxTokens
	if tokens == 0 && s.Minutes > 0 {
		tokens = max(minTokens, tokensPerWord*words)
	}
	return words, tokens
}

// person is a participant, or a member of the audience, who may speak.
type person struct {
	name string
	seat int
}

// find returns the speakers that a slot names.
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

// alternate returns one of a, one of b, and so on. The rest of the longer list follows.
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

// Audible returns whose turns each participant reads. It has one row per reader's seat. A row has one value per
// speaker's seat, and a last one for the audience, whose questions are for all. nil means that all read everything.
func (f *Format) Audible(cast Cast) [][]bool {
	if f.Reads.Graph == "" || f.Reads.Graph == AllRead {
		return nil
	}
	out := make([][]bool, len(cast.Seats))
	for seat := range cast.Seats {
		out[seat] = f.audible(cast.Seats, seat)
	}
	return out
}

// audible returns the row of Audible for the participant in a seat.
func (f *Format) audible(all []Seat, seat int) []bool {
	reads := make([]bool, len(all)+1)
	reads[len(all)] = true
	before := f.before(all, seat)
	for other := range all {
		reads[other] = other == seat || !f.Judged(all[other].Side) || !f.Judged(all[seat].Side)
		switch f.Reads.Graph {
		case Ring:
			reads[other] = reads[other] || other == before
		case SideGroups:
			reads[other] = reads[other] || all[other].Side == all[seat].Side
		case GivenEdges:
			reads[other] = reads[other] || slices.Contains(f.Reads.Edges[all[seat].Name], all[other].Name)
		default:
			reads[other] = true
		}
	}
	return reads
}

// before returns the seat before this one among those who are judged. Before the first comes the last.
func (f *Format) before(all []Seat, seat int) int {
	for i := range all {
		other := (seat - 1 - i + 2*len(all)) % len(all)
		if other != seat && f.Judged(all[other].Side) {
			return other
		}
	}
	return seat
}
