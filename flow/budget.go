package flow

import (
	"encoding/json"
	"time"
)

// Budget limits what a conversation may use.
//
//   - Warn, Soft and Hard limit the cost. They need a known price for every model of the conversation.
//   - The other limits apply to the whole conversation, failed attempts included.
//   - A limit that is 0 does not limit.
//
//nolint:recvcheck // encoding/json asks a value for MarshalJSON
type Budget struct {
	// Warn gives one warning event when the spend reaches it.
	Warn Money `json:"warn,omitempty"`
	// Confirm makes the conversation wait at Warn until a person answers the inquiry
	// [InquiryCost], as Session.Acknowledge does. In an unattended conversation a [FailureRule] answers; without
	// one it goes to the error state, and Session.Retry confirms the warning.
	Confirm bool `json:"confirm,omitempty"`
	// Soft limits end the rounds, and the conclusion follows. Its worst case is kept back from the hard limits.
	Soft       Money         `json:"soft,omitempty"`
	SoftTokens int           `json:"softTokens,omitempty"` // input and output
	SoftCalls  int           `json:"softCalls,omitempty"`  // attempts
	SoftTime   time.Duration `json:"-"`                    // since the start; pauses, and time without a process, included
	// Hard limits are never passed: no call starts whose worst case would pass one. At HardTime the calls in flight
	// are aborted. A hard limit ends the conversation with an error of kind cost_limit.
	Hard       Money         `json:"hard,omitempty"`
	HardTokens int           `json:"hardTokens,omitempty"`
	HardCalls  int           `json:"hardCalls,omitempty"`
	HardTime   time.Duration `json:"-"`
}

// budgetFields is Budget without its methods.
type budgetFields Budget

// budgetJSON writes durations as text.
type budgetJSON struct {
	budgetFields

	SoftTime Duration `json:"softTime,omitempty"`
	HardTime Duration `json:"hardTime,omitempty"`
}

// MarshalJSON writes the budget. Durations are strings such as "90s".
func (b Budget) MarshalJSON() ([]byte, error) {
	return json.Marshal(budgetJSON{budgetFields(b), Duration(b.SoftTime), Duration(b.HardTime)})
}

// UnmarshalJSON reads a budget strictly. Its errors are those of [DecodeStrict].
func (b *Budget) UnmarshalJSON(data []byte) error {
	var in budgetJSON
	if err := DecodeStrict("read budget", data, &in); err != nil {
		return err
	}
	*b = Budget(in.budgetFields)
	b.SoftTime, b.HardTime = time.Duration(in.SoftTime), time.Duration(in.HardTime)
	return nil
}
