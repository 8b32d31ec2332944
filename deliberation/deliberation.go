package deliberation

import (
	"iter"

	"github.com/agonist-dev/debate/flow"
)

// Deliberation is a deliberation for reading: the [flow.Record] that every flow has, and the results of the
// deliberation. It is read only, under the rules of its Record. Its methods compute their results anew each time. The
// results belong to the caller; only texts are shared.
type Deliberation struct {
	*flow.Record
	*sorted

	Earlier []Concluded // the solutions after which the deliberation went on, oldest first

	reopenedAt int // how many turns there were when it last went on

	systems map[string]string // the system prompts, by their names; nil: something that they hold has changed
}

// Of returns the deliberation of a record. It returns false if the record is of another flow, or if nothing has
// started.
func Of(r *flow.Record) (*Deliberation, bool) { return flow.ProjectionOf[*Deliberation](r) }

// of is Of for the flow itself, which is only asked about its own records.
func of(r *flow.Record) *Deliberation {
	if d, ok := Of(r); ok {
		return d
	}
	return &Deliberation{Record: r, sorted: sorting(&Config{})}
}

// open makes the projection of a record.
func open(r *flow.Record, _ *flow.Start) (flow.Projection, error) {
	return &Deliberation{Record: r, sorted: sorting(r.Config().(*Config))}, nil
}

// Config returns the normalized config, with every default and the texts of all prompt files written out, but without an
// ID. A new deliberation can be started with it. It is read only.
func (d *Deliberation) Config() *Config { return d.config }

// Fold implements [flow.Projection].
func (d *Deliberation) Fold(e *flow.Event) error {
	switch body := e.Body.(type) {
	case *flow.Turn:
		made := d.effort(body.Call)
		made.replied(&body.Spend)
		made.at = e.At
		if d.sort(placed(body, &d.latest)); body.Kind == KindQuestion || body.Kind == KindAnswer {
			d.systems = nil
		}
	case *flow.ToolCalls:
		d.asks(body)
	case *flow.ToolResult:
		d.used(body)
	case *flow.Dropped:
		if w := d.seats[body.Participant]; w != nil {
			w.active, w.voter = false, d.Working() == flow.StateCompleting
		}
	case *flow.Transition:
		if body.On == flow.TriggerReopen {
			d.foldReopened()
		}
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
	loose  []*flow.Turn // of added nodes, aimed at nobody
	asked  []*flow.Turn // questions
	told   []*flow.Turn // answers
	marks  []*flow.Turn // confidences and qualities
	votes  []*flow.Turn
	merges []*flow.Turn
	latest int // the latest round of these

	efforts map[string]*effort // by call
	uses    map[string]*effort // of tools that have not answered, by their calls: what they are used for
}

// work is what there is of one agent.
type work struct {
	member

	seat    int
	active  bool
	voter   bool                 // was dropped when the votes had begun
	own     []*flow.Turn         // proposals and refinements, in their order
	past    map[int][]*flow.Turn // these, and what others have said of it, by the round that each belongs to
	lengths map[int]int          // the characters of these, by the same rounds
	digests []*flow.Turn         // summaries of its history
}

// sorting begins with no turn.
func sorting(c *Config) *sorted {
	members := c.members()
	k := &sorted{
		config: c, agents: make([]work, len(members)), seats: make(map[string]*work, len(members)), latest: 1,
		efforts: make(map[string]*effort), uses: make(map[string]*effort),
	}
	for i := range members {
		k.agents[i] = work{member: members[i], seat: i, active: true, past: make(map[int][]*flow.Turn), lengths: make(map[int]int)}
		k.seats[members[i].ID] = &k.agents[i]
	}
	return k
}

// turns yields all turns in the order in which they came.
func turns(r *flow.Record) iter.Seq[*flow.Turn] {
	return func(yield func(*flow.Turn) bool) {
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
func placed(t *flow.Turn, latest *int) *flow.Turn {
	if *latest = max(*latest, t.Round); t.Round != 0 || t.Kind == KindQuestion || t.Kind == KindAnswer {
		return t
	}
	out := *t
	out.Round = *latest
	return &out
}

func (k *sorted) sort(t *flow.Turn) {
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

func (w *work) keep(round int, t *flow.Turn) {
	w.past[round] = append(w.past[round], t)
	w.lengths[round] += characters(t.Text)
}

// standing returns the agent's latest proposal or refinement; nil: it has none.
func (w *work) standing() *flow.Turn {
	if len(w.own) == 0 {
		return nil
	}
	return w.own[len(w.own)-1]
}
