package store

import (
	"context"

	"github.com/agonist-dev/debate/flow"
)

// Quarantine keeps workers for a while from a conversation that could not be opened. The zero value means none.
type Quarantine struct {
	Count  int    `json:"count"`  // how often the conversation could not be opened in a row
	Reason string `json:"reason"` // why, at last; one line
	// Left is how long workers leave the conversation alone from now on, by the store's clock. 0: the quarantine is over.
	Left flow.Duration `json:"left,omitzero"`
}

// Quarantines is an optional ability of a [Store]: it keeps the quarantines of conversations, for all processes. List reports
// them in Info.Quarantine, and [Filter].Due leaves out conversations whose quarantine is not over. If a store lacks this
// ability, each engine remembers for itself what it could not open. No lease is needed.
type Quarantines interface {
	// Quarantine returns the quarantine of a conversation, the zero value if there is none.
	Quarantine(ctx context.Context, id string) (Quarantine, error)
	// SetQuarantine replaces the quarantine of a conversation. Its time begins now. When the time is over, the quarantine stays
	// stored with a Left of 0. The zero value removes it, and announces the conversation if it needs a process (see
	// [Announcer]). The log of the conversation need not be readable. Delete removes the quarantine too.
	SetQuarantine(ctx context.Context, id string, q Quarantine) error
}
