package deliberation

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// draft is a proposal that is still to be merged.
type draft struct {
	by   string
	text string
}

// merging returns the merges that are missing, level by level, then the judge's writing out of what is left.
func (b *board) merging() []flow.Call {
	drafts, calls := b.merged()
	if len(calls) > 0 || len(drafts) == 0 {
		return calls
	}
	return b.synthesis("ask.written", func(out *strings.Builder, short int) {
		b.quoteAs(out, drafts[0].by, cut(drafts[0].text, short))
	})
}

// merged goes through the levels of merging as far as they are made: neighbours are merged, one without a
// neighbour goes on as it is, and so does the first of two whose merge has failed.
func (b *board) merged() (drafts []draft, calls []flow.Call) {
	for _, w := range b.finalists(0) {
		drafts = append(drafts, draft{w.ID + ": proposal", w.standing().Text})
	}
	for level := 1; len(drafts) > 1; level++ {
		var next []draft
		for i := 0; i < len(drafts); i += 2 {
			if i+1 == len(drafts) {
				next = append(next, drafts[i])
				break
			}
			one, call := b.merge(drafts[i], drafts[i+1], level, i/2+1)
			if call != nil {
				calls = append(calls, *call)
			}
			next = append(next, one)
		}
		if len(calls) > 0 {
			return nil, calls
		}
		drafts = next
	}
	return drafts, nil
}

func mergeID(level, place int) string { return fmt.Sprintf("merge.%d.%d", level, place) }

// merge returns what two drafts were merged into, or the call that does so.
func (b *board) merge(x, y draft, level, place int) (draft, *flow.Call) {
	a := b.attempt(mergeID(level, place))
	for _, t := range b.merges {
		if t.Call == a.id {
			return draft{"merged proposal", t.Text}, nil
		}
	}
	if b.Failed(a.id) || !b.judges() {
		return x, nil
	}
	call := b.judge(a.id, KindMerge)
	call.Slot = b.slot(slotMerge, level-1, place)
	call.Last = func(r *flow.Record) string {
		var out strings.Builder
		b.quoteAs(&out, x.by, cut(x.text, a.short))
		b.quoteAs(&out, y.by, cut(y.text, a.short))
		return out.String() + r.Text("ask.merge")
	}
	return draft{}, &call
}

// unmerged warns of the merges that have failed, and of those whose prompts were made smaller.
func (b *board) unmerged() []flow.Warning {
	if b.config.Synthesis != SynthesisMerge {
		return nil
	}
	var warnings []flow.Warning
	for level, n := 1, len(b.finalists(0)); n > 1; level, n = level+1, (n+1)/2 {
		for place := 1; place <= n/2; place++ {
			switch a := b.attempt(mergeID(level, place)); {
			case b.Failed(a.id):
				warnings = append(warnings, b.failing(a.id, nameJudge, "the first of the two drafts goes on as it is"))
			case a.short > 0 && b.Done(a.id):
				warnings = append(warnings, a.smaller(nameJudge, "of a part of each draft"))
			}
		}
	}
	return warnings
}
