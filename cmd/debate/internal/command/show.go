package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/inquiry"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/store"
)

// show shows one conversation.
func (p *program) show() *cobra.Command {
	var full, unpaged bool
	var question string
	c := p.aboutOne("show [id]", cobra.MaximumNArgs(1), func(c *cobra.Command, args []string) error {
		return p.besideOne(c.Context(), args, anyNewest(), func(ctx context.Context, engine *debate.Engine, id string) error {
			record, err := engine.Record(ctx, id)
			switch {
			case err != nil:
				return err
			case question != "":
				return p.paged(unpaged, func() error { return p.showQuestion(ctx, engine, record, question) })
			case p.json:
				return p.printValue(detailed(record))
			default:
				return p.runShow(ctx, engine, record, full, unpaged)
			}
		})
	})
	c.Flags().BoolVar(&full, "full", false, "print everything that was said, too")
	c.Flags().StringVar(&question, "question", "", "print only this open `question`, with what its person may read")
	c.Flags().BoolVar(&unpaged, "no-pager", false, "do not show a long text by a pager")
	return c
}

func (p *program) runShow(ctx context.Context, engine *debate.Engine, record *flow.Record, full, unpaged bool) error {
	info, err := store.InfoOf(ctx, engine.Store, record.ID)
	if err != nil {
		return err
	}
	err = p.paged(unpaged, func() error { return p.showRecord(ctx, engine, record, &info, full) })
	if err == nil {
		p.showNext(record, &info)
	}
	return err
}

// showSaid prints all that was said in a conversation, if that is wanted, and returns the last of it.
func (p *program) showSaid(ctx context.Context, engine *debate.Engine, record *flow.Record, full bool) (last string, err error) {
	if !full {
		return "", nil
	}
	p.printf("\n")
	r := p.reader(p.Out, func(id string) string { return progress.Clean(called(record, id)) })
	for event, err := range engine.Events(ctx, record.ID, 0) {
		if err != nil {
			return "", err
		}
		if r.event(&event); r.err != nil || event.Seq >= record.Seq {
			break
		}
	}
	return r.last, r.err
}

// detailed returns the record with what its flow adds to the JSON.
func detailed(record *flow.Record) any {
	if own := record.Projection(); own != nil {
		return own
	}
	return record
}

// because says why a conversation is over, or stands still; "": it does neither, or the result says it.
func because(record *flow.Record) string {
	switch {
	case record.State == flow.StatePaused:
		return cmp.Or(record.Halted(), "somebody has asked for a pause, and given no reason")
	case record.State == flow.StateAwaitingInput:
		return cmp.Or(record.Halted(), "it waits for "+progress.Plural(len(record.Inquiries), "answer"))
	case record.Reason == arbiter.EndComplete: // that is the result
		return ""
	default:
		return cmp.Or(record.CutShort(), record.Evidence)
	}
}

// showRecord shows a conversation. full means that what was said is wanted too.
func (p *program) showRecord(ctx context.Context, engine *debate.Engine, record *flow.Record, info *store.Info, full bool) error {
	t := p.table()
	t.row("ID", record.ID)
	t.row("Flow", strings.TrimSpace(record.Flow()+" "+info.Format))
	t.row("Topic", progress.Shorten(info.Topic, 100))
	state := cmp.Or(stateWords()[record.State], string(record.State))
	if info.Owner != "" {
		state += " (a process runs it)"
	}
	if held := quarantined(info); held != "" {
		state += "; " + held
	}
	t.row("State", state)
	started := record.StartedAt.Local().Format(time.DateTime) //nolint:gosmopolitan // people read the time of their place
	t.row("Started", started+", "+lasted(record))
	showOrigin(t, record)
	if rounds := record.Settings().Rounds; rounds > 0 {
		t.row("Round", fmt.Sprintf("%d of at most %d", record.Round, rounds))
	}
	info.Recount(record)
	spent := record.Spent()
	u := spent.Usage
	t.row("Cost", fmt.Sprintf("%s; in all %s: %s tokens in, %s out",
		info.Beside(info.Spent), progress.Plural(spent.Requests, "call"), progress.Number(u.Input), progress.Number(u.Output)))
	why := because(record)
	var failed []string
	switch {
	case record.State == flow.StateAwaitingInput:
		failed, _ = p.failures(record)
	case record.State == flow.StateError && record.Reason != flow.EndHardLimit && record.Failure != nil:
		failed, why = p.failedBecause(record), "" // which does not say who has failed
	}
	if why != "" {
		t.row("Because", why)
	}
	for _, one := range failed {
		t.row("Failed", one)
	}
	for name, value := range record.Settings().Labels {
		t.row("Label", name+"="+value)
	}
	if err := t.end(); err != nil {
		return err
	}
	if err := p.showActors(record); err != nil {
		return err
	}
	p.showPlan(record)
	p.showInquiries(record)
	last, err := p.showSaid(ctx, engine, record, full)
	if err != nil {
		return err
	}
	return p.showResult(record, last, full)
}

// showResult shows the result of a conversation, if there is one, unless what was said last has it.
func (p *program) showResult(record *flow.Record, last string, full bool) error {
	got := resultOf(record)
	if !got.exists {
		return nil
	}
	if !strings.Contains(last, strings.TrimSpace(got.outcome)) {
		text := got.outcome
		if !full {
			text = got.asked + text
		}
		p.printf("\nResult\n\n")
		if err := p.print(strings.TrimRight(text, "\n")); err != nil {
			return err
		}
	}
	for _, note := range got.notes {
		p.printf("\n%s", progress.Clean(note))
	}
	p.printf("\n")
	return nil
}

// showOrigin shows which conversation a fork continues, and the conclusions of a debate after which it went on.
func showOrigin(t *table, record *flow.Record) {
	if parent := record.Parent(); parent != nil {
		from := shortID(parent.ID)
		if made := madeAt(record.ID, record.StartedAt); made.After(record.StartedAt) {
			from += ", made " + made.Local().Format(time.DateTime) //nolint:gosmopolitan // people read the time of their place
		}
		t.row("Fork of", from)
	}
	d, ok := debate.Of(record)
	if !ok {
		return
	}
	for i := range d.Earlier {
		e := &d.Earlier[i]
		told := wentOn(e)
		if e.Question != "" {
			told += ": " + strconv.Quote(progress.Shorten(e.Question, 100))
		}
		t.row("Reopened", told)
	}
}

// lasted says when a conversation was over, or when something happened last: it may have waited for most of that time.
func lasted(record *flow.Record) string {
	if record.Final() {
		return "over after " + progress.Span(record.Duration())
	}
	return "the last event after " + progress.Span(record.Duration())
}

// showActors shows who takes part: those who have a seat, and others who were asked. An answer that was not accepted is a failure, and one
// that did not come in time is none.
func (p *program) showActors(record *flow.Record) error {
	p.printf("\n")
	t := p.table()
	t.row("WHO", "MODEL", "STATUS", "TURNS", "FAILURES", "TOKENS", "COST")
	shown := record.Participants()
	add := func(name string) {
		if !slices.ContainsFunc(shown, func(s flow.ParticipantState) bool { return s.Name == name }) {
			shown = append(shown, record.Participant(name))
		}
	}
	for _, account := range record.SpentByParticipant() {
		add(account.Name)
	}
	models, people := make(map[string]string), make(map[string]string)
	for seat := range record.Config().Seats() {
		model := cmp.Or(record.Replacement(seat.By), *seat.Model)
		switch {
		case seat.Person:
			people[seat.By] = personal(record, seat.By, model)
		case model != "":
			models[seat.By] = model
		default:
			continue
		}
		add(seat.By)
	}
	failures := make(map[string]int)
	for i := range record.Rejections {
		failures[record.Rejections[i].By]++
	}
	for i := range record.Failures {
		if record.Failures[i].Error.Overdue() {
			failures[record.Failures[i].By]--
		}
	}
	for _, who := range shown {
		u := who.Account.Usage
		name := called(record, who.Name)
		if name != who.Name {
			name += " (" + who.Name + ")" // which commands take
		}
		t.row(name, dashed(cmp.Or(people[who.Name], who.Model, models[who.Name])), who.Status, who.Turns, who.Failures+failures[who.Name],
			progress.Number(u.Input+u.Output), who.Account.Short(who.Account.Cost))
	}
	return t.end()
}

// personal says who has a person's seat, and how often a model stood in. instead is the model that was given the seat; "": none has it.
func personal(record *flow.Record, name, instead string) string {
	times := 0
	count := func(by string, spend *flow.Spend) {
		if by == name && spend.StandIn {
			times++
		}
	}
	for _, t := range record.Turns {
		count(t.Speaker, &t.Spend)
	}
	if d, ok := debate.Of(record); ok {
		for _, a := range d.Assessments {
			count(a.Judge, &a.Spend)
		}
		for _, v := range d.Verdicts {
			count(v.Judge, &v.Spend)
		}
		for _, b := range d.Ballots {
			count(b.Voter, &b.Spend)
		}
		if chair := d.Config().Floor; chair != nil {
			for _, g := range d.Floors {
				count(chair.Name, &g.Spend)
			}
		}
	}
	switch {
	case instead != "":
		return instead + " for a person"
	case times > 0:
		return fmt.Sprintf("a person (stand-in: %d)", times)
	default:
		return "a person"
	}
}

// showPlan shows the plan of arbitrated work. Its steps have the numbers that debate amend --skip and --rerun take.
func (p *program) showPlan(record *flow.Record) {
	work, ok := arbiter.Of(record)
	if !ok || work.Plan() == nil {
		return
	}
	p.printf("\nPlan\n")
	for i := range work.Plan().Steps {
		step := &work.Plan().Steps[i]
		p.printf("  %d. %s: %s\n", step.Index+1, step.Status, progress.Clean(step.Description))
	}
}

// showInquiries shows what a conversation asks, and how it is answered.
func (p *program) showInquiries(record *flow.Record) {
	for i := range record.Inquiries {
		q := &record.Inquiries[i]
		p.printf("\nQuestion %s", progress.Clean(q.ID))
		if len(q.Options) > 0 && q.To != "" {
			p.printf(" about %s", progress.Clean(called(record, q.To)))
		}
		p.printf("\n")
		if len(q.About) == 0 { // why calls have failed stands above
			p.printf("%s\n", progress.Text(q.Question))
		}
		if q.Use != nil {
			p.printf("  %s\n", inquiry.Use(q.Use))
		}
		if len(q.Schema) > 0 {
			p.printf("  The answer is JSON of this schema: %s\n", progress.Clean(string(q.Schema)))
		}
		if q.Reads != nil {
			p.printf("  %s\n", progress.Command("show --question "+progress.Quote(q.ID), shortID(record.ID)))
		}
		if len(q.Options) == 0 {
			p.printf("  %s TEXT\n", progress.Command("answer", shortID(record.ID), q.ID))
		}
		for _, option := range q.Options {
			answer := "answer"
			if option == flow.OptionModel {
				answer += " --model provider/model"
			}
			p.printf("  %s\n", progress.Command(answer, shortID(record.ID), q.ID, string(option)))
		}
	}
}

// showQuestion shows a question to a person, as that person may see it: the documents, what was said so far, under the names that the
// person reads, what is asked, and how long the answer may be.
func (p *program) showQuestion(ctx context.Context, engine *debate.Engine, record *flow.Record, id string) error {
	q, open := record.Question(id)
	if !open {
		var ids []string
		for i := range record.Inquiries {
			if one := &record.Inquiries[i]; len(one.Options) == 0 {
				ids = append(ids, one.ID)
			}
		}
		return exit(exitArguments, flow.Unknown("open question to a person", id, ids...))
	}
	if p.json {
		return p.printValue(q)
	}
	for i := range q.Documents {
		if err := p.showDocument(ctx, engine, record.ID, &q.Documents[i]); err != nil {
			return err
		}
	}
	for i := range q.Reads {
		if err := p.showPassage(record, &q.Reads[i]); err != nil {
			return err
		}
	}
	for _, line := range inquiry.Lines(&q.Inquiry, "") {
		p.printf("%s\n", line)
	}
	if q.Max > 0 {
		p.printf("  at most %s bytes\n", progress.Number(q.Max))
	}
	p.printf("  %s TEXT\n", progress.Command("answer", shortID(record.ID), q.ID))
	return nil
}

// showPassage shows what somebody has said to a person who may read it, and what was found about its quotations.
func (p *program) showPassage(record *flow.Record, said *flow.Passage) error {
	p.printf("%s", progress.Clean(called(record, said.Speaker)))
	if said.Label != "" {
		p.printf(", %s", progress.Clean(said.Label))
	}
	if said.Note >= 0 {
		if asked := record.Notes[said.Note].Asks(); asked != "" {
			p.printf(", asks %s", progress.Clean(asked))
		}
	}
	p.printf("\n\n")
	if err := p.print("> " + prompt.Quoted(said.Text)); err != nil { // no line of it reads like the name of another
		return err
	}
	p.printf("\n")
	if said.Turn >= 0 && record.Turns[said.Turn].Speaker == said.Speaker { // the person reads no labels in place of names
		if found := progress.Quotations(record.Turns[said.Turn]); len(found) > 0 {
			p.printf("  %s\n\n", strings.Join(found, "\n  "))
		}
	}
	return nil
}

// showDocument shows what a document has: of a file that is text all of it, as it is, and of another one what it is.
func (p *program) showDocument(ctx context.Context, engine *debate.Engine, id string, d *flow.Document) error {
	for i := range d.Files {
		f := &d.Files[i]
		p.printf("Document %s, %s\n\n", progress.Clean(d.Name+" "+f.String()), progress.Plural(f.Size, "byte"))
		if !f.IsText() {
			continue
		}
		data, err := engine.File(ctx, id, f.Hash)
		switch {
		case errors.Is(err, flow.ErrNoFile):
			p.printf("  It is missing.\n\n")
		case err != nil:
			return err
		default: // no line of it reads like one of the program
			p.printf("%s\n\n", progress.Text("> "+prompt.Quoted(string(data))))
		}
	}
	return nil
}

// showNext says which command helps a conversation that stands still.
func (p *program) showNext(record *flow.Record, info *store.Info) {
	if record.Final() {
		return
	}
	if terminal(p.Err) {
		_, _ = fmt.Fprintln(p.Err)
	}
	switch record.State {
	case flow.StateError:
		p.showMend(record, record.Failure, progress.Command("resume", shortID(record.ID)))
	case flow.StateAwaitingInput:
		_, failures := p.failures(record)
		for _, failure := range failures {
			p.showMend(record, failure, progress.Command("resume", shortID(record.ID)))
		}
		p.warnf("It continues once this is answered: the commands stand under each question.")
	default:
		now := controlled{record.ID, record.State, info.Owner != ""}
		p.warnf("%s: %s", shortID(record.ID), now.next(record))
	}
}

// printf writes to the standard output. Texts of models are cleaned before.
func (p *program) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Out, format, args...)
}
