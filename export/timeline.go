package export

import (
	"fmt"
	"strconv"
	"time"
)

// mostLanes is how many attempts of one actor can be drawn below each other at the same time. More share the last lane.
const mostLanes = 8

// The sizes of a timeline, in pixels.
const (
	timeAxis = 24 // above the first row
	timeName = 17 // above the first lane of a row
	timeLane = 11
	timeBar  = 9
	timeGap  = 7 // below a row
)

// leastBar is the part of the width that even the shortest attempt takes.
const leastBar = .006

// actorRow is the row of an actor.
type actorRow struct {
	name  string
	lanes []float64 // up to where each is taken, as a part of the width
	drawn []placed
}

// placed is an attempt with its place: from where it waits, is under way, and has ended, as parts of the width.
type placed struct {
	*attempt

	lane              int
	waits, begins, to float64
}

// timeline shows who was asked when, for how long, and with which result. Only the log knows that.
func (w *reporter) timeline() *section {
	s := &section{ID: "timeline", Title: "Timeline of calls"}
	if len(w.log.attempts) == 0 {
		return s
	}
	s.Blocks = []block{{Drawing: w.timelineDrawing()}, {Table: w.attempts()}}
	return s
}

// attempts lists the attempts.
func (w *reporter) attempts() *table {
	t := &table{
		Caption: "Calls", Head: []string{"After", "Who", "What", roundColumn, "Attempt", "Result", "Waited", "Took"}, Figures: 6,
		Long: len(w.log.attempts) > manyRounds,
	}
	first := w.log.attempts[0].began
	for _, a := range w.log.attempts {
		took, waited, try := "", "", ""
		if !a.ended.IsZero() {
			took = duration(a.took())
		}
		if a.queued > 0 {
			waited = duration(a.queued)
		}
		if !a.person {
			try = strconv.Itoa(a.number)
		}
		t.Rows = append(t.Rows, cells(
			duration(a.began.Sub(first)), w.rowName(a.by), w.purpose(a), number(a.round), try,
			a.result.words(), waited, took))
	}
	return t
}

// purpose returns what was asked for.
func (w *reporter) purpose(a *attempt) string {
	out := label(a.what, 60)
	switch target := label(w.called(a.target), 60); {
	case target == "":
		return out
	case w.deliberation != nil:
		return out + " of " + target
	default:
		return out + " to " + target
	}
}

// until returns when an attempt ended. One without a result lasts until the end.
func (a *attempt) until(end time.Time) time.Time {
	if a.ended.IsZero() {
		return latest(end, a.began)
	}
	return latest(a.ended, a.began)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// timelineRows puts each attempt into the row of its actor, in a lane that is free.
func (w *reporter) timelineRows(scale *timescale, end time.Time) []*actorRow {
	var rows []*actorRow
	byName := make(map[string]*actorRow)
	for _, a := range w.log.attempts {
		row := byName[a.by]
		if row == nil {
			row = &actorRow{name: a.by}
			byName[a.by] = row
			rows = append(rows, row)
		}
		p := placed{attempt: a, waits: scale.at(a.began), begins: scale.at(a.began.Add(a.queued)), to: scale.at(a.until(end))}
		p.begins = min(p.begins, 1-leastBar)
		p.to = max(p.to, p.begins+leastBar)
		p.waits = min(p.waits, p.begins)
		for p.lane < len(row.lanes) && p.waits < row.lanes[p.lane] && p.lane < mostLanes-1 {
			p.lane++
		}
		if p.lane == len(row.lanes) {
			row.lanes = append(row.lanes, 0)
		}
		row.lanes[p.lane] = max(row.lanes[p.lane], p.to)
		row.drawn = append(row.drawn, p)
	}
	return rows
}

func (w *reporter) timelineDrawing() *drawing {
	end := w.record.LastAt
	scale := newTimescale(w.log.attempts, end)
	rows := w.timelineRows(scale, end)
	d := &drawing{
		ID: "timeline-drawing", Title: "Timeline of calls", Tall: true, Keys: w.timelineKeys(),
		About: fmt.Sprintf("Time from left to right; %s with %s. The table below has them.",
			plural(len(rows), "row"), plural(len(w.log.attempts), "call")),
	}
	height := float64(timeAxis)
	for _, row := range rows {
		height += float64(timeName + len(row.lanes)*timeLane + timeGap)
	}
	d.Height = place(height)
	for _, t := range scale.ticks() {
		d.add(ruled("grid", share(t.at), place(timeAxis-6), share(t.at), place(height)))
		anchor := "middle"
		switch {
		case t.at < .03:
			anchor = ""
		case t.at > .94:
			anchor = "end"
		}
		d.add(lettering("tick", share(t.at), "12", t.name, anchor))
	}
	shortened := false
	for i := range scale.spans {
		if p := &scale.spans[i]; p.cut {
			gap := rect("idle", share(scale.at(p.from)), place(timeAxis-6), share(p.width/scale.width), place(height-timeAxis+6))
			gap.Title = "nothing for " + elapsed(p.to.Sub(p.from))
			d.add(gap)
			shortened = true
		}
	}
	if shortened {
		d.Keys = append(d.Keys, key{Class: "idle", Text: "nothing happened: shortened"})
	}
	y := float64(timeAxis)
	for _, row := range rows {
		d.add(lettering("name "+w.tones[row.name], "0", place(y+timeName-5), label(w.rowName(row.name), 44), ""))
		for _, a := range row.drawn {
			w.bars(d, scale, a, y+timeName+float64(a.lane*timeLane))
		}
		y += float64(timeName + len(row.lanes)*timeLane + timeGap)
	}
	return d
}

// rowName returns the name of a row.
func (w *reporter) rowName(by string) string {
	if line(by) == "" {
		return "a person"
	}
	return w.called(by)
}

// bars draws an attempt, the time that it waited before, and the wait for the next attempt.
func (w *reporter) bars(d *drawing, scale *timescale, a placed, y float64) {
	wait := func(from, to float64) {
		if to > from {
			middle := place(y + timeBar/2.)
			d.add(ruled("wait", share(from), middle, share(to), middle))
		}
	}
	wait(a.waits, a.begins)
	class := "call " + string(a.result)
	switch {
	case a.person:
		class += " person"
	case a.tool:
		class += " tool"
	}
	bar := rect(class, share(a.begins), place(y), share(a.to-a.begins), place(timeBar))
	bar.Title = w.attemptTitle(a.attempt)
	d.add(bar)
	if !a.retry.IsZero() {
		wait(a.to, scale.at(a.retry))
	}
}

// attemptTitle describes an attempt in a line.
func (w *reporter) attemptTitle(a *attempt) string {
	out := w.rowName(a.by) + ": " + w.purpose(a)
	if a.round > 0 {
		out += ", round " + strconv.Itoa(a.round)
	}
	if a.number > 1 {
		out += ", attempt " + strconv.Itoa(a.number)
	}
	out += prefixed(", ", a.model) + ", " + a.result.words()
	if !a.ended.IsZero() {
		out += ", " + duration(a.took())
	}
	return out
}

// timelineKeys explains the marks that occur.
func (w *reporter) timelineKeys() []key {
	var has struct{ done, failed, rejected, aborted, open, tool, person, wait bool }
	for _, a := range w.log.attempts {
		switch {
		case a.person:
			has.person = true
		case a.tool:
			has.tool = true
		}
		has.done = has.done || a.result == resultDone && !a.person && !a.tool
		has.failed = has.failed || a.result == resultFailed
		has.rejected = has.rejected || a.result == resultRejected
		has.aborted = has.aborted || a.result == resultAborted
		has.open = has.open || a.result == resultOpen
		has.wait = has.wait || a.queued > 0 || !a.retry.IsZero()
	}
	var out []key
	for _, k := range []struct {
		has bool
		key
	}{
		{has.done, key{Class: "call done", Text: "done"}},
		{has.failed, key{Class: "call failed", Text: "failed"}},
		{has.rejected, key{Class: "call rejected", Text: resultRejected.words()}},
		{has.aborted, key{Class: "call aborted", Text: "aborted"}},
		{has.open, key{Class: "call open", Text: resultOpen.words()}},
		{has.tool, key{Class: "call done tool", Text: "use of a tool"}},
		{has.person, key{Class: "call done person", Text: "a person is asked"}},
		{has.wait, key{Class: "wait", Text: "waiting"}},
	} {
		if k.has {
			out = append(out, k.key)
		}
	}
	return out
}
