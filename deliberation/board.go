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

// board is what the flow asks of the record: what was sorted of it, and the round that is looked at.
type board struct {
	*sorted

	r      *debate.Record
	round  int // the one that is looked at
	asking int // the iteration in which the agents say what they want to ask; 0: they do not
}

// sorted is the turns by what they are for. It is kept between the steps of a debate, so that each turn is looked
// at once, and not once at every step.
type sorted struct {
	s       *settings
	agents  []work
	seats   map[string]*work
	loose   []*debate.Turn // of added nodes, aimed at nobody
	asked   []*debate.Turn // questions
	told    []*debate.Turn // answers
	judged  []*debate.Turn // confidences and qualities
	votes   []*debate.Turn
	merges  []*debate.Turn
	systems map[string]string // the system prompts that were put together
	upto    int               // how many turns of the record were sorted
	last    *debate.Turn      // the last of these
	latest  int               // the latest round of these
}

// work is what there is of one agent.
type work struct {
	*member

	seat    int
	active  bool
	own     []*debate.Turn         // proposals and refinements, in their order
	past    map[int][]*debate.Turn // these, and what others have said of it, by the round that each belongs to
	digests []*debate.Turn         // summaries of its history
}

// sorting begins with no turn.
func sorting(s *settings) *sorted {
	k := &sorted{
		s: s, agents: make([]work, len(s.Agents)), seats: make(map[string]*work, len(s.Agents)), systems: make(map[string]string), latest: 1,
	}
	for i := range s.Agents {
		k.agents[i] = work{member: &s.Agents[i], seat: i, past: make(map[int][]*debate.Turn)}
		k.seats[s.Agents[i].ID] = &k.agents[i]
	}
	return k
}

// read looks at the record's round.
func read(r *debate.Record) *board { return readAt(r, r.Round) }

func readAt(r *debate.Record, round int) *board {
	s := of(r)
	b := &board{r: r, round: round}
	r.Derive(func(former any) any {
		k, ok := former.(*sorted)
		if !ok || !k.continues(r) {
			k = sorting(s)
		}
		for _, t := range r.Turns[k.upto:] {
			k.sort(placed(t, &k.latest))
			k.upto, k.last = k.upto+1, t
		}
		b.sorted = k
		return k
	})
	for i := range b.agents {
		b.agents[i].active = false
	}
	active := r.Active()
	for i := range active {
		if w := b.seats[active[i].Name]; w != nil {
			w.active = true
		}
	}
	return b
}

// continues reports whether the record begins with the turns that were sorted. A debate that reckons what its end
// would cost puts a turn in the place of the first one that is still to come.
func (k *sorted) continues(r *debate.Record) bool {
	return k.s == of(r) && (k.upto == 0 || k.upto <= len(r.Turns) && r.Turns[k.upto-1] == k.last)
}

// turns yields all turns in the order in which they came.
func turns(r *debate.Record) iter.Seq[*debate.Turn] {
	return func(yield func(*debate.Turn) bool) {
		latest := 1
		for _, t := range r.Turns {
			if !yield(placed(t, &latest)) {
				return
			}
		}
	}
}

// placed yields a turn with its round. One of an added node that has not told its own belongs to the latest one
// that there was.
func placed(t *debate.Turn, latest *int) *debate.Turn {
	if *latest = max(*latest, t.Round); t.Round != 0 || t.Kind == KindQuestion || t.Kind == KindAnswer {
		return t
	}
	out := *t
	out.Round = *latest
	return &out
}

func (k *sorted) sort(t *debate.Turn) {
	speaker, target := k.seats[t.Speaker], k.seats[t.Target]
	switch t.Kind {
	case KindQuestion:
		k.asked = append(k.asked, t)
		clear(k.systems) // they hold the clarifications
	case KindAnswer:
		k.told = append(k.told, t)
		clear(k.systems)
	case KindConfidence, KindQuality:
		k.judged = append(k.judged, t)
	case KindVote:
		k.votes = append(k.votes, t)
	case KindMerge:
		k.merges = append(k.merges, t)
	case KindSynthesis:
	case KindProposal, KindRefinement:
		if speaker != nil {
			speaker.own = append(speaker.own, t)
			speaker.keep(k.stood(t), t)
		}
	case KindDigest:
		if speaker != nil {
			speaker.digests = append(speaker.digests, t)
		}
	default:
		if target != nil {
			target.keep(t.Round, t)
		} else {
			k.loose = append(k.loose, t)
		}
	}
}

func (w *work) keep(round int, t *debate.Turn) { w.past[round] = append(w.past[round], t) }

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
	for _, t := range w.past[b.round] {
		if t.Kind != KindProposal && t.Kind != KindRefinement {
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
	n := len(b.agents) + 1 // the judge votes too
	return phase*n*n + seat*n + target
}

// Phases in the order of their slots.
const (
	slotPropose = iota
	slotCritique
	slotAdded
	slotRefine
	slotDigest
	slotEvaluate // and votes
	slotMerge
	slotSolution // the last of all, whoever writes it
)

// call asks one of the agents. What they say at the same time they do not read of each other, nor does a tool for
// them, until the state is left; the solution comes alone.
func (b *board) call(w *work, id string, kind debate.CallKind) debate.Call {
	p := b.participant(w.ID)
	call := debate.Call{
		ID: id, Kind: kind, By: w.ID, Model: p.Model, Fallbacks: p.Fallbacks, Round: b.round, View: debate.View{None: true},
		System: b.system("who." + w.ID), Temperature: p.Temperature, MaxTokens: p.MaxTokens, OnFail: debate.OnFail{Skip: true},
		Hidden: kind != KindSynthesis,
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
		OnFail: debate.OnFail{Skip: true}, Hidden: kind == KindVote,
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
