package quote

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Status is what the comparison of a quotation with its document has found.
type Status string

// The statuses of a quotation.
const (
	Verified  Status = "verified"  // the words stand in the document
	Altered   Status = "altered"   // other words stand in the document, and few differ
	Absent    Status = "absent"    // neither
	Unchecked Status = "unchecked" // there is nothing to compare it with, or it is too short or too long
)

// Finding is the result of a comparison.
type Finding struct {
	Status   Status
	From, To int    // where the words stand in the document, in bytes; 0 and 0: nowhere
	Changed  string // what differs, if the status is altered; what a verified passage leaves out; why nothing was compared
}

const (
	shortest = 12      // runes that a passage has at least: less than that stands in many texts by chance
	longest  = 4 << 10 // bytes that a passage has at most, unless it is as in the document
	closest  = 40      // runes that a passage has at least if it may be found although it was changed
	mostGap  = 2000    // bytes that an ellipsis may stand for
	leastGap = 4       // words that an ellipsis stands for at least, or twice as many characters in scripts without spaces
	mostGaps = 16      // ellipses in one passage
)

// Check compares a passage with the document. Words that are left out are marked by an ellipsis, also in brackets. The time is linear in
// the length of the document. A passage that is not as in the document takes the square of its words, and has at most longest bytes.
func (s *Source) Check(passage string) Finding {
	if s == nil {
		return unchecked("the document is no text, or too long")
	}
	f, fits := fold(passage)
	if !fits || !utf8.ValidString(passage) {
		return unchecked("its characters cannot be compared")
	}
	whole := trimmed(f.text)
	if !ample(whole) {
		return unchecked("it is too short")
	}
	if p, ok := s.next(whole, 0, math.MaxInt); ok {
		return s.found(p)
	}
	parts := partsOf(whole)
	switch {
	case len(whole) > longest || len(parts) > mostGaps+1:
		return unchecked("it is too long")
	case slices.ContainsFunc(parts, func(part []byte) bool { return !ample(part) }):
		return unchecked("a part of it is too short")
	default:
		return s.chain(parts)
	}
}

func unchecked(why string) Finding { return Finding{Status: Unchecked, Changed: why} }

// ample reports whether a passage is long enough, and has words.
func ample(passage []byte) bool {
	words := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	return utf8.RuneCount(passage) >= shortest && bytes.ContainsFunc(passage, words)
}

// trimmed returns a passage without the marks around it, and without the stop or comma that a writer puts at its end. A mark behind a
// number goes only if one stands in front: it may say feet or inches.
func trimmed(passage []byte) []byte {
	rest := bytes.TrimLeft(passage, " '\"")
	opened, stopped := 0, false
	for _, c := range passage[:len(passage)-len(rest)] {
		if c != ' ' {
			opened++
		}
	}
	for {
		rest = bytes.TrimRight(rest, " ")
		last, n := utf8.DecodeLastRune(rest)
		before, _ := utf8.DecodeLastRune(rest[:len(rest)-n])
		switch {
		case (last == '\'' || last == '"') && (opened > 0 || !unicode.IsNumber(before)):
			opened--
		case strings.ContainsRune(".,;:", last) && !stopped && !strings.ContainsRune(".,;:", before):
			stopped = true
		default:
			return rest
		}
		rest = rest[:len(rest)-n]
	}
}

// partsOf returns what stands between the ellipses of a passage.
func partsOf(passage []byte) (parts [][]byte) {
	add := func(part []byte) {
		if part = bytes.Trim(part, " "); len(part) > 0 {
			parts = append(parts, part)
		}
	}
	ellipsis := []byte("...")
	for {
		i := bytes.Index(passage, ellipsis)
		if i < 0 {
			add(passage)
			return parts
		}
		before, after := passage[:i], bytes.TrimLeft(passage[i:], ".")
		for _, brackets := range []string{"[]", "()"} {
			if bytes.HasSuffix(before, []byte(brackets[:1])) && bytes.HasPrefix(after, []byte(brackets[1:])) {
				before, after = before[:len(before)-1], after[1:]
			}
		}
		add(before)
		passage = after
	}
}

func (s *Source) found(p place) Finding {
	from, to := s.original(p.at, p.end)
	return Finding{Status: Verified, From: from, To: to}
}

// link is a way to read the first parts of a passage in the document.
type link struct {
	place
	gaps  []place // what its ellipses leave out
	wrong string  // why one of them may not leave that out; "": each may
}

// mostLinks bounds the ways that are followed.
const mostLinks = 256

// chain looks for the parts of a passage one behind the other.
func (s *Source) chain(parts [][]byte) Finding {
	var links []link
	for from := 0; len(links) < mostLinks; {
		p, ok := s.next(parts[0], from, math.MaxInt)
		if !ok {
			break
		}
		links, from = append(links, link{place: p}), p.end
	}
	for _, part := range parts[1:] {
		links = s.longer(links, part)
	}
	if len(links) == 0 {
		return s.scattered(parts)
	}
	for _, l := range links {
		if l.wrong == "" {
			out, left := s.found(l.place), []string(nil)
			for _, gap := range l.gaps {
				left = append(left, s.left(gap))
			}
			out.Changed = listed(left)
			return out
		}
	}
	out := s.found(links[0].place)
	out.Status, out.Changed = Altered, links[0].wrong
	return out
}

// longer returns the ways that go on with another part.
func (s *Source) longer(links []link, part []byte) (out []link) {
	type way struct {
		place
		right bool
	}
	seen := make(map[way]bool)
	for _, l := range links {
		negated := s.negated(l.end, min(l.end+mostGap, len(s.text)))
		for from := l.end; len(out) < mostLinks; {
			p, ok := s.next(part, from, l.end+mostGap+len(part))
			if !ok {
				break
			}
			next := link{place: place{l.at, p.end}, wrong: l.wrong}
			if next.wrong == "" {
				next.wrong = s.wrong(place{l.end, p.at}, negated)
			}
			if w := (way{next.place, next.wrong == ""}); !seen[w] {
				seen[w] = true
				next.gaps = append(slices.Clip(l.gaps), place{l.end, p.at})
				out = append(out, next)
			}
			from = p.end
		}
	}
	return out
}

// wrong returns why an ellipsis may not stand for a gap; "": it may. negated is where the first word that negates stands behind the
// beginning of the gap.
func (s *Source) wrong(gap place, negated int) string {
	weight := 0
	for i := s.wordFrom(gap.at); i < len(s.words) && int(s.words[i].at) < gap.end && weight < 2*leastGap; i++ {
		weight++
		if r, _ := utf8.DecodeRune(s.text[s.words[i].at:]); !alone(r) {
			weight++
		}
	}
	switch {
	case weight == 0:
		return "nothing is left out at the ellipsis"
	case weight < 2*leastGap:
		return s.left(gap)
	case negated < gap.end && !s.sentences(gap):
		return s.left(place{negated, gap.end})
	default:
		return ""
	}
}

// left says that the words of a gap are left out.
func (s *Source) left(gap place) string {
	from, to := s.wordFrom(gap.at), s.wordFrom(gap.end)
	return shown(s.text[s.words[from].at:s.words[to-1].end]) + " is left out"
}

// sentences reports whether a gap is made of whole sentences: what stands before it ends one, and what stands behind it begins one.
func (s *Source) sentences(gap place) bool {
	const marks, stops = " '\")]", ".!?。"
	inner := s.text[gap.at:gap.end]
	before, _ := utf8.DecodeLastRune(bytes.TrimRight(s.text[max(0, gap.at-8):gap.at], marks))
	begin, _ := utf8.DecodeRune(bytes.TrimLeft(inner, marks))
	end, _ := utf8.DecodeLastRune(bytes.TrimRight(inner, marks))
	behind, _ := first(bytes.TrimLeft(s.text[gap.end:min(len(s.text), gap.end+8)], " '\"(["))
	stop := func(r rune) bool { return strings.ContainsRune(stops, r) }
	return (stop(before) || stop(begin)) && stop(end) && !unicode.IsLower(behind)
}

// scattered judges parts that do not stand one behind the other.
func (s *Source) scattered(parts [][]byte) Finding {
	out := Finding{Status: Altered}
	for i, part := range parts {
		near := s.nearest(part)
		if p, ok := s.next(part, 0, math.MaxInt); ok {
			near = s.found(p)
		}
		switch {
		case near.Status == Absent:
			return near
		case i == 0:
			out.From, out.To = near.From, near.To
		}
		if out.Changed == "" {
			out.Changed = near.Changed
		}
	}
	if out.Changed == "" {
		out.Changed = "its parts do not follow each other"
	}
	return out
}
