package export

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
)

// tones is the number of colours for speakers who have none by their side.
const tones = 8

// cast gives everybody a place, and each participant a colour. With two sides, participants have the
// colour of their side; otherwise each has one of its own.
func (w *reporter) cast() {
	w.seats, w.tones, w.sides = make(map[string]int), make(map[string]string), make(map[string]string)
	for _, name := range w.everybody() {
		w.seats[name] = len(w.seats) + 1
	}
	is := func(side format.Side) bool {
		return slices.ContainsFunc(w.config.Participants, func(p debate.Participant) bool { return p.Side == side })
	}
	divided := is(format.For) && is(format.Against)
	for i, p := range w.config.Participants {
		tone := "seat-" + strconv.Itoa(i%tones+1)
		switch p.Side {
		case format.For, format.Against, format.Neutral:
			w.sides[p.Name] = string(p.Side)
			if divided {
				tone = string(p.Side)
			}
		}
		w.tones[p.Name] = tone
	}
}

// everybody returns the names of participants, judges and audience, in order.
func (w *reporter) everybody() []string {
	var out []string
	for _, p := range w.config.Participants {
		out = append(out, p.Name)
	}
	if w.config.Judging != nil {
		for _, j := range w.config.Judging.Judges {
			out = append(out, j.Name)
		}
	}
	if w.config.Audience != nil {
		for _, m := range w.config.Audience.Members {
			out = append(out, m.Name)
		}
	}
	return out
}

// place returns the place of a name. Names without a place come last.
func (w *reporter) place(name string) int {
	if seat := w.seats[name]; seat > 0 {
		return seat
	}
	return len(w.seats) + 1
}

// sided returns a name with its side.
func (w *reporter) sided(name string) string {
	if side := w.sides[name]; side != "" {
		return name + " (" + side + ")"
	}
	return name
}

// party names one of those who can win: a participant or, where sides win, a side.
func (w *reporter) party(name string) string {
	if w.debate.BySides() {
		return "the side " + name
	}
	return w.sided(name)
}

// participants lists the participants.
func (w *reporter) participants() *section {
	s := &section{ID: "participants", Title: "Participants"}
	found := make(map[string]*debate.AssignedPosition)
	if a := w.debate.Assignment; a != nil {
		s.Blocks = append(s.Blocks, block{Label: "Why these positions", Speech: &a.Reasoning})
		for i := range a.Positions {
			found[a.Positions[i].Participant] = &a.Positions[i]
		}
	}
	for seat, p := range w.config.Participants {
		persona, position, own := p.Persona, p.Position, found[p.Name]
		if own != nil {
			persona, position = cmp.Or(persona, own.Persona), own.Position
		}
		var blocks []block
		if fields := present(append([]field{{"Persona", persona}, {"Position", position}}, w.metadata(p.Name)...)...); len(fields) > 0 {
			blocks = append(blocks, block{Fields: fields})
		}
		if own != nil && len(own.KeyArguments) > 0 {
			blocks = append(blocks, block{Label: "Key arguments", Phrases: own.KeyArguments})
		}
		turns := plural(w.record.Participant(p.Name).Turns, "turn")
		card := w.card(p.Name, performer(p.Model, "", p.Person), p.Fallbacks, turns, blocks...)
		card.Marks = append(card.Marks, notes(prefixed("stands in: ", p.StandIn))...)
		if w.config.Floor != nil { // who has decided how much each was heard
			card.Marks = append(card.Marks, fmt.Sprintf("%.0f %% of the words", w.debate.Shares()[seat].Percent))
		}
		if own != nil {
			card.Marks = append(card.Marks, "the position was found by a model")
		}
		s.Articles = append(s.Articles, card)
	}
	return s
}

// card tells who somebody is: the models, what was done, its cost, the status if it is not the usual one, the blocks, and why somebody was
// dropped.
func (w *reporter) card(name, model string, fallbacks []string, did string, blocks ...block) *article {
	out := &article{
		Class: classPerson, Title: w.called(name), Tone: w.tones[name], Side: w.sides[name], Blocks: blocks,
		Marks: notes(model, prefixed("then ", strings.Join(fallbacks, ", ")), did, w.spentBy(name)),
	}
	if status := w.record.Participant(name).Status; status != flow.StatusActive {
		out.Marks = append(out.Marks, string(status))
	}
	if why, ok := w.log.dropped[name]; ok {
		out.Blocks = append(out.Blocks, block{Text: "Dropped: " + line(why)})
	}
	return out
}

// metadata returns what the host program has noted of somebody.
func (w *reporter) metadata(name string) []field {
	var out []field
	all := w.record.Participant(name).Metadata
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, field{key, all[key]})
	}
	return out
}

// notes leaves out what is empty.
func notes(all ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return line(s) == "" })
}

// prefixed puts a prefix before a text that is not empty.
func prefixed(prefix, text string) string {
	if line(text) == "" {
		return ""
	}
	return prefix + text
}

// judges lists the judges, and what decides for them.
func (w *reporter) judges() *section {
	j := w.config.Judging
	if j == nil {
		return nil
	}
	s := &section{ID: "judges", Title: "Judges"}
	t := &table{Head: []string{"Judge", "Who", "Part", "Cost"}, Figures: 3}
	recused := w.debate.Recused()
	for _, judge := range j.Judges {
		part := "judges"
		switch {
		case slices.Contains(recused, judge.Name):
			part = "recused: its model is of the family of some participants'"
		case w.record.Participant(judge.Name).Status == flow.StatusDropped:
			part = "dropped" + prefixed(": ", w.log.dropped[judge.Name])
		}
		t.Rows = append(t.Rows, cells(judge.Name, performer(judge.Model, judge.Judge, judge.Person), part, w.spentBy(judge.Name)))
	}
	s.Blocks = append(s.Blocks, block{Table: t}, block{Fields: w.judging(j)}, w.criteria(j))
	return s
}

// performer returns who speaks, judges or votes.
func performer(model, judge string, person bool) string {
	switch {
	case person:
		return "a person"
	case judge != "":
		return judge + " (the host's)"
	default:
		return model
	}
}

// judgedBy returns who judged under a name: a model, which may be a fallback, a person or a function.
func (w *reporter) judgedBy(name, model string) string {
	if model != "" || w.config.Judging == nil {
		return model
	}
	for _, j := range w.config.Judging.Judges {
		if j.Name == name {
			return performer(j.Model, j.Judge, j.Person)
		}
	}
	return ""
}

func (w *reporter) judging(j *debate.Judging) []field {
	fields := []field{{"When", "at the end"}}
	if j.When != debate.AtEnd {
		fields[0].Value = "after every round, and at the end"
	}
	if len(j.Judges) > 1 {
		fields = append(fields, field{"Decision", fmt.Sprintf("%s, quorum %d of %d", j.Protocol, j.Quorum, len(j.Judges))})
	}
	if j.BothOrders {
		fields = append(fields, field{"Orders", "each verdict was asked for twice, with the participants in both orders"})
	}
	if j.Anonymous {
		fields = append(fields, field{"Names", "hidden from the judges"})
	}
	return fields
}

func (w *reporter) criteria(j *debate.Judging) block {
	if j.Rubric == nil {
		names := j.Criteria
		if len(names) == 0 {
			names = prompt.DefaultCriteria()
		}
		return block{Label: "Criteria", Items: names}
	}
	t := &table{Caption: "Criteria", Head: []string{"Criterion", "0 means", "10 means", "Weight"}, Figures: 3}
	for _, c := range j.Rubric.Criteria {
		t.Rows = append(t.Rows, cells(c.Name, c.Low, c.High, mark(c.Weight)+" %"))
	}
	return block{Table: t}
}
