package storetest

import (
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func deleteChecks() []check {
	return []check{
		{"delete/the conversation is gone", deleteGone},
		{"delete/the others stay", deleteOthers},
		{"delete/the id can be begun again", deleteAgain},
		{"delete/nothing of the old log comes back", deleteForgets},
		{"delete/the lease is forgotten", deleteLease},
		{"delete/what is not there is no error", deleteNothing},
		{"delete/in a loop over the list", deleteListed},
	}
}

func deleteGone(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("cars", map[string]string{"k": "v"}, flow.StatePaused, "text"))
	x.remove(handles[0], "a")
	for _, s := range append(handles, x.open()) {
		x.unknown(s, "a")
		x.listed("it was deleted", s, store.Filter{})
		x.listed("it was deleted", s, store.Filter{Text: "cars"})
		x.listed("it was deleted", s, store.Filter{Text: "text"})
		x.listed("it was deleted", s, store.Filter{Labels: map[string]string{"k": "v"}})
	}
}

func deleteOthers(x *exam) {
	handles := x.handles(2)
	for _, id := range []string{"a", "aa", "a.a", "b"} {
		x.append(handles[0], id, 0, "w", some(0, 2, id))
	}
	x.remove(handles[1], "a")
	for _, id := range []string{"aa", "a.a", "b"} {
		x.log(handles[0], id, 0, some(0, 2, id))
	}
	x.listed("only a was deleted", handles[1], store.Filter{}, "a.a", "aa", "b")
}

// deleteAgain starts a new conversation through a handle, while other handles still know the old one.
func deleteAgain(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", some(0, 5, "old"))
	x.log(handles[1], "a", 0, some(0, 5, "old"))
	x.append(handles[1], "a", 5, "v", some(5, 1, "old"))
	x.remove(handles[0], "a")
	for _, s := range handles {
		x.conflict("the log is empty again", s, 6, "v", some(6, 1, "old"))
		x.conflict("the log is empty again", s, 5, "w", some(5, 1, "old"))
	}
	x.append(handles[1], "a", 0, "u", some(0, 2, "new"))
	x.log(handles[0], "a", 0, some(0, 2, "new"))
	x.append(handles[0], "a", 2, "w", some(2, 2, "new"))
	x.log(handles[1], "a", 0, some(0, 4, "new"))
}

func deleteForgets(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", debateOf("cars", map[string]string{"k": "v"}, flow.StatePaused, "old words"))
	x.append(handles[0], "b", 0, "w", some(0, 1, "b"))
	x.remove(handles[1], "a")
	x.append(handles[0], "a", 0, "v", debateOf("trains", nil, flow.StateCompleted, "new words"))
	for _, s := range handles {
		x.conflict("w wrote the log that was deleted", s, 0, "w", debateOf("cars", nil, flow.StatePaused, "old words"))
		x.listed("the topic is another", s, store.Filter{Text: "cars"})
		x.listed("the turns are others", s, store.Filter{Text: "old"})
		x.listed("the turns are others", s, store.Filter{Text: "new"}, "a")
		x.listed("there are no labels any more", s, store.Filter{Labels: map[string]string{"k": "v"}})
		x.listed("the state is another", s, store.Filter{States: []flow.State{flow.StateCompleted}}, "a")
		x.listed("the state is another", s, store.Filter{States: []flow.State{flow.StatePaused}})
	}
}

func deleteLease(x *exam) {
	handles := x.handles(2)
	x.append(handles[0], "a", 0, "w", some(0, 1, "w"))
	x.lease(handles[0], "a", "me", time.Hour)
	x.lease(handles[0], "unbegun", "me", time.Hour)
	x.remove(handles[1], "a")
	x.lease(handles[1], "a", "you", time.Hour)
	x.leased("the new lease counts", handles[0], "a", "me")
	x.append(handles[0], "a", 0, "w", some(0, 1, "w"))
	if infos := x.list(handles[0], store.Filter{}); len(infos) != 1 || infos[0].Owner != "you" {
		x.Errorf("List yields %+v, want a, held by you", infos)
	}
}

func deleteNothing(x *exam) {
	s := x.open()
	for range 2 {
		x.remove(s, "a")
		x.append(s, "a", 0, "w", some(0, 1, "w"))
		x.remove(s, "a")
		x.remove(s, "a")
	}
	x.listed("all was deleted", s, store.Filter{})
}

func deleteListed(x *exam) {
	s := x.open()
	want := []string{"a", "b", "c", "d", "e", "f"}
	for _, id := range want {
		x.append(s, id, 0, "w", some(0, 1, id))
	}
	var got []string
	ctx := x.Context()
	x.within("a loop over List that deletes", func() error {
		for info, err := range s.List(ctx, store.Filter{}) {
			if err == nil {
				err = s.Delete(ctx, info.ID)
			}
			if err != nil {
				return err
			}
			got = append(got, info.ID)
		}
		return nil
	})
	if what := unlike(got, want); what != "" {
		x.Errorf("List has lost its way while conversations were deleted: %s", what)
	}
	x.listed("all was deleted", s, store.Filter{})
}
