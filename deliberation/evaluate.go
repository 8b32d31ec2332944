package deliberation

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Confidence is the judge's opinion on whether the agents agree.
type Confidence struct {
	// Confidence is from 0 to 100: how sure the judge is that further rounds would change nothing important.
	Confidence float64 `json:"confidence" jsonschema:"minimum=0,maximum=100"`
	Reasoning  string  `json:"reasoning"`
	// Disagreements are the points on which the agents still differ.
	Disagreements []string `json:"disagreements"`
}

// Quality is the judge's mark of the proposals against the requirements of the problem.
type Quality struct {
	// Requirements are those of the problem, each with whether the best of the proposals fulfil it.
	Requirements []Requirement `json:"requirements" jsonschema:"minItems=1"`
	// Quality is from 0 to 100.
	Quality   float64 `json:"quality" jsonschema:"minimum=0,maximum=100"`
	Reasoning string  `json:"reasoning"`
}

// Names of the schemas of evaluations.
const (
	schemaConfidence = "confidence"
	schemaQuality    = "quality"
)

// mostUnmet is the highest mark of what leaves a major requirement unmet.
const mostUnmet = 40

func checkQuality(_ *flow.Record, v *Quality) []string {
	return append(checkRequirements(v.Requirements), unmet("quality", v.Quality, v.Requirements)...)
}

// evaluates reports whether this round is evaluated: the last is not, for nothing would follow from it.
func (b *board) evaluates() bool {
	return b.config.Termination.Kind != TerminationFixed && b.config.Termination.Threshold != nil && b.round < b.Record.Settings().Rounds
}

func evaluateCalls(r *flow.Record) []*flow.Call {
	b := read(r)
	a := b.evaluation()
	if !b.evaluates() || !b.missing(a.id) {
		return nil
	}
	call := b.judge(a.id, b.config.number())
	call.Schema, call.Slot, call.OnFail = schemaConfidence, b.slot(slotEvaluate, 0, 0), a.onFail(call.OnFail)
	if call.Kind == KindQuality {
		call.Schema = schemaQuality
	}
	text := "ask." + call.Schema
	call.Last = func(r *flow.Record) string {
		var out strings.Builder
		for _, w := range b.finalists(0) {
			b.quoteAs(&out, w.ID+": proposal", cut(w.standing().Text, a.halves))
		}
		return out.String() + r.Text(text) + a.note("evaluation")
	}
	return []*flow.Call{call}
}

// number returns which number of the judge's may end the rounds.
func (c *Config) number() flow.CallKind {
	if c.Termination.Kind == TerminationQuality {
		return KindQuality
	}
	return KindConfidence
}

func (b *board) evaluation() attempt {
	return b.attempt(b.id("evaluate"), halved("of a part of each proposal"))
}

// consensus reports whether the judge's number for this round reaches the threshold.
func (b *board) consensus() (reason flow.EndReason, evidence string, ok bool) {
	if !b.evaluates() {
		return "", "", false
	}
	for _, t := range b.marks {
		if t.Round != b.round {
			continue
		}
		threshold := *b.config.Termination.Threshold
		value, valid := valueOf(t)
		if !valid || value < threshold {
			return "", "", false
		}
		reason = flow.EndConverged
		if t.Kind == KindQuality {
			reason = EndQuality
		}
		evidence = fmt.Sprintf("the judge's %s after round %d is %g: the threshold is %g", t.Kind, b.round, value, threshold)
		return reason, evidence, true
	}
	return "", "", false
}

func evaluated(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	b := read(r)
	exit, a := flow.Exit{}, b.evaluation()
	if b.evaluates() && a.short > 0 && r.Done(a.id) {
		exit.Warnings = []flow.Warning{a.smaller(nameJudge)}
	}
	if reason, evidence, ok := b.consensus(); ok {
		exit.Reason, exit.Evidence, exit.By, exit.Calls = reason, evidence, nameJudge, solutionSize(r)
		return triggerConsensusReached, exit, true
	}
	if b.evaluates() && r.Skipped(a.id) {
		exit.Warnings = []flow.Warning{{
			Kind: WarnNoConfidence, Call: a.id, By: nameJudge,
			Evidence: fmt.Sprintf("the judge has given no valid %s after round %d: the next round begins; amend models.judge",
				b.config.number(), b.round),
		}}
	}
	return triggerContinue, exit, true
}
