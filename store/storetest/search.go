package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
	storepkg "github.com/agonist-dev/debate/store"
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

func (x *exam) finds(store storepkg.Store, text, want string) {
	x.Helper()
	x.listed("those that hold "+brief(text), store, storepkg.Filter{Text: text}, strings.Fields(want)...)
}

func searchWhere(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("Cars in cities", nil, flow.StatePaused, "Trains are better", "Trains are slow", "No"))
	x.append(handles[0], "b", 0, "w", debateOf("Trains", nil, flow.StatePaused, "first", "last words"))
	x.append(handles[0], "c", 0, "w", debateOf("Boats", nil, flow.StatePaused))
	for _, store := range handles {
		x.finds(store, "Trains", "a b")
		x.finds(store, "Cars in cities", "a")
		x.finds(store, "rains are slo", "a")
		x.finds(store, "first", "b")
		x.finds(store, "last words", "b")
		x.finds(store, "Boats", "c")
		x.finds(store, "o", "a b c")
		x.finds(store, "Planes", "")
		x.finds(store, "better trains", "")        // across the border of two turns
		x.finds(store, "Trains are better No", "") // all words occur
		x.finds(store, "Trains  are", "")
		x.finds(store, "", "a b c")
	}
}

// searchNowhere has one word in every text except topic and turns.
func searchNowhere(x *exam) {
	store := x.open()
	const word = "needle"
	spend := flow.Spend{Call: word, Model: word}
	start := started(flow.Terms{
		ID: word, Topic: "hay", Labels: map[string]string{word: word}, Participants: []string{word}, Context: word, Summarizer: word,
	})
	first, _ := start.Body.(*flow.Start)
	first.Texts, first.Seed, first.Flow = map[string]string{word: word}, word, word
	first.Config, first.Frozen = flow.Value{Go: config{word}}, flow.Value{Go: config{word}}
	failure := &flow.Error{Kind: flow.KindAPI, Op: word, Participant: word, Err: errors.New(word)}
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
	x.append(store, word, 0, word, log)
	x.lease(store, word, word, 1<<40)
	x.finds(store, word, "")
	x.finds(store, "hay", word)
	for _, key := range []string{"seq", "kind", "turn", "text", "config", "topic", "speaker", "2026", `"`, "{", ":", ",", "null"} {
		x.finds(store, key, "")
	}
}

func searchCase(x *exam) {
	store := x.open()
	x.append(store, "a", 0, "w", debateOf("ÄRZTE in Zürich", nil, flow.StatePaused, "ΟΔΟΣ und Москва", "300 K und STRASSE"))
	x.append(store, "b", 0, "w", debateOf("ärzte IN zÜRICH", nil, flow.StatePaused, "οδοσ und МОСКВА", "300 K und Straße"))
	x.finds(store, "ärzte", "a b")
	x.finds(store, "ÄRZTE", "a b")
	x.finds(store, "äRZtE iN ZüRiCh", "a b")
	x.finds(store, "zürich", "a b")
	x.finds(store, "zurich", "")
	x.finds(store, "arzte", "")
	x.finds(store, "οδοσ", "a b")
	x.finds(store, "ΟΔΟΣ", "a b")
	x.finds(store, "мОСКва", "a b")
	x.finds(store, "300 k", "a b")
	x.finds(store, "300 K", "a b")
	x.finds(store, "straße", "b")
	x.finds(store, "strasse", "a")
	x.finds(store, "UND", "a b")
}

func searchLiteral(x *exam) {
	store := x.open()
	for id, text := range map[string]string{
		"a": "100% sure", "b": "100 sure", "c": "snake_case", "d": "snakeXcase", "e": `C:\dir\n`, "f": "C:dirn", "g": `say "no"`, "h": "say 'no'",
		"i": "one\ntwo", "j": "one two", "k": "tab\there", "l": "<b> & </b>", "m": `\u003cb\u003e`, "n": "[abc]*", "o": "a.c", "p": "e\u0301",
		"q": "\u00e9", "r": "one\u2028two", "s": "smile 🙂", "t": "one\r\ntwo", "u": "NEAR OR NOT -x", "v": "/",
	} {
		x.append(store, id, 0, "w", debateOf("", nil, flow.StatePaused, text))
	}
	for text, want := range map[string]string{
		"%": "a", "100%": "a", "100": "a b", "0%s": "",
		"_": "c", "e_c": "c", "____": "", `\`: "e m", `\n`: "e", `\dir`: "e", `\\`: "", `\%`: "", `"`: "g",
		`"no"`: "g", "'": "h", "'no'": "h", "''": "", "\n": "i t", "one\ntwo": "i", "one two": "j", "\t": "k", "<b>": "l", "&": "l", "&amp;": "",
		"u003c": "m", `\u003c`: "m", "[abc]": "n", "[": "n", "*": "n", "a.c": "o", "a*c": "", ".": "o", "é": "q", "e\u0301": "p", "\u0301": "p",
		"\u2028": "r", "u2028": "", "🙂": "s", "\r": "t", "\r\n": "t", "or": "u", "near or not -x": "u", "-x": "u", "/": "l v", "?": "", "$1": "",
		"' OR 1=1 --": "", "100% sure\x00": "", ";": "", "\x00": "",
	} {
		x.finds(store, text, want)
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
	store := x.open()
	hay := strings.Repeat("hay ", 300_000)
	x.append(store, "a", 0, "w", debateOf("topic", nil, flow.StatePaused, hay+"NEEDLE"+hay, strings.Repeat("x", 1000)))
	x.append(store, "b", 0, "w", debateOf("topic", nil, flow.StatePaused, hay))
	x.finds(store, "needle", "a")
	x.finds(store, strings.Repeat("x", 1000), "a")
	x.finds(store, strings.Repeat("x", 1001), "")
	x.finds(store, strings.Repeat("hay ", 10_000), "a b")
}

// searchHostile searches for each of the texts as a whole.
func searchHostile(x *exam) {
	store := x.open()
	all := texts()
	for name, text := range all {
		if text != "" {
			id := strings.ReplaceAll(name, " ", "-")
			x.append(store, id+"-topic", 0, "w", debateOf(text, nil, flow.StatePaused))
			x.append(store, id+"-turn", 0, "w", debateOf("topic", nil, flow.StatePaused, text, "neighbour"))
		}
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		got := names(x.list(store, storepkg.Filter{Text: text}))
		id := strings.ReplaceAll(name, " ", "-")
		for _, want := range []string{id + "-topic", id + "-turn"} {
			if !strings.Contains(" "+strings.Join(got, " ")+" ", " "+want+" ") {
				x.Errorf("whoever looks for the text %q does not find it: %s", name, brief(text))
			}
		}
	}
}
