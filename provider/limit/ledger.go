package limit

import (
	"context"
	"time"
)

// Ledger keeps what the machines of one account share: how much of a limit is handed out, and until when. A
// [Rate] or a [Concurrency] that has a Ledger is one of several machines with the same limit; without one, the
// limit is this process's own. The stores of package store/sql are Ledgers. Package limittest tests others.
//
// A Ledger is used from several goroutines at once.
type Ledger interface {
	// UpdateLimit replaces the value under a name by what change returns, in one step: no other update of
	// that name comes between the value that change gets and the one that it returns.
	//
	// change gets the present value, empty if there is none, and the time of the ledger's own clock, which is
	// one clock for all machines. It does no I/O. UpdateLimit may call it several times, stores the result
	// of the last call, and calls it no more once it has returned.
	//
	// A name is any text of at most 1 KiB; it identifies an account and a model, and never holds a key. A value is
	// valid UTF-8, of some 100 bytes for each machine.
	//
	// After an error the value may have been replaced or not. UpdateLimit returns soon after ctx ends.
	UpdateLimit(ctx context.Context, name string, change func(value []byte, now time.Time) []byte) error
}
