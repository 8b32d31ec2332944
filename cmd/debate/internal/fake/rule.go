package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Rule says how calls are answered. The zero value applies to all, and changes nothing.
type Rule struct {
	// Call and Model are patterns of [path.Match] for the name of a call and of its model. Empty: any.
	Call  string `json:"call"`
	Model string `json:"model"`
	// Times is how many calls the rule applies to. 0: to all.
	Times int `json:"times"`
	// Delay is how long the call takes, such as "100ms".
	Delay Duration `json:"delay"`
	// Status answers with a failure: 401, 429, 500. Code is the vendor's code for it, Text its message.
	Status int    `json:"status"`
	Code   string `json:"code"`
	// RetryAfter is the header of that name, in seconds.
	RetryAfter string `json:"retryAfter"`
	// Fault is one of the faults below.
	Fault Fault `json:"fault"`
	// Text is the answer.
	Text string `json:"text"`
	// Tool is the tool that the model asks for with these Arguments, a JSON object, if it is offered any tool and has used none.
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

// Fault is something that goes wrong in an answer with status 200.
type Fault string

// The faults.
const (
	FaultCut     Fault = "cut"     // the connection ends in mid-stream
	FaultRefusal Fault = "refusal" // the model declines
	FaultLength  Fault = "length"  // the answer ends at the cap
	FaultHold    Fault = "hold"    // the answer begins, and nothing else comes until the client goes, or [Server.Release]
)

// Duration is a time.Duration whose JSON is a text such as "100ms".
type Duration time.Duration

// UnmarshalJSON reads a duration.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	value, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("read a delay: %w", err)
	}
	*d = Duration(value)
	return nil
}

func (r *Rule) applies(call *Call) bool {
	return matches(r.Call, call.Name) && matches(r.Model, call.Model) && (r.Tool == "" || call.tools)
}

// ParseRules reads rules from a JSON array. An unknown key is an error.
func ParseRules(data []byte) ([]Rule, error) {
	var rules []Rule
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&rules); err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return rules, nil
}
