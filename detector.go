package debate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
)

// Detector is a detector that the host program provides. [Config].Watch and Config.StopOn name it by its key in
// [Engine].Detectors.
//
// Detect examines a debate after the given round. It must be a pure function of what was recorded up to that round: each
// process must come to the same finding, or a resumed debate would take another course. It is called several times for a round,
// while the debate waits, so it must be fast. The host program computes slow inputs beforehand, such as vectors of texts
// ([detect.Similarity]), for example when it reads the turn's event, or caches them by text. Detect must not change the debate
// or panic, and must be safe for concurrent use.
//
// A finding at [detect.LevelStrong] of a detector in StopOn ends the debate. The judge is shown the evidence of what the
// detectors in Watch found in the previous round.
type Detector interface {
	Detect(d *Debate, round int) detect.Finding
}

// DetectorFunc is a function as a [Detector].
type DetectorFunc func(d *Debate, round int) detect.Finding

// Detect calls the function.
func (f DetectorFunc) Detect(d *Debate, round int) detect.Finding { return f(d, round) }

// noDetector returns the error about a detector that is neither built in nor registered.
func noDetector(name string, registered map[string]Detector) error {
	known := slices.AppendSeq([]string{
		string(format.DetectRepetition), string(format.DetectDiminishing), string(format.DetectDrift),
	}, maps.Keys(registered))
	return flow.Unregistered("detector", "Engine.Detectors", name, known...)
}

// builtin reports whether a detector is one of package detect.
func builtin(name format.Detector) bool {
	return len(format.CheckDetectors("", []format.Detector{name})) == 0
}

// mostEvidence bounds what a judge is told of a finding of a host program's detector, in bytes.
const mostEvidence = 500

// own returns the finding of a detector of the host program's.
func (d *Debate) own(name format.Detector, round int) detect.Finding {
	detector := d.detectors[string(name)]
	if detector == nil || round < 1 {
		return detect.Finding{}
	}
	f := detector.Detect(d, round)
	f.Evidence = d.Line(f.Evidence, mostEvidence)
	return f
}

// missingDetectors reports the host program's detectors that a debate names and that are not registered; see flow.Flow.Missing.
func missingDetectors(r *flow.Record) error {
	var found []error
	d := of(r)
	for _, name := range d.watched() {
		if !builtin(name) && d.detectors[string(name)] == nil {
			err := fmt.Errorf("%w: %w", flow.ErrMissing, noDetector(string(name), d.detectors))
			found = append(found, &flow.Error{Kind: provider.KindValidation, Op: "open", Field: "Detectors", Err: err})
		}
	}
	return errors.Join(found...)
}

// Findings returns what the debate's detectors find in a round. It reads the texts of the round's speeches and of a
// few before them.
func (d *Debate) Findings(round int) []detect.Finding {
	var out []detect.Finding
	for _, name := range d.watched() {
		if f := d.find(name, round); f.Evidence != "" {
			out = append(out, f)
		}
	}
	return out
}

// watched returns the detectors that the debate uses, each once.
func (d *Debate) watched() []format.Detector {
	var all []format.Detector
	for _, list := range [][]format.Detector{d.format.Watch, d.format.StopOn, d.config.Watch, d.config.StopOn} {
		for _, name := range list {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// stopOn returns the detectors whose finding ends the debate.
func (d *Debate) stopOn() []format.Detector {
	if len(d.config.StopOn) == 0 {
		return d.format.StopOn
	}
	return append(slices.Clone(d.format.StopOn), d.config.StopOn...)
}

// found returns which of the detectors ends the debate after the present round, if one does.
func (d *Debate) found(all []format.Detector) (flow.Exit, bool) {
	for _, name := range all {
		if f := d.find(name, d.Round); f.Level == detect.LevelStrong {
			return flow.Exit{Reason: flow.EndReason(name), Evidence: f.Evidence, By: flow.EndedByDetector}, true
		}
	}
	return flow.Exit{}, false
}

func (d *Debate) find(name format.Detector, round int) detect.Finding {
	switch name {
	case format.DetectRepetition:
		return d.repetition(round).worst
	case format.DetectDiminishing:
		return d.diminishing(round)
	case format.DetectDrift:
		return d.drift(round)
	default:
		return d.own(name, round)
	}
}

// repeated sums up the repetition in the speeches of one round.
type repeated struct {
	worst    detect.Finding
	compared int // speeches
	strong   int // of these, those that repeat
	words    int // of a speech, on average
}

// repetition compares each speech of a round with its speaker's latest ones.
func (d *Debate) repetition(round int) repeated {
	out := repeated{worst: detect.Finding{Kind: detect.KindRepetition, Limit: detect.Noticeable}}
	words, spoken := 0, d.spoken(round)
	for _, i := range spoken {
		t := d.Turns[i]
		var f detect.Finding
		if t.Model != "" || d.Seat(t.Speaker) < 0 { // a person who debates may say a thing twice
			f = detect.Repetition(d.earlier(i), d.shingle(i))
			out.compared++
		}
		if f.Evidence != "" && (out.worst.Evidence == "" || f.Value > out.worst.Value) {
			out.worst = f
			out.worst.Evidence = fmt.Sprintf("%s: %s", t.Speaker, f.Evidence)
		}
		if f.Level == detect.LevelStrong {
			out.strong++
		}
		words += len(strings.Fields(t.Text))
	}
	if len(spoken) > 0 {
		out.words = words / len(spoken)
	}
	return out
}

// spoken returns the indices of a round's turns, in slot order. The order in which simultaneous replies arrived
// must make no difference.
func (d *Debate) spoken(round int) []int {
	var out []int
	for i, t := range slices.Backward(d.Turns) {
		if t.Round == round {
			if t.Kind != KindAside {
				out = append(out, i)
			}
		} else if t.Round < round {
			break
		}
	}
	slices.SortFunc(out, func(a, b int) int { return d.Turns[a].Slot - d.Turns[b].Slot })
	return out
}

// earlier returns the latest speeches that the speaker of the i-th turn has held in earlier rounds.
func (d *Debate) earlier(i int) []detect.Shingles {
	now := d.Turns[i]
	var own []int
	for k := i - 1; k >= 0; k-- {
		t := d.Turns[k]
		if len(own) >= detect.Lookback && t.Round < d.Turns[own[len(own)-1]].Round {
			break
		}
		if t.Speaker == now.Speaker && t.Round < now.Round && t.Kind != KindAside {
			own = append(own, k)
		}
	}
	slices.SortFunc(own, func(a, b int) int {
		return cmp.Or(d.Turns[a].Round-d.Turns[b].Round, d.Turns[a].Slot-d.Turns[b].Slot)
	})
	own = own[max(0, len(own)-detect.Lookback):]
	out := make([]detect.Shingles, len(own))
	for n, k := range own {
		out[n] = d.shingle(k)
	}
	return out
}

// shingle returns the word sequences of the i-th turn. They are stored if a detector compares turns, since it does
// so several times.
func (d *Debate) shingle(i int) detect.Shingles {
	if i < len(d.shingles) {
		return d.shingles[i]
	}
	return detect.Shingle(d.Turns[i].Text)
}

// diminishing reads as many of the last rounds as the detector needs. Novelty is what a rubric's marks say. The overlap
// of texts says nothing of it unless a speech repeats: among speeches that do not, it is chance.
func (d *Debate) diminishing(round int) detect.Finding {
	var rounds []detect.Round
	for i := range min(max(0, round), detect.TrendWindow) {
		n := round - min(round, detect.TrendWindow) + 1 + i
		speeches, p := d.repetition(n), d.panelOf(n)
		novelty, engagement := d.marks(n, CriterionNovelty), d.marks(n, CriterionEngagement)
		rounds = append(rounds, detect.Round{
			Quality: orNaN(p.quality, p.judges), Words: speeches.words,
			Novelty: orNaN(mean(novelty), len(novelty)), Engagement: orNaN(mean(engagement), len(engagement)),
			Repetitive: 2*speeches.strong > speeches.compared || p.judges > 0 && p.most(p.repeating),
		})
	}
	return detect.Diminishing(rounds)
}

func (d *Debate) drift(round int) detect.Finding {
	if marks := d.marks(round, CriterionRelevance); len(marks) > 0 {
		return detect.Drift(marks...)
	}
	f := detect.Finding{Kind: detect.KindDrift}
	if p := d.panelOf(round); p.judges > 0 && p.most(p.drifting) {
		f.Level, f.Value, f.Limit = detect.LevelStrong, float64(p.drifting), float64(p.all())
		f.Evidence = fmt.Sprintf("Of %d judges %d see the discussion leave the topic.", p.all(), p.drifting)
	}
	return f
}

// marks returns the judges' marks of a round for one criterion.
func (d *Debate) marks(round int, criterion string) []float64 {
	var out []float64
	for _, a := range d.assessed(round) {
		for i := range a.Assessments {
			if mark, ok := a.Assessments[i].Criteria[criterion]; ok {
				out = append(out, mark)
			}
		}
	}
	return out
}

// orNaN returns a figure, or NaN if it was computed from nothing.
func orNaN(figure float64, of int) float64 {
	if of == 0 {
		return math.NaN()
	}
	return figure
}

func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// measured returns the detectors' findings in the present round, as the judge is told about them.
func (d *Debate) measured() string {
	var lines []string
	for _, name := range d.watched() {
		round := d.Round
		if name != format.DetectRepetition {
			round-- // the judges' assessments of the present round are still missing, and must be independent
		}
		if f := d.find(name, round); f.Found() {
			kind := string(f.Kind)
			if !builtin(name) {
				kind = d.Line(string(name), mostEvidence)
			}
			lines = append(lines, kind+": "+f.Evidence)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n\n" + filled(d.Text("findings"), findingsHole, d.Hide(strings.Join(lines, "\n- ")))
}
