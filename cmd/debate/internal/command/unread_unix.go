//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread reports whether a stream is a pipe that nobody reads any more. A program that has nothing to write learns it in no other way.
func unread(stream any) bool {
	if out, ok := stream.(*output); ok {
		stream = out.to
	}
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	asked := []unix.PollFd{{Fd: int32(file.Fd())}} //nolint:gosec // descriptors are small numbers
	n, err := unix.Poll(asked, 0)
	return err == nil && n > 0 && asked[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
