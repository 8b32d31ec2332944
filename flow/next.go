package flow

import "time"

// Next is what is left to a runtime after Engine.Advance. It holds no text, so that an engine of workflows may keep it.
type Next struct {
	// Calls are all calls in flight: those that the signal has begun, and those from before. The runtime makes each of them once.
	Calls []Lost `json:"calls,omitempty"`
	// Abort names those of the Calls that a control has aborted. The runtime breaks them off, and still brings what they bring.
	// It makes none of them that it has not begun: Engine.Call knows.
	Abort []string `json:"abort,omitempty"`
	// Wait is after how long a Tick is due, from now on. 0: none is. It replaces the Wait of the Next before.
	Wait time.Duration `json:"wait,omitempty"`
	// Idle says that no process needs to work on the conversation: it is over, in the error state, paused, or waits for a person,
	// and no call is in flight.
	Idle bool `json:"idle,omitempty"`
	// Over says that nothing more can be recorded.
	Over  bool  `json:"over,omitempty"`
	State State `json:"state"`
	Round int   `json:"round,omitempty"` // from 1; 0: before the first
	Seq   int64 `json:"seq"`             // the number of the last event
}
