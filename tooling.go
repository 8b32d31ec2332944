package debate

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// DefaultToolUses is how often a participant may use tools before a speech.
const DefaultToolUses = 10

// tooled lets a model use the tools of the config before it speaks. The kernel counts the uses of a whole round, in which somebody may
// speak more than once: those of the other speeches, held or left out, take nothing from this one and leave nothing to it.
func (d *Debate) tooled(call *flow.Call) {
	if len(d.config.Tools) == 0 || call.Performer != flow.ByModel {
		return
	}
	call.Tools, call.Uses = d.config.Tools, d.config.ToolUses
	for i := range d.schedule {
		if id := turnID(d.Round, d.schedule[i].ID); id != call.ID && d.schedule[i].Speaker == call.By {
			other, _ := d.CallUsage(id)
			call.Uses += len(other.Uses)
		}
	}
}

// Bounds of what judges are told of uses.
const (
	mostUses      = 20
	mostArguments = 200 // bytes
)

// equipped tells a judge which tools were used for the speeches of a round, or of all if it is 0: the code counts them, and no speaker.
// Their arguments are what speakers wrote. A person reads them without the markers of a quotation.
func (d *Debate) equipped(round int, by flow.Performer) string {
	if len(d.config.Tools) == 0 {
		return ""
	}
	var lines []string
	uses := 0
	for _, t := range d.Turns {
		if round != 0 && t.Round != round || d.Seat(t.Speaker) < 0 {
			continue
		}
		usage, _ := d.CallUsage(t.Call)
		for i := range usage.Uses {
			use := &usage.Uses[i]
			if use.Denied {
				continue
			}
			if uses++; uses <= mostUses {
				line := fmt.Sprintf("%s, round %d: %s %s", t.Speaker, t.Round, use.Tool, d.Line(string(use.Arguments), mostArguments))
				lines = append(lines, d.Hide(line))
			}
		}
	}
	if uses == 0 {
		return ""
	}
	told := fmt.Sprintf("\n\nThe speakers have used tools %d times, as the program counts.", uses)
	if uses > mostUses {
		told += fmt.Sprintf(" The first %d:", mostUses)
	}
	list := strings.Join(lines, "\n")
	if by != flow.ByPerson {
		list = d.Quote("tools", list)
	}
	return told + "\n\n" + list
}
