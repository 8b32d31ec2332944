package debate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/detect"
)

// Debate is a debate as it is read: the record that any flow has, and what judges, the audience and whoever finds
// positions have said. It is read only, under the rules of its Record.
type Debate struct {
	*Record

	Assessments []*Assessment // in the order in which they were recorded
	// Verdict is what a judge has found; nil: nobody has. Of a panel it is the first verdict that agrees
	// with the panel's outcome, and Verdicts holds all. What counts is Outcome.
	Verdict    *Verdict
	Verdicts   []*Verdict  // in the order in which they were recorded
	Ballots    []*Ballot   // the audience's votes, likewise
	Assignment *Assignment // the positions that a model has found; nil: none were asked for

	config   *Config
	format   *Format
	drawn    drawn
	texts    map[string]string // the prompts, with what was assigned since
	systems  []string          // the system prompts of the participants, by seat
	bench    []int             // the judges who are not recused, by index
	schedule []Speech
	phase    int               // which the schedule is of
	said     []bool            // by slot of the schedule
	shingles []detect.Shingles // of the turns, where a detector compares them
	compares bool              // one does
}

// Of yields the debate of a record; false: the record is of another flow, or nothing has started yet.
func Of(r *Record) (*Debate, bool) {
	if r == nil {
		return nil, false
	}
	d, ok := r.part.(*Debate)
	return d, ok
}

// of is Of for the flow itself, which is only asked about its own records.
func of(r *Record) *Debate {
	if d, ok := Of(r); ok {
		return d
	}
	return &Debate{Record: r, config: &Config{}, format: &Format{}, phase: unset}
}

// unset is the phase before the first round: not even that of rounds which no phase covers.
const unset = -2

// drawn is what is drawn for a debate.
type drawn struct {
	Orders [][]int  // in which each judge is shown the participants, by seat
	Labels []string // neutral names, by seat; nil: names are shown
}

// draw draws for a debate.
func draw(config FlowConfig, seed string) any {
	c, out := configOf(config), drawn{}
	if c.Judging == nil {
		return out
	}
	for i := range c.Judging.Judges {
		out.Orders = append(out.Orders, Shuffled(seed, "judge "+strconv.Itoa(i), len(c.Participants)))
	}
	if c.Judging.Anonymous {
		out.Labels = NeutralLabels(seed, len(c.Participants))
	}
	return out
}

// open makes the part of a record.
func open(r *Record, start *Start) (Part, error) {
	format, ok := r.Frozen().(*Format)
	if !ok {
		return nil, invalid("start.frozen", "is missing: it is the format")
	}
	d := &Debate{Record: r, config: configOf(r.config), format: format, texts: start.Texts, phase: unset}
	d.drawn, _ = draw(d.config, start.Seed).(drawn)
	d.systems = make([]string, len(d.config.Participants))
	d.readSystems()
	d.bench = d.seated()
	d.compares = slices.ContainsFunc(d.watched(), func(name Detector) bool { return name != DetectDrift })
	return d, nil
}

// Config yields the frozen config, with every default written out. Read only.
func (d *Debate) Config() *Config { return d.config }

// Format yields the frozen format. Read only.
func (d *Debate) Format() *Format { return d.format }

// Text yields a prompt as rendered when the debate started, with what was assigned since.
func (d *Debate) Text(name string) string { return d.texts[name] }

// Fold implements [Part].
func (d *Debate) Fold(e *Event) error {
	switch body := e.Body.(type) {
	case *Round:
		d.beginRound(body.N)
	case *Turn:
		d.foldTurn(body)
	case *Dropped:
		d.foldDropped(body.Participant)
	case *Assessment:
		d.Assessments = append(d.Assessments, body)
	case *Verdict:
		d.Verdicts = append(d.Verdicts, body)
		d.Verdict = d.opinion()
	case *Assignment:
		d.foldAssignment(body)
	case *Ballot:
		d.Ballots = append(d.Ballots, body)
	}
	return nil
}

// beginRound takes the schedule of a round; most rounds have that of the round before.
func (d *Debate) beginRound(n int) {
	if phase := d.format.PhaseIndex(n, d.config.Rounds); phase != d.phase {
		d.phase, d.schedule = phase, d.format.Speeches(phase, d.config.Cast())
	}
	if len(d.said) != len(d.schedule) {
		d.said = make([]bool, len(d.schedule))
	}
	clear(d.said)
}

func (d *Debate) foldTurn(t *Turn) {
	if t.Round == d.Round && t.Slot < len(d.said) {
		d.said[t.Slot] = true
	}
	if d.compares {
		d.shingles = append(d.shingles, detect.Shingle(t.Text))
	}
}

// foldDropped no longer tells judges to judge a participant.
func (d *Debate) foldDropped(name string) {
	if d.Seat(name) < 0 || d.config.Judging == nil {
		return
	}
	if d.config.Judging.Anonymous {
		name = d.Hide(name)
	}
	texts := maps.Clone(d.texts)
	for key, text := range texts {
		if strings.HasPrefix(key, "assess.") || strings.HasPrefix(key, "verdict.") {
			texts[key] = strings.Replace(text, "\n- "+name+"\n", "\n", 1)
		}
	}
	d.texts = texts
}

func (d *Debate) readSystems() {
	for i := range d.config.Participants {
		d.systems[i] = d.Text("system." + d.config.Participants[i].Name)
	}
}

// participants yields those who still take part.
func (d *Debate) participants() []Participant {
	if len(d.Dropped()) == 0 {
		return d.config.Participants
	}
	var active []Participant
	for _, p := range d.config.Participants {
		if !d.IsDropped(p.Name) {
			active = append(active, p)
		}
	}
	return active
}

// views says who reads what.
func views(s Setup) Views {
	c, out := configOf(s.Config), Views{}
	if d, ok := s.Drawn.(drawn); ok {
		out.Labels = d.Labels
	}
	f, ok := s.Frozen.(*Format)
	if !ok || f.Reads.Graph == "" || f.Reads.Graph == AllRead {
		return out
	}
	for seat := range c.Participants {
		out.Reads = append(out.Reads, f.audible(c.Participants, seat))
	}
	return out
}

// audible says whom the participant in a seat reads, and last that the audience's questions are for everybody.
func (f *Format) audible(all []Participant, seat int) []bool {
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

// before yields the seat before this one among those who are judged; the first has the last before it.
func (f *Format) before(all []Participant, seat int) int {
	for i := range all {
		other := (seat - 1 - i + 2*len(all)) % len(all)
		if other != seat && f.Judged(all[other].Side) {
			return other
		}
	}
	return seat
}
