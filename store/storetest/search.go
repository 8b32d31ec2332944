package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

func searchChecks() []check {
	return []check{
		{"search/in the topic and in turns", searchWhere},
		{"search/nowhere else", searchNowhere},
		{"search/whatever the case of letters", searchCase},
		{"search/every character stands for itself", searchLiteral},
		{"search/what is appended later is found", searchLater},
		{"search/long texts", searchLong},
		{"search/hostile texts", searchHostile},
	}
}

func (x *exam) finds(s store.Store, text, want string) {
	x.Helper()
	x.listed("those that hold "+brief(text), s, store.Filter{Text: text}, strings.Fields(want)...)
}

func searchWhere(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("Cars in cities", nil, flow.StatePaused, "Trains are better", "Trains are slow", "No"))
	x.append(handles[0], "b", 0, "w", debateOf("Trains", nil, flow.StatePaused, "first", "last words"))
	x.append(handles[0], "c", 0, "w", debateOf("Boats", nil, flow.StatePaused))
	for _, s := range handles {
		x.finds(s, "Trains", "a b")
		x.finds(s, "Cars in cities", "a")
		x.finds(s, "rains are slo", "a")
		x.finds(s, "first", "b")
		x.finds(s, "last words", "b")
		x.finds(s, "Boats", "c")
		x.finds(s, "o", "a b c")
		x.finds(s, "Planes", "")
		x.finds(s, "better trains", "")        // across the border of two turns
		x.finds(s, "Trains are better No", "") // all words occur
		x.finds(s, "Trains  are", "")
		x.finds(s, "", "a b c")
	}
}

// searchNowhere has one word in every text except topic and turns.
func searchNowhere(x *exam) {
	s := x.open()
	const word = "needle"
	spend := flow.Spend{Call: word, Model: word}
	start := started(flow.Settings{
		ID: word, Topic: "hay", Labels: map[string]string{word: word}, Participants: []string{word}, Context: word, Summarizer: word,
	})
	first, _ := start.Body.(*flow.Start)
	first.Texts, first.Seed, first.Flow = map[string]string{word: word}, word, word
	first.Config, first.Frozen = flow.Value{Go: config{word}}, flow.Value{Go: config{word}}
	failure := &flow.Error{Kind: provider.KindAPI, Op: word, Participant: word, Err: errors.New(word)}
	log := after(0, start,
		flow.Event{Body: &flow.Transition{To: word, Reason: word, Evidence: word, Failure: failure}},
		flow.Event{Body: &flow.Round{N: 1, Phase: word}},
		flow.Event{Body: &flow.Intent{Call: word, By: word, Model: word}},
		flow.Event{Body: &flow.Turn{
			Spend: spend, Kind: word, Speaker: word, Target: word, Text: "hay", Data: []byte(`{"` + word + `":"` + word + `"}`),
		}},
		flow.Event{Body: &flow.Summarized{Text: word}},
		flow.Event{Body: &own{Text: word}},
		flow.Event{Body: &flow.Foreign{Kind: word, JSON: []byte(`{"text":"` + word + `"}`)}},
		flow.Event{Body: &flow.Rejection{By: word, Text: word, Problems: []string{word}}},
		flow.Event{Body: &flow.Failure{By: word, Error: failure}},
		flow.Event{Body: &flow.Dropped{Participant: word, Reason: word}},
		flow.Event{Body: &flow.Warning{Evidence: word}},
		flow.Event{Body: &flow.Inquiry{ID: word, Question: word}},
		flow.Event{Body: &flow.Answer{Text: word}},
		flow.Event{Body: &flow.Sent{Trigger: word, Payload: []byte(`"` + word + `"`)}},
	)
	x.append(s, word, 0, word, log)
	x.lease(s, word, word, 1<<40)
	x.finds(s, word, "")
	x.finds(s, "hay", word)
	for _, key := range []string{"seq", "kind", "turn", "text", "config", "topic", "speaker", "2026", `"`, "{", ":", ",", "null"} {
		x.finds(s, key, "")
	}
}

func searchCase(x *exam) {
	s := x.open()
	x.append(s, "a", 0, "w", debateOf("ÄRZTE in Zürich", nil, flow.StatePaused, "ΟΔΟΣ und Москва", "300 K und STRASSE"))
	x.append(s, "b", 0, "w", debateOf("ärzte IN zÜRICH", nil, flow.StatePaused, "οδοσ und МОСКВА", "300 K und Straße"))
	x.append(s, "c", 0, "w", debateOf("\u212Aelvin in \u0130stanbul", nil, flow.StatePaused)) // whose small letters are those of ASCII
	x.finds(s, "ärzte", "a b")
	x.finds(s, "ÄRZTE", "a b")
	x.finds(s, "äRZtE iN ZüRiCh", "a b")
	x.finds(s, "zürich", "a b")
	x.finds(s, "zurich", "")
	x.finds(s, "arzte", "")
	x.finds(s, "οδοσ", "a b")
	x.finds(s, "ΟΔΟΣ", "a b")
	x.finds(s, "οδος", "") // the small letter at the end of a word is another one
	x.finds(s, "kelvin", "c")
	x.finds(s, "istanbul", "c")
	x.finds(s, "\u212Aelvin in \u0130stanbul", "c")
	x.finds(s, "мОСКва", "a b")
	x.finds(s, "300 k", "a b")
	x.finds(s, "300 K", "a b")
	x.finds(s, "straße", "b")
	x.finds(s, "strasse", "a")
	x.finds(s, "UND", "a b")
}

func searchLiteral(x *exam) {
	s := x.open()
	for id, text := range map[string]string{
		"a": "100% sure", "b": "100 sure", "c": "snake_case", "d": "snakeXcase", "e": `C:\dir\n`, "f": "C:dirn", "g": `say "no"`, "h": "say 'no'",
		"i": "one\ntwo", "j": "one two", "k": "tab\there", "l": "<b> & </b>", "m": `\u003cb\u003e`, "n": "[abc]*", "o": "a.c", "p": "e\u0301",
		"q": "\u00e9", "r": "one\u2028two", "s": "smile 🙂", "t": "one\r\ntwo", "u": "NEAR OR NOT -x", "v": "/", "w": "wow!",
	} {
		x.append(s, id, 0, "w", debateOf("", nil, flow.StatePaused, text))
	}
	for text, want := range map[string]string{
		"%": "a", "100%": "a", "100": "a b", "0%s": "",
		"_": "c", "e_c": "c", "____": "", `\`: "e m", `\n`: "e", `\dir`: "e", `\\`: "", `\%`: "", `"`: "g",
		`"no"`: "g", "'": "h", "'no'": "h", "''": "", "\n": "i t", "one\ntwo": "i", "one two": "j", "\t": "k", "<b>": "l", "&": "l", "&amp;": "",
		"u003c": "m", `\u003c`: "m", "[abc]": "n", "[": "n", "*": "n", "a.c": "o", "a*c": "", ".": "o", "é": "q", "e\u0301": "p", "\u0301": "p",
		"\u2028": "r", "u2028": "", "🙂": "s", "\r": "t", "\r\n": "t", "or": "u", "near or not -x": "u", "-x": "u", "/": "l v", "?": "", "$1": "",
		"' OR 1=1 --": "", "100% sure\x00": "", ";": "", "\x00": "", "!": "w", "w!": "w", "!!": "", "!_": "",
	} {
		x.finds(s, text, want)
	}
}

func searchLater(x *exam) {
	handles := x.handles(2)
	log := debateOf("topic", nil, flow.StateRunning)
	x.append(handles[0], "a", 0, "w", log)
	x.append(handles[0], "b", 0, "w", log)
	for n := int64(2); n < 8; n++ {
		word := fmt.Sprint("word", n)
		x.finds(handles[0], word, "")
		x.append(handles[n%2], "a", n, "w", after(n, said("a new "+word)))
		x.finds(handles[0], word, "a")
		x.finds(handles[1], word, "a")
	}
	x.finds(handles[0], "WORD2", "a")
	x.remove(handles[1], "a")
	x.finds(handles[0], "word2", "")
	x.finds(handles[0], "topic", "b")
}

func searchLong(x *exam) {
	s := x.open()
	hay := strings.Repeat("hay ", longText()/4)
	x.append(s, "a", 0, "w", debateOf("topic", nil, flow.StatePaused, hay+"NEEDLE"+hay, strings.Repeat("x", 1000)))
	x.append(s, "b", 0, "w", debateOf("topic", nil, flow.StatePaused, hay))
	x.finds(s, "needle", "a")
	x.finds(s, strings.Repeat("x", 1000), "a")
	x.finds(s, strings.Repeat("x", 1001), "")
	x.finds(s, strings.Repeat("hay ", 10_000), "a b")
}

// searchHostile searches for each of the texts as a whole.
func searchHostile(x *exam) {
	s := x.open()
	all := texts()
	for name, text := range all {
		if text != "" {
			id := strings.ReplaceAll(name, " ", "-")
			x.append(s, id+"-topic", 0, "w", debateOf(text, nil, flow.StatePaused))
			x.append(s, id+"-turn", 0, "w", debateOf("topic", nil, flow.StatePaused, text, "neighbour"))
		}
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		got := names(x.list(s, store.Filter{Text: text}))
		id := strings.ReplaceAll(name, " ", "-")
		for _, want := range []string{id + "-topic", id + "-turn"} {
			if !strings.Contains(" "+strings.Join(got, " ")+" ", " "+want+" ") {
				x.Errorf("whoever looks for the text %q does not find it: %s", name, brief(text))
			}
		}
	}
}
