package storetest

import (
	"errors"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func damageChecks() []check {
	return []check{
		{"damage/others are listed as ever", damageList},
		{"damage/others are used as ever", damageUse},
	}
}

// damaged appends three conversations, and damages the one in the middle.
func (x *exam) damaged() store.Store {
	x.Helper()
	if x.storage.Damage == nil {
		x.Skip("the storage has nothing to damage")
	}
	s := x.open()
	for _, id := range []string{"a", "b", "c"} {
		x.append(s, id, 0, "w", debateOf(id, map[string]string{tenant: id}, arguing, "text"))
	}
	x.storage.Damage(x.TB, "b")
	return s
}

func damageList(x *exam) {
	s := x.damaged()
	for _, handle := range []store.Store{s, x.open()} {
		for _, info := range x.list(handle, store.Filter{}) {
			if (info.Err != nil) != (info.ID == "b") {
				x.Errorf("List yields %q with the error %v, and conversation b is damaged", info.ID, info.Err)
			}
		}
		for _, filter := range []store.Filter{{}, {Unfinished: true}, {Working: true, Idle: true}, {Limit: 3}} {
			x.listed("one is damaged", handle, filter, "a", "b", "c")
		}
		x.listed("one is damaged", handle, store.Filter{Newest: true}, "c", "b", "a")
		x.listed("one is damaged", handle, store.Filter{After: "b"}, "c")
		x.listed("labels that cannot be read are none", handle, store.Filter{Labels: map[string]string{tenant: "b"}})
		x.listed("one is damaged", handle, store.Filter{Labels: map[string]string{tenant: "c"}}, "c")
	}
	x.lease(s, "b", "me", 1<<40)
	x.listed("the lease of a damaged one", s, store.Filter{Idle: true}, "a", "c")
}

func damageUse(x *exam) {
	s := x.damaged()
	for _, id := range []string{"a", "c"} {
		seq := int64(len(x.read(s, id, 0)))
		x.append(s, id, seq, "w", some(seq, 1, id))
		x.lease(s, id, "me", 1<<40)
		x.release(s, id, "me")
	}
	x.append(s, "d", 0, "w", some(0, 1, "d"))
	if _, err := collect(s.List(canceled(x.Context()), store.Filter{})); err == nil {
		x.Errorf("List went on although its context was over before")
	}
	x.remove(s, "b")
	x.listed("the damaged one is deleted", s, store.Filter{}, "a", "c", "d")
	if _, err := collect(s.Read(x.Context(), "b", 0)); !errors.Is(err, flow.ErrNotFound) {
		x.Errorf("Read of a damaged conversation that was deleted gave %v, want flow.ErrNotFound", err)
	}
	x.append(s, "b", 0, "w", some(0, 1, "b"))
	x.listed("its id is free", s, store.Filter{}, "a", "b", "c", "d")
}
