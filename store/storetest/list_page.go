package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// mixed returns ids that would be out of order by any order but that of bytes.
func mixed() []string {
	return []string{"-", "0", "1", "10", "2", "A", "B", "Z", "_", "a", "a-", "a-b", "a.c", "a0", "aB", "a_b", "aa", "ab", "b"}
}

func listOrder(x *exam) {
	s := x.open()
	ids := mixed()
	for i := range ids {
		id := ids[(7*i+3)%len(ids)]
		x.append(s, id, 0, "w", some(0, 1, id))
	}
	x.listed("in the order of bytes", s, store.Filter{}, ids...)
	slices.Reverse(ids)
	x.listed("the other way round", s, store.Filter{Newest: true}, ids...)
}

func listAfter(x *exam) {
	s := x.open()
	ids := mixed()
	for _, id := range ids {
		x.append(s, id, 0, "w", some(0, 1, id))
	}
	cursors := append(mixed(), "!", "+", "/", "5", "C", "a-a", "a/", "zz", "~", "é", "\xff", "a' OR '1'='1", "%", "a\x00")
	for _, cursor := range append(cursors, strings.Repeat("a", 1000)) {
		var before, behind []string
		for _, id := range ids {
			switch {
			case id < cursor:
				before = append(before, id)
			case id > cursor:
				behind = append(behind, id)
			}
		}
		slices.Reverse(before)
		why := "after " + brief(cursor)
		x.listed(why, s, store.Filter{After: cursor}, behind...)
		x.listed(why+", newest first", s, store.Filter{After: cursor, Newest: true}, before...)
		x.listed(why+", two", s, store.Filter{After: cursor, Limit: 2}, behind[:min(2, len(behind))]...)
	}
}

func listLimit(x *exam) {
	s := x.open()
	ids := []string{"a", "b", "c", "d", "e"}
	for i, id := range ids {
		state := flow.StatePaused
		if i%2 == 1 {
			state = flow.StateCompleted
		}
		x.append(s, id, 0, "w", debateOf("topic "+id, nil, state, "text"))
	}
	for limit := 1; limit < 7; limit++ {
		x.listed(fmt.Sprint("at most ", limit), s, store.Filter{Limit: limit}, ids[:min(limit, 5)]...)
	}
	x.listed("at most none is all", s, store.Filter{Limit: 0}, ids...)
	x.listed("the newest two", s, store.Filter{Newest: true, Limit: 2}, "e", "d")
	x.listed("what does not match does not count", s, store.Filter{Limit: 2, States: []flow.State{flow.StateCompleted}}, "b", "d")
	x.listed("what has not the text does not count", s, store.Filter{Limit: 1, Text: "topic d"}, "d")
	x.listed("all have the text", s, store.Filter{Limit: 2, Text: "text"}, "a", "b")
	x.listed("more than there are", s, store.Filter{Limit: 1 << 30}, ids...)
}

func listEach(x *exam) {
	s := x.open()
	red, other := map[string]string{tenant: "red"}, map[string]string{tenant: blue}
	for id, labels := range map[string]map[string]string{"a": red, "b": red, "c": other, "d": red, "e": other, "f": nil, "g": nil, "h": red} {
		state := flow.StatePaused
		if id == "a" || id == "e" {
			state = arguing
		}
		x.append(s, id, 0, "w", debateOf("topic "+id, labels, state))
	}
	each := func(filter store.Filter, want string) {
		x.Helper()
		filter.Per = tenant
		x.listed(fmt.Sprintf("of each tenant, with %+v", filter), s, filter, strings.Fields(want)...)
	}
	each(store.Filter{Each: 1}, "a c f")
	each(store.Filter{Each: 2}, "a b c e f g")
	each(store.Filter{Each: 3}, "a b c d e f g")
	each(store.Filter{Each: 100}, "a b c d e f g h")
	each(store.Filter{}, "a b c d e f g h")
	each(store.Filter{Each: 1, Newest: true}, "h g e")
	each(store.Filter{Each: 2, Limit: 3}, "a b c")
	each(store.Filter{Each: 1, After: "a"}, "b c f")
	each(store.Filter{Each: 1, After: "e", Newest: true}, "d c")
	each(store.Filter{Each: 1, States: []flow.State{flow.StatePaused}}, "b c f")
	each(store.Filter{Each: 1, Working: true}, "a e")
	each(store.Filter{Each: 1, Labels: other}, "c")
	each(store.Filter{Each: 1, Text: "topic d"}, "d")
	x.listed("of each value of a label that none has", s, store.Filter{Per: "none", Each: 2}, "a", "b")
	x.listed("of each of nothing", s, store.Filter{Each: 1}, "a", "b", "c", "d", "e", "f", "g", "h")
}

func listPages(x *exam) {
	debates, writers := crowdOfDebates(), 20
	handles := x.handles(2)
	states := []flow.State{flow.StatePaused, arguing, flow.StateCompleted}
	var want []string
	for i := range debates {
		want = append(want, fmt.Sprintf("d%d-%03d", i%7, i))
	}
	x.crowd(writers, func(w int) {
		for i := w; i < debates; i += writers {
			log := debateOf(fmt.Sprint("topic ", i%10), nil, states[i%3])
			if err := handles[w%2].Append(x.Context(), want[i], 0, "w", log); err != nil {
				x.Errorf("Append to one of many failed: %v", err)
				return
			}
		}
	})
	paused := func() (ids []string) {
		for i, id := range want {
			if i%3 == 0 {
				ids = append(ids, id)
			}
		}
		return ids
	}()
	tenth := func() (ids []string) {
		for i, id := range want {
			if i%10 == 7 {
				ids = append(ids, id)
			}
		}
		return ids
	}()
	slices.Sort(want)
	slices.Sort(paused)
	slices.Sort(tenth)
	x.listed("all at once", handles[1], store.Filter{}, want...)
	pages(x, handles, store.Filter{Limit: 7}, want)
	pages(x, handles, store.Filter{Limit: 100}, want)
	pages(x, handles, store.Filter{Limit: 60, States: states[:1]}, paused)
	pages(x, handles, store.Filter{Limit: 30, Text: "Topic 7"}, tenth)
	for _, ids := range [][]string{want, paused} {
		slices.Reverse(ids)
	}
	pages(x, handles, store.Filter{Limit: 100, Newest: true}, want)
	pages(x, handles, store.Filter{Limit: 1000, Newest: true}, want)
	pages(x, handles, store.Filter{Limit: 60, Newest: true, States: states[:1]}, paused)
}

// pages reads a list page by page.
func pages(x *exam, handles []store.Store, filter store.Filter, want []string) {
	x.Helper()
	var got []string
	for page := 0; page <= len(want); page++ {
		ids := names(x.list(handles[page%len(handles)], filter))
		if len(ids) > filter.Limit {
			x.Fatalf("a page of %d has %d conversations", filter.Limit, len(ids))
		}
		got = append(got, ids...)
		if len(ids) < filter.Limit {
			break
		}
		filter.After = ids[len(ids)-1]
	}
	if what := unlike(got, want); what != "" {
		x.Errorf("pages of %d do not add up to the list: %s", filter.Limit, what)
	}
}
