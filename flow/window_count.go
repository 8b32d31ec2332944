package flow

import (
	"fmt"
	"slices"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
)

// threshold is a share of a window that the requests of an actor have reached.
type threshold struct {
	by   string
	kind WarningKind
}

// crossed returns the warnings that a call causes and that were not given before.
func (r *Record) crossed(ready *prepared, intent *Intent) []Warning {
	p := ready.limit
	if p == nil {
		return nil
	}
	limit, limited := p.Limit()
	total := p.Fixed + p.Size(0, p.Len())
	if p.Covered > 0 && (ready.summary != nil || ready.needs != nil) {
		total = p.Fixed + p.Size(0, max(p.Opening, window.DefaultOpening)) + p.Summary + p.Size(p.Covered, p.Len())
	}
	var out []Warning
	report := func(kind WarningKind, is bool, left int) {
		if !is || r.reported(threshold{intent.By, kind}) {
			return
		}
		out = append(out, Warning{
			Kind: kind, Call: intent.Call, By: intent.By, Left: left,
			Evidence: fmt.Sprintf("%d of %d tokens", total, limit),
		})
	}
	report(WarnNear, limited && int64(total)*100 >= int64(limit)*window.NearPercent, 0)
	report(WarnHigh, limited && int64(total)*100 >= int64(limit)*window.HighPercent, 0)
	report(WarnShort, ready.left > 0 || ready.cut != nil, ready.left)
	return out
}

func (r *Record) reported(t threshold) bool {
	return slices.Contains(r.thresholds, t)
}

// foldThreshold records the thresholds that were reported.
func (r *Record) foldThreshold(w *Warning) {
	switch w.Kind {
	case WarnNear, WarnHigh, WarnShort:
		if t := (threshold{w.By, w.Kind}); !r.reported(t) && len(r.thresholds) < maxTracked {
			r.thresholds = append(r.thresholds, t)
		}
	case WarnLate:
		r.late, r.sharing = true, nil
	case WarnOutage:
		r.foldTold(w)
	default:
	}
}

// countedText is a text that many requests contain, with the vocabulary in which it is counted.
type countedText struct {
	counter token.Counter
	text    string
}

// counted returns the tokens of a text that many requests contain, such as a system prompt. It counts each text
// once, and keeps a bounded number of counts.
func (c *Core) counted(counter token.Counter, text string) int {
	key := countedText{counter, text}
	count, ok := c.counts[key]
	if !ok {
		if c.counts == nil || len(c.counts) >= maxTracked {
			c.counts = make(map[countedText]int)
		}
		count = counter.Count(text)
		c.counts[key] = count
	}
	return count
}
