package debate

import (
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/store"
)

// Names of other packages that most programs need. They are documented there.
type (
	Budget      = flow.Budget      // limits of money, tokens, calls and time
	Error       = flow.Error       // every error of this library, with a kind
	Event       = flow.Event       // an entry of a log
	Flow        = flow.Flow        // a kind of conversation
	Guard       = flow.Guard       // the condition of a rule
	Kind        = flow.Kind        // what an error is about
	Model       = flow.Model       // prices and sizes of a model
	Money       = flow.Money       // an amount of USD
	Option      = flow.Option      // what a person may choose
	Record      = flow.Record      // what is known of a conversation
	RetryPolicy = flow.RetryPolicy // how failed calls are tried again
	Rule        = flow.Rule        // a line of the table
	State       = flow.State       // where a conversation stands
	Tool        = flow.Tool        // a function that models may use
	Trigger     = flow.Trigger     // what changes a state
	Turn        = flow.Turn        // what a participant has said
	Unattended  = flow.Unattended  // the choices where nobody can be asked

	Format = format.Format // the shape of a debate
	Side   = format.Side   // what a participant is for

	Filter = store.Filter // which conversations a list has
	Info   = store.Info   // a line of such a list
	Store  = store.Store  // where logs are kept
)

// The sides of a debate, and a dollar.
const (
	For     = format.For
	Against = format.Against
	Neutral = format.Neutral
	USD     = flow.USD
)

// Errors that a program compares with errors.Is.
var (
	ErrAwaitingInput = flow.ErrAwaitingInput
	ErrConflict      = flow.ErrConflict
	ErrLeased        = flow.ErrLeased
	ErrNotFound      = flow.ErrNotFound
)
