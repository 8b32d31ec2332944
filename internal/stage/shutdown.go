package stage

import (
	"context"
	"errors"
)

// Abort shuts down an engine whose time to drain is over already: its calls in flight are aborted, which is no error here.
func Abort(engine interface {
	Shutdown(ctx context.Context) error
},
) error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := engine.Shutdown(over); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
