package live

import (
	"fmt"
	"time"

	"github.com/agonist-dev/debate/cmd/debate/internal/inquiry"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// urgency ranks the actors by what there is to see.
func urgency(a *progress.Actor) int {
	rank := 0
	for _, j := range a.Jobs {
		switch {
		case j.InFlight && j.Tail() != "":
			rank = max(rank, 4)
		case j.InFlight:
			rank = max(rank, 3)
		default:
			rank = max(rank, 2)
		}
	}
	if rank == 0 && a.Failed != "" {
		rank = 1
	}
	return rank
}

// doing says what an actor does: the mark before its name, and the words behind it.
func (m *Model) doing(a *progress.Actor) (mark, doing string) {
	if len(a.Jobs) == 0 {
		switch {
		case a.Dropped:
			return styles().bad.Render("✗"), styles().quiet.Render("takes no further part")
		case a.Failed != "" && (m.course.Failed() || len(inquiry.Retries(m.course.Inquiries)) > 0): // the foot says why
			return styles().bad.Render("✗"), ""
		case a.Failed != "":
			return styles().bad.Render("✗"), styles().bad.Render(a.Failed)
		case a.Turns > 0:
			return "✓", ""
		default:
			return "○", ""
		}
	}
	job := speaker(a)
	doing = m.course.Thing(job)
	if more := len(a.Jobs) - 1; more > 0 {
		doing += fmt.Sprintf(" +%d", more)
	}
	switch {
	case m.course.Failed() && job.Trouble == "":
		return styles().bad.Render("✗"), doing
	case m.course.Halted() && !job.InFlight && job.Trouble == "":
		return styles().wait.Render("‖"), doing
	case m.course.Asked(job.Call): // a person, who may think
		return styles().wait.Render("?"), doing + ", asked"
	case job.Since(m.now) >= progress.Silence && job.Tool == "":
		return m.spinner(), doing + ", silent for " + job.Since(m.now).Truncate(time.Second).String()
	case job.Tool != "":
		return m.spinner(), doing + ", using " + job.Tool
	case job.InFlight && job.Thinking:
		return m.spinner(), doing + ", thinking"
	case job.InFlight || job.Trouble == "":
		return m.spinner(), doing
	default:
		return styles().wait.Render("↻"), m.again(job.RetryAt) + ", " + job.Trouble
	}
}

// speaker returns the call of an actor that speaks, or else the first one; nil: the actor is asked nothing.
func speaker(a *progress.Actor) *progress.Job {
	if len(a.Jobs) == 0 {
		return nil
	}
	job := a.Jobs[0]
	for _, j := range a.Jobs {
		if j.InFlight && (j.Tail() != "" || !job.InFlight) {
			return j
		}
	}
	return job
}

// again says when the next attempt starts.
func (m *Model) again(at time.Time) string {
	if wait := at.Sub(m.now); !at.IsZero() && wait > 0 {
		return "again in " + wait.Round(time.Second).String()
	}
	return "again"
}

// spinner is the mark of somebody at work.
func (m *Model) spinner() string {
	frames := []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
	return styles().busy.Render(frames[m.frame%len(frames)])
}
