package export

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// timescale puts times on a line. Where nothing has happened for long, such as in a pause over night, the line is shortened.
type timescale struct {
	spans []timespan
	width float64 // of all spans, in seconds as they are drawn
}

// timespan is a time in which something happened, or nothing for long.
type timespan struct {
	from, to  time.Time
	at, width float64 // where it begins and how long it is, in seconds as they are drawn
	idle, cut bool
}

// Idle times are shortened if they are longer than this part of the time in which something happened. All of them together
// then take at most another such part.
const (
	idleLong = .08
	idleAll  = .4
)

// newTimescale returns the scale of some attempts. end is the time of those that have no result.
func newTimescale(attempts []*attempt, end time.Time) *timescale {
	busy := make([]timespan, 0, len(attempts))
	for _, a := range attempts {
		busy = append(busy, timespan{from: a.began, to: a.until(end)})
	}
	slices.SortStableFunc(busy, func(a, b timespan) int { return a.from.Compare(b.from) })
	s := &timescale{}
	for _, b := range busy {
		last := len(s.spans) - 1
		switch {
		case last >= 0 && !b.from.After(s.spans[last].to):
			if b.to.After(s.spans[last].to) {
				s.spans[last].to = b.to
			}
			continue
		case last >= 0:
			s.spans = append(s.spans, timespan{from: s.spans[last].to, to: b.from, idle: true})
		}
		s.spans = append(s.spans, b)
	}
	s.measure()
	return s
}

// measure gives each span its place.
func (s *timescale) measure() {
	active, long := 0., 0
	for i := range s.spans {
		if !s.spans[i].idle {
			active += s.spans[i].seconds()
		}
	}
	for i := range s.spans {
		p := &s.spans[i]
		if p.idle && p.seconds() > idleLong*active {
			p.cut = true
			long++
		}
	}
	most := max(active, 1) * min(idleLong, idleAll/float64(max(1, long)))
	for i := range s.spans {
		p := &s.spans[i]
		p.at, p.width = s.width, p.seconds()
		if p.cut = p.cut && p.width > 2*most; p.cut { // less would hardly be seen
			p.width = most
		}
		s.width += p.width
	}
}

func (p *timespan) seconds() float64 { return max(0, p.to.Sub(p.from).Seconds()) }

// at returns where a moment is, from 0 to 1.
func (s *timescale) at(t time.Time) float64 {
	if s.width <= 0 || len(s.spans) == 0 {
		return 0
	}
	i, found := slices.BinarySearchFunc(s.spans, t, func(p timespan, t time.Time) int { return p.from.Compare(t) })
	if !found {
		i = max(0, i-1)
	}
	p := &s.spans[i]
	inside := 0.
	if whole := p.seconds(); whole > 0 {
		inside = max(0, min(1, t.Sub(p.from).Seconds()/whole))
	}
	return max(0, min(1, (p.at+inside*p.width)/s.width))
}

// tick is a moment with a name.
type tick struct {
	at   float64
	name string
}

// ticks returns moments at a distance that people count in, from the first moment on.
func (s *timescale) ticks() []tick {
	if s.width <= 0 {
		return []tick{{0, "0 s"}}
	}
	const most, apart = 6, .13
	step := stepOf(math.Round(s.width*1e3) / 1e3 / most) // in milliseconds: a sum of parts of seconds is rarely a whole number
	first := s.spans[0].from
	var out []tick
	for i := range s.spans {
		p := &s.spans[i]
		if p.cut {
			continue
		}
		end := p.to.Sub(first).Seconds() // the longest duration is 292 years, and a log may hold any time
		for n := int64(math.Ceil(p.from.Sub(first).Seconds() / step.Seconds())); float64(n)*step.Seconds() <= end; n++ {
			t := time.Duration(n) * step
			at := s.at(first.Add(t))
			if len(out) == 0 || at-out[len(out)-1].at >= apart {
				out = append(out, tick{at, elapsed(t)})
			}
		}
	}
	return out
}

// stepOf returns the next length of time above so many seconds that people count in.
func stepOf(seconds float64) time.Duration {
	const day = 24 * time.Hour
	steps := []time.Duration{
		time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
		100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
		10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 7 * day, 30 * day, 365 * day,
	}
	for _, step := range steps {
		if step.Seconds() >= seconds {
			return step
		}
	}
	return time.Duration(cmp.Or(int64(seconds), 1)) * time.Second
}

// elapsed writes a length of time with its two largest units.
func elapsed(d time.Duration) string {
	if d < time.Second && d > 0 {
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	}
	if d < time.Minute {
		return mark(d.Seconds()) + " s"
	}
	units := []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}}
	out, left := "", d
	for i, u := range units {
		n := int64(left / u.size)
		if n == 0 {
			continue
		}
		out = strconv.FormatInt(n, 10) + " " + u.name
		if i+1 < len(units) {
			if rest := int64(left % u.size / units[i+1].size); rest > 0 {
				out += " " + strconv.FormatInt(rest, 10) + " " + units[i+1].name
			}
		}
		break
	}
	return out
}
