package debate

import (
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Input is one thing that happens to a debate. It carries its time and its random bits, so that the
// core needs neither clock nor dice.
type Input struct {
	At     time.Time
	Bits   uint64 // random: jitter comes from them
	Signal Signal
}

// Signal is what an [Input] says. The types of this package are all there are.
type Signal interface{ signal() }

// The signals. Start, Answer, Sent and Opened are recorded as they come in.
type (
	// Edit gives a conversation that has not started its config, settled.
	Edit struct {
		Flow   string // "": the one that the config is for
		Config FlowConfig
	}
	// Validate begins the checks.
	Validate struct{}
	// Validated ends them; OK says how.
	Validated struct{ OK bool }
	// Pause stops new calls. Without Drain the ones in flight are to be broken off.
	Pause struct{ Drain bool }
	// Resume goes on after a pause.
	Resume struct{}
	// Stop goes to the verdict with what is there; without any turn, or after an error, it ends.
	Stop struct{}
	// Cancel ends without a verdict.
	Cancel struct{}
	// Acknowledge says that a person has seen the cost warning.
	Acknowledge struct{}
	// Retry goes back to the state that an error interrupted and tries the failed call again.
	Retry struct{}
	// Tick says that time has passed: a wait is over.
	Tick struct{}
	// Opened says that somebody goes on with a log that another process has left. It is stepped once when
	// the log is opened, before anything is said to be Lost, and begins nothing: a Tick comes last.
	Opened struct {
		By string `json:"by,omitempty"` // whose lease it is
	}
	// Result is the reply to a call.
	Result struct {
		Call    string
		Attempt int
		Text    string
		Stop    StopReason // "": the end
		// Calls are tools that the model asks for, in place of a reply or beside it.
		Calls []provider.ToolCall
		Free  bool // nothing was paid: a cache of the host's gave a former reply
		Usage Usage
		Took  time.Duration // without the time in queues
	}
	// Failed says that an attempt gave no reply.
	Failed struct {
		Call    string
		Attempt int
		Error   *Error
		Free    bool          // nothing was paid
		Usage   Usage         // what is known of what was paid
		Took    time.Duration // without the time in queues
	}
	// Lost says that nobody knows what became of an attempt. It is stepped once for each call in flight
	// by who takes a debate up: when its log is opened, or when the log turns out to have been gone on with
	// by somebody else. Whoever still makes the call itself does not step it.
	Lost struct {
		Call    string
		Attempt int
	}
)

func (Edit) signal()        {}
func (Validate) signal()    {}
func (Validated) signal()   {}
func (Start) signal()       {}
func (Pause) signal()       {}
func (Resume) signal()      {}
func (Stop) signal()        {}
func (Cancel) signal()      {}
func (Acknowledge) signal() {}
func (Retry) signal()       {}
func (Tick) signal()        {}
func (Opened) signal()      {}
func (Answer) signal()      {}
func (Sent) signal()        {}
func (Result) signal()      {}
func (Failed) signal()      {}
func (Lost) signal()        {}

// Output is what a Step asks its runtime to do, in the order of the fields. It is valid until the
// next Step.
type Output struct {
	// Events are to be appended to the log in one commit before anything else is done, and only then shown.
	Events []Event
	// Abort names calls in flight that are to be broken off; their results are still welcome.
	Abort []string
	// Start names calls that are to be performed, at once if there are several; Core.Command yields each.
	Start []string
	// Wait is when a Tick is due; it replaces the former one. Zero: no Tick is due.
	Wait time.Time
}
