package wire

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/provider"
)

const (
	maxReplyID = 512 // bytes of a reply's id
	maxCost    = 1e4 // USD; what a vendor says beyond it is no price of one reply
)

// thoughts collects the text of a model's thoughts.
type thoughts struct {
	shown  strings.Builder
	stream *redact.Stream
	came   bool // some text has come
	apart  bool // the next piece begins a paragraph
	said   soFar
	joiner joiner

	field   strings.Builder // since the paragraph began, without the thoughts in the text
	echoed  int             // bytes of field that the text has repeated
	echo    string          // a beginning of thoughts in the text that may be no repetition
	differs bool            // thoughts in the text are no repetition
}

// Think adds a piece of the text of the model's thoughts and passes it to emit as a chunk of its own kind. Hide drops it.
// Like the text of the reply, it shows no key, and may come as all of the thoughts so far with each piece ([Reply.Say]). It is
// never part of the reply's text.
func (r *Reply) Think(text string) {
	r.thinkInField(r.thoughts.joiner.next(r.thoughts.said.next(text)))
}

// ThinkTagged is Think for a field of thoughts in which some servers leave the marks that the model has put around them. It
// drops these. ThinkTagged returns what was new, as [Reply.Say] does.
func (r *Reply) ThinkTagged(text string) string {
	text = r.thoughts.said.next(text)
	r.tagged.Next(r.thoughts.joiner.next(text))
	return text
}

func (r *Reply) think(text string) {
	if r.Hide || text == "" {
		return
	}
	if r.thoughts.apart && r.thoughts.came {
		text = "\n\n" + text
	}
	r.thoughts.came, r.thoughts.apart = true, false
	if r.thoughts.stream == nil {
		r.thoughts.stream = redact.NewStream(r.exchange.secrets.reply())
	}
	r.muse(r.thoughts.stream.Next(text))
}

// thinkInField adds a thought of the field, or what a mark within it leaves.
func (r *Reply) thinkInField(text string) {
	r.thoughts.field.WriteString(text)
	r.think(text)
}

// thinkAloud adds a thought that the model has written into its text, unless it repeats those of the field: some servers send both
// (can1357/oh-my-pi#2434). A few words may be the same by chance, so they are held back until more are. What differs once is no
// repetition any more.
func (r *Reply) thinkAloud(text string) {
	t := &r.thoughts
	if !t.differs {
		field, words := t.field.String(), strings.TrimSpace(text)
		left := strings.TrimLeft(field[t.echoed:], " \r\n\t")
		if strings.HasPrefix(left, words) {
			t.echoed = len(field) - len(left) + len(words)
			if t.echo += text; t.echoed >= longest {
				t.echo = ""
			}
			return
		}
		t.differs = true
	}
	text, t.echo = t.echo+text, ""
	r.think(text)
}

// ThinkApart begins a new paragraph of thoughts: the next piece is divided from earlier ones by a blank line.
func (r *Reply) ThinkApart() {
	r.think(r.thoughts.end())
	r.thoughts.apart = true
}

// end returns what is held of the thoughts of the field so far. What comes next are others.
func (t *thoughts) end() string {
	t.field.Reset()
	t.echoed, t.echo, t.differs = 0, "", false
	return t.joiner.next(t.said.end())
}

// recall makes a thought of the text so far. Chunks have shown it as the reply's text, and a chunk takes it back.
func (r *Reply) recall() {
	r.pass(r.stream.End())
	text := r.text.String()
	r.text.Reset()
	if text == "" {
		return
	}
	if r.Hide {
		r.emit(provider.Chunk{Reasoning: true, Recall: true})
		return
	}
	if r.thoughts.stream == nil {
		r.thoughts.stream = redact.NewStream(r.exchange.secrets.reply())
	}
	r.muse(r.thoughts.stream.End())
	if r.thoughts.came {
		text = "\n\n" + text
	}
	r.thoughts.came, r.thoughts.apart = true, false
	r.thoughts.shown.WriteString(text)
	r.emit(provider.Chunk{Text: text, Reasoning: true, Recall: true})
}

// muse passes thoughts to emit.
func (r *Reply) muse(text string) {
	if text == "" {
		return
	}
	r.thoughts.shown.WriteString(text)
	r.emit(provider.Chunk{Text: text, Reasoning: true})
}

// reasoning returns the text of all thoughts. It passes to emit what was held back.
func (r *Reply) reasoning() string {
	r.tagged.Next(r.thoughts.end())
	r.tagged.End(false)
	r.think(r.thoughts.joiner.end())
	if r.thoughts.stream != nil {
		r.muse(r.thoughts.stream.End())
	}
	return r.thoughts.shown.String()
}

// Charge notes what the vendor itself says that the request costs, in USD; the last call counts. A number that cannot be
// a price (not a number, negative, above 10,000) says nothing.
func (r *Reply) Charge(usd float64) {
	r.cost = nil
	if !math.IsNaN(usd) && usd >= 0 && usd <= maxCost {
		r.cost = &usd
	}
}

// replyID returns the id of the reply, "" if it is none that can be kept.
func (r *Reply) replyID() string {
	id := r.ID
	if len(id) > maxReplyID || !utf8.ValidString(id) || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return ""
	}
	return r.exchange.Redact(id)
}

// described adds to a response what the vendor says of the reply.
func (r *Reply) described(to provider.Response) *provider.Response {
	to.ID, to.Model, to.Usage, to.Cost = r.replyID(), r.exchange.Redact(r.Model), r.Usage, r.cost
	return &to
}
