package storetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

func idChecks() []check {
	return []check{
		{"id/upper and lower case are two conversations", idCase},
		{"id/all that is allowed", idAllowed},
		{"id/what is not allowed is refused", idRefused},
	}
}

func idCase(x *exam) {
	handles := x.handles(2)
	ids := []string{"ABC", "ABc", "AbC", "aBC", "abc"}
	for i, id := range ids {
		x.append(handles[i%2], id, 0, "w", some(0, i+1, id))
		x.lease(handles[i%2], id, "owner of "+id, time.Hour)
	}
	for i, id := range ids {
		x.log(handles[(i+1)%2], id, 0, some(0, i+1, id))
	}
	x.listed("ids that differ in case", handles[0], store.Filter{}, ids...)
	for _, info := range x.list(handles[1], store.Filter{}) {
		if want := "owner of " + info.ID; info.Owner != want {
			x.Errorf("the owner of %q is %q, want %q", info.ID, info.Owner, want)
		}
	}
	x.remove(handles[0], "abc")
	x.unknown(handles[1], "abc")
	x.log(handles[1], "ABC", 0, some(0, 1, "ABC"))
	x.listed("one of them was deleted", handles[1], store.Filter{}, ids[:4]...)
}

func idAllowed(x *exam) {
	handles := x.handles(2)
	ids := []string{
		"-", "--", "-rf", "_", "__proto__", "0", "00", "1e3", "A", "Z", "a", "aa", "a-b", "a_b", "a.b", "a..b", "a.B", "aB", "a-", "a_",
		"a.lock", "a.lease", "a.tmp", "a.json", "a.jsonl", "a.log", "a.db", "a.db-wal", "a.bak", "a.1", "lock", "tmp", "index", "journal",
		"undefined", "nil", "true", "COM10", "console", "desktop.ini", "Thumbs.db", "CVS", "select", "events",
		"019a1b2c-3d4e-7f60-8a9b-0c1d2e3f4a5b", "019A1B2C-3D4E-7F60-8A9B-0C1D2E3F4A5B",
		strings.Repeat("n", 128), strings.Repeat("N", 128), strings.Repeat("n", 127), strings.Repeat("n", 127) + "m",
	}
	for i, id := range ids {
		if err := store.CheckID(id); err != nil {
			x.Fatalf("the suite's own id %q: %v", id, err)
		}
		x.append(handles[i%2], id, 0, "w", some(0, 2, id))
		x.lease(handles[i%2], id, "me", time.Hour)
	}
	for i, id := range ids {
		x.log(handles[(i+1)%2], id, 0, some(0, 2, id))
	}
	slices.Sort(ids)
	x.listed("ids are ordered byte by byte", handles[0], store.Filter{}, ids...)
	slices.Reverse(ids)
	x.listed("ids are ordered byte by byte", handles[1], store.Filter{Newest: true}, ids...)
	for i, id := range ids {
		if i%2 == 0 {
			x.remove(handles[0], id)
		}
	}
	for i, id := range ids {
		if i%2 == 0 {
			x.unknown(handles[1], id)
			continue
		}
		x.log(handles[1], id, 0, some(0, 2, id))
	}
}

// refused returns ids that mean something to file systems, shells or databases, or that are not names at
// all.
func refused() []string {
	return []string{
		"", ".", "..", "...", ".a", "a.", "../x", "..\\x", "./x", "/x", "x/", "x/y", "x/../x", "a/b", "a\\b", "a/../../x", "/etc/passwd",
		"C:\\x", "C:x", "con", "CON", "nul", "NUL.txt", "prn.x", "aux", "com1", "LPT9", "lpt0.log",
		"a b", " a", "a ", "a\x00", "\x00", "a\x00b", "a\n", "a\tb", "a*", "a?", "a:b",
		"a|b", "a<b", "a\"b", "a'b", "a;b", "a%b", "%2e%2e%2fx", "a~", "~", "a@b", "a+b", "a=b", "a,b", "$HOME",
		"é", "Ａ", "日本", "🙂", "\xff", "a\u202eb",
		strings.Repeat("n", 129), strings.Repeat("n", 1<<16),
	}
}

func idRefused(x *exam) {
	s := x.open()
	// Conversations that an unchecked id may reach.
	around := []string{"x", "a", "b", "etc", "passwd", "n", strings.Repeat("n", 128)}
	for _, id := range around {
		x.append(s, id, 0, "w", some(0, 1, id))
		x.lease(s, id, "me", time.Hour)
	}
	slices.Sort(around)
	for _, id := range refused() {
		for name, err := range map[string]error{
			"Append":           s.Append(x.Context(), id, 0, "w", some(0, 1, "w")),
			"Append further":   s.Append(x.Context(), id, 1, "w", some(1, 1, "w")),
			"Lease":            s.Lease(x.Context(), id, "you", time.Hour),
			"Lease by another": s.Lease(x.Context(), id, "", time.Hour),
		} {
			if invalid, ok := errors.AsType[*flow.Error](err); !ok || invalid.Kind != provider.KindValidation {
				x.Errorf("%s to %s gave %v, want a *flow.Error of kind validation", name, brief(id), err)
			}
		}
		if events, err := collect(s.Read(x.Context(), id, 0)); err == nil || len(events) > 0 {
			x.Errorf("Read of %s yields %d events and gave %v, want an error", brief(id), len(events), err)
		}
		// Deleting or releasing something that does not exist may be an error here, or not.
		_ = s.Release(x.Context(), id, "me")
		_ = s.Delete(x.Context(), id)
	}
	x.listed("none of these is a conversation", s, store.Filter{}, around...)
	for _, id := range around {
		x.log(s, id, 0, some(0, 1, id))
		x.leased("nobody has released it", s, id, "you")
	}
	x.listed("none of these is a conversation", x.open(), store.Filter{}, around...)
	for _, id := range refused() {
		if _, err := collect(s.List(x.Context(), store.Filter{After: id})); err != nil {
			x.Errorf("List from %s on failed, and nobody has to be there: %v", brief(id), err)
		}
	}
}
