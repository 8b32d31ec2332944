package tool_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/tool"
)

// The files of /proc say that they are regular and empty. Some of them block their reader, some never end, and more come
// while they are read.
func TestASearchInProcEnds(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("there is no /proc")
	}
	dir := opened(t, "/proc", tool.Limits{})
	dir.Within(longform.Or(10*time.Second, time.Second))
	made, err := tool.Tools(dir)
	require.NoError(t, err)
	_, err = use(t.Context(), t, made[tool.SearchName], arguments{"query": "this is in no file at all", "in": "files"})
	require.NoError(t, err)
}

// A file that makes its reader wait is refused soon, and at once when the call ends.
func TestAFileThatKeepsItsReaderWaiting(t *testing.T) {
	file, err := os.Open("/proc/kmsg") // nothing opens it but the superuser
	if err != nil {
		t.Skip("/proc/kmsg cannot be read: ", err)
	}
	require.NoError(t, file.Close())
	made, err := tool.Tools(opened(t, "/proc", tool.Limits{File: 4 << 20}))
	require.NoError(t, err)
	_, err = use(t.Context(), t, made[tool.ReadFileName], arguments{"path": "kmsg"})
	require.ErrorContains(t, err, "keeps its reader waiting")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = use(ctx, t, made[tool.ReadFileName], arguments{"path": "kmsg"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
