// Package thought divides the text of a model's reply into what is said and what is thought, for models that write
// their thoughts into the text.
package thought

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Pair is a form in which models write thoughts into a text.
type Pair struct {
	Open  string   // begins the thoughts
	Close []string // each of them ends the thoughts
	// Header ends what stands behind Open and behind Close and is neither a thought nor said; "": nothing stands there.
	Header string
	// Bare means that Open is a plain word, which counts only at the beginning of a text and before a capital letter. Its
	// Close counts only behind it.
	Bare bool
	// Word means that the marks are tags that answers in a markup of their own have too, with another meaning. Open counts
	// only where nothing was said before, and Close only behind it.
	Word bool
}

// Pairs are the forms that are known.
//
// The tags are those that Open WebUI looks for (DEFAULT_REASONING_TAGS, read 2026-11-29) and those of chat templates of
// published models. The channels are those of OpenAI's harmony format, as servers leak them (waybarrios/vllm-mlx#53,
// 2026-02-09). Where its special tokens are dropped, the plain words between them are left.
//
//nolint:gochecknoglobals // read only
var Pairs = []Pair{
	tag("<think>", "</think>"), // DeepSeek, Qwen, GLM and most others
	tag("<thinking>", "</thinking>"),
	word("<thought>", "</thought>"), // Gemini
	word("<reason>", "</reason>"),
	word("<reasoning>", "</reasoning>"),
	tag("<seed:think>", "</seed:think>"),                  // Seed-OSS
	tag("<longcat_think>", "</longcat_think>"),            // LongCat
	tag("[THINK]", "[/THINK]"),                            // Magistral
	tag("◁think▷", "◁/think▷"),                            // Kimi-VL
	tag("<|begin_of_thought|>", "<|end_of_thought|>"),     // Sky-T1, OpenThinker
	tag("<|START_THINKING|>", "<|END_THINKING|>"),         // Command A Reasoning
	tag("<|channel>thought", "<channel|>"),                // Gemma
	{Open: "<|channel|>", Close: finals, Header: message}, // gpt-oss
	{Open: "<|start|>assistant", Close: finals, Header: message},
	{Open: "analysis", Close: []string{"assistantfinal"}, Bare: true},
}

const message = "<|message|>"

// finals begin what gpt-oss says. Ends are what may stand behind it.
//
//nolint:gochecknoglobals // read only
var (
	finals = []string{"<|end|><|start|>assistant<|channel|>final", "<|start|>assistant<|channel|>final", "<|channel|>final"}
	ends   = []string{"<|end|>", "<|return|>", "<|call|>"}
)

func tag(opening, closing string) Pair { return Pair{Open: opening, Close: []string{closing}} }

func word(opening, closing string) Pair {
	return Pair{Open: opening, Close: []string{closing}, Word: true}
}

// Begins reports whether a text begins with a mark. Tags count in any case of their letters.
func Begins(text, mark string) bool { return len(text) >= len(mark) && same(text[:len(mark)], mark) }

// After returns what stands behind the first end of such thoughts in a text. found is false if there is none.
func (p *Pair) After(text string) (rest string, found bool) {
	for i := range len(text) {
		for _, end := range p.Close {
			if !Begins(text[i:], end) {
				continue
			}
			rest = text[i+len(end):]
			if at := strings.Index(rest, p.Header); at >= 0 && at <= maxHeader {
				rest = rest[at+len(p.Header):]
			}
			return rest, true
		}
	}
	return "", false
}

// same compares a mark, or a part of one, with a part of a text that is as long.
func same(text, mark string) bool {
	return text == mark || strings.HasPrefix(mark, "<") && strings.EqualFold(text, mark)
}

// mark is a mark of a pair.
type mark struct {
	text  string
	pair  *Pair // nil: one of ends
	opens bool
}

// marks are all marks that count within what is said.
//
//nolint:gochecknoglobals // read only
var marks = func() []mark {
	var list []mark
	for i := range Pairs {
		p := &Pairs[i]
		if p.Bare {
			continue
		}
		list = append(list, mark{p.Open, p, true})
		for _, text := range p.Close {
			list = append(list, mark{text, p, false})
		}
	}
	for _, text := range ends {
		list = append(list, mark{text: text})
	}
	return list
}()

// firsts are the bytes with which these marks begin.
//
//nolint:gochecknoglobals // read only
var firsts = func() string {
	var list []byte
	for i := range marks {
		if c := marks[i].text[0]; !bytes.Contains(list, []byte{c}) {
			list = append(list, c)
		}
	}
	return string(list)
}()

// inside returns the marks that count within thoughts.
func (p *Pair) inside() []mark {
	var list []mark
	if !p.Bare {
		list = append(list, mark{p.Open, p, true})
	}
	for _, text := range p.Close {
		list = append(list, mark{text, p, false})
	}
	return list
}

// match returns the longest mark with which a text begins; nil: it begins with none. wait says that the text is the
// beginning of a longer one. whole means that nothing follows the text.
func match(text string, list []mark, whole bool) (found *mark, wait bool) {
	for i := range list {
		m := &list[i]
		n := min(len(m.text), len(text))
		switch {
		case !same(text[:n], m.text[:n]):
		case n < len(m.text):
			wait = wait || !whole
		case found == nil || len(found.text) < n:
			found = m
		}
	}
	if wait {
		return nil, true
	}
	return found, false
}

// quotes are pairs of marks between which others are quoted.
//
//nolint:gochecknoglobals // read only
var quotes = func() (list [][2]string) {
	for pair := range strings.FieldsSeq("\"\" '' `` () “” „“ ‘’ ‚‘ «» »« ‹› 「」 『』") {
		_, n := utf8.DecodeRuneInString(pair)
		list = append(list, [2]string{pair[:n], pair[n:]})
	}
	return list
}()

// quoted reports whether a mark is quoted: it stands directly between two quotation marks, or, with open, before one that ends
// a quotation. One that opens and ends quotations ends one if no word follows it. wait says that it depends on what follows
// the text. whole means that nothing does.
func quoted(before, after string, open, whole bool) (is, wait bool) {
	for _, q := range quotes {
		between := strings.HasSuffix(before, q[0])
		rest, found := strings.CutPrefix(after, q[1])
		switch {
		case !between && !open:
		case !found:
			wait = wait || !whole && strings.HasPrefix(q[1], after)
		case between && q[0] != q[1]:
			return true, false
		case rest == "" && !whole:
			wait = true
		case rest == "" || strings.IndexByte(space+".,;:!?)-", rest[0]) >= 0:
			return true, false
		}
	}
	return false, wait
}

// latest returns the end of two texts, as long as a quotation mark may be.
func latest(before, text string) string {
	const longest = len("“")
	if len(text) < longest {
		text = before + text
	}
	return text[max(0, len(text)-longest):]
}
