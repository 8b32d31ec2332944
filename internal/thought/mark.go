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

	plain bool // one of those of ofThoughts
}

// pairs are the forms that are known, beside the tags of [ofThoughts].
//
// The tags are those that Open WebUI looks for (DEFAULT_REASONING_TAGS, read 2026-11-29) and those of chat templates of
// published models. The channels are those of OpenAI's harmony format, as servers leak them (waybarrios/vllm-mlx#53,
// 2026-02-09). Where its special tokens are dropped, the plain words between them are left.
//
//nolint:gochecknoglobals // read only
var pairs = []Pair{
	word("<reason>", "</reason>"),
	word("<reasoning>", "</reasoning>"),
	tag("<REASONING_SCRATCHPAD>", "</REASONING_SCRATCHPAD>"),
	tag("<longcat_think>", "</longcat_think>"),
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

// Opened returns the pair with whose beginning a text begins; nil: it begins with none.
func Opened(text string) *Pair {
	if m, _ := match(text, nil, true); m != nil && m.opens {
		return m.pair
	}
	return nil
}

// After returns what stands behind the first end of thoughts in a text: of a pair, or of any if p is nil. found is false if there
// is none.
func After(text string, p *Pair) (rest string, found bool) {
	var list []mark
	if p != nil {
		list = p.inside()
	}
	for i := range len(text) {
		if strings.IndexByte(firsts, text[i]) < 0 {
			continue
		}
		m, _ := match(text[i:], list, true)
		if m == nil || m.pair == nil || m.opens {
			continue
		}
		rest = text[i+len(m.text):]
		if at := strings.Index(rest, m.pair.Header); at >= 0 && at <= maxHeader {
			rest = rest[at+len(m.pair.Header):]
		}
		return rest, true
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

// marks are all marks that count within what is said, beside those of [ofThoughts].
//
//nolint:gochecknoglobals // read only
var marks = func() []mark {
	var list []mark
	for i := range pairs {
		p := &pairs[i]
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

const (
	maxTag        = 24 // bytes of the name of a tag of thoughts
	maxAttributes = 64 // bytes
)

// ofThoughts returns the tag of thoughts with which a text begins: <think> (DeepSeek, Qwen, GLM and most others), <thinking> or
// <thought> (Gemini). Its name may stand in a namespace, as in <seed:think> (Seed-OSS) and <mm:think> (MiniMax M3,
// vllm-project/vllm#45687), and attributes may follow it. nil: the text begins with none. wait is as in match.
func ofThoughts(text string, whole bool) (found *mark, wait bool) {
	rest, begins := strings.CutPrefix(text, "<")
	if !begins {
		return nil, false
	}
	rest, closes := strings.CutPrefix(rest, "/")
	end := strings.IndexFunc(rest, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != ':'
	})
	if end < 0 {
		return nil, !whole && len(rest) <= maxTag
	}
	if end > maxTag {
		return nil, false
	}
	name, rest := strings.ToLower(rest[:end]), rest[end:]
	switch name[strings.LastIndexByte(name, ':')+1:] {
	case "think", "thinking", "thought":
	default:
		return nil, false
	}
	if rest[0] == ' ' && !closes {
		end = strings.IndexAny(rest[:min(len(rest), maxAttributes)], "<>\n")
		if end < 0 {
			return nil, !whole && len(rest) < maxAttributes
		}
		rest = rest[end:]
	}
	if rest[0] != '>' {
		return nil, false
	}
	p := tag("<"+name+">", "</"+name+">")
	p.plain = true
	return &mark{text[:len(text)-len(rest)+1], &p, !closes}, false
}

// match returns the longest mark of a list with which a text begins; nil: it begins with none. Without a list these are all that
// count within what is said. wait says that the text is the beginning of a longer one. whole means that nothing follows the text.
func match(text string, list []mark, whole bool) (found *mark, wait bool) {
	if list == nil {
		if found, wait = ofThoughts(text, whole); found != nil {
			return found, false
		}
		list = marks
	}
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
	for pair := range strings.FieldsSeq("\"\" '' `` () “” „“ ‘’ ‚‘ «» ‹› 「」 『』") {
		_, n := utf8.DecodeRuneInString(pair)
		list = append(list, [2]string{pair[:n], pair[n:]})
	}
	return list
}()

// both are opening marks that end quotations in some languages.
const both = "\"'`«‹"

// quoted reports whether a mark is quoted: it stands directly between two quotation marks, or, with open, before one that ends
// a quotation. Marks that languages use in both directions quote only if no word follows: »ja«</think>»Bäume« are two quotations.
// wait says that it depends on what follows the text. whole means that nothing does.
func quoted(before, after string, open, whole bool) (is, wait bool) {
	for _, q := range quotes {
		between := strings.HasSuffix(before, q[0])
		rest, found := strings.CutPrefix(after, q[1])
		switch {
		case !between && !open:
		case !found:
			wait = wait || !whole && strings.HasPrefix(q[1], after)
		case between && !strings.Contains(both, q[0]):
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
