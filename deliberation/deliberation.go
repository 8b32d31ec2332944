package deliberation

import (
	"iter"

	"github.com/agonist-dev/debate"
)

// Deliberation is a deliberation as it is read: the record that any flow has, and what has come of the deliberation.
// It is read only, under the rules of its Record. What its methods yield is computed anew each time, and shares nothing
// but texts with it.
type Deliberation struct {
	*debate.Record
	*sorted

	systems map[string]string // the system prompts, by their names; nil: something that they hold has changed
}

// Of returns the deliberation of a record; false: the record is of another flow, or nothing has started yet.
func Of(r *debate.Record) (*Deliberation, bool) {
	if r == nil {
		return nil, false
	}
	d, ok := r.Part().(*Deliberation)
	return d, ok
}

// of is Of for the flow itself, which is only asked about its own records.
func of(r *debate.Record) *Deliberation {
	if d, ok := Of(r); ok {
		return d
	}
	return &Deliberation{Record: r, sorted: sorting(&Config{})}
}

// open makes the part of a record.
func open(r *debate.Record, _ *debate.Start) (debate.Part, error) {
	return &Deliberation{Record: r, sorted: sorting(configOf(r.Config()))}, nil
}

// Config returns the settled config, with every default written out and with the texts of all prompt files, but without
// an ID. The same can be started again. Read only.
func (d *Deliberation) Config() *Config { return d.config }

// Fold implements [debate.Part].
func (d *Deliberation) Fold(e *debate.Event) error {
	switch body := e.Body.(type) {
	case *debate.Turn:
		if d.sort(placed(body, &d.latest)); body.Kind == KindQuestion || body.Kind == KindAnswer {
			d.systems = nil
		}
	case *debate.Dropped:
		if w := d.seats[body.Participant]; w != nil {
			w.active = false
		}
	case *debate.Transition:
		if d.systems == nil { // here, and not when one is asked for: a record has many readers
			d.systems = d.systemPrompts()
		}
	}
	return nil
}

// sorted is the turns of a deliberation by what they are for.
type sorted struct {
	config *Config
	agents []work
	seats  map[string]*work
	loose  []*debate.Turn // of added nodes, aimed at nobody
	asked  []*debate.Turn // questions
	told   []*debate.Turn // answers
	marks  []*debate.Turn // confidences and qualities
	votes  []*debate.Turn
	merges []*debate.Turn
	latest int // the latest round of these
}

// work is what there is of one agent.
type work struct {
	member

	seat    int
	active  bool
	own     []*debate.Turn         // proposals and refinements, in their order
	past    map[int][]*debate.Turn // these, and what others have said of it, by the round that each belongs to
	digests []*debate.Turn         // summaries of its history
}

// sorting begins with no turn.
func sorting(c *Config) *sorted {
	members := c.members()
	k := &sorted{config: c, agents: make([]work, len(members)), seats: make(map[string]*work, len(members)), latest: 1}
	for i := range members {
		k.agents[i] = work{member: members[i], seat: i, active: true, past: make(map[int][]*debate.Turn)}
		k.seats[members[i].ID] = &k.agents[i]
	}
	return k
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

// placed returns a turn with its round. A turn of an added node whose call names no round belongs to the latest round
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
	case KindAnswer:
		k.told = append(k.told, t)
	case KindConfidence, KindQuality:
		k.marks = append(k.marks, t)
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

// standing returns the agent's latest proposal or refinement; nil: it has none.
func (w *work) standing() *debate.Turn {
	if len(w.own) == 0 {
		return nil
	}
	return w.own[len(w.own)-1]
}
