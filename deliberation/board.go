package deliberation

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// The kinds of the turns of a deliberation. An added node has kinds of its own.
const (
	KindQuestion   flow.CallKind = "question"   // what an agent asks before the first round, with data
	KindAnswer     flow.CallKind = "answer"     // a person's, to one question
	KindProposal   flow.CallKind = "proposal"   // of an agent
	KindCritique   flow.CallKind = "critique"   // of an agent, of its target's proposal
	KindRefinement flow.CallKind = "refinement" // of an agent's own proposal
	KindDigest     flow.CallKind = "digest"     // the summary of an agent's history
	KindConfidence flow.CallKind = "confidence" // of the judge that the agents agree, with data
	KindQuality    flow.CallKind = "quality"    // the judge's mark of the proposals, with data
	KindVote       flow.CallKind = "vote"       // a ranking of the final proposals, with data
	KindMerge      flow.CallKind = "merge"      // two final proposals in one
	KindSynthesis  flow.CallKind = "synthesis"  // the solution, with data
)

// board is a deliberation as the flow looks at it: from one round, and at one moment. What it has looked up once it knows.
type board struct {
	*Deliberation

	round  int                   // the one that is looked at
	asking int                   // the iteration in which the agents say what they want to ask; 0: they do not
	out    map[flow.State][]bool // by phase and seat: whether the agent is left out; see leftOut
	tardy  map[string]bool       // the calls that were left out because their time was over; nil: nobody has asked
	plain  bool                  // words are for a person: texts stand behind ">", and between no markers
}

// read looks at the record's round.
func read(r *flow.Record) *board { return readAt(r, r.Round) }

func readAt(r *flow.Record, round int) *board { return &board{Deliberation: of(r), round: round} }

// stands returns how many agents have something that stands.
func (b *board) stands() int {
	n := 0
	for i := range b.agents {
		if b.agents[i].active && b.agents[i].standing() != nil {
			n++
		}
	}
	return n
}

// heard returns what was said of an agent in the round that is looked at, in the order of slots.
func (b *board) heard(w *work) []*flow.Turn {
	var out []*flow.Turn
	for _, t := range w.past[b.round] {
		if t.Kind != KindProposal && t.Kind != KindRefinement {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, bySlot)
	return out
}

func bySlot(x, y *flow.Turn) int { return x.Slot - y.Slot }

func byPlace(x, y *flow.Turn) int { return cmp.Or(x.Round-y.Round, bySlot(x, y)) }

// id makes the id of a call of this round: "r2.critique.ada.ben".
func (b *board) id(what string, who ...string) string {
	return "r" + strconv.Itoa(b.round) + "." + strings.Join(append([]string{what}, who...), ".")
}

// missing reports whether a call still has to be made.
func (b *board) missing(id string) bool { return !b.Done(id) && !b.Skipped(id) }

// The places of the turns of a round: one after the other by phase, and in each by agent.
func (b *board) slot(phase, seat, target int) int {
	n := len(b.agents) + 1 // the judge votes too
	return phase*n*n + seat*n + target
}

// Phases in the order of their slots.
const (
	slotPropose = iota
	slotCritique
	slotAdded
	slotRefine
	slotDigest   // and what is added behind the rounds
	slotEvaluate // and votes
	slotMerge
	slotSolution // the last of all, whoever writes it
)

// call asks one of the agents. What they say at the same time they do not read of each other, nor does a tool for
// them, until the state is left; the solution comes alone.
func (b *board) call(w *work, id string, kind flow.CallKind) *flow.Call {
	call := &flow.Call{
		ID: id, Kind: kind, Round: b.round, View: flow.View{None: true}, System: b.system("who." + w.ID), OnFail: b.cost(w, kind),
		Hidden: kind != KindSynthesis,
	}
	w.Agent.seat(b.config, "").AskIn(b.Record, call)
	return call
}

// work is a call in which an agent may use its tools.
func (b *board) work(w *work, id string, kind flow.CallKind) *flow.Call {
	call := b.call(w, id, kind)
	if len(w.tools) > 0 {
		call.Tools, call.Uses = w.tools, b.config.ToolCalls
	}
	return call
}

// judge asks the judge. It has a model wherever one is needed.
func (b *board) judge(id string, kind flow.CallKind) *flow.Call {
	call := &flow.Call{
		ID: id, Kind: kind, Round: b.round, View: flow.View{None: true}, System: b.system("who." + nameJudge),
		Timeout: b.config.JudgeTimeout, OnFail: flow.OnFail{Skip: flow.RuleToo}, Hidden: kind == KindVote,
	}
	b.config.Judge.seat().Ask(call)
	return call
}

// judges reports whether there is a judge.
func (d *Deliberation) judges() bool { return d.config.Judge.Model != "" && !d.IsDropped(nameJudge) }
