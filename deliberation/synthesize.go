package deliberation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// SynthesizerFunc makes the solution in Go, or through a service. It is a [flow.Function]. Register it in Engine.Functions
// under the name in Config.Synthesizer. The solution is checked like the answer of a model.
type SynthesizerFunc func(ctx context.Context, task SynthesisTask) (*Solution, error)

// SynthesisTask is what a [SynthesizerFunc] is asked. What it points to is shared and read only.
type SynthesisTask struct {
	Deliberation string // its ID
	Call         string // deterministic; with Attempt it is an idempotency key
	Attempt      int    // from 1
	Problem      string
	Round        int               // the latest round
	Agents       []string          // those who take part, by their IDs
	Turns        []*flow.Turn      // all of the deliberation, oldest first; their text is hostile
	Notes        []*flow.Note      // what was said in between by those who take no part; their text is hostile too
	Instruction  string            // what the judge would be told, the problem included
	Schema       json.RawMessage   // the JSON schema of a solution
	Labels       map[string]string // Config.Labels
}

// Call implements [flow.Function].
func (f SynthesizerFunc) Call(ctx context.Context, task any) (json.RawMessage, error) {
	own, err := flow.TaskOf[SynthesisTask](task)
	if err != nil {
		return nil, err
	}
	made, err := f(ctx, *own)
	if err != nil {
		return nil, err
	}
	if made == nil {
		return nil, errors.New("the synthesizer returned no solution")
	}
	out := *made
	for _, list := range []*[]string{&out.Implementation, &out.Tradeoffs, &out.Recommendations, &out.OpenQuestions} {
		if *list == nil {
			*list = []string{}
		}
	}
	if out.Requirements == nil {
		out.Requirements = []Requirement{}
	}
	return json.Marshal(out)
}

// solutionCalls returns what is missing for the solution, by the method of the config. Without a proposal
// there is nothing to make one of.
func solutionCalls(r *flow.Record) []*flow.Call {
	return read(r).solving()
}

func (b *board) solving() []*flow.Call {
	if b.stands() == 0 {
		return nil
	}
	switch b.config.Synthesis {
	case SynthesisVoting:
		return b.voting()
	case SynthesisMerge:
		return b.merging()
	case SynthesisRegistered:
		return b.registered()
	default:
		return b.synthesis("ask.synthesis", b.material)
	}
}

// conclusion returns all that is missing for the solution, as if every agent that takes part had a final proposal: the
// method may ask for one after the other. What is still being said may be part of each.
func conclusion(r *flow.Record) []*flow.Call {
	b := read(r).ended()
	switch b.config.Synthesis {
	case SynthesisVoting:
		return b.votingAll()
	case SynthesisMerge:
		return b.mergingAll(b.drafts(), func(call *flow.Call) int { return r.Longest(call) + slack })
	default:
		return b.solving()
	}
}

// ended looks at a deliberation as if every agent that takes part had a proposal.
func (b *board) ended() *board {
	d, k := *b.Deliberation, *b.sorted
	k.agents = slices.Clone(b.agents)
	for i := range k.agents {
		if w := &k.agents[i]; w.active && w.standing() == nil {
			w.own = []*flow.Turn{{Kind: KindProposal, Speaker: w.ID, Round: b.round}}
		}
	}
	d.sorted = &k
	return &board{Deliberation: &d, round: b.round}
}

// solutionSize is how many calls the solution is expected to take, of which the method may ask for one after the other.
func solutionSize(r *flow.Record) int {
	b := read(r)
	n := len(solutionCalls(r))
	if n == 0 {
		return 0
	}
	finalists := len(b.finalists(0))
	switch b.config.Synthesis {
	case SynthesisVoting:
		return len(b.voters()) + 1
	case SynthesisMerge:
		return finalists // one merge less, and the writing out
	default:
		return n
	}
}

// synthesis returns the judge's call for the solution, if it is missing and there is a judge.
func (b *board) synthesis(text string, write func(out *strings.Builder, s step)) []*flow.Call {
	a := b.solution()
	if b.Done(a.id) || !b.judges() {
		return nil
	}
	if lacking := b.lacking(nil, a); len(lacking) > 0 {
		return b.digests(false, lacking)
	}
	call := b.judge(a.id, KindSynthesis)
	call.Schema, call.Slot, call.OnFail = schemaSolution, b.slot(slotSolution, 0, 0), a.onFail(flow.OnFail{})
	call.Last = func(r *flow.Record) string {
		var out strings.Builder
		write(&out, a.step)
		return out.String() + r.Text(text) + a.note("solution") + b.unfinished()
	}
	return []*flow.Call{call}
}

// material writes all rounds. If they do not fit: the summaries, or a part of them, and the final proposals; then these
// alone; then a part of each.
func (b *board) material(out *strings.Builder, s step) {
	if s.history == readAll {
		b.rounds(out)
		return
	}
	for i := range b.agents {
		w := &b.agents[i]
		b.quoteSummary(out, w, w.digest(b.round), s.history)
		if t := w.standing(); t != nil {
			b.quoteAs(out, w.ID+": final proposal", cut(t.Text, s.halves))
		}
	}
}

// solution returns the judge's call for the solution, as it is made now.
func (b *board) solution() attempt {
	if b.config.Synthesis == SynthesisMerge {
		return b.attempt(b.synthesisID(), halved("of a part of the merged proposal"))
	}
	return b.attempt(b.synthesisID(), func() []step {
		const part = "of a part of each final proposal alone"
		steps := []step{{readNothing, 0, "of the final proposals alone"}, {readNothing, 1, part}, {readNothing, 2, part}}
		if !slices.ContainsFunc(b.agents, func(w work) bool { return w.digest(b.round) != nil || b.condensable(&w) }) {
			return steps
		}
		return append([]step{
			{readSummaries, 0, "of the summaries and the final proposals alone"},
			{readParts, 0, "of a part of each summary and the final proposals alone"},
		}, steps...)
	})
}

func (b *board) synthesisID() string { return b.Concluding("synthesis") }

// registered returns the call of the host's synthesizer.
func (b *board) registered() []*flow.Call {
	if b.Done(b.synthesisID()) || b.IsDropped(nameSynthesizer) || b.config.Synthesizer == "" {
		return nil
	}
	return []*flow.Call{{
		ID: b.synthesisID(), Kind: KindSynthesis, By: nameSynthesizer, Performer: flow.ByFunction, Function: b.config.Synthesizer, Round: b.round,
		Slot: b.slot(slotSolution, 0, 0), Schema: schemaSolution, Timeout: b.config.JudgeTimeout,
		Last: func(r *flow.Record) string {
			var out strings.Builder
			b.rounds(&out)
			return b.system("who."+nameJudge) + "\n\n" + out.String() + r.Text("ask.synthesis") + b.unfinished()
		},
		Task: synthesisTask,
	}}
}

// synthesisTask makes what a registered synthesizer is asked.
func synthesisTask(r *flow.Record, asked flow.Asked) any {
	return &SynthesisTask{
		Deliberation: r.ID, Call: asked.Call.ID, Attempt: asked.Attempt, Problem: r.Settings().Topic, Round: r.Round, Agents: r.Active(),
		Turns: r.Readable(), Notes: r.ReadableNotes(nameSynthesizer), Instruction: asked.Instruction, Schema: asked.Schema,
		Labels: r.Settings().Labels,
	}
}

// rounds writes all rounds: for each agent its history, summarised or whole, and what it ends with; then what
// was aimed at nobody.
func (b *board) rounds(out *strings.Builder) {
	end := b.round + 2 // a refinement of this round stood for the next one
	for i := range b.agents {
		w := &b.agents[i]
		digest := w.digest(end)
		b.quoteSummary(out, w, digest, readAll)
		for _, t := range b.since(w, digest, end) {
			b.quote(out, t)
		}
		if t := w.standing(); t != nil {
			b.quoteAs(out, w.ID+": final proposal", t.Text)
		}
	}
	b.aimless(out, end)
}

// finalists returns those who have something that stands, from one seat on.
func (d *Deliberation) finalists(first int) []*work {
	var out []*work
	for i := range d.agents {
		if w := &d.agents[(first+i)%len(d.agents)]; w.active && w.standing() != nil {
			out = append(out, w)
		}
	}
	return out
}

// unfinished tells the maker of the solution that the deliberation ended early.
func (b *board) unfinished() string {
	if b.Reason == flow.EndRounds || b.Reason == flow.EndConverged || b.Reason == EndQuality || b.Reason == "" {
		return ""
	}
	return fmt.Sprintf("\n\nThe deliberation ended early, in round %d: make the best of what there is, and say what is open.", b.round)
}

func solved(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	b := read(r)
	exit := flow.Exit{Warnings: b.unvoted()}
	exit.Warnings = append(append(exit.Warnings, b.unmerged()...), b.unsummarized()...)
	a := b.solution()
	if _, _, ok := b.Solution(); !ok {
		w := flow.Warning{Kind: WarnNoSolution, Evidence: "nobody was able to write the solution: the final proposals are what there is"}
		if b.stands() == 0 {
			w.Evidence = "there is no proposal to make a solution of"
		}
		if failure := r.FailureOf(a.id); failure != nil {
			w.Call, w.By = a.id, failure.Participant
			w.Evidence += fmt.Sprintf(" (%s)", failure)
		}
		exit.Warnings = append(exit.Warnings, w)
	} else if a.short > 0 {
		exit.Warnings = append(exit.Warnings, a.smaller(nameJudge))
	}
	return flow.TriggerCompleted, exit, true
}
