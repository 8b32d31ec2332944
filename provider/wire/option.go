package wire

import (
	"slices"

	"github.com/agonist-dev/debate/provider"
)

// Nearest returns the step of a vendor's scale that is nearest to an effort; of two that are equally near, the lower
// one. steps are some of the words none, minimal, low, medium, high, xhigh and max. ok is false if there is none:
// [provider.EffortNone] switches thinking off, and no other step does that.
func Nearest(effort provider.Effort, steps []string) (step string, ok bool) {
	if effort == provider.EffortNone {
		return "none", slices.Contains(steps, "none")
	}
	scale := []string{"minimal", "low", "medium", "high", "xhigh", "max"}
	want, best := slices.Index(scale, string(effort)), len(scale)
	for i, s := range scale {
		if distance := max(i-want, want-i); slices.Contains(steps, s) && distance < best {
			step, best = s, distance
		}
	}
	return step, step != "" && want >= 0
}

// Lacking fails with [Unwritable] if a request asks a model for one of the abilities that it surely lacks: an option, a tool, or the
// reading of a part. A temperature and a schema are no such demands: an adapter may leave them out.
func Lacking(req *provider.Request, lacks ...provider.Ability) error {
	asks := req.Options.Asks()
	for p := range Parts(req) {
		asks = append(asks, p.Ability())
	}
	if len(req.Tools) > 0 {
		asks = append(asks, provider.AbilityTools)
	}
	for _, ability := range asks {
		if slices.Contains(lacks, ability) {
			return Unwritable(string(ability), "the model "+Clip(req.Model)+" lacks the ability "+string(ability))
		}
	}
	return nil
}

// Parts yields the parts of all messages of a request.
func Parts(req *provider.Request) func(yield func(*provider.Part) bool) {
	return func(yield func(*provider.Part) bool) {
		for i := range len(req.Messages) + 1 {
			m := &req.Last
			if i < len(req.Messages) {
				m = &req.Messages[i]
			}
			for k := range m.Parts {
				if !yield(&m.Parts[k]) {
					return
				}
			}
		}
	}
}
