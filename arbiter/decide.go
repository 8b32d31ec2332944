package arbiter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// How the arbiter is asked.

// call returns what all calls of the arbiter share, for a decision with that ID.
func (a *Arbiter) call(r *flow.Record, id string) *flow.Call {
	call := &flow.Call{ID: id, Kind: KindDecision, View: flow.View{None: true}}
	if a.seat().AskIn(r, call); call.Performer == flow.ByFunction {
		call.Task = task
	}
	return call
}

// decisionID is the ID of the decision that is made now.
func (w *Work) decisionID() string { return "d" + strconv.Itoa(w.point) }

// decisionCalls returns the arbiter's call, unless it has decided or an input has forced an agent.
func decisionCalls(r *flow.Record) []*flow.Call {
	w := of(r)
	if w.forces() || w.ruling != nil && !w.used || w.exhausted() && w.Working() == StateSelecting {
		return nil
	}
	return []*flow.Call{w.decision()}
}

// usualDecision is how many tokens a usual decision has: a move, and a sentence or two.
const usualDecision = 120

// decision returns the call for the decision that is made now.
func (w *Work) decision() *flow.Call {
	call := w.config.Arbiter.call(w.Record, w.decisionID())
	call.Round, call.Slot, call.Tag = w.Round, len(w.config.Agents), string(w.Working())
	call.System, call.Schema, call.Usual = w.Text(textArbiter), schemaOf(w.legal()), usualDecision
	call.OnFail = flow.OnFail{Fire: triggerFailed}
	call.Last = func(r *flow.Record) string {
		w := of(r)
		return w.toDecide(call.Performer, r.Text(askDecision(r, w.legal())))
	}
	if call.Person != nil {
		call.Person.Ask = func(r *flow.Record) string {
			w := of(r)
			fields := rulingFields(nil, nil, slices.Contains(w.legal(), MoveComplete))
			return w.toDecide(flow.ByPerson, "Decide how the work goes on.\n\n"+fields.String())
		}
	}
	return call
}

// toDecide returns the situation, what is asked of whoever decides, and the legal moves.
func (w *Work) toDecide(by flow.Performer, ask string) string {
	var out strings.Builder
	if own := w.config.Arbiter.Prompt; by != flow.ByModel && own != "" { // a model reads it in its system prompt, which others do not have
		out.WriteString(strings.TrimSpace(own) + "\n\n")
	}
	w.situation(&out)
	out.WriteString("\n\n" + prompt.FillNames(ask, moveNames(w.legal())))
	w.choices(&out)
	return out.String()
}

// askDecision names the text that asks for a decision between these moves. Where none of them completes the task, nothing is asked for a
// summary; older logs have one text for both.
func askDecision(r *flow.Record, moves []Move) string {
	if !slices.Contains(moves, MoveComplete) && r.Text(textBegin) != "" {
		return textBegin
	}
	return textDecide
}

// conclusion returns the decision that follows the executions of now: it can find the task complete. Beside a soft limit or Confirm it is
// reserved, and so a hard limit ends no work between an execution and what the arbiter says of it. A soft limit that is reached may, and so
// may a hard limit alone.
func conclusion(r *flow.Record) []*flow.Call {
	w := of(r)
	if w.Working() != StateExecuting {
		return nil
	}
	next := w.decision()
	next.ID += ".next" // the one before has its result
	return []*flow.Call{next}
}

// selected leads on from selecting.
func selected(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	w := of(r)
	if on, exit, ends := w.ending(triggerSelected); ends {
		return on, exit, true
	}
	agents := w.next().agents
	if len(agents) == 0 {
		return "", flow.Exit{}, false // somebody has left out the decision: an input can still force an agent
	}
	return triggerSelected, flow.Exit{
		Round: &flow.Round{N: r.Round + 1, Of: r.Settings().Rounds, Phase: string(StateExecuting), Calls: len(agents)}, Calls: len(agents),
	}, true
}

// decided leads on from evaluating.
func decided(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	w := of(r)
	if on, exit, ends := w.ending(triggerDecided); ends {
		return on, exit, true
	}
	return triggerDecided, flow.Exit{}, true
}

// ending returns how the work ends here, if it does.
func (w *Work) ending(on flow.Trigger) (flow.Trigger, flow.Exit, bool) {
	switch {
	case w.moves(MoveComplete):
		return on, flow.Exit{Reason: EndComplete, Evidence: w.Line(w.ruling.Summary, 300)}, true
	case w.exhausted():
		evidence := fmt.Sprintf("%d of %d iterations are used, and the task is not complete", len(w.executions), w.Record.Settings().Rounds)
		return on, flow.Exit{Reason: EndIterations, By: EndedByLimit, Evidence: evidence}, true
	default:
		return on, flow.Exit{}, false
	}
}

// choices says which moves are legal, and how many agents may be selected.
func (w *Work) choices(out *strings.Builder) {
	out.WriteString("\n\nLegal now:")
	for _, m := range w.legal() {
		fmt.Fprintf(out, "\n- %s: %s", m, meaning[m])
	}
	if n := w.atOnce(); n > 1 {
		fmt.Fprintf(out, "\n\nYou may select up to %d agents at once. They do not read each other's output until all have ended.", n)
	}
	fmt.Fprintf(out, "\n%d of %d iterations are left; then the work stops as it is.", w.left(), w.Record.Settings().Rounds)
}

// meaning says what each move does.
var meaning = map[Move]string{ //nolint:gochecknoglobals // read only
	MoveSelect:   "others act next, or the same agents do something else",
	MoveContinue: "the same agents go on",
	MoveRetry:    "those who have failed try the same step again, in another way",
	MoveComplete: "nothing of the task is left",
}
