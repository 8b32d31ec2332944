package deliberation

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// draft is a proposal that is still to be merged.
type draft struct {
	by     string
	text   string
	longer int // bytes of a text that is not there yet
}

// merging returns the merges that are missing, level by level, then the judge's writing out of what is left.
func (b *board) merging() []*flow.Call {
	calls, left := b.merged(b.drafts(), nil)
	if len(calls) > 0 || left == nil {
		return calls
	}
	return b.writtenOut(left)
}

// mergingAll returns what merging lacks of all its levels, and the writing out. length is how many bytes the reply to a
// merge has where it is read.
func (b *board) mergingAll(drafts []draft, length func(*flow.Call) int) []*flow.Call {
	calls, left := b.merged(drafts, length)
	if left == nil {
		return nil
	}
	return append(calls, b.writtenOut(left)...)
}

// writtenOut has the judge write out what is left of merging.
func (b *board) writtenOut(left *draft) []*flow.Call {
	calls := b.synthesis("ask.written", func(out *strings.Builder, s step) {
		b.quoteAs(out, left.by, cut(left.text, s.halves))
	})
	for _, call := range calls {
		call.Longer = left.longer
	}
	return calls
}

// drafts are the proposals that stand.
func (b *board) drafts() []draft {
	var drafts []draft
	for _, w := range b.finalists(0) {
		drafts = append(drafts, draft{by: w.ID + ": proposal", text: w.standing().Text})
	}
	return drafts
}

// merged goes through the levels of merging: neighbours are merged, one without a neighbour goes on as it is, and so
// does the first of two whose merge has failed. It returns the merges that are missing, and what is left in the end. It
// stops at the first level that lacks a merge, unless it is told how long the replies are.
func (b *board) merged(drafts []draft, length func(*flow.Call) int) (calls []*flow.Call, left *draft) {
	for level := 1; len(drafts) > 1; level++ {
		var next []draft
		for i := 0; i < len(drafts); i += 2 {
			if i+1 == len(drafts) {
				next = append(next, drafts[i])
				break
			}
			one, call := b.merge(drafts[i], drafts[i+1], level, i/2+1)
			if call != nil {
				calls = append(calls, call)
				if length != nil {
					one.longer = length(call)
				}
			}
			next = append(next, one)
		}
		if len(calls) > 0 && length == nil {
			return calls, nil
		}
		drafts = next
	}
	if len(drafts) == 0 {
		return nil, nil
	}
	return calls, &drafts[0]
}

func (b *board) mergeOf(level, place int) attempt {
	return b.attempt(b.Concluding(fmt.Sprintf("merge.%d.%d", level, place)), halved("of a part of each draft"))
}

// merge returns what two drafts were merged into, or the call that does so.
func (b *board) merge(x, y draft, level, place int) (draft, *flow.Call) {
	a := b.mergeOf(level, place)
	for _, t := range b.merges {
		if t.Call == a.id {
			return draft{by: labelMerged, text: t.Text}, nil
		}
	}
	if b.Skipped(a.id) || !b.judges() {
		return x, nil
	}
	call := b.judge(a.id, KindMerge)
	call.Slot, call.OnFail = b.slot(slotMerge, level-1, place), a.onFail(flow.OnFail{Skip: b.mergesLeft()})
	call.Longer = x.longer + y.longer
	call.Last = func(r *flow.Record) string {
		var out strings.Builder
		b.quoteAs(&out, x.by, cut(x.text, a.halves))
		b.quoteAs(&out, y.by, cut(y.text, a.halves))
		return out.String() + r.Text("ask.merge") + a.note("merge")
	}
	return draft{by: labelMerged}, call
}

const labelMerged = "merged proposal"

// unmerged warns of the merges that have failed, and of those whose prompts were made smaller.
func (b *board) unmerged() []flow.Warning {
	if b.config.Synthesis != SynthesisMerge {
		return nil
	}
	var warnings []flow.Warning
	for level, n := 1, len(b.finalists(0)); n > 1; level, n = level+1, (n+1)/2 {
		for place := 1; place <= n/2; place++ {
			switch a := b.mergeOf(level, place); {
			case b.Skipped(a.id):
				warnings = append(warnings, b.failing(WarnMissing, a.id, nameJudge, "the first of the two drafts goes on as it is"))
			case a.short > 0 && b.Done(a.id):
				warnings = append(warnings, a.smaller(nameJudge))
			}
		}
	}
	return warnings
}
