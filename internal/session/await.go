package session

import "slices"

// awaitOpening returns a channel that gets a value when a session of the conversation is open in this host. The caller calls
// stopAwaiting.
func (h *Host) awaitOpening(id string) chan struct{} {
	opened := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.awaiting[id] = append(h.awaiting[id], opened)
	return opened
}

func (h *Host) stopAwaiting(id string, opened chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.awaiting[id] = slices.DeleteFunc(h.awaiting[id], func(other chan struct{}) bool { return other == opened })
	if len(h.awaiting[id]) == 0 {
		delete(h.awaiting, id)
	}
}

// announceOpening wakes those who await a session of the conversation. The lock is held.
func (h *Host) announceOpening(id string) {
	for _, opened := range h.awaiting[id] {
		select {
		case opened <- struct{}{}:
		default:
		}
	}
}
