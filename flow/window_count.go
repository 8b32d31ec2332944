package flow

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/transcript"
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

// schemaWords is the part of the tokens of a schema, one in so many, that the vendor's own words about it take.
const schemaWords = 4

// tokensOf counts the tokens of a request in a vocabulary. Texts are counted, and the rest is bounded as by their bytes.
func (c *Core) tokensOf(p *prepared, counter token.Counter) int {
	n := c.counted(counter, p.call.System) + c.counted(counter, p.last) + 3*transcript.Framing + p.papers.bound + p.talkCount(counter)
	if p.wire != nil {
		schema := c.counted(counter, string(p.wire.JSON))
		n += schema + schema/schemaWords
	}
	if p.summary != nil {
		n += transcript.Count(p.summary, counter)
	}
	switch {
	case p.view == nil:
	case p.cut != nil:
		n += transcript.Count(p.cut, counter)
	default:
		sums := p.view.Count(counter)
		n += sums[p.start+p.head] - sums[p.start] + sums[p.upto] - sums[p.from]
	}
	return n
}

// countedText is a text that many requests contain, with the vocabulary in which it is counted.
type countedText struct {
	counter token.Counter
	text    string
}

// counts are counts of texts, of which two generations are kept. The texts of the recent one are bounded by mostCounted and mostCounts.
type counts struct {
	recent, former map[countedText]int
	bytes          int // of the recent texts
}

// Bounds of the texts whose counts a core keeps.
const (
	mostCounted = 4 << 20 // bytes
	mostCounts  = 1 << 15
)

// of returns the tokens of a text, which it counts once. part says that the text is a part of a larger one.
func (c *counts) of(counter token.Counter, text string, part bool) int {
	key := countedText{counter, text}
	count, ok := c.recent[key]
	if ok {
		return count
	}
	if count, ok = c.former[key]; !ok {
		count = counter.Count(text)
	}
	if c.recent == nil || len(c.recent) >= mostCounts || c.bytes > mostCounted {
		c.recent, c.former, c.bytes = make(map[countedText]int), c.recent, 0
	}
	if part {
		key.text = strings.Clone(text) // the larger one is not kept
	}
	c.recent[key] = count
	c.bytes += len(text)
	return count
}

// longText is a size, in bytes, from which a text is counted by its paragraphs.
const longText = 2 << 10

// counted returns the tokens of a text that many requests contain, such as a system prompt. It counts each text once. Of a long one, such
// as an instruction that quotes the conversation, it counts each paragraph once: the next such text has most of them too.
func (c *Core) counted(counter token.Counter, text string) int {
	if len(text) < longText {
		return c.counts.of(counter, text, false)
	}
	sum := 0
	for len(text) > 0 {
		end := paragraph(text)
		sum += c.counts.of(counter, text[:end], true)
		text = text[end:]
	}
	return sum
}

// paragraph returns where the first paragraph of a text ends, with the blank lines behind it. Where the next one begins, no token can lie
// across the border, whatever the vocabulary: they divide a text behind line breaks, unless white space or a slash follows.
func paragraph(text string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], "\n\n")
		if i < 0 {
			return len(text)
		}
		end := from + i + len("\n\n")
		if next, _ := utf8.DecodeRuneInString(text[end:]); end == len(text) || next != '/' && !unicode.IsSpace(next) {
			return end
		}
		from = end - 1
	}
}
