package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
)

// agents returns a line for each actor. If there are more than lines, those that do nothing are left out first, and the last
// line counts them.
func (m *Model) agents(lines int) []string {
	actors := slices.Clone(m.course.Actors)
	hidden := 0
	if len(actors) > lines {
		// The last line counts them, unless it is the only one.
		slices.SortStableFunc(actors, func(a, b *progress.Actor) int { return urgency(b) - urgency(a) })
		hidden = len(actors) - max(1, lines-1)
		actors = actors[:len(actors)-hidden]
	}
	widest := 0
	for _, a := range actors {
		widest = max(widest, ansi.StringWidth(a.Name))
	}
	names := min(widest, max(6, m.width/3))
	out := make([]string, 0, len(actors)+1)
	for _, a := range actors {
		out = append(out, m.agent(a, names))
	}
	if hidden > 0 && lines > 1 {
		out = append(out, styles().quiet.Render(fmt.Sprintf("  … and %d more", hidden)))
	}
	return out
}

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

// agent is the line of an actor: what it does, and the last words that it has written.
func (m *Model) agent(a *progress.Actor, names int) string {
	name := ansi.Truncate(a.Name, names, "…")
	name += strings.Repeat(" ", max(0, names-ansi.StringWidth(name)))
	mark, doing, tail := m.doing(a)
	line := mark + " " + name + " " + doing
	room := m.width - ansi.StringWidth(line) - 2
	if tail == "" || room < 8 {
		return line
	}
	return line + "  " + styles().quiet.Render(lastColumns(tail, room))
}

// doing says what an actor does: the mark before its name, the activity, and the text that is streaming.
func (m *Model) doing(a *progress.Actor) (mark, doing, tail string) {
	if len(a.Jobs) == 0 {
		switch {
		case a.Dropped:
			return styles().bad.Render("✗"), styles().quiet.Render("takes no further part"), ""
		case a.Failed != "":
			return styles().bad.Render("✗"), styles().bad.Render(a.Failed), ""
		case a.Turns > 0:
			return "✓", styles().quiet.Render("done"), ""
		default:
			return "·", "", ""
		}
	}
	job := speaker(a)
	doing = job.Activity
	if more := len(a.Jobs) - 1; more > 0 {
		doing += fmt.Sprintf(" +%d", more)
	}
	switch {
	case m.course.Failed() && job.Trouble == "":
		return styles().bad.Render("✗"), doing, job.Tail()
	case (m.course.Halted() || m.pausing) && !job.InFlight && job.Trouble == "":
		return styles().wait.Render("‖"), doing, job.Tail()
	case job.Since(m.now) >= progress.Silence && job.Tool == "":
		return m.spinner(), doing + ", silent for " + job.Since(m.now).Truncate(time.Second).String(), job.Tail()
	case job.Tool != "":
		return m.spinner(), doing + ", using " + job.Tool, ""
	case job.InFlight && job.Thinking:
		return m.spinner(), doing + ", thinking", ""
	case job.InFlight:
		return m.spinner(), doing, job.Tail()
	case job.Trouble == "":
		return m.spinner(), doing, ""
	default:
		return styles().wait.Render("↻"), doing + ", " + m.again(job.RetryAt), job.Trouble
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
