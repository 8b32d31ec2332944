package file_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store"
)

// FuzzJournal reads journals that were mutated. What Read yields is the beginning of what was written,
// whatever follows; and what can be appended to goes on from there.
func FuzzJournal(f *testing.F) {
	text, ends := journal(f)
	for _, end := range ends {
		f.Add(text[:end])
		f.Add(append(bytes.Clone(text[:end]), text[ends[0]:]...))
	}
	for at := 0; at < len(text); at += 37 {
		bad := bytes.Clone(text)
		bad[at] ^= 4
		f.Add(bad)
		f.Add(append(bytes.Clone(text[:at]), text[at+1:]...))
		f.Add(append(append(bytes.Clone(text[:at]), '\n'), text[at:]...))
		f.Add(text[:at])
	}
	f.Add([]byte(line("", `{"journal":2,"id":"a"}`)))
	f.Add([]byte(line("", `{"journal":1,"id":"b"}`)))
	f.Add(bytes.Repeat([]byte(`00000000 {"commit":{"first":1,"last":1,"bytes":1,"prev":"00000000"}}`+"\n"), 50))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := newDrive()
		d.put("a.log", text)
		s := stored(d)
		events, failed := collect(s, "a")
		require.LessOrEqual(t, len(events), 5)
		if len(events) > 0 {
			require.Equal(t, facts(0, len(events)), events)
		}
		for after := range int64(6) {
			for event, err := range s.Read(t.Context(), "a", after) {
				if err == nil {
					require.Equal(t, facts(event.Seq-1, 1)[0], event)
				}
			}
		}
		for info, err := range s.List(t.Context(), store.Filter{}) {
			if err == nil && failed == nil {
				require.Equal(t, int64(len(events)), info.Seq)
			}
		}
		n := int64(len(events))
		err := s.Append(t.Context(), "a", n, "next", facts(n, 1))
		if failed != nil && n > 0 {
			require.Error(t, err)
		}
		if err != nil {
			assert.True(t, bytes.Equal(text, d.get("a.log")), "what is refused is not touched")
			return
		}
		events, err = collect(s, "a")
		require.NoError(t, err)
		require.Equal(t, facts(0, int(n)+1), events)
	})
}
