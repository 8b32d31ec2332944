package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// trend is how figures have changed from round to round.
type trend struct {
	id, title string
	most      float64 // the largest figure that there can be; the smallest is 0
	rounds    []int
	lines     []trendLine
	limit     float64 // from which the rounds end; 0: there is none
}

// trendLine is the course of one figure.
type trendLine struct {
	name, class string
	values      map[int]float64 // by round; some may be missing
}

// add takes in a figure. One that is none, or out of range, is left out or bounded: a log may hold anything.
func (t *trendLine) add(round int, value, most float64) {
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		t.values[round] = max(0, min(most, value))
	}
}

// The sizes of a trend. Horizontal ones are parts of the width.
const (
	trendTop, trendBottom = 12, 212 // of the plot, in pixels
	trendLeft, trendRight = .075, .93
	trendUnits            = 1000 // of the plot's width, which stretches

	mostLines  = 12  // that are drawn one by one
	mostDots   = 100 // figures that have a dot each
	mostTicks  = 10
	labelSpace = 14 // pixels between two labels
)

// blocks returns the drawing and its figures as a table.
func (t *trend) blocks() []block {
	if len(t.rounds) == 0 {
		return nil
	}
	return []block{{Label: t.title, Drawing: t.drawing()}, {Table: t.table()}}
}

func (t *trend) table() *table {
	out := &table{Head: []string{roundColumn}, Figures: 1, Long: len(t.rounds) > manyRounds}
	for i := range t.lines {
		out.Head = append(out.Head, t.lines[i].name)
	}
	for _, round := range t.rounds {
		row := []cell{{Text: strconv.Itoa(round)}}
		for i := range t.lines {
			text := "—"
			if v, ok := t.lines[i].values[round]; ok {
				text = mark(v)
			}
			row = append(row, cell{Text: text})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

func (t *trend) drawing() *drawing {
	d := &drawing{
		ID: t.id, Title: t.title, Height: place(trendBottom + 36),
		About: "The rounds from left to right, the figures from 0 at the bottom to " + mark(t.most) + " at the top. The table below has them.",
	}
	t.axes(d)
	if len(t.lines) > mostLines {
		t.spread(d)
		return d
	}
	plot := shape{
		Kind: "plot", X: share(trendLeft), Y: place(trendTop), W: share(trendRight - trendLeft), H: place(trendBottom - trendTop),
		Box: fmt.Sprintf("0 0 %d %d", trendUnits, trendBottom-trendTop),
	}
	for i := range t.lines {
		l := &t.lines[i]
		if path := t.path(l.values); path != "" {
			plot.Inner = append(plot.Inner, curve(fmt.Sprintf("trend dash-%d %s", i%4, l.class), path))
		}
	}
	d.add(plot)
	for i := range t.lines {
		l := &t.lines[i]
		d.Keys = append(d.Keys, key{Class: "key " + l.class, Mark: strconv.Itoa(i + 1), Text: l.name})
		if len(t.rounds)*len(t.lines) > mostDots {
			continue
		}
		for n, round := range t.rounds {
			if v, ok := l.values[round]; ok {
				d.add(shape{Kind: "circle", Class: "dot " + l.class, X: share(t.x(n)), Y: place(t.y(v))})
			}
		}
	}
	t.labels(d)
	return d
}

// x returns where the nth round is, as a part of the width. A single one is in the middle.
func (t *trend) x(n int) float64 {
	if len(t.rounds) == 1 {
		return (trendLeft + trendRight) / 2
	}
	return trendLeft + (trendRight-trendLeft)*float64(n)/float64(len(t.rounds)-1)
}

// y returns where a figure is, in pixels.
func (t *trend) y(v float64) float64 { return trendBottom - (trendBottom-trendTop)*v/t.most }

// path returns the line through the figures, with a gap where one is missing.
func (t *trend) path(values map[int]float64) string {
	var b strings.Builder
	pen := byte('M')
	for n, round := range t.rounds {
		v, ok := values[round]
		if !ok {
			pen = 'M'
			continue
		}
		b.WriteByte(pen)
		b.WriteString(t.point(n, v))
		pen = 'L'
	}
	return b.String()
}

// point returns a figure in the coordinates of the plot.
func (t *trend) point(n int, v float64) string {
	x := trendUnits / 2.
	if len(t.rounds) > 1 {
		x = trendUnits * float64(n) / float64(len(t.rounds)-1)
	}
	return place(x) + " " + place(t.y(v)-trendTop)
}

// axes draws the scale and the numbers of the rounds.
func (t *trend) axes(d *drawing) {
	const steps = 5
	for i := range steps + 1 {
		v := t.most * float64(i) / steps
		y := t.y(v)
		d.add(ruled("grid", share(trendLeft), place(y), share(trendRight), place(y)))
		d.add(lettering("tick", share(trendLeft-.012), place(y+4), mark(v), "end"))
	}
	if t.limit > 0 && t.limit <= t.most {
		y := place(t.y(t.limit))
		d.add(ruled("limit", share(trendLeft), y, share(trendRight), y))
		d.Keys = append(d.Keys, key{Class: "limit", Text: "from " + mark(t.limit) + " on, the rounds end"})
	}
	step := (len(t.rounds) + mostTicks - 1) / mostTicks
	for n := 0; n < len(t.rounds); n += step {
		d.add(lettering("tick", share(t.x(n)), place(trendBottom+18), strconv.Itoa(t.rounds[n]), "middle"))
	}
	d.add(lettering("tick", share((trendLeft+trendRight)/2), place(trendBottom+34), "round", "middle"))
}

// labels puts its number at the end of each line. Where lines end close to each other, the numbers move apart.
func (t *trend) labels(d *drawing) {
	type end struct {
		line int
		y    float64
	}
	var ends []end
	for i := range t.lines {
		for _, round := range slices.Backward(t.rounds) {
			if v, ok := t.lines[i].values[round]; ok {
				ends = append(ends, end{i, t.y(v)})
				break
			}
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return int(a.y - b.y) })
	for i := range ends {
		if i > 0 {
			ends[i].y = max(ends[i].y, ends[i-1].y+labelSpace)
		}
	}
	low := float64(trendBottom)
	for i := range slices.Backward(ends) {
		ends[i].y = min(ends[i].y, low)
		low = ends[i].y - labelSpace
	}
	for _, e := range ends {
		d.add(lettering("number "+t.lines[e.line].class, share(trendRight+.02), place(e.y+4), strconv.Itoa(e.line+1), ""))
	}
}

// spread draws the range of many lines, and their mean.
func (t *trend) spread(d *drawing) {
	var above, below strings.Builder
	mean := make(map[int]float64)
	pen := byte('M')
	type bounds struct {
		n         int
		low, high float64
	}
	var all []bounds
	for n, round := range t.rounds {
		low, high, sum, count := t.most, 0., 0., 0
		for i := range t.lines {
			if v, ok := t.lines[i].values[round]; ok {
				low, high, sum, count = min(low, v), max(high, v), sum+v, count+1
			}
		}
		if count > 0 {
			mean[round] = sum / float64(count)
			all = append(all, bounds{n, low, high})
		}
	}
	for _, b := range all {
		above.WriteByte(pen)
		above.WriteString(t.point(b.n, b.high))
		pen = 'L'
	}
	for _, b := range slices.Backward(all) {
		below.WriteByte('L')
		below.WriteString(t.point(b.n, b.low))
	}
	d.add(shape{
		Kind: "plot", X: share(trendLeft), Y: place(trendTop), W: share(trendRight - trendLeft), H: place(trendBottom - trendTop),
		Box: fmt.Sprintf("0 0 %d %d", trendUnits, trendBottom-trendTop),
		Inner: []shape{
			curve("range", above.String()+below.String()+"Z"), curve("trend seat-1", t.path(mean)),
		},
	})
	d.Keys = append(d.Keys,
		key{Class: "key seat-1", Mark: "—", Text: fmt.Sprintf("the mean of %d", len(t.lines))},
		key{Class: "range", Text: "from the lowest to the highest"})
}
