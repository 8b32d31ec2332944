package deliberation

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate"
)

// The kinds of the turns of a deliberation. An added node has kinds of its own.
const (
	KindQuestion   debate.CallKind = "question"   // what an agent asks before the first round, with data
	KindAnswer     debate.CallKind = "answer"     // a person's, to one question
	KindProposal   debate.CallKind = "proposal"   // of an agent
	KindCritique   debate.CallKind = "critique"   // of an agent, of its target's proposal
	KindRefinement debate.CallKind = "refinement" // of an agent's own proposal
	KindDigest     debate.CallKind = "digest"     // the summary of an agent's history
	KindConfidence debate.CallKind = "confidence" // of the judge that the agents agree, with data
	KindQuality    debate.CallKind = "quality"    // the judge's mark of the proposals, with data
	KindVote       debate.CallKind = "vote"       // a ranking of the final proposals, with data
	KindMerge      debate.CallKind = "merge"      // two final proposals in one
	KindSynthesis  debate.CallKind = "synthesis"  // the solution, with data
)

// board is the record sorted for what the flow asks of it, by one pass over the turns.
type board struct {
	r       *debate.Record
	s       *settings
	round   int // the one that is looked at
	asking  int // the iteration in which the agents say what they want to ask; 0: they do not
	agents  []work
	loose   []*debate.Turn // of added nodes, aimed at nobody
	asked   []*debate.Turn // questions
	told    []*debate.Turn // answers
	judged  []*debate.Turn // confidences and qualities
	votes   []*debate.Turn
	merges  []*debate.Turn
	systems map[string]string // the system prompts that were put together
}

// work is what there is of one agent.
type work struct {
	*member

	seat    int
	active  bool
	own     []*debate.Turn // proposals and refinements, in their order
	aimed   []*debate.Turn // what others have said of it, whatever its kind
	digests []*debate.Turn // summaries of its history
}

// read sorts the record.
func read(r *debate.Record) *board { return readAt(r, r.Round) }

func readAt(r *debate.Record, round int) *board {
	s := of(r)
	b := &board{r: r, s: s, round: round, agents: make([]work, len(s.Agents))}
	seats := make(map[string]*work, len(s.Agents))
	for i := range s.Agents {
		b.agents[i] = work{member: &s.Agents[i], seat: i}
		seats[s.Agents[i].ID] = &b.agents[i]
	}
	active := r.Active()
	for i := range active {
		if w := seats[active[i].Name]; w != nil {
			w.active = true
		}
	}
	for t := range turns(r) {
		b.sort(t, seats)
	}
	return b
}

// turns yields all turns in the order in which they came. One of an added node that has not told its round belongs to
// the latest one that there was.
func turns(r *debate.Record) iter.Seq[*debate.Turn] {
	return func(yield func(*debate.Turn) bool) {
		latest := 1
		for _, t := range r.Turns {
			if latest = max(latest, t.Round); t.Round == 0 && t.Kind != KindQuestion && t.Kind != KindAnswer {
				placed := *t
				placed.Round = latest
				t = &placed
			}
			if !yield(t) {
				return
			}
		}
	}
}

func (b *board) sort(t *debate.Turn, seats map[string]*work) {
	speaker, target := seats[t.Speaker], seats[t.Target]
	switch t.Kind {
	case KindQuestion:
		b.asked = append(b.asked, t)
	case KindAnswer:
		b.told = append(b.told, t)
	case KindConfidence, KindQuality:
		b.judged = append(b.judged, t)
	case KindVote:
		b.votes = append(b.votes, t)
	case KindMerge:
		b.merges = append(b.merges, t)
	case KindSynthesis:
	case KindProposal, KindRefinement:
		if speaker != nil {
			speaker.own = append(speaker.own, t)
		}
	case KindDigest:
		if speaker != nil {
			speaker.digests = append(speaker.digests, t)
		}
	default:
		if target != nil {
			target.aimed = append(target.aimed, t)
		} else {
			b.loose = append(b.loose, t)
		}
	}
}

// standing yields the agent's latest proposal or refinement; nil: it has none.
func (w *work) standing() *debate.Turn {
	if len(w.own) == 0 {
		return nil
	}
	return w.own[len(w.own)-1]
}

// stands yields how many agents have something that stands.
func (b *board) stands() int {
	n := 0
	for i := range b.agents {
		if b.agents[i].active && b.agents[i].standing() != nil {
			n++
		}
	}
	return n
}

// heard yields what was said of an agent in the round that is looked at, in the order of slots.
func (b *board) heard(w *work) []*debate.Turn {
	var out []*debate.Turn
	for _, t := range w.aimed {
		if t.Round == b.round {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, bySlot)
	return out
}

func bySlot(x, y *debate.Turn) int { return x.Slot - y.Slot }

func byPlace(x, y *debate.Turn) int { return cmp.Or(x.Round-y.Round, bySlot(x, y)) }

// id makes the id of a call of this round: "r2.critique.ada.ben".
func (b *board) id(what string, who ...string) string {
	return "r" + strconv.Itoa(b.round) + "." + strings.Join(append([]string{what}, who...), ".")
}

// missing reports whether a call still has to be made.
func (b *board) missing(id string) bool { return !b.r.Done(id) && !b.r.Failed(id) }

// The places of the turns of a round: one after the other by phase, and in each by agent.
func (b *board) slot(phase, seat, target int) int {
	n := len(b.agents)
	return phase*n*n + seat*n + target
}

// Phases in the order of their slots.
const (
	slotPropose = iota
	slotCritique
	slotAdded
	slotRefine
	slotDigest
	slotEvaluate
)

// call asks one of the agents.
func (b *board) call(w *work, id string, kind debate.CallKind) debate.Call {
	p := b.participant(w.ID)
	call := debate.Call{
		ID: id, Kind: kind, By: w.ID, Model: p.Model, Fallbacks: p.Fallbacks, Round: b.round, View: debate.View{None: true},
		System: b.system("who." + w.ID), Temperature: p.Temperature, MaxTokens: p.MaxTokens, OnFail: debate.OnFail{Skip: true},
	}
	if call.Temperature == nil {
		call.Temperature = b.r.Config().Temperature
	}
	return call
}

// work is a call in which an agent may use its tools.
func (b *board) work(w *work, id string, kind debate.CallKind) debate.Call {
	call := b.call(w, id, kind)
	if len(w.Tools) > 0 {
		call.Tools, call.Uses = w.Tools, b.s.ToolCalls
	}
	return call
}

func (b *board) participant(id string) *debate.Participant {
	all := b.r.Config().Participants
	for i := range all {
		if all[i].Name == id {
			return &all[i]
		}
	}
	return &debate.Participant{Name: id}
}

// judge asks the judge. It has a model wherever one is needed.
func (b *board) judge(id string, kind debate.CallKind) debate.Call {
	j := b.judgeConfig(nameJudge)
	return debate.Call{
		ID: id, Kind: kind, By: nameJudge, Model: j.Model, Fallbacks: j.Fallbacks, Round: b.round, View: debate.View{None: true},
		System: b.system("who." + nameJudge), Temperature: j.Temperature, MaxTokens: j.MaxTokens, Timeout: b.r.Config().JudgeTimeout,
		OnFail: debate.OnFail{Skip: true},
	}
}

// judgeConfig yields who is asked under a name; without a model or a judge: nobody is.
func (b *board) judgeConfig(name string) debate.JudgeConfig {
	if b.r.Config().Judging == nil {
		return debate.JudgeConfig{}
	}
	for _, j := range b.r.Judges() {
		if j.Name == name {
			return j
		}
	}
	return debate.JudgeConfig{}
}
