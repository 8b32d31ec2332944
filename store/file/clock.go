package file

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/agonist-dev/debate/store"
)

var _ store.Clock = (*Store)(nil)

// fileClock is written to ask for the time. It is not named like a file of a conversation.
const fileClock = "clock"

// Time implements [store.Clock] with the clock of the file system: it writes a file and returns its modification time. If
// Store.Now is set, Time returns its time instead.
func (s *Store) Time(context.Context) (time.Time, error) {
	if s.Now != nil {
		return s.Now(), nil
	}
	if err := s.begin(); err != nil {
		return time.Time{}, err
	}
	defer s.busy.Done()
	f, err := s.disk.Open(fileClock, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return time.Time{}, err
	}
	_, err = f.WriteAt([]byte{'.'}, 0)
	if err = errors.Join(err, f.Close()); err != nil {
		return time.Time{}, err
	}
	written, err := s.disk.Stat(fileClock)
	return written.at.UTC(), err
}
