package export

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
)

// report is the content of a document, in order: a few kinds of blocks, which each format writes in its
// own way. Its texts are those of the record; each format makes them harmless.
type report struct {
	Title    string
	Kicker   string // above the title
	State    string
	Standing string     // why it is in that state
	Answer   []*section // what came of it
	Sections []*section // who took part in what, and what was said
	Engine   []*section // how it ran
	Numbered int        // how many sections have a number
	Pictured bool       // whether it has pictures
}

// section is a part of a report with its own heading.
type section struct {
	ID     string
	Title  string
	Note   string // beside the title
	Number string // replaces the title in the table of contents, for one of many
	Fold   string // what the articles are, which a page shows when it is opened; "": they are always shown
	Blocks []block
	// Articles are contributions of somebody, or judgements about somebody.
	Articles []*article
}

// The classes of articles.
const (
	classPerson     = "person"     // about those who take part
	classAssessment = "assessment" // a judgement
	classMaterial   = "material"   // what everybody has read
)

// article is a part of a section.
type article struct {
	ID     string
	Class  string // what it is: turn, assessment, …
	Title  string
	Tone   string // its colour
	Side   string
	Marks  []string // notes of a few words each
	Blocks []block
}

// block is one field of an article.
type block struct {
	Headline string // the main statement
	Text     string // a sentence
	Label    string // before Items, Speech or Sources
	Items    []string
	Pictures []picture
	Drawing  *drawing // in a page only
	Phrases  []string // texts of a model of one line each, which may be Markdown
	Fields   []field
	Box      bool // the fields are what a reader looks for first
	Table    *table
	Speech   *string // a text of a model, which may be Markdown
	Code     *string // a text that is shown as it is, line by line
	Sources  []source
}

// field is a name and a value.
type field struct{ Name, Value string }

// table has a head. All columns from Figures on hold figures.
type table struct {
	Caption string
	Head    []string
	Rows    [][]cell
	Figures int
	Total   bool // the last row sums the others
	Long    bool // it scrolls on a screen
}

// cell is a text, with a bar if Bar is set; Share is from 0 to 1.
type cell struct {
	Text  string
	Bar   bool
	Share float64
}

func cells(texts ...string) []cell {
	out := make([]cell, len(texts))
	for i, text := range texts {
		out[i].Text = sequenceless(text)
	}
	return out
}

func spoken(text string) block { return block{Speech: &text} }

// reporter builds a report.
type reporter struct {
	record *flow.Record
	debate *debate.Debate // empty if the record is of another flow
	config *debate.Config
	word   string // for what the record is of

	deliberation *deliberation.Deliberation // nil: the record is of another flow
	work         *arbiter.Work              // likewise
	evaluation   *evaluation.Scores         // likewise

	log      log
	gallery  gallery
	speeches *speeches

	seats map[string]int    // everybody's place: participants, judges, audience
	tones map[string]string // by participant
	sides map[string]string
	turns int // that have an anchor
}

// newReporter returns a reporter. If the record is of another flow, the reporter knows only its settings.
func newReporter(r *flow.Record, events []flow.Event) *reporter {
	w := &reporter{record: r, word: "debate", log: readLog(events), speeches: newSpeeches()}
	if d, ok := debate.Of(r); ok {
		w.debate, w.config = d, d.Config()
		return w
	}
	if r.Flow() != "" && r.Flow() != debate.FlowName {
		w.word = "conversation"
	}
	w.debate, w.config = &debate.Debate{Record: r}, &debate.Config{}
	seats := make(map[string]debate.Participant)
	if c := r.Config(); c != nil {
		for seat := range c.Seats() {
			p := debate.Participant{Model: *seat.Model, Person: seat.Person}
			if seat.Term != nil {
				p.Term = *seat.Term
			}
			seats[seat.By] = p
		}
	}
	if settings := r.Settings(); settings != nil {
		w.config.Topic = settings.Topic
		for _, name := range settings.Participants {
			p := seats[name]
			p.Name = name
			w.config.Participants = append(w.config.Participants, p)
		}
	}
	if d, ok := deliberation.Of(r); ok {
		w.deliberation, w.word = d, "deliberation"
	} else if work, ok := arbiter.Of(r); ok {
		w.work, w.word = work, "work"
	} else if scores, ok := evaluation.Of(r); ok {
		w.evaluation, w.word = scores, "evaluation"
	}
	return w
}

// newReport returns the report of a document, with the pictures of its files or without.
func newReport(d *Document, pictures bool) (*report, error) {
	if d.saved != nil {
		r := *d.saved
		r.Title = cmp.Or(d.Title, r.Title)
		return &r, nil
	}
	w := newReporter(d.Record, d.events)
	w.gallery.file, w.gallery.shows = d.file, pictures
	w.cast()
	r, t := w.head(), w.told()
	r.Title = cmp.Or(d.Title, r.Title)
	r.Answer = filled(t.answer...)
	t.who[0].Title += ", and what it took"
	t.who[0].Blocks = slices.Insert(t.who[0].Blocks, 0, block{Box: true, Fields: w.glance()})
	for _, s := range slices.Concat(t.who, t.material, t.rounds, []*section{w.notes()}, t.besides, []*section{w.troubles()}) {
		r.add(s)
	}
	own := []*section{w.details(), w.states(), w.timeline(), w.usage(), w.summaries(), w.course()}
	r.Engine = filled(append(own, t.engine...)...)
	r.Pictured = w.gallery.pixels > 0
	return r, w.gallery.err
}

// told is what the kind of the conversation has of its own, in the order in which people ask for it.
type told struct {
	answer   []*section
	who      []*section // the first one is never nil
	material []*section
	rounds   []*section
	besides  []*section
	engine   []*section
}

func (w *reporter) told() *told {
	switch {
	case w.deliberation != nil:
		return w.deliberated(w.deliberation)
	case w.work != nil:
		return w.worked(w.work)
	case w.evaluation != nil:
		return w.evaluated(w.evaluation)
	}
	return &told{
		answer: append([]*section{w.outcome(), w.scoresByRound()}, w.earlier()...), who: []*section{w.participants(), w.judges()},
		material: []*section{w.documents()}, rounds: w.rounds(), besides: []*section{w.audience()},
	}
}

// asked shows what a solution was wanted for.
func asked(problem, context string) *section {
	s := &section{ID: "problem", Title: "Problem", Blocks: []block{spoken(problem)}}
	if line(context) != "" {
		s.Fold = "Context, " + plural(len(strings.Fields(context)), "word")
		s.Articles = []*article{{Class: classMaterial, Title: "Context", Blocks: []block{spoken(context)}}}
	}
	return s
}

// folded folds what was said in one of so many rounds.
func (s *section) folded(rounds int) {
	judged, noted := 0, 0
	for _, a := range s.Articles {
		switch a.Class {
		case classAssessment:
			judged++
		case classMaterial:
			noted++
		}
	}
	var parts []string
	if n := len(s.Articles) - judged - noted; n > 0 {
		parts = append(parts, plural(n, "contribution"))
	}
	if noted > 0 {
		parts = append(parts, plural(noted, "note"))
	}
	if judged > 0 {
		parts = append(parts, plural(judged, "assessment"))
	}
	s.Fold = strings.Join(parts, ", ")
	if rounds > manyRounds {
		s.Number = strings.TrimPrefix(s.ID, "round-")
	}
}

// empty reports whether there is nothing to write.
func (s *section) empty() bool { return s == nil || len(s.Blocks)+len(s.Articles) == 0 }

// filled leaves out the sections that are empty.
func filled(sections ...*section) []*section { return slices.DeleteFunc(sections, (*section).empty) }

// add adds a section that is not empty.
func (r *report) add(s *section) {
	if s.empty() {
		return
	}
	r.Sections = append(r.Sections, s)
	if s.Number != "" {
		r.Numbered++
	}
}

// head names the conversation, and says why it is in its state.
func (w *reporter) head() *report {
	r := w.record
	kicker := strings.TrimSuffix(sentence(w.word), ".") + " " + r.ID
	if began := moment(r.StartedAt); began != "" { // all other times are of this zone
		kicker += " · " + began + " UTC"
	}
	out := &report{Title: w.config.Topic, Kicker: kicker, State: w.stateName(r.State), Standing: w.standing()}
	if line(out.Title) == "" {
		out.Title = "Untitled " + w.word
	}
	return out
}

// glance returns what readers look for first: how far it has come, what it took and cost, and its state.
func (w *reporter) glance() []field {
	r := w.record
	var out []field
	switch {
	case w.work != nil:
		out = []field{{"Executions", count(w.work.Iterations()) + " of at most " + count(w.mostExecutions(w.work))}}
	case w.evaluation != nil:
		out = evaluationFacts(w.evaluation)
	default:
		rounds := strconv.Itoa(r.Round)
		if settings := r.Settings(); settings != nil && settings.Rounds > 0 {
			rounds += " of at most " + strconv.Itoa(settings.Rounds)
		}
		out = []field{{"Rounds", rounds}}
	}
	took := ""
	if !r.StartedAt.IsZero() {
		took = duration(r.Duration())
	}
	return append(out, present(field{"Took", took}, field{"Cost", w.total()}, field{"State", w.stateName(r.State)})...)
}

// details shows the other facts about the conversation.
func (w *reporter) details() *section {
	r, c := w.record, w.config
	turns, origin := count(len(r.Turns)), ""
	if parent := r.Parent(); parent != nil {
		origin = parent.ID
	}
	var out []field
	switch {
	case w.deliberation != nil:
		out = w.deliberationFacts(w.deliberation)
	case w.work != nil:
		out, turns = w.workFacts(w.work), ""
	case w.evaluation != nil:
		turns = ""
	case w.word != "debate":
		out = present(field{"Flow", r.Flow()})
	}
	out = append(out, present(
		field{"Format", c.Format},
		field{"Mode", string(c.Mode)},
		field{"Turns", turns},
		field{"Fork of", origin},
		field{"Started", moment(r.StartedAt)},
		field{"Last event", moment(r.LastAt)},
		field{"Ended by", string(r.Reason)},
		field{"Decided by", r.EndedEarlyBy},
	)...)
	s := &section{ID: "details", Title: "Facts"}
	if len(out) > 0 {
		s.Blocks = []block{{Fields: out}}
	}
	return s
}

// present returns the fields that have a value.
func present(fields ...field) []field {
	return slices.DeleteFunc(fields, func(f field) bool { return line(f.Value) == "" })
}

// standing says why a conversation is in its state.
func (w *reporter) standing() string {
	r := w.record
	why := sentence(r.Evidence)
	if w.work != nil { // of it the evidence is the whole result
		why = fmt.Sprintf("The arbiter has made %s, and the agents %s.", plural(len(w.work.Decisions()), "decision"),
			plural(w.work.Iterations(), "execution"))
	}
	switch {
	case r.State == flow.StateError:
		if r.Failure != nil {
			why = sentence(failure(r.Failure)) + " " + r.Failure.Hint()
		}
		return why + " The " + w.word + " can go on."
	case !r.Final():
		return "The " + w.word + " is not over: this is how far it has come. " + why
	default:
		return why
	}
}

// stateName returns a state in words.
func (w *reporter) stateName(s flow.State) string {
	switch s {
	case "", flow.StateConfiguring, flow.StateValidating, flow.StateReady:
		return "not started"
	case flow.StatePaused:
		return "paused"
	case flow.StateAwaitingInput:
		return "waiting for a person"
	case flow.StateCompleted:
		return "completed"
	case flow.StateCanceled:
		return "canceled"
	case flow.StateError:
		return "stopped by an error"
	case flow.StateCompleting:
		switch {
		case w.deliberation != nil:
			return "coming to its solution"
		case w.word != "debate":
			return "coming to its end"
		}
		return "coming to its verdict"
	default:
		return "under way"
	}
}

// clock writes a time of the debate, without the date if it is the first day.
func (w *reporter) clock(t time.Time) string {
	t = t.UTC()
	if t.Truncate(24 * time.Hour).Equal(w.record.StartedAt.UTC().Truncate(24 * time.Hour)) {
		return t.Format(time.TimeOnly)
	}
	return moment(t)
}

// moment writes a time with its date, without the zone: the head says it.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 January 2006, 15:04:05")
}

// duration writes a length of time.
func duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(100 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(time.Millisecond)
	}
	return d.String()
}
