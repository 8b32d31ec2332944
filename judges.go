package debate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// assessmentCalls returns the assessments of the round that are still missing. A round in which no contestant has spoken has none, and one
// answer alone is not assessed.
func assessmentCalls(r *flow.Record) []*flow.Call {
	d := of(r)
	judging := d.config.Judging
	if judging == nil || judging.When == AtEnd || d.alone || d.Late() && len(d.spoken(d.Round)) == 0 ||
		len(d.roundContest().judged) == 0 {
		return nil
	}
	schema := string(KindAssessment)
	if judging.Rubric != nil {
		schema = schemaRubric
	}
	var calls []*flow.Call
	for place, i := range d.bench {
		judge := &judging.Judges[i]
		id := assessmentID(d.Round, judge.Name)
		if d.Done(id) || d.Skipped(id) || len(d.Dropped()) > 0 && d.IsDropped(judge.Name) {
			continue
		}
		call := judgeCall(d, judge, id, KindAssessment)
		call.Schema, call.Slot, call.View.Whole = schema, place, d.Round
		if call.Performer == flow.ByPerson {
			call.Schema = schemaPersonAssessment
		}
		call.Last = d.toAssess(judge, call)
		calls = append(calls, call)
	}
	return calls
}

// toAssess returns the last message before a judge assesses the present round.
func (d *Debate) toAssess(judge *JudgeConfig, call *flow.Call) func(*flow.Record) string {
	schema, by := call.Schema, call.Performer
	return func(*flow.Record) string {
		s := d.sheet(judge.Name, schema, false)
		about := d.gone(s.judged) + d.absences(d.Round) + d.equipped(d.Round, by) + d.measured() + d.outOfTurn(d.Round, by, d.Hide) +
			d.instructed(judge, by)
		if schema == schemaPersonAssessment {
			return d.personAssessed(s) + about
		}
		return d.asking(s, askAssess+strconv.Itoa(s.round)) + d.formerMarks(judge.Name) + about
	}
}

// asking returns an instruction of judges with the names of a sheet.
func (d *Debate) asking(s *sheet, name string) string {
	text, named := d.Text(name), s.named
	if s.text != text {
		if named = prompt.FillNames(text, s.people); len(named) <= mostNamed {
			s.text, s.named = text, named
		}
	}
	return prompt.Fill(named, d.Round, d.rounds())
}

// mostNamed bounds an instruction that a sheet keeps, in bytes. A usual one has 3,000. A log that was written elsewhere may hold one that
// names would fill to many MB, and a record has several sheets for each judge.
const mostNamed = 64 << 10

// instructed returns the host program's own instructions to one judge. They stand in the last message, so that all judges of a panel
// have the same system prompt, and at its end, where nothing of the library's own can be taken for one of them. One who is no model reads
// no system prompt, and has here what it would have there: what is judged, the language, and the instructions to all judges.
func (d *Debate) instructed(judge *JudgeConfig, by flow.Performer) string {
	if by == flow.ByModel {
		return further(d.Hide(judge.Instructions))
	}
	own := further(d.Hide(joined(d.config.Judging.Instructions, judge.Instructions)))
	if by == flow.ByPerson { // the question begins with the rest
		return own
	}
	return behind(d.Text(askAim)) + d.language() + own
}

// language tells those who read no system prompt in which language to write. Older debates do not have the text.
func (d *Debate) language() string { return behind(d.Text(askLanguage)) }

// behind makes a text a paragraph behind others; "": there is none.
func behind(text string) string {
	if text == "" {
		return ""
	}
	return "\n\n" + text
}

// further returns instructions of the host program behind those of the library; "": there are none.
func further(own string) string {
	if own = prompt.Plain(own); own == "" {
		return ""
	}
	return "\n\nFurther instructions, which hold where they differ from the rules above:\n\n" + own
}

// longestMark is a mark that takes as many digits as one can.
const longestMark = 9.99

// formerMarks tells a judge its own marks of the latest rounds, by which it can see whether rounds yield less. In an estimate nobody has
// spoken, and the longest marks stand for those to come.
func (d *Debate) formerMarks(judge string) string {
	var latest [detect.TrendWindow]*Assessment
	first := len(latest)
	for _, a := range slices.Backward(d.Assessments) {
		if first == 0 {
			break
		}
		if a.Judge == judge && a.Round < d.Round {
			first--
			latest[first] = a
		}
	}
	const before, perMark = "\n\nYour quality scores so far: ", len("round 100: 9.99, ")
	marks := make([]byte, 0, len(before)+perMark*len(latest))
	marks = append(marks, before...)
	add := func(round int, mark float64) {
		if len(marks) > len(before) {
			marks = append(marks, ", "...)
		}
		marks = strconv.AppendInt(append(marks, "round "...), int64(round), 10)
		marks = strconv.AppendFloat(append(marks, ": "...), hundredths(mark), 'g', -1, 64)
	}
	for _, a := range latest[first:] {
		add(a.Round, a.QualityScore)
	}
	for round := max(1, d.Round-len(latest)); len(d.Turns) == 0 && round < d.Round; round++ {
		add(round, longestMark)
	}
	if len(marks) == len(before) {
		return ""
	}
	return string(append(marks, '.'))
}

// assessmentID returns the ID of a judge's assessment of a round.
func assessmentID(round int, judge string) string {
	return "r" + strconv.Itoa(round) + ".assessment." + judge
}

// verdictCalls returns the verdicts that are still missing.
func verdictCalls(d *Debate) []*flow.Call {
	if d.config.Judging == nil {
		return nil
	}
	var calls []*flow.Call
	for place, i := range d.bench {
		judge := &d.config.Judging.Judges[i]
		if len(d.Dropped()) > 0 && d.IsDropped(judge.Name) {
			continue
		}
		for _, swapped := range []bool{false, true} {
			if swapped && !d.config.Judging.BothOrders {
				break
			}
			call := verdictCall(d, judge, swapped)
			call.Slot = place
			if !d.Done(call.ID) {
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// Suffixes of the ids of calls and texts.
const (
	swappedSuffix    = ".swapped"
	unfinishedSuffix = ".unfinished"
	onlySuffix       = ".only"
)

func verdictCall(d *Debate, judge *JudgeConfig, swapped bool) *flow.Call {
	id := d.Concluding("verdict." + judge.Name)
	if swapped {
		id += swappedSuffix
	}
	call := judgeCall(d, judge, id, KindVerdict)
	call.Schema, call.View.Swapped = string(KindVerdict), swapped
	if swapped {
		call.Tag = tagSwapped
	}
	switch {
	case call.Performer == flow.ByPerson:
		call.Schema = schemaPersonVerdict
	case d.winnerless():
		call.Schema = schemaNoWinner
	}
	call.Last = d.toJudge(judge, call, swapped)
	return call
}

// toJudge returns the last message before a judge gives the verdict.
func (d *Debate) toJudge(judge *JudgeConfig, call *flow.Call, swapped bool) func(*flow.Record) string {
	schema, by := call.Schema, call.Performer
	return func(*flow.Record) string {
		s := d.sheet(judge.Name, schema, swapped)
		about := d.gone(s.judged) + d.absences(0) + d.equipped(0, by) + d.outOfTurn(0, by, d.Hide) + d.instructed(judge, by)
		if schema == schemaPersonVerdict {
			return d.personJudged(s, swapped) + about
		}
		name := askVerdict
		if d.cutShort() {
			name += unfinishedSuffix
		}
		return d.asking(s, name) + about
	}
}

func judgeCall(d *Debate, judge *JudgeConfig, id string, kind flow.CallKind) *flow.Call {
	call := &flow.Call{
		ID: id, Kind: kind, Round: d.Round,
		System: d.Text(textSystem.of(judge.Name)), View: flow.View{Labels: d.config.Judging.Anonymous, All: true, Anew: true},
		Timeout: d.config.JudgeTimeout, OnFail: d.failingJudge(judge.Name, kind), Task: judgeTask,
	}
	judge.seat("").AskIn(d.Record, call)
	if len(d.bench) > 1 && !d.config.Judging.AllowSameFamily {
		if len(call.Fallbacks) > 0 {
			call.Fallbacks = slices.DeleteFunc(slices.Clone(call.Fallbacks), d.partial)
		}
		if call.Person != nil && d.partial(call.Person.Term.StandIn) { // if the person is late, the rules for failures decide
			if call.Person.Term.StandIn = ""; call.Person.Term.Overdue == flow.OptionStandIn {
				call.Person.Term.Overdue = ""
			}
		}
	}
	call.View.Summarizer = call.Model
	return call
}

// gone tells a judge which participants have left the debate, and whether they are judged.
func (d *Debate) gone(judged []Participant) string {
	var scored, others []string
	for _, name := range d.Dropped() {
		switch {
		case d.Seat(name) < 0:
		case has(judged, name):
			scored = append(scored, d.Hide(name))
		default:
			others = append(others, d.Hide(name))
		}
	}
	out := ""
	if len(scored) > 0 {
		out += "\n\nHas left the debate early, and is judged by what was said until then: " + strings.Join(scored, ", ") + "."
		if !d.format.LeaverMayWin && d.asked.sides == nil && !d.winnerless() {
			out += " Only who has stayed can win."
		}
	}
	if len(others) > 0 {
		out += "\n\nHas left the debate, and is not to be judged here: " + strings.Join(others, ", ") + "."
	}
	return out
}

// absences tells a judge who of those who are left has missed this round, or which rounds of all if it is 0. Whoever has said nothing in
// the round that is judged, or in the whole debate, is not judged there.
func (d *Debate) absences(round int) string {
	var judged, silent []string
	all := d.contest()
	for i := range d.SkippedCalls {
		s := &d.SkippedCalls[i]
		if s.Round == 0 || s.Aid || round != 0 && s.Round != round || d.Seat(s.By) < 0 || d.IsDropped(s.By) {
			continue
		}
		what := fmt.Sprintf("%s in round %d", d.Hide(s.By), s.Round)
		list := &judged
		switch spoke := slices.ContainsFunc(d.Turns, func(t *flow.Turn) bool { return t.Speaker == s.By && t.Round == s.Round }); {
		case spoke:
			what += ", in part"
		case round != 0, d.format.Judged(d.config.Participants[d.Seat(s.By)].Side) && !has(all.judged, s.By):
			list = &silent
		}
		if !slices.Contains(*list, what) {
			*list = append(*list, what)
		}
	}
	out := ""
	if len(judged) > 0 {
		out += "\n\nHas missed speeches, and is judged by what was said: " + strings.Join(judged, "; ") + "."
	}
	if len(silent) > 0 {
		out += "\n\nHas missed all speeches, and is not to be judged here: " + strings.Join(silent, "; ") + "."
	}
	return out
}

// judgeTask makes the task of a judge that is not a model.
func judgeTask(r *flow.Record, asked flow.Asked) any {
	d, call := of(r), asked.Call
	task := &JudgeTask{
		Debate: d.ID, Call: asked.Call.ID, Attempt: asked.Attempt, Kind: call.Kind, Topic: d.config.Topic, Language: d.config.Language,
		Round: d.Round, Rounds: d.rounds(), Instruction: asked.Instruction, Schema: asked.Schema, Labels: d.config.Labels,
		Notes: d.ReadableNotes(call.By),
	}
	if !call.View.None {
		task.Turns = d.Readable()
	}
	for _, n := range task.Notes { // copies
		if call.View.Anew && n.As == earlierVerdict {
			_, n.Text, _ = strings.Cut(n.Text, beforeQuestion)
		}
	}
	contest := d.contest()
	for _, seat := range d.shownTo(call.By, call.View.Swapped) {
		if p := d.placed(seat); !d.IsDropped(p.Name) || has(contest.judged, p.Name) {
			p.seat(d.config, "").Clear()
			p.Person = false
			task.Participants = append(task.Participants, p)
		}
	}
	if call.Kind == KindAssessment || call.Kind == KindVerdict {
		task.Judged = d.sheet(call.By, call.Schema, call.View.Swapped).people
		task.Aim = d.aimed()
	}
	if call.Kind == KindFloor {
		task.Choices = d.mayHaveFloor()
	}
	if call.View.Swapped {
		task.Turns = swapped(task.Turns)
	}
	if call.View.Labels {
		d.hideTask(task)
	}
	return task
}

// aimed returns what the judges judge, as the texts say it.
func (d *Debate) aimed() format.Aim { return aimIn(d.config, worded(d.format, d.config, d.builtins)) }

// swapped returns turns in their order, except that each group that spoke at once is reversed.
func swapped(turns []*flow.Turn) []*flow.Turn {
	out := slices.Clone(turns)
	for i := 0; i < len(out); {
		j := i + 1
		for j < len(out) && out[i].Hidden && out[j].Hidden && out[i].Round == out[j].Round {
			j++
		}
		slices.Reverse(out[i:j])
		i = j
	}
	return out
}

// shownTo returns the seats in the order in which a judge is shown the participants.
func (d *Debate) shownTo(judge string, swapped bool) []int {
	var order []int
	if i := d.seatOfJudge(judge); i >= 0 && i < len(d.drawn.Orders) {
		order = slices.Clone(d.drawn.Orders[i])
	} else {
		for seat := range d.config.Participants {
			order = append(order, seat)
		}
	}
	if swapped {
		slices.Reverse(order)
	}
	return order
}

// hideTask replaces names by labels in what a judge that is not a model is shown.
func (d *Debate) hideTask(task *JudgeTask) {
	task.Topic = d.Hide(task.Topic)
	for i := range task.Participants {
		p := &task.Participants[i]
		p.Name, p.Position, p.Persona, p.Instructions, p.Metadata = d.Hide(p.Name), d.Hide(p.Position), d.Hide(p.Persona), "", nil
	}
	for _, n := range task.Notes { // they are copies, as the turns are
		n.As, n.Text, n.Ask = d.Hide(n.As), d.Hide(n.Text), d.Hide(n.Ask)
		for i := range n.To {
			n.To[i] = d.Hide(n.To[i])
		}
	}
	for _, t := range task.Turns {
		said := t.Text
		t.Call, t.Speaker, t.Target, t.Text = d.Hide(t.Call), d.Hide(t.Speaker), d.Hide(t.Target), d.Hide(t.Text)
		if t.Data != nil {
			t.Data = json.RawMessage(d.Hide(string(t.Data)))
		}
		t.Citations = slices.Clone(t.Citations)
		for i := range t.Citations {
			d.hideCitation(&t.Citations[i], said == t.Text)
		}
		t.Quotations = slices.Clone(t.Quotations)
		for i := range t.Quotations {
			d.hideQuotation(&t.Quotations[i], said == t.Text)
		}
	}
}

// hideCitation replaces names by labels in a citation. A URL with a name is left out, since a label would spoil it. The place
// is left out unless the turn's text is the same with labels.
func (d *Debate) hideCitation(c *provider.Citation, same bool) {
	c.Title, c.Quote = d.Hide(c.Title), d.Hide(c.Quote)
	if d.Hide(c.URL) != c.URL {
		c.URL = ""
	}
	if !same {
		c.Start, c.End = 0, 0
	}
}

func judged(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	d := of(r)
	exit, after := flow.Exit{}, d.askedAfter()
	switch end, ends := endReason(d); {
	case after != nil && after.Answer == nil:
		exit.Reason, exit.Evidence = flow.EndRounds, after.asked()+" was not answered"
	case after != nil:
		exit.Reason, exit.Evidence = flow.EndRounds, after.asked()+" is answered"
	case ends:
		exit.Reason, exit.Evidence, exit.By = end.Reason, end.Evidence, end.By
	case d.Round >= d.rounds():
		exit.Reason, exit.Evidence = flow.EndRounds, "the only round is spoken"
		if most := d.rounds(); most > 1 {
			exit.Evidence = fmt.Sprintf("all %d rounds are spoken", most)
		}
	}
	return TriggerJudged, exit, true
}
