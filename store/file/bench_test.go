package file_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store/file"
)

// step is what a debate appends at once: a turn, and what is about to be asked next; 2 KiB as JSON.
func step(after int64) []flow.Event {
	at := time.Unix(after, 0).UTC()
	return []flow.Event{
		{Seq: after + 1, At: at, Body: &flow.Turn{Speaker: "Ada", Text: strings.Repeat("a word ", 230)}},
		{Seq: after + 2, At: at, Body: &flow.Intent{Call: "r1.ben", By: "Ben", Attempt: 1}},
	}
}

// BenchmarkAppend prints how many times as long an append takes as the bare floor does, which writes the
// same number of bytes to a plain file of each writer's own, and syncs it.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		for _, mode := range []file.Sync{file.SyncAlways, file.SyncNever} {
			b.Run(fmt.Sprintf("writers=%d/sync=%t", writers, mode == file.SyncAlways), func(b *testing.B) {
				dir := b.TempDir()
				store := &file.Store{Dir: filepath.Join(dir, "store"), Sync: mode}
				b.Cleanup(func() { require.NoError(b, store.Close()) })
				ctx := b.Context()
				for w := range writers {
					require.NoError(b, store.Append(ctx, fmt.Sprint("d", w), 0, "w", step(0)))
				}
				info, err := os.Stat(filepath.Join(dir, "store", "d0.log"))
				require.NoError(b, err)
				line := make([]byte, info.Size())
				files := make([]*os.File, writers)
				for w := range files {
					files[w], err = os.Create(filepath.Join(dir, fmt.Sprint("bare", w)))
					require.NoError(b, err)
					b.Cleanup(func() { require.NoError(b, files[w].Close()) })
				}
				// The two take turns, so that what else goes on hits both alike.
				var bare, own time.Duration
				const each = 16
				rounds := 0
				for ; b.Loop(); rounds++ {
					own += crowd(writers, func(w int) {
						for i := range int64(each) {
							after := 2 + 2*(int64(rounds)*each+i)
							if err := store.Append(ctx, fmt.Sprint("d", w), after, "w", step(after)); err != nil {
								b.Error(err)
							}
						}
					})
					bare += crowd(writers, func(w int) {
						for range each {
							if _, err := files[w].Write(line); err != nil {
								b.Error(err)
							}
							if mode == file.SyncAlways {
								if err := files[w].Sync(); err != nil {
									b.Error(err)
								}
							}
						}
					})
				}
				commits := float64(rounds * each * writers)
				b.ReportMetric(commits/own.Seconds(), "commits/s")
				b.ReportMetric(commits/bare.Seconds(), "floor/s")
				b.ReportMetric(own.Seconds()/bare.Seconds(), "×floor")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// crowd has n at work at once, and yields how long that takes.
func crowd(n int, do func(i int)) time.Duration {
	begin := time.Now()
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { do(i) })
	}
	group.Wait()
	return time.Since(begin)
}
