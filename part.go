package debate

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
)

// Debate is a debate for reading: the [Record] that every flow has, and what the judges, the audience and the
// search for positions have contributed. It is read only, under the rules of its Record.
type Debate struct {
	*flow.Record

	Assessments []*Assessment // in the order in which they were recorded
	// Verdict is the first verdict that agrees with the panel: it names the panel's winner, or nobody if the panel has none. It
	// is nil if there is no such verdict. Verdicts holds all of them. Outcome has the panel's decision.
	Verdict    *Verdict
	Verdicts   []*Verdict    // in the order in which they were recorded
	Ballots    []*Ballot     // the audience's votes, in the order in which they were recorded
	Assignment *Assignment   // the positions that a model has found; nil if no model was asked
	Earlier    []Concluded   // the conclusions after which the debate went on, oldest first
	Floors     []*FloorGiven // who was given the floor, in the order in which it was recorded

	config   *Config
	format   *format.Format
	drawn    drawn
	asked    asked             // what judges are asked
	texts    map[string]string // the prompts, with what has been assigned since
	systems  []string          // the system prompts of the participants, by seat
	bonds    []string          // what binds them until a phase releases them, by seat
	varied   bool              // whether a speech may have several instructions
	bench    []int             // the indices of the judges who are not recused
	schedule []format.Speech
	phase    int             // the phase of which schedule is the schedule
	freed    bool            // whether a phase has released the speakers
	phases   []string        // the names of the phases in which rounds were begun, by round; the first is none's
	said     []bool          // by slot of the schedule: whether its speech is recorded
	alone    bool            // the debate goes on in this round, after its verdict, for one answer alone
	former   int             // how many notes there were when the debate was last reopened: nobody answers them any more
	voiced   map[string]bool // who has spoken in the round
	given    []string        // who was given the floor in the round, one after the other
	sheets   map[answerBy]*sheet
	shingles []detect.Shingles // of the turns, if a detector compares them
	compares bool              // whether a detector compares turns
	// detectors are those of the host program, by name.
	detectors map[string]Detector
	builtins  map[string]format.Format // the built-in formats, by name
}

// Of returns the debate of a record. It returns false if the record is of another flow, or if nothing has started.
func Of(r *flow.Record) (*Debate, bool) { return flow.ProjectionOf[*Debate](r) }

// of is Of for the flow itself, which only asks about its own records.
func of(r *flow.Record) *Debate {
	if d, ok := Of(r); ok {
		return d
	}
	return &Debate{Record: r, config: &Config{}, format: &format.Format{}, phase: unset}
}

// unset is the phase before the first round. It differs from -1, the phase of rounds that no phase covers.
const unset = -2

// drawn holds what is drawn for a debate from its seed.
type drawn struct {
	Orders [][]int  // by judge: the seats in the order in which the judge is shown them
	Labels []string // neutral names, by seat; nil if names are shown
	Places []int    // the seats in the order in which speakers are numbered who begin at once; nil: in theirs
}

// draw draws the orders and labels of a debate from its seed.
func draw(config flow.Config, seed string) any {
	c, out := config.(*Config), drawn{}
	if c.Mode == Simultaneous {
		out.Places = flow.Shuffled(seed, "places", len(c.Participants))
	}
	if c.Judging == nil {
		return out
	}
	for i := range c.Judging.Judges {
		out.Orders = append(out.Orders, flow.Shuffled(seed, "judge "+strconv.Itoa(i), len(c.Participants)))
	}
	if c.Judging.Anonymous {
		out.Labels = flow.NeutralLabels(seed, len(c.Participants))
	}
	return out
}

// opener returns the function that makes the projection of a record, with the host program's detectors and the formats that are built in.
func opener(detectors map[string]Detector, builtins map[string]format.Format) func(*flow.Record, *flow.Start) (flow.Projection, error) {
	return func(r *flow.Record, start *flow.Start) (flow.Projection, error) {
		d, err := open(r, start)
		if err != nil {
			return nil, err
		}
		d.detectors, d.builtins = detectors, builtins
		return d, nil
	}
}

// open makes the projection of a record.
func open(r *flow.Record, start *flow.Start) (*Debate, error) {
	f, ok := r.Frozen().(*format.Format)
	if !ok {
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "open", Field: "frozen", Err: errors.New("the format is missing")}
	}
	d := &Debate{Record: r, config: r.Config().(*Config), format: f, texts: start.Texts, phase: unset}
	d.drawn, _ = draw(d.config, start.Seed).(drawn)
	d.asked = askedIn(d.config, f)
	d.systems, d.bonds = make([]string, len(d.config.Participants)), make([]string, len(d.config.Participants))
	for seat := range d.bonds {
		d.bonds[seat] = bond(d.config, f, seat)
	}
	for name := range start.Texts {
		d.varied = d.varied || strings.HasSuffix(name, ">")
	}
	d.readSystems()
	d.bench = d.seated()
	d.compares = slices.ContainsFunc(d.watched(), func(name format.Detector) bool {
		return name == format.DetectRepetition || name == format.DetectDiminishing
	})
	return d, nil
}

// Config returns the frozen config, with every default written out. It is read only.
func (d *Debate) Config() *Config { return d.config }

// Format returns the frozen format. It is read only.
func (d *Debate) Format() *format.Format { return d.format }

// Text returns a prompt as it was rendered when the debate started, with what has been assigned since. "": there is none of this name. The
// names are these:
//   - system.NAME: the system prompt of a participant, a judge or a voter
//   - turn.PHASE, turn.PHASE<SLOT>: the instruction of a speech, by the name of the phase and the number of the slot, from 1, with
//     .answer for who answers in it; further ones end in <first>, .only, or in what a release frees from, such as <side>
//   - ask.assess.ROUND, ask.verdict, ask.verdict.unfinished, ask.ballot.before, ask.ballot.after: what judges and voters are asked; later
//     rounds share a text
//   - ask.aim, ask.motion, ask.language: what those are told who read no system prompt
//   - system.summarizer, summary, summary.former: the prompts of the summarizer
//   - assign, again, findings, tools, tools.none
//
// Where a text depends on the round, it has a hole for the number between runes of private use: see prompt.Fill.
func (d *Debate) Text(name string) string { return d.texts[name] }

// Fold implements [flow.Projection].
func (d *Debate) Fold(e *flow.Event) error {
	switch body := e.Body.(type) {
	case *flow.Round:
		of := d.rounds()
		if p := d.Parent(); p != nil && p.KeepsOf {
			of = body.Of
		}
		d.beginRound(body.N, of)
	case *flow.Turn:
		d.foldTurn(body)
	case *flow.Note:
		d.foldNote(body)
	case *flow.Transition:
		if body.To == flow.StateCompleting {
			d.sheets = nil // those of the rounds are needed no longer
		}
		if body.On == flow.TriggerReopen {
			d.foldReopened(body.To == StateAwaitingResponses)
		}
	case *FloorGiven:
		d.foldFloor(body)
	case *Assessment:
		d.Assessments = append(d.Assessments, body)
	case *Verdict:
		d.Verdicts = append(d.Verdicts, body)
		d.Verdict = d.opinion()
	case *Assignment:
		if d.Assignment != nil { // the flow asks for one, and each would write all prompts anew
			err := errors.New("positions were assigned before")
			return &flow.Error{Kind: provider.KindValidation, Op: "read log", Field: "assigned", Err: err}
		}
		d.foldAssignment(body)
	case *Ballot:
		d.Ballots = append(d.Ballots, body)
	}
	return nil
}

// Phase returns the name of the phase of a round. A round that has begun keeps the phase in which it began, even if the number
// of rounds has changed since.
func (d *Debate) Phase(round int) string {
	switch {
	case round > 0 && round < len(d.phases):
		return d.phases[round]
	case d.format == nil:
		return ""
	}
	return d.format.Phase(round, d.rounds()).Name
}

// mostPhases bounds the room that is made for the names of phases before there are rounds.
const mostPhases = 64

// beginRound sets the schedule of a round of so many as there were when it began. Most rounds have the schedule of the round before.
func (d *Debate) beginRound(n, of int) {
	if d.phases == nil {
		d.phases, d.voiced = make([]string, 1, min(n+d.rounds(), mostPhases)), make(map[string]bool)
	}
	d.phases = append(d.phases[:min(n, len(d.phases))], d.format.Phase(n, of).Name)
	if phase := d.format.PhaseIndex(n, of); phase != d.phase {
		d.phase, d.schedule = phase, d.format.Speeches(phase, d.config.Cast())
	}
	d.freed = d.freed || d.phase >= 0 && d.format.Phases[d.phase].Release
	if len(d.said) != len(d.schedule) {
		d.said = make([]bool, len(d.schedule))
	}
	clear(d.said)
	clear(d.voiced)
	d.given, d.alone = d.given[:0], false
}

func (d *Debate) foldTurn(t *flow.Turn) {
	if t.Round == d.Round {
		d.hear(t)
	}
	if d.compares {
		d.shingles = append(d.shingles, detect.Shingle(t.Text))
	}
}

func (d *Debate) hear(t *flow.Turn) {
	if t.Kind == KindAside {
		if e := d.askedAfter(); e != nil && t.Call == asideID(d.Round, d.former, e.To) {
			e.Answer = t
		}
		return
	}
	if t.Slot < len(d.said) {
		d.said[t.Slot] = true
	}
	if d.voiced != nil { // a round has begun
		d.voiced[t.Speaker] = true
	}
}

func (d *Debate) readSystems() {
	for i := range d.config.Participants {
		d.systems[i] = d.told(d.Text(textSystem.of(d.config.Participants[i].Name)))
	}
}

// participants returns those who still take part.
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

// views says which reader reads what.
func views(s flow.Setup) flow.Views {
	c := s.Config.(*Config)
	out := flow.Views{Marks: true}
	for _, p := range c.Participants {
		side := cmp.Or(p.Side, format.Side(p.Name)) // without a side, everybody speaks for themselves
		out.Sides = append(out.Sides, string(side))
	}
	if d, ok := s.Drawn.(drawn); ok {
		out.Labels = d.Labels
	}
	if f, ok := s.Frozen.(*format.Format); ok {
		out.Reads = f.Audible(c.Cast())
	}
	return out
}

// The kinds of calls that only debates have.
const (
	KindAssessment flow.CallKind = "assessment"
	KindVerdict    flow.CallKind = "verdict"
	KindBallot     flow.CallKind = "ballot" // of the audience
	KindAssign     flow.CallKind = "assign" // of the search for positions
	KindAside      flow.CallKind = "aside"  // of an answer out of turn, to the question of a note
	KindFloor      flow.CallKind = "floor"  // of a decision about who speaks next
)

// The kinds of events that only debates have.
const (
	EventAssessment flow.EventKind = "assessment" // *Assessment: a judge has assessed a round
	EventVerdict    flow.EventKind = "verdict"    // *Verdict: a judge has given the verdict
	EventBallot     flow.EventKind = "ballot"     // *Ballot: a member of the audience has voted
	EventAssigned   flow.EventKind = "assigned"   // *Assignment: a model has found positions
	EventFloor      flow.EventKind = "floor"      // *FloorGiven: somebody was given the floor
)

// EventKind implements [flow.Body].
func (*Assessment) EventKind() flow.EventKind { return EventAssessment }

// EventKind implements [flow.Body].
func (*Verdict) EventKind() flow.EventKind { return EventVerdict }

// EventKind implements [flow.Body].
func (*Ballot) EventKind() flow.EventKind { return EventBallot }

// EventKind implements [flow.Body].
func (*Assignment) EventKind() flow.EventKind { return EventAssigned }

// Spectator implements [flow.Spectated].
func (a *Assessment) Spectator() flow.Body {
	shown := *a
	shown.Spend = a.Shown()
	return &shown
}

// Spectator implements [flow.Spectated].
func (v *Verdict) Spectator() flow.Body {
	shown := *v
	shown.Spend = v.Shown()
	return &shown
}

// Spectator implements [flow.Spectated].
func (b *Ballot) Spectator() flow.Body {
	shown := *b
	shown.Spend = b.Shown()
	return &shown
}

// Canonical returns the JSON of what makes two debates equal: turns in slot order, assessments, verdict and end
// state. Attempts, spends, times and controls are left out.
func (d *Debate) Canonical() ([]byte, error) {
	out := struct {
		State       flow.State     `json:"state"`
		Turns       json.Marshaler `json:"turns"`
		Assessments []Judgement    `json:"assessments"`
		Verdict     *FinalVerdict  `json:"verdict"`
		Verdicts    []namedVerdict `json:"verdicts,omitempty"`
		Ballots     []namedBallot  `json:"ballots,omitempty"`
	}{State: d.State, Turns: d.CanonicalTurns()}
	for _, a := range d.ordered(d.Assessments) {
		out.Assessments = append(out.Assessments, a.Judgement)
	}
	if d.Verdict != nil {
		out.Verdict = &d.Verdict.FinalVerdict
	}
	if len(d.Verdicts) > 1 {
		for _, v := range d.Verdicts {
			out.Verdicts = append(out.Verdicts, namedVerdict{v.Judge, v.Swapped, v.FinalVerdict})
		}
		slices.SortStableFunc(out.Verdicts, func(a, b namedVerdict) int {
			return cmp.Or(cmp.Compare(d.seatOfJudge(a.Judge), d.seatOfJudge(b.Judge)), order(a.Swapped, b.Swapped))
		})
	}
	for _, b := range d.Ballots {
		out.Ballots = append(out.Ballots, namedBallot{b.Voter, b.After, b.BallotAnswer})
	}
	slices.SortStableFunc(out.Ballots, func(a, b namedBallot) int { return cmp.Or(order(a.After, b.After), cmp.Compare(a.Voter, b.Voter)) })
	return json.Marshal(out)
}

// namedVerdict and namedBallot are verdicts and votes in the canonical form.
type (
	namedVerdict struct {
		Judge   string       `json:"judge"`
		Swapped bool         `json:"swapped,omitempty"`
		Verdict FinalVerdict `json:"verdict"`
	}
	namedBallot struct {
		Voter string       `json:"voter"`
		After bool         `json:"after,omitempty"`
		Paper BallotAnswer `json:"ballot"`
	}
)

// order puts false before true.
func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// ordered returns assessments in the order of rounds and judges, whatever the order in which they arrived.
func (d *Debate) ordered(all []*Assessment) []*Assessment {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b *Assessment) int {
		return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(d.seatOfJudge(a.Judge), d.seatOfJudge(b.Judge)))
	})
	return out
}
