package export

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// visited is a state in which the conversation has been.
type visited struct {
	name  string
	times int
	spent time.Duration
}

// crossed is a change between two states, by index.
type crossed struct {
	from, to int
	on       []string
	times    int
}

// journey is the course of a conversation through its states.
type journey struct {
	states []visited
	edges  []crossed
	index  map[flow.State]int
}

// newJourney folds the changes of state. The last state has lasted until the end.
func newJourney(changes []change, end time.Time) *journey {
	j := &journey{index: make(map[flow.State]int)}
	at := make(map[[2]int]int) // index of an edge
	for i, p := range changes {
		from, to := j.state(p.from), j.state(p.to)
		if i == 0 {
			j.states[from].times++
		}
		until := end
		if i+1 < len(changes) {
			until = changes[i+1].at
		}
		j.states[to].times++
		j.states[to].spent += max(0, until.Sub(p.at))
		n, known := at[[2]int{from, to}]
		if !known {
			n = len(j.edges)
			at[[2]int{from, to}] = n
			j.edges = append(j.edges, crossed{from: from, to: to})
		}
		e := &j.edges[n]
		e.times++
		if on := string(p.on); !slices.Contains(e.on, on) {
			e.on = append(e.on, on)
		}
	}
	return j
}

// state returns the index of a state.
func (j *journey) state(s flow.State) int {
	n, known := j.index[s]
	if !known {
		n = len(j.states)
		j.index[s] = n
		j.states = append(j.states, visited{name: strings.ReplaceAll(string(s), "_", " ")})
	}
	return n
}

// states shows the course of the conversation through its states. Only the log knows it.
func (w *reporter) states() *section {
	s := &section{ID: "states", Title: "Course through the states"}
	if len(w.log.changes) == 0 {
		return s
	}
	end := w.record.LastAt
	if w.record.Final() { // the end takes no time
		end = w.log.changes[len(w.log.changes)-1].at
	}
	j := newJourney(w.log.changes, end)
	visits := &table{Caption: "States", Head: []string{"State", "Visits", "Time"}, Figures: 1}
	for i := range j.states {
		v := &j.states[i]
		visits.Rows = append(visits.Rows, cells(v.name, count(v.times), duration(v.spent)))
	}
	changes := &table{Caption: "Changes", Head: []string{"From", "To", "On", "Times"}, Figures: 3}
	for i := range j.edges {
		e := &j.edges[i]
		changes.Rows = append(changes.Rows, cells(j.states[e.from].name, j.states[e.to].name, strings.Join(e.on, ", "), count(e.times)))
	}
	s.Blocks = []block{{Drawing: j.drawing()}, {Table: visits}, {Table: changes}}
	return s
}

// The sizes of the picture of a course, in pixels.
const (
	courseWide             = 340
	courseLeft, courseSide = 95, 150 // of the boxes: where they begin, and how wide they are
	courseBox, courseRow   = 28, 50
	courseBulge            = 78 // how far the widest arc leaves the boxes
)

// drawing draws the states below each other, in the order of the first visits. What leads to the next one is a straight arrow;
// what leads further is an arc to the right, and what leads back is one to the left.
func (j *journey) drawing() *drawing {
	d := &drawing{
		ID: "states-drawing", Title: "Course through the states",
		About: fmt.Sprintf("%s and %s between them. The tables below have them.", plural(len(j.states), "state"), plural(len(j.edges), "change")),
	}
	height := len(j.states)*courseRow - courseRow + courseBox + 4
	d.Box, d.Height = fmt.Sprintf("%d %d", courseWide, height), place(height)
	widest := 1
	for i := range j.edges {
		widest = max(widest, abs(j.edges[i].to-j.edges[i].from))
	}
	for i := range j.edges {
		j.arrow(d, &j.edges[i], widest)
	}
	for i := range j.states {
		v := &j.states[i]
		y := float64(i*courseRow + 2)
		d.add(
			shape{Kind: "rect", Class: "state-box", X: place(courseLeft), Y: place(y), W: place(courseSide), H: place(courseBox)},
			lettering("state-name", place(courseLeft+courseSide/2), place(y+18), label(v.name, 17)+times(v.times), "middle"),
		)
	}
	return d
}

// times writes how often, where it is more than once.
func times(n int) string {
	if n < 2 {
		return ""
	}
	return " ×" + count(n)
}

func abs(n int) int { return max(n, -n) }

// arrow draws a change of state. A state that follows itself has no arrow: its number of visits says so.
func (j *journey) arrow(d *drawing, e *crossed, widest int) {
	from, to := float64(e.from*courseRow+2), float64(e.to*courseRow+2)
	middle := courseLeft + courseSide/2.
	switch span := e.to - e.from; span {
	case 0:
	case 1:
		d.add(
			ruled("edge", place(middle), place(from+courseBox), place(middle), place(to-5)),
			curve("tip", fmt.Sprintf("M%s %sl-4 -7h8z", place(middle), place(to))),
			lettering("times", place(middle+8), place(from+courseBox+15), times(e.times), ""),
		)
	default:
		side, x, anchor := 1., float64(courseLeft+courseSide), ""
		if span < 0 {
			side, x, anchor = -1, courseLeft, "end"
		}
		// arcs of the same length would lie upon each other where they overlap
		bulge := side * (18 + (courseBulge-18)*math.Sqrt(float64(abs(span)-1)/float64(max(1, widest-1))))
		begin, stop := from+courseBox/2.+4*sign(span), to+courseBox/2.-4*sign(span)
		d.add(
			curve("edge", fmt.Sprintf("M%s %sC%s %s %s %s %s %s", place(x), place(begin),
				place(x+bulge*4/3), place(begin), place(x+bulge*4/3), place(stop), place(x+side*6), place(stop))),
			curve("tip", fmt.Sprintf("M%s %sl%s -4v8z", place(x+side), place(stop), place(side*7))),
			lettering("times", place(x+bulge-side*3), place((begin+stop)/2+4), strings.TrimSpace(times(e.times)), anchorOf(anchor)),
		)
	}
}

// anchorOf returns the end of a text that stands inside an arc.
func anchorOf(outside string) string {
	if outside == "end" {
		return ""
	}
	return "end"
}

func sign(n int) float64 {
	if n < 0 {
		return -1
	}
	return 1
}
