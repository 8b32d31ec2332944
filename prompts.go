package debate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// textKind is a kind of the prompts that each participant, judge or voter has one of.
type textKind string

// The kinds of prompts.
const (
	textSystem textKind = "system"
)

// of returns the key of somebody's prompt.
func (k textKind) of(name string) string { return string(k) + "." + name }

// Holes stand in prompts that are rendered once, for texts that are known only later. Their runes are of private
// use.
const (
	targetHole   = "\uE001target\uE001"   // the participant to whom a speech is addressed
	findingsHole = "\uE001findings\uE001" // the findings of the detectors
)

// debateTexts returns the function that renders the prompts of the debate flow:
//   - the system prompts, by name
//   - the instructions of each phase and slot
//   - what the judges, the audience and the search for positions are asked
func debateTexts(builtins map[string]format.Format) func(flow.Setup) (map[string]string, error) {
	return func(s flow.Setup) (map[string]string, error) {
		f, ok := s.Frozen.(*format.Format)
		if !ok {
			return nil, errors.New("the debate has no format")
		}
		c := s.Config.(*Config)
		t := &textWriter{Config: c.bare(), Format: bareFormat(worded(f, c, builtins)), Prompts: s.Prompts, Fence: s.Fence}
		t.texts = make(map[string]string, len(t.Config.Participants)+8)
		t.drawn, _ = s.Drawn.(drawn)
		t.debaters()
		t.phases()
		t.judges()
		t.audience()
		t.assign()
		return t.texts, t.err
	}
}

// worded returns a format that a log holds with the words that stand beside the templates of this release, if it is built in: who
// speaks when stays as it was.
func worded(f *format.Format, c *Config, builtins map[string]format.Format) *format.Format {
	now, ok := builtins[f.Name]
	if !ok || c.CustomFormat != nil || sameWords(f, &now) {
		return f
	}
	out := f.Clone()
	out.Guidance, out.Stance, out.Aim = now.Guidance, now.Stance, now.Aim
	for i := range out.Seats {
		seats := &out.Seats[i]
		seats.Role, seats.Stance = now.Role(seats.Side), now.StanceOf(seats.Side)
	}
	for i := range out.Phases {
		phase := &out.Phases[i]
		k := slices.IndexFunc(now.Phases, func(p format.Phase) bool { return p.Name == phase.Name && len(p.Slots) == len(phase.Slots) })
		if k < 0 {
			continue
		}
		phase.Instruction, phase.Release = now.Phases[k].Instruction, now.Phases[k].Release
		for n := range phase.Slots {
			phase.Slots[n].Instruction, phase.Slots[n].Answer = now.Phases[k].Slots[n].Instruction, now.Phases[k].Slots[n].Answer
		}
	}
	return out
}

// sameWords reports whether two formats say the same to those who take part.
func sameWords(a, b *format.Format) bool {
	return a.Guidance == b.Guidance && a.Stance == b.Stance && a.Aim == b.Aim && slices.Equal(a.Seats, b.Seats) &&
		slices.EqualFunc(a.Phases, b.Phases, func(a, b format.Phase) bool {
			return a.Instruction == b.Instruction && a.Release == b.Release && slices.Equal(a.Slots, b.Slots)
		})
}

// textWriter gathers rendered texts until one fails.
type textWriter struct {
	Config  *Config
	Format  *format.Format
	Prompts *prompt.Set
	Fence   string
	drawn

	texts map[string]string
	size  int // of all texts, in bytes
	err   error
}

// mostTexts bounds the prompts of a debate, in bytes. Each speaker and each voter is told of all speakers, so that a config of a few MB,
// within every bound of its own, could ask for many GB. A usual prompt has 5,000 bytes.
const mostTexts = 128 << 20

// filled replaces every hole in a prompt. A log that was written elsewhere may hold very many of them: a text that would become longer than
// 32 MiB stays as it is.
func filled(content, hole, with string) string {
	if strings.Count(content, hole)*len(with) > mostTexts/4 {
		return content
	}
	return strings.ReplaceAll(content, hole, with)
}

func (t *textWriter) put(name string, text string, err error) {
	if t.err != nil {
		return
	}
	if t.size += len(text) + strings.Count(text, seatMark)/2*usualAssigned; t.size > mostTexts {
		err = fmt.Errorf("the prompts of the debate have more than %d MiB: it has too many participants for such long positions", mostTexts>>20)
	}
	t.texts[name], t.err = text, err
}

// guidance returns what speakers are told about the kind of debate: the format's guidance and, if the audience decides, how it does.
// Neither voters nor judges are told that.
func (t *textWriter) guidance() string {
	const swing = "An audience votes before and after the debate. The side wins that moves more of it, not the one with more votes."
	if t.Format.Decide == format.BySwing {
		return joined(t.Format.Guidance, swing)
	}
	return t.Format.Guidance
}

// position returns a participant's position, or the hole for a position that is still to be found.
func (t *textWriter) position(i int) string {
	p := &t.Config.Participants[i]
	if p.Position == "" && t.Config.AssignPositions != nil && t.Format.Judged(p.Side) {
		return positionHole(i)
	}
	return p.Position
}

// people returns the participants as the others are told about them.
func (t *textWriter) people() []prompt.Person {
	out := make([]prompt.Person, len(t.Config.Participants))
	for i, p := range t.Config.Participants {
		out[i] = prompt.Person{Name: p.Name, Side: string(p.Side), Position: t.position(i)}
		if !t.Format.Judged(p.Side) {
			out[i].Side = "chair"
		} else if number := t.numbered(i); number != "" {
			out[i].Side += ", " + number
		}
	}
	return out
}

// numbered returns the number of a participant among several on a side, by which formats call them to speak; "": there are not several.
func (t *textWriter) numbered(i int) string {
	side := t.Config.Participants[i].Side
	if side == "" || countSide(t.Config.Participants, side) < 2 {
		return ""
	}
	return "speaker " + strconv.Itoa(countSide(t.Config.Participants[:i+1], side))
}

// stanceIn returns how a participant stands to what is argued.
func stanceIn(c *Config, f *format.Format, p *Participant) format.Stance {
	return cmp.Or(p.Stance, c.Stance, f.StanceOf(p.Side))
}

func (t *textWriter) stance(p *Participant) format.Stance { return stanceIn(t.Config, t.Format, p) }

// means says what a participant's side means for the topic, unless the role of its own seats says it, and which of several speakers it is
// there. The role of seats that are for any side does not say what one means.
func (t *textWriter) means(i int) string {
	means, number := t.sideMeans(t.Config.Participants[i].Side), t.numbered(i)
	if means != "" && number != "" {
		return means + "; " + number
	}
	return means + number
}

func (t *textWriter) sideMeans(side format.Side) string {
	own := func(seats format.Seats) bool { return seats.Side == side && strings.TrimSpace(seats.Role) != "" }
	switch {
	case slices.ContainsFunc(t.Format.Seats, own):
		return ""
	case side == format.For:
		return "you say yes to the topic"
	case side == format.Against:
		return "you say no to the topic"
	case side == format.Neutral:
		return "you say neither yes nor no"
	default:
		return ""
	}
}

// searches reports whether a model of these options can search.
func searches(o *provider.Options) bool { return o != nil && o.Search }

// supplied reports whether everybody can look something up: in files, or with tools.
func (t *textWriter) supplied() bool {
	return len(t.Config.Documents)+len(t.Config.Attachments)+len(t.Config.Tools) > 0
}

// sources reports whether somebody can look something up.
func (t *textWriter) sources() bool {
	return t.supplied() ||
		slices.ContainsFunc(t.Config.Participants, func(p Participant) bool { return searches(p.Options) }) ||
		t.Config.Judging != nil && slices.ContainsFunc(t.Config.Judging.Judges, func(j JudgeConfig) bool { return searches(j.Options) })
}

// atOnce reports whether the contestants begin without hearing each other.
func (t *textWriter) atOnce() bool {
	phase := t.Format.Phase(1, t.Config.Rounds)
	if len(phase.Slots) == 0 {
		return t.Config.Mode == Simultaneous
	}
	first := slices.IndexFunc(phase.Slots, func(s format.Slot) bool { return s.Who != format.TheChair })
	return first >= 0 && phase.Slots[first].Group != 0
}

// releases reports whether a phase frees speakers from what binds them.
func (t *textWriter) releases() bool {
	return slices.ContainsFunc(t.Format.Phases, func(p format.Phase) bool { return p.Release })
}

// places returns, by seat, a number for each speaker among those to whom nothing gives a view of their own: neither a side nor a position.
// Without it, those who begin at once would begin with the same view. In Simultaneous mode the numbers are drawn, so that no seat
// always affirms. Where speakers hear each other, each takes a view that nobody has taken. Speakers who look for the right answer
// have no number: if they begin with the same view, that is a result.
func (t *textWriter) places() []string {
	out := make([]string, len(t.Config.Participants))
	if !t.atOnce() {
		return out
	}
	var free []int
	for i := range t.Config.Participants {
		p := &t.Config.Participants[i]
		begins := t.stance(p) == format.Advocate || t.stance(p) == format.Shared
		if begins && p.Side == "" && t.position(i) == "" && t.Format.Judged(p.Side) {
			free = append(free, i)
		}
	}
	if len(free) < 2 {
		return out
	}
	if t.Places != nil {
		slices.SortFunc(free, func(a, b int) int { return slices.Index(t.Places, a) - slices.Index(t.Places, b) })
	}
	for i, seat := range free {
		out[seat] = "number " + strconv.Itoa(i+1) + " of " + strconv.Itoa(len(free))
	}
	return out
}

func (t *textWriter) debaters() {
	people, places, supplied, releases := t.people(), t.places(), t.supplied(), t.releases()
	for i := 0; i < len(t.Config.Participants) && t.err == nil; i++ {
		p := &t.Config.Participants[i]
		d := prompt.Debater{
			Topic: t.Config.Topic, Name: p.Name, Side: string(p.Side), Means: t.means(i), Position: people[i].Position,
			Stance: string(t.stance(p)), Place: places[i], Persona: p.Persona, Instructions: p.Instructions, Format: t.Format.Name,
			FormatGuidance: t.guidance(), Role: t.Format.Role(p.Side), Chair: !t.Format.Judged(p.Side),
			Others: slices.Delete(slices.Clone(people), i, i+1), Rounds: t.Config.Rounds, Language: t.Config.Language, Fence: t.Fence,
			Released: releases, Sources: supplied || searches(p.Options),
		}
		if people[i].Position != p.Position { // the position is still a hole
			d.KeyArguments = []string{argumentsHole(i)}
			d.Persona = cmp.Or(d.Persona, personaHole(i))
		}
		text, err := t.Prompts.Debater(d)
		t.put(textSystem.of(p.Name), text, err)
	}
}

// phases renders the last message of a speaker, once for each phase and slot.
func (t *textWriter) phases() {
	begins := t.beginnings()
	free := &format.Phase{Name: format.PhaseArgument} // where no phase is
	t.asked(slices.Contains(begins, -1), "turn."+free.Name, t.turn(free, free.Name), t.speech)
	for i := range t.Format.Phases {
		phase, first := &t.Format.Phases[i], slices.Contains(begins, i)
		if len(phase.Slots) == 0 {
			t.asked(first, "turn."+phase.Name, t.turn(phase, phase.Name), t.speech)
		}
		for n := range phase.Slots {
			t.slot(phase, first, &phase.Slots[n], n)
		}
	}
}

// mostFar bounds the rounds, from the end, for which beginnings looks.
const mostFar = 1000

// beginnings returns the indices of the phases that can be that of the first round, -1 for none: a number of rounds may be amended before
// the first one begins.
func (t *textWriter) beginnings() []int {
	out := []int{t.Format.PhaseIndex(1, t.Config.Rounds)}
	if t.Format.Rounds > 0 {
		return out
	}
	far := 1
	for i := range t.Format.Phases {
		far = max(far, -t.Format.Phases[i].First, -t.Format.Phases[i].Last)
	}
	for rounds := 1; rounds <= min(far, mostFar)+1; rounds++ {
		if i := t.Format.PhaseIndex(1, rounds); !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

// firstSuffix ends the name of an instruction for somebody's first turn in the first round.
const firstSuffix = "<first>"

// asked renders an instruction. If it would ask somebody who has not spoken yet to go on, it renders another one, to open.
func (t *textWriter) asked(first bool, name string, ask prompt.Turn, render func(string, prompt.Turn)) {
	t.released(name, ask, render)
	if first && ask.Instruction == "" && !ask.Opening && !ask.Closing && !ask.Question && !ask.Answer {
		ask.Opening = true
		t.released(name+firstSuffix, ask, render)
	}
}

// speech renders the instruction of a phase in which everybody speaks once. If there is one round only, that is the only turn,
// until the number of rounds is amended.
func (t *textWriter) speech(name string, ask prompt.Turn) {
	text, err := t.Prompts.Turn(ask)
	t.put(name, text, err)
	if t.Config.Rounds == 1 && (ask.Opening || ask.Closing) {
		ask.Opening, ask.Closing = true, true
		text, err = t.Prompts.Turn(ask)
		t.put(name+onlySuffix, text, err)
	}
}

// only renders one instruction.
func (t *textWriter) only(name string, ask prompt.Turn) {
	text, err := t.Prompts.Turn(ask)
	t.put(name, text, err)
}

// released renders an instruction for speakers whom nothing binds and, if a phase releases speakers, once more for each thing that binds
// somebody. A release holds in all rounds from that of its phase on, whatever their phases are.
func (t *textWriter) released(name string, ask prompt.Turn, render func(string, prompt.Turn)) {
	render(name, ask)
	if !t.releases() {
		return
	}
	var told []string
	for i := range t.Config.Participants {
		if ask.Released = bond(t.Config, t.Format, i); ask.Released != "" && !slices.Contains(told, ask.Released) {
			told = append(told, ask.Released)
			render(releasedText(name, ask.Released), ask)
		}
	}
}

// releasedText is the name of an instruction for speakers who are bound by something until then.
func releasedText(name, bond string) string { return name + "<" + bond + ">" }

// bond returns what binds a participant until a phase releases it, as [prompt.Turn] names it. "": nothing does. Who looks for the right
// answer, for understanding, or answers for its own view, only begins with what it was given.
func bond(c *Config, f *format.Format, seat int) string {
	p := &c.Participants[seat]
	if !f.Judged(p.Side) {
		return ""
	}
	placed := p.Position != "" || c.AssignPositions != nil
	switch stance := stanceIn(c, f, p); {
	case stance == format.Critic:
		return "critic"
	case stance != format.Advocate && stance != format.Proposer:
		return ""
	case placed && p.Side != "":
		return "both"
	case placed:
		return "position"
	case p.Side != "":
		return "side"
	case stance == format.Advocate:
		return "view"
	default:
		return ""
	}
}

func (t *textWriter) turn(phase *format.Phase, kind string) prompt.Turn {
	return prompt.Turn{
		Phase: phase.Name, Instruction: phase.Instruction, Rounds: t.planned(),
		Opening: kind == format.PhaseOpening, Closing: kind == format.PhaseClosing,
	}
}

// planned is the number of rounds in texts that follow its amendments.
func (t *textWriter) planned() prompt.Planned { return prompt.Planned(t.Config.Rounds) }

func (t *textWriter) slot(phase *format.Phase, first bool, slot *format.Slot, n int) {
	kind := string(slot.Kind)
	if kind == "" {
		kind = phase.Name
	}
	ask := t.turn(phase, kind)
	ask.First = n == 0 && phase.Last == 1 // the phase is that of the first round alone
	ask.Words, _ = slot.Length()
	if slot.To != "" {
		ask.Target = targetHole
	}
	ask.Chair = slot.Who == format.TheChair
	ask.Opening = ask.Opening && !ask.Chair // it opens if it has heard nobody
	ask.Instruction = joined(phase.Instruction, slot.Instruction)
	listener := strings.HasPrefix(string(slot.Who), "audience") // who argues nothing, and asks
	ask.Question = slot.Exchanges > 0 || slot.Kind == format.KindQuestion || listener && ask.Instruction == ""
	ask.Answer = slot.Kind == format.KindAnswer
	t.asked(first, format.SlotText(phase.Name, n), ask, t.only)
	if slot.Exchanges == 0 {
		return
	}
	answer := ask
	answer.First, answer.Question, answer.Answer, answer.Chair = false, false, true, slot.To == format.TheChair
	answer.Instruction = joined(phase.Instruction, slot.Answer)
	t.released(format.AnswerText(phase.Name, n), answer, t.only)
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n")
}

func (t *textWriter) assign() {
	a := t.Config.AssignPositions
	if a == nil {
		return
	}
	ask := prompt.AssignPositions{
		Topic: t.Config.Topic, FormatGuidance: t.Format.Guidance, Diversity: string(a.Diversity), Instructions: a.Instructions,
		Language: t.Config.Language,
	}
	var open []string
	for i := range t.Config.Participants {
		p := &t.Config.Participants[i]
		person := prompt.Person{Name: p.Name, Side: string(p.Side), Position: p.Position, Persona: p.Persona}
		switch {
		case !t.Format.Judged(p.Side):
		case p.Position == "":
			ask.Count++
			ask.Open = append(ask.Open, person)
			open = append(open, p.Name)
		default:
			ask.Taken = append(ask.Taken, person)
		}
	}
	ask.Fields = prompt.FillNames(planFields(nil).String(), open)
	text, err := t.Prompts.AssignPositions(ask)
	t.put("assign", text, err)
}

// seatMark begins and ends the holes for what is assigned to the participant in a seat.
const seatMark = "\uE002"

// Holes for what is assigned to the participant in a seat.
func positionHole(seat int) string { return "\uE002position " + strconv.Itoa(seat) + "\uE002" }

func personaHole(seat int) string { return "\uE002persona " + strconv.Itoa(seat) + "\uE002" }

func argumentsHole(seat int) string { return "\uE002arguments " + strconv.Itoa(seat) + "\uE002" }

// bare removes the runes of holes from a text.
func bare(text string) string {
	if !strings.ContainsAny(text, "\uE001\uE002") {
		return text
	}
	return strings.NewReplacer("\uE001", "", "\uE002", "").Replace(text)
}

// bare returns the config without runes of holes in the texts that prompts use.
func (c *Config) bare() *Config {
	d := *c
	d.Topic, d.Language = bare(c.Topic), bare(c.Language)
	d.Participants = slices.Clone(c.Participants)
	for i := range d.Participants {
		p := &d.Participants[i]
		p.Position, p.Persona, p.Instructions = bare(p.Position), bare(p.Persona), bare(p.Instructions)
	}
	if d.AssignPositions = flow.CloneValue(c.AssignPositions); d.AssignPositions != nil {
		d.AssignPositions.Instructions = bare(d.AssignPositions.Instructions)
	}
	if d.Audience = c.Audience.clone(); d.Audience != nil {
		for i := range d.Audience.Members {
			d.Audience.Members[i].Persona = bare(d.Audience.Members[i].Persona)
		}
	}
	return &d
}

// bareFormat returns the format without runes of holes in its texts.
func bareFormat(f *format.Format) *format.Format {
	g := f.Clone()
	g.Guidance = bare(g.Guidance)
	for i := range g.Seats {
		g.Seats[i].Role = bare(g.Seats[i].Role)
	}
	for i := range g.Phases {
		phase := &g.Phases[i]
		phase.Instruction = bare(phase.Instruction)
		for n := range phase.Slots {
			phase.Slots[n].Instruction, phase.Slots[n].Answer = bare(phase.Slots[n].Instruction), bare(phase.Slots[n].Answer)
		}
	}
	return g
}
