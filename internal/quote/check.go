package quote

import (
	"bytes"
	"math"
	"slices"
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
	Changed  string // what differs, if the status is altered
}

const (
	shortest = 12      // runes that a passage has at least: less than that stands in many texts by chance
	longest  = 4 << 10 // bytes that a passage has at most, unless it is as in the document
	closest  = 40      // runes that a passage has at least if it may be found although it was changed
	mostGap  = 2000    // bytes that an ellipsis may stand for
	leastGap = 4       // words that an ellipsis stands for at least: less may be a "not"
	mostGaps = 16      // ellipses in one passage
)

// Check compares a passage with the document. Words that are left out are marked by an ellipsis, also in brackets.
func (s *Source) Check(passage string) Finding {
	if s == nil || !utf8.ValidString(passage) {
		return Finding{Status: Unchecked}
	}
	f := fold(passage)
	whole := trimmed(f.text)
	if !ample(whole) {
		return Finding{Status: Unchecked}
	}
	if p, ok := s.next(whole, 0, math.MaxInt); ok {
		return s.found(p)
	}
	parts := partsOf(whole)
	thin := func(part []byte) bool { return !ample(part) }
	if len(whole) > longest || len(parts) > mostGaps+1 || slices.ContainsFunc(parts, thin) {
		return Finding{Status: Unchecked}
	}
	return s.chain(parts)
}

// ample reports whether a passage is long enough, and has words.
func ample(passage []byte) bool {
	return utf8.RuneCount(passage) >= shortest && bytes.ContainsFunc(passage, inWord)
}

// trimmed returns a passage without the marks around it, and without the stop or comma that a writer puts at its end.
func trimmed(passage []byte) []byte {
	passage = bytes.Trim(passage, " '")
	if cut := bytes.TrimRight(passage, ".,;:"); len(cut) == len(passage)-1 {
		passage = bytes.TrimRight(cut, " '")
	}
	return passage
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
	gap  place // the first gap that is too short
	tiny bool  // there is one
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
		if !l.tiny {
			return s.found(l.place)
		}
	}
	out, gap := s.found(links[0].place), links[0].gap
	out.Status, out.Changed = Altered, "nothing is left out at the ellipsis"
	if first, last := s.wordFrom(gap.at), s.wordFrom(gap.end); first < last {
		left := s.text[s.words[first].at:s.words[last-1].end]
		out.Changed = shown(left) + " is left out"
	}
	return out
}

// longer returns the ways that go on with another part.
func (s *Source) longer(links []link, part []byte) (out []link) {
	seen := make(map[link]bool)
	for _, l := range links {
		for from := l.end; len(out) < mostLinks; {
			p, ok := s.next(part, from, l.end+mostGap+len(part))
			if !ok {
				break
			}
			next := link{place: place{l.at, p.end}, gap: l.gap, tiny: l.tiny}
			if few := s.wordFrom(p.at)-s.wordFrom(l.end) < leastGap; few && !l.tiny {
				next.gap, next.tiny = place{l.end, p.at}, true
			}
			if !seen[next] {
				seen[next] = true
				out = append(out, next)
			}
			from = p.end
		}
	}
	return out
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
