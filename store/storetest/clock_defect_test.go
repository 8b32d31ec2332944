package storetest_test

import (
	"context"
	"errors"
	"time"
)

func clockDefects() []defect {
	return []defect{
		{"each handle has a clock of its own", []string{"clock/every*"}, "a handle showed", func(s *spoiled) {
			ahead := time.Duration(s.handle) * time.Hour
			s.onTime = func(context.Context) (time.Time, error) { return time.Now().Add(-ahead), nil }
		}},
		{"a clock of whole minutes", []string{"clock/it goes*"}, "still not", func(s *spoiled) {
			s.onTime = func(context.Context) (time.Time, error) { return time.Unix(60, 0), nil }
		}},
		{"tells no time", []string{"clock/*"}, "Time failed", func(s *spoiled) {
			s.onTime = func(context.Context) (time.Time, error) { return time.Time{}, errors.ErrUnsupported }
		}},
	}
}
