package debate

import (
	"errors"

	"github.com/agonist-dev/debate/flow"
)

// aside returns why a participant cannot answer a note out of turn; see flow.Flow.Aside.
func aside(*flow.Record, *flow.Note) error { return errors.New("debates have no answers out of turn") }
