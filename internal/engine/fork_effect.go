package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// lastingEffects returns a warning of the uses of tools that a conversation has begun after event seq, and that may have changed
// something: a fork at seq does not have them, and nothing rolls them back. nil: there are none.
func lastingEffects(tools map[string]flow.ToolInfo, events []flow.Event, seq int64) *flow.Warning {
	counts := make(map[string]int)
	for i := range events[seq:] {
		in, ok := events[seq+int64(i)].Body.(*flow.Intent)
		if ok && in.Tool != "" && !tools[in.Tool].ReadOnly {
			counts[in.Tool]++
		}
	}
	if len(counts) == 0 {
		return nil
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s %d", name, counts[name]))
	}
	since := fmt.Sprintf("event %d", seq)
	if seq == 0 {
		since = "its beginning"
	}
	return &flow.Warning{Kind: flow.WarnEffect, Evidence: fmt.Sprintf(
		"the original has used tools since %s (%s): what they have changed was not rolled back", since, strings.Join(list, ", "))}
}

// begunSince returns the uses of tools that a model has asked for up to event seq, and that the log has begun only after it. Those of
// tools that are read-only or idempotent are left out: they may be made again.
func begunSince(tools map[string]flow.ToolInfo, events []flow.Event, seq int64) []*flow.Intent {
	asked := make(map[string]bool)
	var out []*flow.Intent
	for i := range events {
		switch body := events[i].Body.(type) {
		case *flow.ToolCalls:
			for _, use := range body.Uses {
				info := tools[use.Name]
				asked[use.Use] = int64(i) < seq && use.Denied == "" && !info.ReadOnly && !info.Idempotent
			}
		case *flow.Intent:
			if asked[body.Call] && int64(i) >= seq {
				out = append(out, body)
			}
			delete(asked, body.Call)
		}
	}
	return out
}
