package flow

// Idle reports whether nothing happens in a state by itself: the conversation has not begun, is paused, is in error,
// waits for a person, or is over.
func (s State) Idle() bool {
	switch s {
	case "", StateConfiguring, StateValidating, StateReady, StatePaused, StateAwaitingInput, StateCompleted, StateCanceled, StateError:
		return true
	default:
		return false
	}
}
