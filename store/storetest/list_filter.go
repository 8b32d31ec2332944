package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func listStates(x *exam) {
	s := x.open()
	for id, state := range map[string]flow.State{
		"a": flow.StateInitializing, "b": flow.StateRunning, "c": arguing, "d": flow.StatePaused, "e": flow.StateAwaitingInput,
		"f": flow.StateCompleting, "g": flow.StateCompleted, "h": flow.StateCanceled, "i": flow.StateError, "j": "Arguing",
	} {
		x.append(s, id, 0, "w", debateOf("topic", nil, state))
	}
	states := func(want string, states ...flow.State) {
		x.Helper()
		x.listed(fmt.Sprintf("in one of the states %q", states), s, store.Filter{States: states}, strings.Fields(want)...)
	}
	states("a b c d e f g h i j")
	states("c", arguing)
	states("d", flow.StatePaused)
	states("d g i", flow.StateError, flow.StatePaused, flow.StateCompleted)
	states("d", flow.StatePaused, flow.StatePaused, "none")
	states("", "none")
	states("", "argu%", "' OR 1=1 --")
	x.listed("no states are any", s, store.Filter{States: []flow.State{}}, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	x.listed("not over", s, store.Filter{Unfinished: true}, "a", "b", "c", "d", "e", "f", "i", "j")
	x.listed("at work", s, store.Filter{Working: true}, "a", "b", "c", "f", "j")
	x.listed("at work", s, store.Filter{Working: true, Unfinished: true}, "a", "b", "c", "f", "j")
	x.listed("at work and paused", s, store.Filter{Working: true, States: []flow.State{flow.StatePaused}})
	x.listed("not over, in two states", s, store.Filter{
		Unfinished: true, States: []flow.State{flow.StatePaused, flow.StateCompleted},
	}, "d")
	x.append(s, "d", 2, "w", after(2, moved(arguing)))
	states("c d", arguing)
	states("", flow.StatePaused)
}

// listAsking: the questions of a conversation that is over are open no more. One that waits is listed though its log says nothing of them,
// as those of earlier releases do.
func listAsking(x *exam) {
	handles := x.handles(2)
	asks := func(open int, since time.Time) flow.Event {
		return flow.Event{Body: &flow.Questions{Open: open, Since: since}}
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		x.append(handles[0], id, 0, "w", debateOf("topic", nil, arguing, "text"))
	}
	x.append(handles[0], "e", 3, "w", after(3, changed(arguing, flow.StateAwaitingInput)))
	x.append(handles[0], "b", 3, "w", after(3, asks(2, moment(1)), changed(arguing, flow.StateAwaitingInput)))
	x.append(handles[1], "c", 3, "w", after(3, asks(1, moment(3)), asks(3, moment(2)), said("text")))
	x.append(handles[1], "d", 3, "w", after(3, asks(1, moment(3))))
	asking := func(want ...string) {
		x.Helper()
		for _, s := range handles {
			var got []string
			for _, info := range x.list(s, store.Filter{Asking: true}) {
				got = append(got, fmt.Sprint(info.ID, " asks ", info.Asks, " since ", info.AskedAt.UTC().Format(time.RFC3339Nano)))
			}
			if what := unlike(got, want); what != "" {
				x.Errorf("List tells something else of open questions: %s", what)
			}
		}
	}
	line := func(id string, open int, since time.Time) string {
		return fmt.Sprint(id, " asks ", open, " since ", since.Format(time.RFC3339Nano))
	}
	waits := line("e", 0, time.Time{})
	asking(line("b", 2, moment(1)), line("c", 3, moment(2)), line("d", 1, moment(3)), waits)
	x.append(handles[0], "b", 5, "w", after(5, changed(flow.StateAwaitingInput, arguing), asks(0, time.Time{})))
	x.append(handles[1], "c", 6, "w", after(6, changed(arguing, flow.StateCanceled)))
	x.append(handles[0], "d", 4, "w", after(4, said("text")))
	asking(line("d", 1, moment(3)), waits)
	x.listed("asking and at work", handles[1], store.Filter{Asking: true, Working: true}, "d")
	x.listed("asking and over", handles[1], store.Filter{Asking: true, States: []flow.State{flow.StateCanceled}})
}

func listLabels(x *exam) {
	s := x.open()
	const label = "long"
	long := strings.Repeat("é", 5000) // an index may have room for its beginning alone
	for id, labels := range map[string]map[string]string{
		"a": {tenant: blue, "trace": "1"},
		"b": {tenant: "Blue"},
		"c": {tenant: ""},
		"d": nil,
		"e": {"Tenant": blue},
		"f": {"a.b": "1", "a": "2"},
		"g": {`q"u'o\te`: `v"a'l\ue`, "100%": "_", "": "empty key"},
		"h": {"ключ 🙂": "значение\n\t", "$": "$.a", "a[0]": "x", "\u2028": "\x00"},
		"i": {tenant: "blue ", "other": blue},
		"j": {"b\x00c": "d"},
		"k": {"b": "\x00c"},
		"l": {`b","c`: "d"},
		"m": {"b": `","c`},
		"n": {label: long + "1"},
		"o": {label: long + "2"},
		"p": {label: long},
	} {
		x.append(s, id, 0, "w", debateOf("topic", labels, flow.StatePaused))
	}
	for _, c := range []struct {
		labels map[string]string
		want   string
	}{
		{map[string]string{}, "a b c d e f g h i j k l m n o p"},
		{map[string]string{tenant: blue}, "a"},
		{map[string]string{tenant: blue, "trace": "1"}, "a"},
		{map[string]string{tenant: blue, "trace": "2"}, ""},
		{map[string]string{tenant: blue, "none": ""}, ""},
		{map[string]string{tenant: ""}, "c"},
		{map[string]string{"none": ""}, ""},
		{map[string]string{tenant: "b%"}, ""},
		{map[string]string{tenant: "blu_"}, ""},
		{map[string]string{tenant: "*"}, ""},
		{map[string]string{"TENANT": blue}, ""},
		{map[string]string{"Tenant": blue}, "e"},
		{map[string]string{"a.b": "1"}, "f"},
		{map[string]string{"a": "2"}, "f"},
		{map[string]string{"a.b": "1", "a": "2"}, "f"},
		{map[string]string{"a": "1"}, ""},
		{map[string]string{`q"u'o\te`: `v"a'l\ue`}, "g"},
		{map[string]string{"100%": "_"}, "g"},
		{map[string]string{"": "empty key"}, "g"},
		{map[string]string{"": ""}, ""},
		{map[string]string{"ключ 🙂": "значение\n\t"}, "h"},
		{map[string]string{"$": "$.a", "a[0]": "x"}, "h"},
		{map[string]string{"\u2028": "\x00"}, "h"},
		{map[string]string{tenant: "blue "}, "i"},
		{map[string]string{"' OR '1'='1": "' OR '1'='1"}, ""},
		{map[string]string{"b\x00c": "d"}, "j"},
		{map[string]string{"b": "\x00c"}, "k"},
		{map[string]string{`b","c`: "d"}, "l"},
		{map[string]string{"b": `","c`}, "m"},
		{map[string]string{label: long + "1"}, "n"},
		{map[string]string{label: long + "2"}, "o"},
		{map[string]string{label: long}, "p"},
		{map[string]string{label: long + "3"}, ""},
	} {
		x.listed(fmt.Sprintf("with the labels %.100q", c.labels), s, store.Filter{Labels: c.labels}, strings.Fields(c.want)...)
	}
}

// listTimes has conversations one nanosecond apart.
func listTimes(x *exam) {
	s := x.open()
	begin := time.Date(2026, time.May, 1, 12, 0, 0, 999_999_998, time.UTC)
	for i, id := range []string{"a", "b", "c", "d", "e"} {
		log := debateOf("topic", nil, flow.StatePaused)
		log[0].At = begin.Add(time.Duration(i))
		log[1].At = begin.Add(time.Hour) // the time of the start counts
		x.append(s, id, 0, "w", log)
	}
	span := func(why string, from, until time.Time, want string) {
		x.Helper()
		x.listed(why, s, store.Filter{From: from, Until: until}, strings.Fields(want)...)
	}
	var open time.Time
	at := func(n int) time.Time { return begin.Add(time.Duration(n)) }
	span("from the second on", at(1), open, "b c d e")
	span("until before the second", open, at(1), "a")
	span("from the second until before the fourth", at(1), at(3), "b c")
	span("nothing begins in no time", at(2), at(2), "")
	span("the other way round", at(3), at(1), "")
	span("before all", open, at(0), "")
	span("after all", at(5), open, "")
	span("long before", at(0).AddDate(-3000, 0, 0), at(0).AddDate(4000, 0, 0), "a b c d e")
	zone := time.FixedZone("", -7*3600)
	span("in another zone", at(1).In(zone), at(3).In(zone), "b c")
}

func listFarTimes(x *exam) {
	s := x.open()
	all := times()
	var want []store.Info
	for i, at := range all {
		log := debateOf("topic", nil, flow.StatePaused)
		log[0].At, log[1].At = at, at
		id := fmt.Sprintf("t%02d", i)
		x.append(s, id, 0, "w", log)
		want = append(want, describe(id, "", log))
	}
	x.infos(x.open(), store.Filter{}, want...)
	for _, bound := range all {
		if bound.IsZero() {
			continue // no bound
		}
		var from, until []string
		for i := range want {
			if want[i].StartedAt.Before(bound) {
				until = append(until, want[i].ID)
			} else {
				from = append(from, want[i].ID)
			}
		}
		x.listed(fmt.Sprintf("from %v on", bound), s, store.Filter{From: bound}, from...)
		x.listed(fmt.Sprintf("until before %v", bound), s, store.Filter{Until: bound}, until...)
	}
}

func listIdle(x *exam) {
	handles := x.handles(2)
	for _, id := range []string{"a", "b", "c"} {
		x.append(handles[0], id, 0, "w", debateOf("topic", nil, arguing))
	}
	x.lease(handles[0], "b", "me", time.Hour)
	x.lease(handles[1], "c", "you", time.Hour)
	x.release(handles[1], "c", "you")
	for _, s := range handles {
		x.listed("whoever holds them", s, store.Filter{}, "a", "b", "c")
		x.listed("nobody holds them", s, store.Filter{Idle: true}, "a", "c")
		x.listed("a worker's next", s, store.Filter{Idle: true, Working: true, Limit: 1}, "a")
		x.listed("a worker's next", s, store.Filter{Idle: true, Working: true, Limit: 1, After: "a"}, "c")
	}
}

// listTogether has conversations that each miss one condition.
func listTogether(x *exam) {
	s := x.open()
	const word = "a word"
	labels := map[string]string{tenant: blue}
	begin := moment(1)
	for i, c := range []struct {
		id     string
		labels map[string]string
		state  flow.State
		text   string
		day    int
		held   bool
	}{
		{"a", labels, arguing, word, 0, false},
		{"b", nil, arguing, word, 0, false},
		{"c", labels, "rebutting", word, 0, false},
		{"d", labels, flow.StatePaused, word, 0, false},
		{"e", labels, arguing, "another", 0, false},
		{"f", labels, arguing, word, -1, false},
		{"g", labels, arguing, word, 1, false},
		{"h", labels, arguing, word, 0, true},
		{"i", labels, arguing, word, 0, false},
		{"j", labels, arguing, word, 0, false},
	} {
		log := debateOf("topic", c.labels, c.state, c.text)
		for n := range log {
			log[n].At = begin.AddDate(0, 0, c.day).Add(time.Duration(i))
		}
		x.append(s, c.id, 0, "w", log)
		if c.held {
			x.lease(s, c.id, "me", time.Hour)
		}
	}
	filter := store.Filter{
		States: []flow.State{arguing, flow.StatePaused}, Labels: labels, Unfinished: true, Working: true, Idle: true,
		From: begin, Until: begin.AddDate(0, 0, 1), Text: "WORD",
	}
	x.listed("all conditions", s, filter, "a", "i", "j")
	filter.Limit = 2
	x.listed("all conditions, two", s, filter, "a", "i")
	filter.After = "a"
	x.listed("all conditions, behind a", s, filter, "i", "j")
	filter.Newest, filter.After = true, "j"
	x.listed("all conditions, newest first behind j", s, filter, "i", "a")
}
