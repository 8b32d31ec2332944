//go:build unix

package tool_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/tool"
)

func TestPermissionsAreKept(t *testing.T) {
	root := folder(t, map[string]string{"script": "echo\n", "private": "x", "open": "x", "fixed": "x"})
	for name, mode := range map[string]os.FileMode{"script": 0o750, "private": 0o600, "open": 0o666, "fixed": 0o444} {
		require.NoError(t, os.Chmod(filepath.Join(root, name), mode))
	}
	require.NoError(t, os.Chmod(filepath.Join(root, "open"), 0o666|os.ModeSetuid))
	made := writers(t, root, tool.Writing{})
	answer(t, made[tool.EditFileName], arguments{"path": "script", "hash": hashOf("echo\n"), "old": "echo", "new": "true"})
	answer(t, made[tool.WriteFileName], arguments{"path": "private", "hash": hashOf("x"), "content": "y"})
	answer(t, made[tool.WriteFileName], arguments{"path": "open", "hash": hashOf("x"), "content": "y"})
	for name, mode := range map[string]os.FileMode{"script": 0o750, "private": 0o600, "open": 0o666} {
		info, err := os.Stat(filepath.Join(root, name))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), name)
	}
	for name, args := range map[string]arguments{
		tool.EditFileName:  {"path": "fixed", "hash": hashOf("x"), "old": "x", "new": "y"},
		tool.WriteFileName: {"path": "fixed", "hash": hashOf("x"), "content": "y"},
	} {
		assert.Equal(t, `"fixed": is read-only`, refusal(t, made[name], args))
	}
	assert.Equal(t, "x", disk(t, root, "fixed"))
}

// A file that has another name outside of the folder keeps its content there.
func TestAnotherNameOfAFileIsNotWritten(t *testing.T) {
	root := folder(t, nil)
	outside := filepath.Join(filepath.Dir(root), "secret")
	require.NoError(t, os.Link(outside, filepath.Join(root, "f")))
	answer(t, writers(t, root, tool.Writing{})[tool.WriteFileName], arguments{"path": "f", "hash": hashOf(secret), "content": "taken"})
	assert.Equal(t, "taken", disk(t, root, "f"))
	assert.Equal(t, secret, disk(t, filepath.Dir(root), "secret"))
}

func TestSpecialFilesAreNotWritten(t *testing.T) {
	root := folder(t, nil)
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	made := writers(t, root, tool.Writing{})
	for name, args := range map[string]arguments{
		tool.EditFileName:  {"path": "pipe", "hash": hashOf(""), "old": "x", "new": "y"},
		tool.WriteFileName: {"path": "pipe", "hash": hashOf(""), "content": "y"},
	} {
		assert.Equal(t, `"pipe": is no ordinary file`, refusal(t, made[name], args))
	}
	dev := writers(t, "/dev", tool.Writing{})
	for _, path := range []string{"null", "full", "zero"} {
		assert.Contains(t, refusal(t, dev[tool.WriteFileName], arguments{"path": path, "content": "y", "hash": hashOf("")}), "is no ordinary file")
	}
}

// A write waits for another process that has locked the folder, as long as its context lasts.
func TestALockedFolderIsWaitedFor(t *testing.T) {
	root := folder(t, map[string]string{"sub/f": "x", "g": "x"})
	held, err := os.Open(filepath.Join(root, "sub"))
	require.NoError(t, err)
	defer func() { require.NoError(t, held.Close()) }()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Skip("there are no locks here: ", err)
	}
	write := writers(t, root, tool.Writing{})[tool.WriteFileName]
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = use(ctx, t, write, arguments{"path": "sub/f", "hash": hashOf("x"), "content": "y"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	answer(t, write, arguments{"path": "g", "hash": hashOf("x"), "content": "y"}) // another folder
	impatient := opened(t, root, tool.Limits{})
	impatient.Within(0)
	hasty, err := tool.WriteFile(impatient, tool.Writing{})
	require.NoError(t, err)
	assert.Equal(t, `"sub/f": is in a folder that another process keeps locked`,
		refusal(t, hasty, arguments{"path": "sub/f", "hash": hashOf("x"), "content": "y"}))
	unlocked := make(chan error, 1)
	time.AfterFunc(20*time.Millisecond, func() { unlocked <- syscall.Flock(int(held.Fd()), syscall.LOCK_UN) })
	answer(t, write, arguments{"path": "sub/f", "hash": hashOf("x"), "content": "y"})
	require.NoError(t, <-unlocked)
}
