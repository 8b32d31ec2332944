package export

import (
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
	Standing string // why it is in that state
	Facts    []field
	Sections []*section
	Numbered int  // how many sections have a number
	Pictured bool // whether it has pictures
}

// section is a part of a report with its own heading.
type section struct {
	ID     string
	Title  string
	Note   string // beside the title
	Number string // replaces the title in the table of contents, for one of many
	Blocks []block
	// Articles are contributions of somebody, or judgements about somebody.
	Articles []*article
}

// The classes of articles.
const (
	classPerson     = "person"     // about those who take part
	classAssessment = "assessment" // a judgement
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
		out[i].Text = text
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

	log     log
	gallery gallery

	seats map[string]int    // everybody's place: participants, judges, audience
	tones map[string]string // by participant
	sides map[string]string
	turns int // that have an anchor
}

// newReporter returns a reporter. If the record is of another flow, the reporter knows only its settings.
func newReporter(r *flow.Record, events []flow.Event) *reporter {
	w := &reporter{record: r, word: "debate", log: readLog(events)}
	if d, ok := debate.Of(r); ok {
		w.debate, w.config = d, d.Config()
		return w
	}
	if r.Flow() != "" && r.Flow() != debate.FlowName {
		w.word = "conversation"
	}
	w.debate, w.config = &debate.Debate{Record: r}, &debate.Config{}
	if settings := r.Settings(); settings != nil {
		w.config.Topic = settings.Topic
		for _, name := range settings.Participants {
			w.config.Participants = append(w.config.Participants, debate.Participant{Name: name})
		}
	}
	if d, ok := deliberation.Of(r); ok {
		w.deliberates(d)
	} else if work, ok := arbiter.Of(r); ok {
		w.works(work)
	} else if scores, ok := evaluation.Of(r); ok {
		w.evaluates(scores)
	}
	return w
}

// newReport returns the report of a document. With file it has the pictures of the files.
func newReport(d *Document, file func(hash string) ([]byte, error)) (*report, error) {
	w := newReporter(d.Record, d.events)
	w.gallery.file = file
	w.cast()
	r := w.head()
	if d.Title != "" {
		r.Title = d.Title
	}
	r.add(w.documents())
	for _, s := range w.told() {
		r.add(s)
	}
	r.add(w.summaries())
	r.add(w.states())
	r.add(w.timeline())
	r.add(w.course())
	r.add(w.usage())
	r.Pictured = w.gallery.pixels > 0
	return r, w.gallery.err
}

// told returns the sections that the kind of the conversation has of its own.
func (w *reporter) told() []*section {
	if w.deliberation != nil {
		return w.deliberated(w.deliberation)
	}
	if w.work != nil {
		return w.worked(w.work)
	}
	if w.evaluation != nil {
		return w.evaluated(w.evaluation)
	}
	out := append([]*section{w.outcome(), w.scoresByRound(), w.participants(), w.judges()}, w.rounds()...)
	return append(out, w.audience())
}

// add adds a section that is not empty.
func (r *report) add(s *section) {
	if s != nil && len(s.Blocks)+len(s.Articles) > 0 {
		r.Sections = append(r.Sections, s)
		if s.Number != "" {
			r.Numbered++
		}
	}
}

// head names the conversation, and describes its state.
func (w *reporter) head() *report {
	r, c := w.record, w.config
	kicker := strings.TrimSuffix(sentence(w.word), ".") + " " + r.ID
	out := &report{Title: c.Topic, Kicker: kicker, State: w.stateName(r.State), Standing: w.standing()}
	if line(out.Title) == "" {
		out.Title = "Untitled " + w.word
	}
	rounds := strconv.Itoa(r.Round)
	if settings := r.Settings(); settings != nil && settings.Rounds > 0 {
		rounds += " of at most " + strconv.Itoa(settings.Rounds)
	}
	turns := count(len(r.Turns))
	switch {
	case w.deliberation != nil:
		out.Facts = w.deliberationFacts(w.deliberation)
	case w.work != nil:
		out.Facts, rounds, turns = w.workFacts(w.work), "", ""
	case w.evaluation != nil:
		out.Facts, rounds, turns = evaluationFacts(w.evaluation), "", ""
	case w.word != "debate":
		out.Facts = present(field{"Flow", r.Flow()})
	}
	out.Facts = append(out.Facts, present(
		field{"Format", c.Format},
		field{"Mode", string(c.Mode)},
		field{"Rounds", rounds},
		field{"Turns", turns},
		field{"Started", moment(r.StartedAt)},
		field{"Last event", moment(r.LastAt)},
	)...)
	if !r.StartedAt.IsZero() {
		out.Facts = append(out.Facts, field{"Duration", duration(r.Duration())})
	}
	out.Facts = append(out.Facts, present(
		field{"Ended by", string(r.Reason)},
		field{"Decided by", r.EndedEarlyBy},
		field{"Cost", w.total()},
	)...)
	return out
}

// present returns the fields that have a value.
func present(fields ...field) []field {
	return slices.DeleteFunc(fields, func(f field) bool { return line(f.Value) == "" })
}

// standing says why a conversation is in its state.
func (w *reporter) standing() string {
	r := w.record
	why := sentence(r.Evidence)
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
		return t.Format("15:04:05 UTC")
	}
	return moment(t)
}

// moment writes a time with its date.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 January 2006, 15:04:05 UTC")
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
