package debate

import (
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Names of other packages that most programs need. A program that runs debates writes these aliases. Authors of flows,
// formats and stores write the names of the packages that define them.
type (
	// Budget holds limits of money, tokens, calls and time. See [flow.Budget].
	Budget = flow.Budget
	// Error is the type of all errors of this library. See [flow.Error].
	Error = flow.Error
	// Event is an entry of a log. See [flow.Event].
	Event = flow.Event
	// Flow is a kind of conversation. See [flow.Flow].
	Flow = flow.Flow
	// Guard is the condition of a rule. See [flow.Guard].
	Guard = flow.Guard
	// Kind says what an error is about. See [flow.Kind].
	Kind = flow.Kind
	// Model holds the prices and sizes of a model. See [flow.Model].
	Model = flow.Model
	// Money is an amount of USD. See [flow.Money].
	Money = flow.Money
	// Option is what a person may choose. See [flow.Option].
	Option = flow.Option
	// Record is what a log says of a conversation. See [flow.Record].
	Record = flow.Record
	// RetryPolicy says how failed calls are retried. See [flow.RetryPolicy].
	RetryPolicy = flow.RetryPolicy
	// Rule is a line of the table. See [flow.Rule].
	Rule = flow.Rule
	// State is where a conversation stands. See [flow.State].
	State = flow.State
	// Tool is a function that models may use. See [flow.Tool].
	Tool = flow.Tool
	// Trigger is what changes a state. See [flow.Trigger].
	Trigger = flow.Trigger
	// Turn is what a participant has said. See [flow.Turn].
	Turn = flow.Turn
	// FailureRule says what is done about calls that have failed for good. See [flow.FailureRule].
	FailureRule = flow.FailureRule

	// Format is the shape of a debate. See [format.Format].
	Format = format.Format
	// Side is the position of a participant. See [format.Side].
	Side = format.Side

	// Filter selects conversations of a list. See [store.Filter].
	Filter = store.Filter
	// Info is a line of a list. See [store.Info].
	Info = store.Info
	// Store keeps logs. See [store.Store].
	Store = store.Store

	// Provider asks a model for one reply. See [provider.Provider].
	Provider = provider.Provider
	// Usage counts the tokens of a request. See [provider.Usage].
	Usage = provider.Usage
	// ContextManager decides what is sent when a conversation does not fit a model's window. See [window.Manager].
	ContextManager = window.Manager
)

// The sides of a debate, and one US dollar.
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
	ErrMissing       = flow.ErrMissing
	ErrNotFound      = flow.ErrNotFound
	ErrPaused        = flow.ErrPaused
)
