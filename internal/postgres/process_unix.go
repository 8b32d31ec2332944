//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// prepare makes a program run in folder, without this process's environment and terminal, and not as
// root, which PostgreSQL refuses.
func prepare(cmd *exec.Cmd, folder string) error {
	uid, gid, err := owner()
	if err != nil {
		return err
	}
	cmd.Dir = folder
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	return nil
}

// own makes the server's user the owner of a folder.
func own(folder string) error {
	uid, gid, err := owner()
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	return os.Chown(folder, int(uid), int(gid))
}

// enter checks whether the server's user can enter a folder, and can remove it again: each folder above it must allow
// the one, and the folder that holds it the other.
func enter(ctx context.Context, folder string) error {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", "test -w ..")
	if err := prepare(cmd, folder); err != nil {
		return err
	}
	err := cmd.Run()
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the user that PostgreSQL runs as (%d) cannot enter %s: %w", cmd.SysProcAttr.Credential.Uid, folder, err)
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended && ctx.Err() == nil {
		return fmt.Errorf("the user that PostgreSQL runs as cannot remove %s: %w", folder, fs.ErrPermission)
	}
	return err
}

// owner returns the user who runs the server: this process's user or, if that is root, a user without
// rights.
func owner() (uid, gid uint32, err error) {
	if os.Geteuid() != 0 {
		return 0, 0, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		return uint32(uid), uint32(gid), errors.Join(uidErr, gidErr)
	}
	return 0, 0, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody")
}
