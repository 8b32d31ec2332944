package file_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

var debates = flag.Int("debates", 2000, "how many debates BenchmarkList lists")

// BenchmarkList lists a folder of debates, each the log of a whole debate of package debate's tests. Cold is without an
// index, warm with one.
//
//	s/list   time of a list
//	MB/list  what it allocates
func BenchmarkList(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "logs", "sequential.log.json"))
	require.NoError(b, err)
	var log struct{ Events []flow.Event }
	require.NoError(b, json.Unmarshal(text, &log))
	start, _ := log.Events[0].Body.(*flow.Start)
	dir, before := b.TempDir(), time.Now().Add(-time.Hour)
	s := &file.Store{Dir: dir, Sync: file.SyncNever}
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	for i := range *debates {
		start.Settings.Labels = map[string]string{"tenant": fmt.Sprint("tenant-", i%100), "user": fmt.Sprint("user-", i)}
		id := fmt.Sprintf("0190163d-8694-739b-aea5-%012x", i)
		require.NoError(b, s.Append(b.Context(), id, 0, "w", log.Events[:3]))
		require.NoError(b, s.Append(b.Context(), id, 3, "w", log.Events[3:]))
		require.NoError(b, os.Chtimes(filepath.Join(dir, id+".log"), before, before))
	}
	for _, c := range []struct {
		name   string
		filter store.Filter
		want   int
		cold   bool
	}{
		{"cold", store.Filter{}, *debates, true},
		{"warm", store.Filter{}, *debates, false},
		{"warm/tenant", store.Filter{Labels: map[string]string{"tenant": "tenant-7"}}, *debates / 100, false},
		{"warm/working", store.Filter{Working: true, Idle: true}, 0, false},
		{"warm/page", store.Filter{Newest: true, Limit: 20}, 20, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				if c.cold {
					_ = os.Remove(filepath.Join(dir, "index"))
				}
				n := 0
				for _, err := range s.List(b.Context(), c.filter) {
					require.NoError(b, err)
					n++
				}
				require.Equal(b, c.want, n)
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/list")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6/float64(b.N), "MB/list")
			b.ReportMetric(0, "ns/op")
		})
	}
}
