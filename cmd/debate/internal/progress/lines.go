// Package progress shows a conversation as plain lines, for a standard error that is no terminal, a log file or a pipe. Its
// [Course] is what the live view shows too.
package progress

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
)

// Lines writes lines for the events that a reader wants to know of. It ignores errors of its writer: if nobody reads any more,
// there is nobody to report them to.
type Lines struct {
	// At says where a vendor is, if a variable of the environment has moved it: " at URL (VARIABLE)". nil: nowhere else.
	At func(vendor string) string

	out    io.Writer
	since  time.Time
	course Course

	round    string // the one that was shown last
	phase    string
	failures Failures
	back     map[string]bool // why attempts have failed, as it was told since the last result, and for whom
	ended    bool            // the end was told
}

// New returns lines that go to out. Events before since are folded in silence: a former process has shown them.
func New(out io.Writer, since time.Time) *Lines { return &Lines{out: out, since: since} }

// Course returns how far the conversation has come. It belongs to the goroutine that calls Show.
func (l *Lines) Course() *Course { return &l.course }

// Show takes an event, and writes its lines, if it has any.
func (l *Lines) Show(e *flow.Event) {
	asked := l.asked(e.Body)
	owner, job := l.course.Fold(e)
	if e.At.Before(l.since) {
		return
	}
	l.write(l.failures.Take(&l.course, e.Body, l.At))
	l.headings(e.Body)
	l.tell(e, owner, job, asked)
	if l.course.Settled() {
		l.End()
	}
}

// End writes the last line of a conversation that is over, unless Show has. It is called behind the last event: the cost of a call that a
// control has aborted may never be recorded.
func (l *Lines) End() {
	if l.course.Over() && !l.ended {
		l.ended = true
		l.write(l.failures.Rest())
		l.printf("%s", l.course.Ending())
	}
}

// Tick tells of the calls of which nothing has come for a while, each once per attempt. It belongs to the goroutine that calls Show.
func (l *Lines) Tick(now time.Time) {
	for _, a := range l.course.Actors {
		for _, j := range a.Jobs {
			silent := j.Since(now)
			if silent < Silence || j.stalled || j.Tool != "" || now.Before(l.since) || l.course.Asked(j.Call) { // a person may think
				continue
			}
			j.stalled = true
			vendor, _, _ := flow.SplitModel(j.Model)
			line := fmt.Sprintf("  %s: nothing from %s for %v", a.Name, cmp.Or(Clean(vendor), "whom it asks"), silent.Truncate(time.Second))
			if j.limit > 0 {
				line += "; given up after " + j.limit.String()
			}
			l.printf("%s", line)
		}
	}
}

// Told reports whether the lines have said why the conversation is in the error state. It belongs to the goroutine that calls Show.
func (l *Lines) Told() bool { return l.failures.told }

// tell writes the lines of an event, which may be about a job.
func (l *Lines) tell(e *flow.Event, owner *Actor, job *Job, asked string) {
	switch body := e.Body.(type) {
	case *flow.ToolResult:
		l.tool(body)
	case *flow.Rejection:
		l.printf("  %s: the answer was not accepted: %s", l.course.Name(body.By), Shorten(strings.Join(body.Problems, "; "), 300))
	case *flow.Failure:
		l.failing(body, e.At)
	case *flow.Skipped:
		l.printf("  %s: %s is left out %s%s", l.course.Name(body.By), Clean(string(body.Kind)), l.course.Count(), because(body.Reason))
	case *flow.Dropped:
		l.printf("  %s takes no further part%s", l.course.Name(body.Participant), because(body.Reason))
	case *flow.Warning:
		l.printf("warning: %s", Warning(body))
	case *flow.Answer:
		l.answered(body, asked)
	case *flow.RetriedNow:
		l.printf("The calls that wait are made now.")
	case *flow.Amendment:
		l.printf("The settings were changed.")
	case *flow.Redacted:
		l.printf("Something was removed from the log.")
	case *arbiter.Decision:
		l.decided(body)
	case *flow.Transition:
		l.turnTo(body)
	default:
		if job != nil && job.Result != nil {
			l.settled(owner, job)
		}
	}
}

// because returns the reason of a decision, behind a colon. One that is a failure was told.
func because(reason string) string {
	if reason = Clean(reason); reason == "" || strings.HasPrefix(reason, "debate: ") {
		return ""
	}
	return ": " + reason
}

// asked returns the question that an event answers; "": it is about a failure, which is told.
func (l *Lines) asked(body flow.Body) string {
	if answer, ok := body.(*flow.Answer); ok {
		for i := range l.course.Inquiries {
			if q := &l.course.Inquiries[i]; q.ID == answer.Inquiry && len(q.About) == 0 {
				return Shorten(q.Question, 200)
			}
		}
	}
	return ""
}

// headings shows the round and the phase at their first call.
func (l *Lines) headings(body flow.Body) {
	in, ok := body.(*flow.Intent)
	if !ok || in.Tool != "" {
		return
	}
	round, key := l.course.RoundWord(), fmt.Sprint(l.course.jobs.Round.N, l.course.jobs.Phase.State)
	phase := strings.TrimSpace(l.course.PhaseWord() + " " + l.course.Count())
	if l.course.Expected == 1 { // the line of an only call says as much
		phase = ""
	}
	head := phase
	if round != l.round {
		if head = round; phase != "" {
			head += ": " + phase
		}
		if l.round != "" {
			head += "; so far " + l.course.Used()
		}
	}
	if (round != l.round || key != l.phase) && head != "" {
		l.printf("%s", head)
	}
	l.round, l.phase = round, key
}

func (l *Lines) tool(t *flow.ToolResult) {
	switch {
	case t.Unknown:
		l.printf("  %s: nobody knows whether the tool %s has done its work", l.course.Name(t.By), Clean(t.Tool))
	case t.Failed:
		l.printf("  %s: the tool %s has failed: %s", l.course.Name(t.By), Clean(t.Tool), Shorten(t.Text, 200))
	}
}

// settled says that a call has its result.
func (l *Lines) settled(a *Actor, j *Job) {
	clear(l.back)
	line, spend := "  "+a.Name+": "+strings.TrimSpace(l.course.Thing(j)+" "+l.course.Count()), flow.SpendOf(j.Result)
	if tokens := spend.Usage.Input + spend.Usage.Output; tokens > 0 {
		line += fmt.Sprintf(", %s tokens", Number(tokens))
	}
	if spend.Took > 0 {
		line += ", " + Span(spend.Took)
	}
	l.printf("%s", line)
}

func (l *Lines) failing(f *flow.Failure, at time.Time) {
	if f.Void || f.Final { // a control has aborted it, and the transition says so; or it is told with what follows
		return
	}
	name, why := l.course.Name(f.By), Failed(f.Error, f.Model, l.At)
	own := fmt.Sprint(name, "\n", why, "\n", f.Next, f.Waits)
	if l.back[own] { // it is tried once more
		return
	}
	if l.back == nil {
		l.back = make(map[string]bool)
	}
	told := why
	if l.back[why] {
		told = "the same"
	}
	l.back[why], l.back[own] = true, true
	next := "trying again"
	if f.Waits {
		next = "waiting for the outage to pass"
	}
	if f.Next != "" {
		next = "asking " + Clean(f.Next) + " instead"
	}
	if wait := f.RetryAt.Sub(at); !f.RetryAt.IsZero() && wait > 0 {
		next += " in " + Span(wait)
	}
	l.printf("  %s: %s; %s", name, told, next)
}

func (l *Lines) answered(a *flow.Answer, asked string) {
	switch {
	case a.Rule && a.Option == flow.OptionStandIn: // it was told, with who is late
	case a.Rule && asked == "":
		l.printf("A rule has decided: %s", Clean(string(a.Option)))
	case a.Rule:
		l.printf("A rule has decided: %s: %s", Clean(string(a.Option)), asked)
	case a.Option != "":
		l.printf("The question %s is decided: %s", Clean(a.Inquiry), Clean(string(a.Option)))
	default:
		l.printf("The question %s is answered.", Clean(a.Inquiry))
	}
}

func (l *Lines) decided(d *arbiter.Decision) {
	who := ""
	if len(d.Agents) > 0 {
		who = " " + Clean(strings.Join(d.Agents, ", "))
	}
	l.printf("  The arbiter decides: %s%s: %s", Clean(string(d.Move)), who, Shorten(d.Reason, 200))
	if steps := len(l.course.Plan.Steps); steps > 0 {
		l.printf("  Plan: %d of %d steps are done.", steps-l.course.Plan.Left(), steps)
	}
}

// turnTo shows the transitions that are no beginning of a phase.
func (l *Lines) turnTo(t *flow.Transition) {
	switch {
	case t.On == flow.TriggerResume:
		l.printf("Resumed.")
	case t.To == flow.StatePaused && t.Evidence != "":
		l.printf("The conversation is %s.", Shorten(t.Evidence, 300))
	case t.To == flow.StatePaused:
		l.printf("Paused.")
	case t.Reason == arbiter.EndComplete: // the evidence is the result
		l.printf("The task is complete.")
	case t.To == flow.StateCompleting && t.Evidence != "":
		l.printf("The rounds end: %s", Shorten(t.Evidence, 300))
	case l.course.Over() && !l.course.Settled(): // the cost of what was broken off comes next
		l.printf("%s. The calls in flight are broken off.", l.course.PhaseWord())
	}
}

// Warning says what a warning is about. Most kinds bring their own words.
func Warning(w *flow.Warning) string {
	switch {
	case w.Evidence != "" && w.Kind == flow.WarnCost: // which brings two amounts
		return "the cost warning is reached: " + Clean(w.Evidence)
	case w.Evidence != "" && w.Kind == flow.WarnOutage:
		return outage(Clean(w.Evidence))
	case w.Evidence != "":
		return Clean(w.Evidence)
	}
	if w.By != "" {
		return Clean(w.By) + ": " + Clean(string(w.Kind))
	}
	return Clean(string(w.Kind))
}

// outage says that a vendor is waited for, without the kind of the failure, which was told. No attempt begins after the time that it names.
func outage(evidence string) string {
	if _, said, ok := strings.Cut(evidence, ": "); ok {
		evidence = said
	}
	if most, until, ok := strings.Cut(evidence, ", until "); ok && strings.Contains(most, ", for up to ") {
		return most + "; no attempt begins after " + until
	}
	return evidence
}

// write writes lines that are whole.
func (l *Lines) write(lines []string) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(l.out, line)
	}
}

func (l *Lines) printf(format string, args ...any) {
	_, _ = fmt.Fprintln(l.out, fmt.Sprintf(format, args...))
}
