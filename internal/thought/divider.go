package thought

import "strings"

const (
	maxBlank  = 64  // bytes of white space that may stand before thoughts
	maxHeader = 128 // bytes of a header
	space     = " \t\r\n"
)

// Divider divides a text that arrives in pieces. What it passes to Say and to Think is the text without marks; nothing of
// it is lost or passed twice.
//
// Thoughts may stand anywhere. Where their end comes without a beginning, what was said before it was a thought: templates
// of chats write the beginning themselves. These are no marks:
//   - what stands in code or between two equal quotation marks
//   - what stands in a text that begins like a JSON object
//   - a beginning after which no end comes, unless nothing was said before it
//   - a second end without a beginning
//
// A Divider must not be copied or used concurrently once it has begun.
type Divider struct {
	Say   func(text string) // what is said; required
	Think func(text string) // what is thought; required
	// Recall says that all that was passed to Say was thought. What is passed to Say next begins the reply. Required.
	Recall func()

	tail   string // of what came: what it is depends on what follows
	blank  string // white space before anything was said
	begun  bool   // something was said
	json   bool   // no marks count
	trim   bool   // white space that follows is dropped
	ticks  int    // backticks that have just come
	fence  int    // backticks that have begun code; 0: it is none
	last   byte   // the latest byte that was said
	header string // what ends the header that comes; "": none does

	inside *Pair           // nil: what comes is said
	marks  []mark          // that count within it
	opened string          // its beginning, as it came
	held   strings.Builder // a block behind something that was said, which is no block unless it ends
	early  bool            // it is none of these: its thoughts are passed on at once
	fresh  bool            // none of its thoughts has come yet
	gap    string          // white space at the end of its thoughts

	taken   bool // thoughts have ended
	nested  bool // a beginning stood within thoughts
	mused   bool // thoughts were passed on
	channel bool // the text is in channels
}

// Next takes the next piece.
func (d *Divider) Next(piece string) { d.take(d.tail+piece, false) }

// End passes on what is held back. The text is over.
func (d *Divider) End() {
	d.take(d.tail, true)
	if d.inside != nil && !d.early {
		opened, held := d.opened, d.held.String()
		d.inside = nil
		d.held.Reset()
		d.say(opened + held)
	}
	if !d.begun && !d.taken && d.blank != "" {
		d.Say(d.blank)
	}
	d.blank = ""
}

// take divides a text. whole means that nothing follows it.
func (d *Divider) take(text string, whole bool) {
	d.tail = ""
	for text != "" {
		var rest string
		switch {
		case d.header != "":
			rest, d.tail = d.skip(text, whole)
		case d.inside != nil:
			rest, d.tail = d.thinks(text, whole)
		default:
			rest, d.tail = d.says(text, whole)
		}
		text = rest
	}
}

// skip skips the rest of a header. What is none is kept.
func (d *Divider) skip(text string, whole bool) (rest, tail string) {
	header, after, found := strings.Cut(text, d.header)
	longest := maxHeader
	if !found { // its end may have begun
		longest += len(d.header)
	}
	none := strings.Contains(header, "\n") || len(header) > longest
	if !found && !none && !whole {
		return "", text
	}
	d.header = ""
	if found && !none {
		return after, ""
	}
	return text, ""
}

// says takes a text of which the beginning is said. It returns the rest after a mark, or what cannot be placed yet.
func (d *Divider) says(text string, whole bool) (rest, tail string) {
	if d.trim {
		text = strings.TrimLeft(text, space)
	}
	if text == "" {
		return "", ""
	}
	d.trim = false
	if !d.begun {
		if text = d.begins(text); text == "" {
			return "", ""
		}
	}
	if !d.begun && text[0] == '{' {
		d.json = true
	}
	if d.json {
		d.say(text)
		return "", ""
	}
	word, wait := d.bare(text, whole)
	switch {
	case wait:
		return "", text
	case word != nil:
		return d.open(word, text, 0, len(word.Open)), ""
	}
	for i := range len(text) {
		before := d.last
		d.note(text[i])
		if d.fence > 0 || strings.IndexByte("<[\xe2", text[i]) < 0 {
			continue
		}
		m, wait := match(text[i:], marks, whole)
		if m != nil && (before == '"' || before == '\'') {
			end := i + len(m.text)
			wait = end == len(text) && !whole
			if end < len(text) && text[end] == before {
				continue
			}
		}
		if !wait && (m == nil || !d.counts(m, text[:i])) {
			continue
		}
		d.last = before
		switch {
		case wait:
			d.say(text[:i])
			return "", text[i:]
		case m.opens:
			return d.open(m.pair, text, i, len(m.text)), ""
		case m.pair == nil:
			d.say(text[:i])
		default:
			d.recall(text[:i])
			d.close(m.pair)
		}
		return text[i+len(m.text):], ""
	}
	d.say(text)
	return "", ""
}

// begins takes white space off the beginning of the reply, and keeps it until something is said.
func (d *Divider) begins(text string) string {
	begin := strings.TrimLeft(text, space)
	if !d.taken {
		d.blank += text[:len(text)-len(begin)]
	}
	if len(d.blank) > maxBlank { // the reply begins with it
		d.Say(d.blank)
		d.begun, d.blank, d.last = true, "", ' '
	}
	return begin
}

// bare returns the pair whose plain word the reply begins with; nil: none. wait says that it may be one.
func (d *Divider) bare(text string, whole bool) (found *Pair, wait bool) {
	for i := range Pairs {
		p := &Pairs[i]
		n := min(len(p.Open), len(text))
		switch {
		case !p.Bare || d.begun || d.taken || text[:n] != p.Open[:n]:
		case len(text) <= len(p.Open):
			wait = wait || !whole
		case text[n] >= 'A' && text[n] <= 'Z':
			return p, false
		}
	}
	return nil, wait
}

// counts reports whether a mark is one behind a text.
func (d *Divider) counts(m *mark, text string) bool {
	switch {
	case m.pair == nil:
		return d.channel
	case m.opens:
		return true
	}
	return !d.taken || d.nested || !d.begun && text == "" // an end without a beginning
}

// note notes a byte that is said, or that begins a mark.
func (d *Divider) note(c byte) {
	d.last = c
	if c == '`' {
		d.ticks++
		return
	}
	switch {
	case d.ticks == 0:
	case d.fence == 0:
		d.fence = d.ticks
	case d.ticks == d.fence, d.fence >= 3 && d.ticks > d.fence:
		d.fence = 0
	}
	d.ticks = 0
	if c == '\n' && d.fence < 3 { // code within a line
		d.fence = 0
	}
}

// say passes on a text that is said.
func (d *Divider) say(text string) {
	if text == "" {
		return
	}
	d.begun = true
	text, d.blank = d.blank+text, ""
	d.Say(text)
}

// open begins thoughts at a mark of n bytes in a text. It returns the rest.
func (d *Divider) open(p *Pair, text string, at, n int) string {
	d.say(text[:at])
	d.blank = ""
	d.inside, d.marks, d.opened, d.header = p, p.inside(), text[at:at+n], p.Header
	d.early, d.fresh, d.gap = !d.begun, true, ""
	d.channel = d.channel || p.Header != ""
	return text[at+n:]
}

// recall turns what was said into thoughts, with the text that follows it.
func (d *Divider) recall(text string) {
	text = strings.TrimRight(text, space)
	d.fresh = true
	switch {
	case d.begun:
		d.say(text)
		d.Recall()
		d.mused = true
	case text != "":
		d.think(text)
	}
	d.begun, d.nested, d.blank, d.last = false, false, "", 0
}

// close ends thoughts.
func (d *Divider) close(p *Pair) {
	d.inside, d.header, d.taken = nil, p.Header, true
	d.channel = d.channel || p.Header != ""
	d.trim = d.begun && strings.IndexByte(space, d.last) >= 0
}

// thinks takes a text of which the beginning is a thought. It returns the rest after the thoughts, or what cannot be
// placed yet.
func (d *Divider) thinks(text string, whole bool) (rest, tail string) {
	first := d.inside.Close[0][0] // of each of its marks
	for i := range len(text) {
		if text[i] != first {
			continue
		}
		m, wait := match(text[i:], d.marks, whole)
		switch {
		case wait:
			d.muse(text[:i])
			return "", text[i:]
		case m == nil:
		case m.opens:
			d.nested = true
		default:
			d.muse(text[:i])
			if !d.early {
				held := d.held.String()
				d.held.Reset()
				d.early = true
				d.muse(held)
			}
			d.close(d.inside)
			return text[i+len(m.text):], ""
		}
	}
	d.muse(text)
	return "", ""
}

// muse passes on a thought, or holds it back.
func (d *Divider) muse(text string) {
	if !d.early {
		_, _ = d.held.WriteString(text)
		return
	}
	if d.fresh {
		text = strings.TrimLeft(text, space)
	}
	thought := strings.TrimRight(text, space)
	if thought == "" {
		d.gap += text
		return
	}
	d.think(d.gap + thought)
	d.gap = text[len(thought):]
}

// think passes on a thought. Blocks of them are paragraphs.
func (d *Divider) think(text string) {
	if d.fresh && d.mused {
		text = "\n\n" + text
	}
	d.fresh, d.mused = false, true
	d.Think(text)
}
