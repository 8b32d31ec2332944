package export

import (
	"slices"
	"strconv"
	"time"

	"github.com/agonist-dev/debate"
)

// report is all that a document says, in the order in which it says it: a few kinds of blocks, which each
// format writes in its own way. Its texts stand as they do in the record: each format makes them harmless.
type report struct {
	Title    string
	Kicker   string // above the title
	State    string
	Standing string // why it is in that state
	Facts    []field
	Sections []*section
	Numbered int // of the sections, those with a number
}

// section is a part of a report with a heading of its own.
type section struct {
	ID     string
	Title  string
	Note   string // beside the title
	Number string // in place of its title in the table of contents, for one of many
	Blocks []block
	// Articles are what somebody has said, or is said of somebody.
	Articles []*article
}

// article is a part of a section.
type article struct {
	ID     string
	Class  string // what it is: turn, assessment, …
	Title  string
	Tone   string // its colour
	Side   string
	Marks  []string // what is noted of it, in a few words each
	Blocks []block
}

// block is one of its fields.
type block struct {
	Headline string // what matters most
	Text     string // a sentence
	Label    string // before Items or Speech
	Items    []string
	Phrases  []string // a model's texts of a line each, which may be Markdown
	Fields   []field
	Table    *table
	Speech   *string // a model's text, which may be Markdown
}

// field is a name and a value.
type field struct{ Name, Value string }

// table has a head, and figures in all columns from the given one on.
type table struct {
	Caption string
	Head    []string
	Rows    [][]cell
	Figures int
	Total   bool // the last row sums the others
}

// cell is a text, with a bar for a share from 0 to 1 if there is one.
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

// reporter gathers a report.
type reporter struct {
	record *debate.Record
	config *debate.Config
	log    log
	seats  map[string]int    // everybody's place: participants, judges, audience
	tones  map[string]string // by participant
	sides  map[string]string
	turns  int // that have an anchor
}

// newReport makes the report of a document.
func newReport(d *Document) *report {
	w := &reporter{record: d.Record, config: d.Record.Config(), log: readLog(d.Events)}
	if w.config == nil { // nothing has been started
		w.config = &debate.Config{}
	}
	w.cast()
	r := w.head()
	if d.Title != "" {
		r.Title = d.Title
	}
	r.add(w.outcome())
	r.add(w.participants())
	r.add(w.judges())
	for _, s := range w.rounds() {
		r.add(s)
	}
	r.add(w.audience())
	r.add(w.summaries())
	r.add(w.course())
	r.add(w.usage())
	return r
}

// add takes up a section that says something.
func (r *report) add(s *section) {
	if s != nil && len(s.Blocks)+len(s.Articles) > 0 {
		r.Sections = append(r.Sections, s)
		if s.Number != "" {
			r.Numbered++
		}
	}
}

// head says what debate it is, and where it stands.
func (w *reporter) head() *report {
	r, c := w.record, w.config
	out := &report{Title: c.Topic, Kicker: "Debate " + r.ID, State: stateName(r.State), Standing: w.standing()}
	if line(out.Title) == "" {
		out.Title = "Untitled debate"
	}
	rounds := strconv.Itoa(r.Round)
	if c.Rounds > 0 {
		rounds += " of at most " + strconv.Itoa(c.Rounds)
	}
	out.Facts = present(
		field{"Format", c.Format},
		field{"Mode", string(c.Mode)},
		field{"Rounds", rounds},
		field{"Turns", count(len(r.Turns))},
		field{"Started", moment(r.StartedAt)},
		field{"Last event", moment(r.LastAt)},
	)
	if !r.StartedAt.IsZero() {
		out.Facts = append(out.Facts, field{"Duration", duration(r.Duration())})
	}
	out.Facts = append(out.Facts, present(field{"Ended by", string(r.Reason)}, field{"Cost", w.total()})...)
	return out
}

// present leaves out the fields without a value.
func present(fields ...field) []field {
	return slices.DeleteFunc(fields, func(f field) bool { return line(f.Value) == "" })
}

// standing says why a debate is where it is.
func (w *reporter) standing() string {
	r := w.record
	why := sentence(r.Evidence)
	switch {
	case r.State == debate.StateError:
		if r.Failure != nil {
			why = sentence(failure(r.Failure)) + " " + r.Failure.Hint()
		}
		return why + " The debate can go on."
	case !r.Final():
		return "The debate is not over: this is how far it has come. " + why
	default:
		return why
	}
}

// stateName says in words what a state is.
func stateName(s debate.State) string {
	switch s {
	case "", debate.StateConfiguring, debate.StateValidating, debate.StateReady:
		return "not started"
	case debate.StatePaused:
		return "paused"
	case debate.StateAwaitingInput:
		return "waiting for a person"
	case debate.StateCompleted:
		return "completed"
	case debate.StateCanceled:
		return "canceled"
	case debate.StateError:
		return "stopped by an error"
	case debate.StateCompleting:
		return "coming to its verdict"
	default:
		return "under way"
	}
}

// clock writes a time of the debate: without its day if that is the first.
func (w *reporter) clock(t time.Time) string {
	t = t.UTC()
	if t.Truncate(24 * time.Hour).Equal(w.record.StartedAt.UTC().Truncate(24 * time.Hour)) {
		return t.Format("15:04:05 UTC")
	}
	return moment(t)
}

// moment writes a time.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 January 2006, 15:04:05 UTC")
}

// duration writes a time that has passed.
func duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}
