package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// checkCorrupt wants a journal to be refused from somewhere on, after some of its commits. Who reads from
// a number on, or from a later one, may pass over the damage.
func checkCorrupt(t *testing.T, text []byte, commits, passed int) *file.CorruptError {
	t.Helper()
	d := newDrive()
	d.put("a.log", text)
	s := &file.Store{Dir: "x", Report: func(file.Torn) { t.Error("nothing may be cut off") }}
	s.SetDisk(d)
	var first *file.CorruptError
	for after := range 6 {
		var events []flow.Event
		var failed error
		for event, err := range s.Read(t.Context(), "a", int64(after)) {
			require.NoError(t, failed, "there is more after the error")
			if failed = err; err == nil {
				events = append(events, event)
			}
		}
		if after >= passed && failed == nil {
			continue // what is damaged was passed over
		}
		corrupt, ok := errors.AsType[*file.CorruptError](failed)
		require.True(t, ok, "%v after %d of:\n%q", failed, after, text)
		if first == nil {
			first = corrupt
		}
		require.Equal(t, first, corrupt)
		require.Len(t, events, max(0, count[commits]-after))
	}
	err := s.Append(t.Context(), "a", int64(count[commits]), "next", facts(int64(count[commits]), 1))
	corrupt, ok := errors.AsType[*file.CorruptError](err)
	require.True(t, ok, "Append gave %v", err)
	require.Equal(t, first, corrupt)
	require.True(t, bytes.Equal(text, d.get("a.log")), "it is not touched")
	require.Equal(t, "a", first.ID)
	begin := text[:first.Offset]
	require.True(t, len(begin) == 0 || bytes.HasSuffix(begin, []byte("\n")), "the offset is that of a line")
	require.Equal(t, bytes.Count(begin, []byte("\n"))+1, first.Line)
	return first
}

// Each byte is wrong once, of journals of one commit and of more. What was acknowledged is no tear then, be it
// the last commit or the only one.
func TestCorruptAnywhere(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	text, ends := journal(t)
	for _, end := range ends[1:] {
		for at := range end {
			commits := 0
			for i, e := range ends {
				if e <= at {
					commits = i
				}
			}
			bad := bytes.Clone(text[:end])
			bad[at] ^= 1 << (at % 7)
			if bytes.Contains(bad[:ends[0]], []byte(`"journal":`)) && !bytes.Contains(bad[:ends[0]], []byte(`"journal":1,`)) {
				continue // a version may be right
			}
			corrupt := checkCorrupt(t, bad, commits, count[commits]+1)
			begin := bytes.LastIndexByte(text[:at], '\n') + 1
			if line := text[begin:]; !bytes.HasPrefix(line[9:], []byte(`{"commit":`)) {
				require.Equal(t, int64(begin), corrupt.Offset, "byte %d: %v", at, corrupt)
			}
		}
	}
}

func TestCorrupt(t *testing.T) {
	text, ends := journal(t)
	part := func(i int) string { return string(text[ends[i-1]:ends[i]]) }
	head := string(text[:ends[0]])
	other, _ := journal(t)
	require.Equal(t, text, other, "journals are made of what is appended alone")
	for name, c := range map[string]struct {
		text    string
		commits int
		says    string
	}{
		"a commit is missing":        {head + part(1) + part(3), 1, "does not follow the one before it"},
		"the first is missing":       {head + part(2) + part(3), 0, "does not follow the one before it"},
		"a commit is there twice":    {head + part(1) + part(1) + part(2), 1, "does not follow the one before it"},
		"the order is another one":   {head + part(2) + part(1) + part(3), 0, "does not follow the one before it"},
		"the header is missing":      {part(1) + part(2), 0, "header"},
		"a line too many":            {head + part(1) + "\n" + part(2) + part(3), 1, "not a line of a journal"},
		"zeros between":              {head + part(1) + strings.Repeat("\x00", 5000) + part(2) + part(3), 1, "not a line of a journal"},
		"a copy of another's":        {strings.Replace(head, head[:8], "00000000", 1) + part(1) + part(2), 0, "checksum"},
		"an event without its line":  {head + part(1)[strings.Index(part(1), "\n")+1:] + part(2) + part(3), 0, ""},
		"lines of nothing":           {head + part(1) + strings.Repeat("\n", 1000), 1, "not a line of a journal"},
		"another's bytes":            {head + part(1) + "rest", 1, "no commit closes"},
		"a byte of zero":             {head + part(1) + strings.Replace(part(2), "seq", "s\x00q", 1), 1, "checksum"},
		"a commit and no events":     {head + part(1) + part(2)[strings.Index(part(2), "\n")+1:], 1, "other events"},
		"another end of the last":    {head + part(1) + strings.TrimSuffix(part(2), "\n") + "\r", 1, "no commit closes"},
		"what looks like commits":    {head + part(1) + strings.Repeat(`00000000 {"commit":{"first":3,"last":5,"bytes":9,"prev":"00000000"}}`+"\n", 9), 1, "does not follow the one before it"},
		"commits that cannot be":     {head + part(1) + `00000000 {"commit":{"first":-4,"last":5,"bytes":-9}}` + "\n", 1, "contradict each other"},
		"a gap, and what follows it": {lost(head+part(1)+part(2)+part(3), ends[1], ends[2]) + part(1)[:30], 1, ""},
		"a foreign file":             {"my own notes\n", 0, "not a line of a journal"},
		"a foreign file of a line":   {"my own notes", 0, "header"},
		"another's header":           {line("", `{"journal":1,"id":"b"}`), 0, "conversation \"b\""},
		"half of another's header":   {line("", `{"journal":1,"id":"b"}`)[:20], 0, "header"},
		"a newline is a space":       {head + part(1) + strings.Replace(part(2), "\n", " ", 1) + part(3), 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			corrupt := checkCorrupt(t, []byte(c.text), c.commits, count[c.commits])
			assert.ErrorContains(t, corrupt, c.says)
			assert.ErrorContains(t, corrupt, "the journal of conversation a is damaged in line")
			assert.Equal(t, corrupt.Err, errors.Unwrap(corrupt))
		})
	}
}

// lost fills the first sector from a byte on with zeros, and no more than there is up to another.
func lost(text string, from, to int) string {
	end := min(to, (from/512+1)*512)
	return text[:from] + strings.Repeat("\x00", end-from) + text[end:]
}

// line makes a line with a checksum over what is before it and its text.
func line(before, text string) string {
	return fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(before+text), crc32.MakeTable(crc32.Castagnoli)), text)
}

// closed makes a commit of lines behind a text.
func closed(before, lines string, first, last int64) string {
	begin := strings.LastIndex(strings.TrimSuffix(before, "\n"), "\n") + 1
	commit := fmt.Sprintf(`{"commit":{"first":%d,"last":%d,"bytes":%d,"prev":%q,"at":"2026-01-01T00:00:00Z","start":%d}}`,
		first, last, len(lines), before[begin:begin+8], len(before))
	return lines + line(lines, commit)
}

// Journals whose checksums are right, as only a program can make them.
func TestCorruptByIntent(t *testing.T) {
	head := line("", `{"journal":1,"id":"a"}`)
	ack := func(seq int) string {
		return line("", fmt.Sprintf(`{"seq":%d,"at":"2026-01-01T00:00:00Z","kind":"ack","body":{}}`, seq))
	}
	for name, c := range map[string]struct{ lines, says string }{
		"an event's number is another":  {ack(7), "event 7 is in the place of event 1"},
		"an event is no event":          {line("", `{"seq":1,"kind":7}`), "cannot unmarshal"},
		"an event is no JSON":           {line("", `{"seq":1,`), "unexpected end"},
		"an event is nested too deeply": {line("", `{"seq":1,"kind":"turn","body":{"data":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`}}`), "depth"},
		"an event's checksum is wrong":  {strings.Replace(ack(1), ack(1)[:8], "00000000", 1), "checksum"},
		"there is no event":             {"x\n", "not a line of a journal"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, put(t, []byte(head+closed(head, c.lines, 1, 1))))
			events, err := collect(s, "a")
			assert.Empty(t, events)
			corrupt, ok := errors.AsType[*file.CorruptError](err)
			require.True(t, ok, "%v", err)
			assert.ErrorContains(t, corrupt, c.says)
			assert.Equal(t, 2, corrupt.Line)
			assert.Equal(t, int64(len(head)), corrupt.Offset)
		})
	}
	for name, text := range map[string]string{
		"of another conversation": line("", `{"journal":1,"id":"A"}`),
		"more events":             head + closed(head, ack(1), 1, 2),
		"fewer events":            head + closed(head, ack(1)+ack(2), 1, 1),
		"from elsewhere":          head + closed(head, ack(5), 5, 5),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "of another conversation" {
				text += closed(text, ack(1), 1, 1)
			}
			checkCorrupt(t, []byte(text), 0, 1)
		})
	}
}

// A journal that a later release has written is refused as that.
func TestVersion(t *testing.T) {
	head := line("", `{"journal":2,"id":"a"}`)
	ack := line("", `{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"ack","body":{}}`)
	s := open(t, put(t, []byte(head+closed(head, ack, 1, 1))))
	_, err := collect(s, "a")
	assert.ErrorContains(t, err, "is of version 2: this release reads version 1")
	for _, err = range s.Read(t.Context(), "a", 1) {
		assert.ErrorContains(t, err, "version 2")
	}
	assert.ErrorContains(t, s.Append(t.Context(), "a", 1, "w", facts(1, 1)), "version 2")
	for info, err := range s.List(t.Context(), store.Filter{}) {
		assert.NoError(t, err)
		assert.ErrorContains(t, info.Err, "version 2")
	}
}

// What a commit says of the start event is wrong.
func TestListWithoutStart(t *testing.T) {
	head := line("", `{"journal":1,"id":"a"}`)
	text := head + closed(head, line("", `{"seq":1,"kind":7}`), 1, 1)
	s := open(t, put(t, []byte(text)))
	for info, err := range s.List(t.Context(), store.Filter{}) {
		assert.NoError(t, err)
		assert.ErrorContains(t, info.Err, fmt.Sprintf("the journal of conversation a is damaged at byte %d", len(head)))
	}
}
