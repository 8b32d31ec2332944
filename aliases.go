package debate

import (
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/store"
)

// Turn is [flow.Turn].
type Turn = flow.Turn

// Budget is [flow.Budget].
type Budget = flow.Budget

// Side is [format.Side].
type Side = format.Side

// For is [format.For].
const For = format.For

// Against is [format.Against].
const Against = format.Against

// Neutral is [format.Neutral].
const Neutral = format.Neutral

// Kind is [flow.Kind].
type Kind = flow.Kind

// ErrAwaitingInput is [flow.ErrAwaitingInput].
var ErrAwaitingInput = flow.ErrAwaitingInput

// ErrNotFound is [flow.ErrNotFound].
var ErrNotFound = flow.ErrNotFound

// ErrConflict is [flow.ErrConflict].
var ErrConflict = flow.ErrConflict

// ErrLeased is [flow.ErrLeased].
var ErrLeased = flow.ErrLeased

// Error is [flow.Error].
type Error = flow.Error

// Event is [flow.Event].
type Event = flow.Event

// Filter is [store.Filter].
type Filter = store.Filter

// Info is [store.Info].
type Info = store.Info

// Flow is [flow.Flow].
type Flow = flow.Flow

// Format is [format.Format].
type Format = format.Format

// Option is [flow.Option].
type Option = flow.Option

// State is [flow.State].
type State = flow.State

// Trigger is [flow.Trigger].
type Trigger = flow.Trigger

// Rule is [flow.Rule].
type Rule = flow.Rule

// Guard is [flow.Guard].
type Guard = flow.Guard

// Model is [flow.Model].
type Model = flow.Model

// Money is [flow.Money].
type Money = flow.Money

// USD is [flow.USD].
const USD = flow.USD

// Record is [flow.Record].
type Record = flow.Record

// RetryPolicy is [flow.RetryPolicy].
type RetryPolicy = flow.RetryPolicy

// Store is [store.Store].
type Store = store.Store

// Tool is [flow.Tool].
type Tool = flow.Tool

// Unattended is [flow.Unattended].
type Unattended = flow.Unattended
