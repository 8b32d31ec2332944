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
//   - what stands in code, or directly between two quotation marks
//   - what stands in a text that begins like JSON: an object, or a list of objects or texts
//   - a beginning after which no end comes, unless nothing was said before it, or the reply was cut
//   - an end without a beginning that stands at the end of a quotation, and a second one
//   - a tag that answers may have too ([Pair.Word]), unless the reply begins with it
//
// The tags of [ofThoughts] end one another, unless an end of the same name follows: gateways write the beginning, and models the end.
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
	code   code   // of what is said
	last   string // the end of what was said
	header string // what ends the header that comes; "": none does

	inside *Pair           // nil: what comes is said
	marks  []mark          // that count within it
	opened string          // its beginning, as it came
	held   strings.Builder // a block behind something that was said, which is no block unless it ends; or what follows other
	early  bool            // it is none of these: its thoughts are passed on at once
	other  int             // bytes of the end of another tag, which held begins with; 0: none
	fresh  bool            // none of its thoughts has come yet
	gap    strings.Builder // white space at the end of its thoughts
	before string          // the end of its thoughts

	taken   bool // thoughts have ended
	nested  bool // a beginning stood within thoughts
	mused   bool // thoughts were passed on
	channel bool // the text is in channels
}

// Next takes the next piece.
func (d *Divider) Next(piece string) { d.take(d.tail+piece, false) }

// End passes on what is held back. The text is over. cut says that the model could not finish it.
func (d *Divider) End(cut bool) {
	d.take(d.tail, true)
	if d.other > 0 {
		d.settle()
	}
	switch {
	case d.inside == nil || d.early:
	case cut:
		d.release()
	default:
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
		begin, word, wait := d.begins(text, whole)
		switch {
		case wait:
			return "", begin
		case word != nil:
			return d.open(word, begin, 0, len(word.Open)), ""
		}
		text = begin
	}
	if d.json {
		d.say(text)
		return "", ""
	}
	for i := range len(text) {
		d.code.note(text[i])
		if d.code.within() || strings.IndexByte(firsts, text[i]) < 0 {
			continue
		}
		m, wait := d.mark(text, i, whole)
		if wait {
			d.say(text[:i])
			return "", text[i:]
		}
		if m != nil {
			return d.turn(m, text, i), ""
		}
	}
	d.say(text)
	return "", ""
}

// mark returns the mark that counts at a place of a text that is said; nil: there is none. wait says that there may be one.
func (d *Divider) mark(text string, at int, whole bool) (found *mark, wait bool) {
	m, wait := match(text[at:], nil, whole)
	switch {
	case m == nil:
		return nil, wait
	case !d.counts(m, text[:at]):
		return nil, false
	}
	lone := m.pair != nil && !m.opens
	is, wait := quoted(latest(d.last, text[:at]), text[at+len(m.text):], lone, whole)
	if is || wait {
		return nil, wait
	}
	return m, false
}

// turn does what a mark at a place of a text says. It returns the rest behind it.
func (d *Divider) turn(m *mark, text string, at int) string {
	switch {
	case m.opens:
		return d.open(m.pair, text, at, len(m.text))
	case m.pair == nil:
		d.say(text[:at])
	default:
		d.recall(text[:at])
		d.close(m.pair)
	}
	return text[at+len(m.text):]
}

// begins takes white space off the beginning of the reply, and keeps it until something is said. It finds what the rest
// begins with: JSON, or a plain word. wait says that this depends on what follows.
func (d *Divider) begins(text string, whole bool) (begin string, word *Pair, wait bool) {
	begin = strings.TrimLeft(text, space)
	if !d.taken {
		d.blank += text[:len(text)-len(begin)]
	}
	if len(d.blank) > maxBlank { // the reply begins with it
		d.Say(d.blank)
		d.begun, d.blank, d.last = true, "", " "
	}
	if begin == "" || d.begun {
		return begin, nil, false
	}
	if d.json, wait = isJSON(begin, whole); d.json || wait {
		return begin, nil, wait
	}
	word, wait = d.bare(begin, whole)
	return begin, word, wait
}

// isJSON reports whether a text begins like a JSON object, or like a list of objects or texts. wait says that it may.
func isJSON(text string, whole bool) (is, wait bool) {
	if text[0] != '[' {
		return text[0] == '{', false
	}
	inside := strings.TrimLeft(text[1:], space)
	if inside == "" {
		return false, !whole && len(text) < maxBlank
	}
	return inside[0] == '{' || inside[0] == '"', false
}

// bare returns the pair whose plain word the reply begins with; nil: none. wait says that it may be one.
func (d *Divider) bare(text string, whole bool) (found *Pair, wait bool) {
	for i := range pairs {
		p := &pairs[i]
		n := min(len(p.Open), len(text))
		switch {
		case !p.Bare || d.taken || text[:n] != p.Open[:n]:
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
	first := !d.begun && text == ""
	switch {
	case m.pair == nil:
		return d.channel
	case m.opens:
		return !m.pair.Word || first
	case m.pair.Word:
		return false
	}
	return !d.taken || d.nested || first // an end without a beginning
}

// say passes on a text that is said.
func (d *Divider) say(text string) {
	if text == "" {
		return
	}
	d.begun, d.last = true, latest(d.last, text)
	text, d.blank = d.blank+text, ""
	d.Say(text)
}

// open begins thoughts at a mark of n bytes in a text. It returns the rest.
func (d *Divider) open(p *Pair, text string, at, n int) string {
	d.say(text[:at])
	d.blank = ""
	d.inside, d.marks, d.opened, d.header = p, p.inside(), text[at:at+n], p.Header
	d.early, d.fresh, d.before = !d.begun, true, ""
	d.gap.Reset()
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
	d.begun, d.nested, d.blank, d.last = false, false, "", ""
}

// close ends thoughts.
func (d *Divider) close(p *Pair) {
	d.inside, d.other, d.header, d.taken = nil, 0, p.Header, true
	d.channel = d.channel || p.Header != ""
	d.trim = d.begun && strings.IndexByte(space, d.last[len(d.last)-1]) >= 0
	d.code = code{words: d.begun && !d.trim}
}

// thinks takes a text of which the beginning is a thought. It returns the rest after the thoughts, or what cannot be
// placed yet.
func (d *Divider) thinks(text string, whole bool) (rest, tail string) {
	first := d.inside.Close[0][0] // of each of its marks
	for i := range len(text) {
		if text[i] != first {
			continue
		}
		m, wait := d.within(text[i:], whole)
		before := latest(d.before, text[:i])
		if m != nil {
			var is bool
			if is, wait = quoted(before, text[i+len(m.text):], false, whole); is {
				continue
			}
		}
		own := m != nil && m.pair.Open == d.inside.Open
		switch {
		case wait:
			d.muse(text[:i])
			return "", text[i:]
		case m == nil:
		case m.opens && d.other > 0:
			d.muse(text[:i])
			d.settle()
			return text[i:], ""
		case m.opens: // behind what was said, a thought may mention it
			d.nested = d.nested || own && (d.early || before == "" || before[len(before)-1] == '\n')
		case !own:
			d.muse(text[:i])
			d.doubt(text[i : i+len(m.text)])
			return text[i+len(m.text):], ""
		default:
			d.muse(text[:i])
			d.release()
			d.close(d.inside)
			return text[i+len(m.text):], ""
		}
	}
	d.muse(text)
	return "", ""
}

// within returns the mark of thoughts with which a text within them begins; nil: it begins with none. wait is as in match.
func (d *Divider) within(text string, whole bool) (found *mark, wait bool) {
	if d.inside.plain {
		return ofThoughts(text, whole)
	}
	return match(text, d.marks, whole)
}

// doubt notes the end of another tag. What came before it is a thought. What follows is held back: it is one too if the own end of
// the thoughts comes.
func (d *Divider) doubt(end string) {
	d.release()
	d.early, d.other, d.before = false, len(end), latest("", end)
	_, _ = d.held.WriteString(end)
}

// settle ends thoughts at the end of another tag, and says what was held back behind it.
func (d *Divider) settle() {
	held := d.held.String()[d.other:]
	d.held.Reset()
	d.close(d.inside)
	d.take(held, true)
}

// release passes on the thoughts that were held back: they are some.
func (d *Divider) release() {
	if d.early {
		return
	}
	held := d.held.String()
	d.held.Reset()
	d.early, d.other = true, 0
	d.muse(held)
}

// muse passes on a thought, or holds it back.
func (d *Divider) muse(text string) {
	d.before = latest(d.before, text)
	if !d.early {
		_, _ = d.held.WriteString(text)
		return
	}
	if d.fresh {
		text = strings.TrimLeft(text, space)
	}
	thought := strings.TrimRight(text, space)
	if thought != "" {
		gap := d.gap.String()
		d.gap.Reset()
		d.think(gap + thought)
	}
	_, _ = d.gap.WriteString(text[len(thought):])
}

// think passes on a thought. Blocks of them are paragraphs.
func (d *Divider) think(text string) {
	if d.fresh && d.mused {
		text = "\n\n" + text
	}
	d.fresh, d.mused = false, true
	d.Think(text)
}
