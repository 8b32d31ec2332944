package file_test

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// A journal loses its end within its second commit of three: the bytes are gone, or are zeros. Both acknowledged commits
// are lost, and the next append says so, whether or not the store has a Report.
func TestALostEndIsReported(t *testing.T) {
	text, ends := journal(t)
	cut := ends[1] + 20
	for name, rest := range map[string][]byte{"cut off": nil, "zeros": make([]byte, len(text)-cut)} {
		t.Run(name, func(t *testing.T) {
			for _, asked := range []bool{true, false} {
				d := newDrive()
				d.put("a.log", append(bytes.Clone(text[:cut]), rest...))
				s := &file.Store{Dir: "x"}
				s.SetDisk(d)
				var reports []file.Torn
				if asked {
					s.Report = func(torn file.Torn) { reports = append(reports, torn) }
				}
				var lines bytes.Buffer
				before := slog.Default()
				slog.SetDefault(slog.New(slog.NewTextHandler(&lines, nil)))
				events, err := collect(s, "a")
				if err == nil {
					err = s.Append(t.Context(), "a", 2, "next", facts(2, 1))
				}
				slog.SetDefault(before)
				require.NoError(t, err)
				require.Equal(t, facts(0, 2), events)
				if asked {
					assert.Len(t, reports, 1)
					assert.Empty(t, lines.String())
					continue
				}
				assert.Contains(t, lines.String(), "level=WARN")
				assert.Contains(t, lines.String(), "conversation=a")
				assert.Contains(t, lines.String(), "a.torn")
			}
		})
	}
}

// A journal has lost its end, exactly behind a commit or within one. A list that knows it from the index says so, once.
func TestAListReportsALostEnd(t *testing.T) {
	begin := func(topic string) []flow.Event {
		return []flow.Event{{Seq: 1, At: time.Unix(int64(len(topic)), 0), Body: &flow.Start{Settings: flow.Settings{Topic: topic}}}}
	}
	d := newDrive()
	s := stored(d)
	require.NoError(t, s.Append(t.Context(), "a", 0, "w", begin("Cars")))
	first := int64(len(d.get("a.log")))
	require.NoError(t, s.Append(t.Context(), "a", 1, "w", facts(1, 1)))
	size := int64(len(d.get("a.log")))
	for name, c := range map[string]struct {
		change func(t *testing.T, d *drive)
		want   []file.Torn
	}{
		"behind a commit": {cutTo(first), []file.Torn{{ID: "a", Offset: first, Bytes: size - first}}},
		"within a commit": {cutTo(first + 9), []file.Torn{{ID: "a", Offset: first + 9, Bytes: size - first - 9}}},
		"it grows": {func(t *testing.T, d *drive) {
			t.Helper()
			require.NoError(t, stored(d).Append(t.Context(), "a", 2, "w", facts(2, 1)))
		}, nil},
		"another one": {func(t *testing.T, d *drive) {
			t.Helper()
			require.NoError(t, stored(d).Delete(t.Context(), "a"))
			require.NoError(t, stored(d).Append(t.Context(), "a", 0, "w", begin("C")))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := d.copied()
			require.Len(t, told(stored(d), store.Filter{}), 1)
			c.change(t, d)
			var lines bytes.Buffer
			before := slog.Default()
			slog.SetDefault(slog.New(slog.NewTextHandler(&lines, nil)))
			_ = told(stored(d.copied()), store.Filter{})
			slog.SetDefault(before)
			assert.Equal(t, len(c.want), strings.Count(lines.String(), "has become shorter"))

			var reports []file.Torn
			s := stored(d)
			s.Report = func(torn file.Torn) { reports = append(reports, torn) }
			for range 3 {
				require.Len(t, told(s, store.Filter{}), 1)
			}
			assert.Equal(t, c.want, reports)
		})
	}
}

// cutTo shortens the journal of conversation a.
func cutTo(size int64) func(t *testing.T, d *drive) {
	return func(t *testing.T, d *drive) {
		t.Helper()
		f, err := d.Open("a.log", os.O_RDWR)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(size))
	}
}
