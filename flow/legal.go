package flow

// Legal returns what a host program may do now: the triggers of the controls that the present state allows, and of the flow's own inputs.
// Guards are evaluated; what a flow says of the payload of an input (Flow.Admit) is not. [TriggerReopen] among them means that
// Engine.Reopen goes on after the conclusion. Notes and amendments are possible from the start until the conversation is over. The slice
// belongs to the caller.
func (r *Record) Legal() []Trigger {
	m := r.machine
	if m == nil {
		return nil
	}
	var legal []Trigger
	for _, on := range []Trigger{TriggerPause, TriggerResume, TriggerRetry, TriggerStop, TriggerCancel} {
		if m.allows(r, on) || on == TriggerRetry && m.working(r.State) && r.waiting() {
			legal = append(legal, on)
		}
	}
	for _, on := range m.flow.Inputs {
		if m.allows(r, on) {
			legal = append(legal, on)
		}
	}
	if r.concluded && r.Final() && m.flow.Reopen != nil {
		legal = append(legal, TriggerReopen)
	}
	return legal
}
