package sql_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store/sql"
)

// A process that opens a file once more keeps its locks on it, by which other programs know that it is there: the last
// one that closes the file deletes the write-ahead log, with what was acknowledged since.
func TestAnotherStoreLeavesTheLocks(t *testing.T) {
	t.Parallel()
	s := newSQLite(t)
	store := s.store(t)
	require.NoError(t, store.Append(t.Context(), "a", 0, "w", facts(0, 1)))
	info, err := os.Stat(s.path)
	require.NoError(t, err)
	stat, ok := info.Sys().(*syscall.Stat_t)
	require.True(t, ok)
	locked := func() bool {
		for range 100 { // a read misses locks while others come and go
			locks, err := os.ReadFile("/proc/locks")
			require.NoError(t, err)
			if strings.Contains(string(locks), fmt.Sprintf(":%d ", stat.Ino)) {
				return true
			}
		}
		return false
	}
	require.True(t, locked())
	second, err := s.open(t.Context(), sql.Options{})
	require.NoError(t, err)
	assert.True(t, locked())
	require.NoError(t, second.Close())
	assert.True(t, locked())
}
