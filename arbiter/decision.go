package arbiter

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// Move is what the arbiter decides.
type Move string

// The moves.
const (
	MoveSelect   Move = "select"   // other agents act, or the same ones on something else
	MoveContinue Move = "continue" // the same agents go on
	MoveRetry    Move = "retry"    // the same agents work on the same steps again, and read why they have failed
	MoveComplete Move = "complete" // the task is complete
)

// KindDecision is the kind of the arbiter's calls.
const KindDecision flow.CallKind = "decision"

// Bounds of a decision, in characters: a language may need several bytes for one, and may have no words to count.
const (
	mostReason  = 4000
	mostSummary = 20_000
)

// Ruling is the arbiter's answer.
type Ruling struct {
	// Move is one of those that are legal now.
	Move Move `json:"move" redact:"-"`
	// Agents are the agents that MoveSelect selects, at most Config.Parallel, in the order of their executions. It is empty
	// for other moves.
	Agents []string `json:"agents" redact:"-"`
	// Reason is told to the agents that act next: it is their assignment. It has at most 4,000 characters.
	Reason string `json:"reason"`
	// Summary is the result of the task, for MoveComplete, at most 20,000 characters. It is empty for other moves.
	Summary string `json:"summary"`
}

// Decision is the event of a ruling that was accepted.
type Decision struct {
	flow.Spend
	Ruling

	// State is the state in which the ruling was asked for: selecting or evaluating.
	State flow.State `json:"state" redact:"-"`
}

// EventKind implements [flow.Body].
func (*Decision) EventKind() flow.EventKind { return "decision" }

// Spectator implements [flow.Spectated].
func (d *Decision) Spectator() flow.Body {
	shown := *d
	shown.Spend = d.Shown()
	return &shown
}

// legal returns the moves that are legal now, in the order of their constants.
func (w *Work) legal() []Move {
	moves := []Move{MoveSelect}
	if w.Working() == StateEvaluating && len(w.batch) > 0 {
		moves = append(moves, MoveContinue)
	}
	if slices.ContainsFunc(w.batch, func(e *Execution) bool { return e.Result == Failed }) {
		moves = append(moves, MoveRetry)
	}
	if len(w.batch) > 0 {
		moves = append(moves, MoveComplete)
	}
	return moves
}

// schemaOf names the schema of the decisions for which these moves are legal.
func schemaOf(moves []Move) string {
	name := []string{"decide"}
	for _, m := range moves {
		name = append(name, string(m))
	}
	return strings.Join(name, "-")
}

// schemas returns the flow's schemas: one for each set of legal moves, and that of a result.
func schemas() map[string]*flow.Schema {
	out := map[string]*flow.Schema{schemaResult: resultSchema()}
	for _, moves := range [][]Move{
		{MoveSelect},
		{MoveSelect, MoveComplete},
		{MoveSelect, MoveRetry, MoveComplete},
		{MoveSelect, MoveContinue, MoveComplete},
		{MoveSelect, MoveContinue, MoveRetry, MoveComplete},
	} {
		out[schemaOf(moves)] = decisionSchema(moves)
	}
	return out
}

func decisionSchema(moves []Move) *flow.Schema {
	return flow.AnswerSchema[Ruling](schemaOf(moves), flow.AnswerOf[Ruling]{
		Fields: func(r *flow.Record, _ *flow.Call) prompt.Fields {
			return rulingFields(moves, of(r).names(), askDecision(r, moves) == textDecide)
		},
		Names: func(r *flow.Record) flow.Names { return flow.Names{People: of(r).names()} },
		Mend:  mend,
		Check: func(r *flow.Record, ruling *Ruling) []string {
			w := of(r)
			w.reduce(ruling)
			return w.refuses(ruling, moves)
		},
		Body: func(_ *flow.Record, in *flow.Intent, spend flow.Spend, ruling *Ruling) flow.Body {
			return &Decision{Spend: spend, Ruling: *ruling, State: flow.State(in.Tag)}
		},
	})
}

// mend puts a ruling into the form of its schema where another form has the same meaning: fields and the move in other letters, a
// missing or null text, one agent as a text, the name of an agent in other letters, with an @ before it or with a sign around it, an
// agent twice, and fields that nobody has asked for. A name that fits two agents, or none, stays as it is, and is refused.
func mend(names flow.Names, tree any) any {
	said, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	ruling := map[string]any{fieldReason: "", fieldSummary: "", fieldAgents: []any{}}
	seen := map[string]bool{}
	for key, value := range said {
		field := strings.ToLower(strings.TrimSpace(key))
		if field == "agent" {
			field = fieldAgents
		}
		if !slices.Contains([]string{fieldMove, fieldAgents, fieldReason, fieldSummary}, field) || value == nil {
			continue
		}
		if seen[field] {
			return tree // a field twice has two readings
		}
		seen[field], ruling[field] = true, value
	}
	if move, ok := ruling[fieldMove].(string); ok {
		ruling[fieldMove] = strings.ToLower(bare(move))
	}
	switch agents := ruling[fieldAgents].(type) {
	case string:
		ruling[fieldAgents] = named(names.People, listed(names.People, agents))
	case []any:
		ruling[fieldAgents] = named(names.People, agents)
	}
	return ruling
}

// named returns a list of agents by their own names, each once.
func named(people []string, list []any) []any {
	out, seen := []any{}, map[string]bool{}
	for _, one := range list {
		if object, ok := one.(map[string]any); ok && len(object) == 1 {
			if name, ok := object["name"]; ok {
				one = name
			}
		}
		if name, ok := one.(string); ok {
			if name = folded(people, name); seen[name] {
				continue
			}
			seen[name], one = true, name
		}
		out = append(out, one)
	}
	return out
}

// listed returns the agents that a text names: one, or several with commas between them, or none.
func listed(people []string, text string) (list []any) {
	if slices.Contains(people, folded(people, text)) {
		return []any{text}
	}
	for part := range strings.SplitSeq(text, ",") {
		if bare(part) != "" {
			list = append(list, part)
		}
	}
	return list
}

// folded returns the one agent whose name this is in other letters; the name itself, if there is none or more than one.
func folded(people []string, name string) string {
	if slices.Contains(people, name) {
		return name
	}
	fits := slices.Clone(people)
	fits = slices.DeleteFunc(fits, func(one string) bool { return !strings.EqualFold(bare(one), bare(name)) })
	if len(fits) != 1 {
		return name
	}
	return fits[0]
}

// bare returns a word without what people put around it: blanks, an @ before it, quotes, signs of Markdown.
func bare(word string) string {
	return strings.TrimFunc(word, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("@\"'`*_.,:;“”‘’", r)
	})
}

// reduce removes from a ruling what says nothing beside its move: agents who act anyway or no longer, and a summary of what is not
// complete.
func (w *Work) reduce(ruling *Ruling) {
	acting := func(name string) bool {
		return slices.ContainsFunc(w.batch, func(e *Execution) bool { return e.Agent == name })
	}
	switch ruling.Move {
	case MoveSelect:
		ruling.Summary = ""
	case MoveComplete:
		ruling.Agents = []string{}
	case MoveContinue, MoveRetry:
		ruling.Summary = ""
		if !slices.ContainsFunc(ruling.Agents, func(name string) bool { return !acting(name) }) {
			ruling.Agents = []string{}
		}
	}
}

// atOnce is how many agents may be selected together now.
func (w *Work) atOnce() int {
	return max(1, min(w.config.Parallel, w.left()))
}

// refuses returns what is wrong with a ruling.
func (w *Work) refuses(ruling *Ruling, moves []Move) (problems []string) {
	addf := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !slices.Contains(moves, ruling.Move) {
		addf("move: %.40q is not legal now", ruling.Move)
	}
	switch n := len(ruling.Agents); {
	case ruling.Move != MoveSelect && n > 0:
		addf("agents: only the move select may name agents")
	case ruling.Move == MoveSelect && n == 0:
		addf("agents: the move select must name at least one")
	case n > w.atOnce():
		addf("agents: %s, and at most %d may act at once", prompt.There(n), w.atOnce())
	}
	for i, name := range ruling.Agents[:min(len(ruling.Agents), w.atOnce()+1)] { // the log holds every problem
		if w.config.agent(name) == nil {
			addf("agents[%d]: there is no agent %.80q", i, name)
		} else if slices.Contains(ruling.Agents[:i], name) {
			addf("agents[%d]: %.80q is a duplicate", i, name)
		}
	}
	if n := utf8.RuneCountInString(ruling.Reason); n > mostReason {
		addf("reason: has %s, at most %d are accepted", prompt.Count(n, "character"), mostReason)
	}
	switch n, blank := utf8.RuneCountInString(ruling.Summary), strings.TrimSpace(ruling.Summary) == ""; {
	case ruling.Move == MoveComplete && blank:
		addf("summary: the move complete must say what was done")
	case ruling.Move != MoveComplete && !blank:
		addf("summary: only the move complete may have one")
	case n > mostSummary:
		addf("summary: has %s, at most %d are accepted", prompt.Count(n, "character"), mostSummary)
	}
	return problems
}
