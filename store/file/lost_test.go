package file_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
