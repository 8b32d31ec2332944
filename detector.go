package debate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/detect"
)

// Detector names one of the detectors of package detect.
type Detector string

// The detectors.
const (
	// DetectRepetition finds speeches that repeat their speaker's earlier ones.
	DetectRepetition Detector = "repetition"
	// DetectDiminishing finds rounds that bring less and less. It reads the judges' assessments too.
	DetectDiminishing Detector = "diminishing-returns"
	// DetectDrift finds that the speeches leave the topic. It reads the rubric's marks for relevance, or
	// without them the judges' flags.
	DetectDrift Detector = "drift"
)

func (f *findings) detectors(field string, all []Detector) {
	for i, d := range all {
		if !slices.Contains([]Detector{DetectRepetition, DetectDiminishing, DetectDrift}, d) {
			f.addf(fmt.Sprintf("%s[%d]", field, i), "no detector %q is known", oneLine(string(d), 40))
		}
	}
}

// Findings yields what the detectors that the debate uses find in a round. It reads the texts of the
// round's speeches and of a few before them.
func (r *Record) Findings(round int) []detect.Finding {
	var out []detect.Finding
	for _, d := range r.watched() {
		if f := r.find(d, round); f.Evidence != "" {
			out = append(out, f)
		}
	}
	return out
}

// watched yields the detectors that the debate uses, each once.
func (r *Record) watched() []Detector {
	if r.start == nil {
		return nil
	}
	var all []Detector
	for _, list := range [][]Detector{r.start.Format.Watch, r.start.Format.StopOn, r.config.Watch, r.config.StopOn} {
		for _, d := range list {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// stopOn yields the detectors whose finding ends the debate.
func (r *Record) stopOn() []Detector {
	if len(r.config.StopOn) == 0 {
		return r.start.Format.StopOn
	}
	return append(slices.Clone(r.start.Format.StopOn), r.config.StopOn...)
}

// found says which of the detectors ends the debate after the present round, if one does.
func (r *Record) found(all []Detector) (EndReason, string, bool) {
	for _, d := range all {
		if f := r.find(d, r.Round); f.Level == detect.LevelStrong {
			return EndReason(d), f.Evidence, true
		}
	}
	return "", "", false
}

func (r *Record) find(d Detector, round int) detect.Finding {
	switch d {
	case DetectRepetition:
		return r.repetition(round).worst
	case DetectDiminishing:
		return r.diminishing(round)
	case DetectDrift:
		return r.drift(round)
	default:
		return detect.Finding{}
	}
}

// repeated is what was found of the speeches of one round.
type repeated struct {
	worst   detect.Finding
	novelty float64 // one less the mean of the highest overlaps
	strong  int     // speeches that repeat
	count   int
	words   int // of a speech, on average
}

// repetition compares each speech of a round with its speaker's latest ones.
func (r *Record) repetition(round int) repeated {
	out := repeated{worst: detect.Finding{Kind: detect.KindRepetition, Limit: detect.Noticeable}}
	overlaps, words := 0.0, 0
	for _, i := range r.spoken(round) {
		t := r.Turns[i]
		f := detect.Repetition(r.earlier(i), r.shingle(i))
		if f.Evidence != "" && (out.worst.Evidence == "" || f.Value > out.worst.Value) {
			out.worst = f
			out.worst.Evidence = fmt.Sprintf("%s: %s", t.Speaker, f.Evidence)
		}
		count(&out.strong, f.Level == detect.LevelStrong)
		out.count++
		overlaps += f.Value
		words += len(strings.Fields(t.Text))
	}
	if out.count > 0 {
		out.novelty = 1 - overlaps/float64(out.count)
		out.words = words / out.count
	}
	return out
}

// spoken yields the turns of a round, by place among all, in slot order: that in which simultaneous
// replies happened to arrive must make no difference.
func (r *Record) spoken(round int) []int {
	var out []int
	for i, t := range slices.Backward(r.Turns) {
		if t.Round == round {
			out = append(out, i)
		} else if t.Round < round {
			break
		}
	}
	slices.SortFunc(out, func(a, b int) int { return r.Turns[a].Slot - r.Turns[b].Slot })
	return out
}

// earlier yields the latest speeches that the speaker of the i-th turn has held in earlier rounds.
func (r *Record) earlier(i int) []detect.Shingles {
	now := r.Turns[i]
	var own []int
	for k := i - 1; k >= 0; k-- {
		t := r.Turns[k]
		if len(own) >= detect.Lookback && t.Round < r.Turns[own[len(own)-1]].Round {
			break
		}
		if t.Speaker == now.Speaker && t.Round < now.Round {
			own = append(own, k)
		}
	}
	slices.SortFunc(own, func(a, b int) int {
		return cmp.Or(r.Turns[a].Round-r.Turns[b].Round, r.Turns[a].Slot-r.Turns[b].Slot)
	})
	own = own[max(0, len(own)-detect.Lookback):]
	out := make([]detect.Shingles, len(own))
	for n, k := range own {
		out[n] = r.shingle(k)
	}
	return out
}

// shingle yields the word sequences of the i-th turn. The core keeps them, since a speech is compared
// several times; a record that is read by many computes them anew.
func (r *Record) shingle(i int) detect.Shingles {
	if !r.keeps {
		return detect.Shingle(r.Turns[i].Text)
	}
	for len(r.shingles) < len(r.Turns) {
		r.shingles = append(r.shingles, detect.Shingle(r.Turns[len(r.shingles)].Text))
	}
	return r.shingles[i]
}

// diminishing looks at the last rounds that are needed.
func (r *Record) diminishing(round int) detect.Finding {
	var rounds []detect.Round
	for n := max(1, round-detect.FallingRounds+1); n <= round; n++ {
		speeches, p := r.repetition(n), r.panelOf(n)
		one := detect.Round{
			Quality: orNaN(p.quality, p.judges), Novelty: orNaN(speeches.novelty, speeches.count), Words: speeches.words,
			Repetitive: speeches.count > 0 && 2*speeches.strong > speeches.count || p.judges > 0 && p.most(p.repeating),
		}
		if marks := r.marks(n, CriterionNovelty); len(marks) > 0 {
			one.Novelty = mean(marks)
		}
		engagement := r.marks(n, CriterionEngagement)
		one.Engagement = orNaN(mean(engagement), len(engagement))
		rounds = append(rounds, one)
	}
	return detect.Diminishing(rounds)
}

func (r *Record) drift(round int) detect.Finding {
	if marks := r.marks(round, CriterionRelevance); len(marks) > 0 {
		return detect.Drift(marks...)
	}
	f := detect.Finding{Kind: detect.KindDrift}
	if p := r.panelOf(round); p.judges > 0 && p.most(p.drifting) {
		f.Level, f.Value, f.Limit = detect.LevelStrong, float64(p.drifting), float64(p.judges)
		f.Evidence = fmt.Sprintf("Of %d judges %d see the discussion leave the topic.", p.judges, p.drifting)
	}
	return f
}

// marks yields the judges' marks of a round for one criterion.
func (r *Record) marks(round int, criterion string) []float64 {
	var out []float64
	for _, a := range r.assessed(round) {
		for i := range a.Assessments {
			if mark, ok := a.Assessments[i].Criteria[criterion]; ok {
				out = append(out, mark)
			}
		}
	}
	return out
}

// orNaN yields a figure, or NaN if it is that of nothing.
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

// measured is what the judge is told of the detectors' findings in the present round.
func (r *Record) measured() string {
	var lines []string
	for _, d := range r.watched() {
		round := r.Round
		if d != DetectRepetition {
			round-- // what the judges say of the present round is still to come, and theirs alone
		}
		if f := r.find(d, round); f.Found() {
			lines = append(lines, string(f.Kind)+": "+f.Evidence)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	text := strings.Join(lines, "\n- ")
	if r.anonymous != nil {
		text = r.anonymous.labels.hide(text)
	}
	return "\n\n" + strings.ReplaceAll(r.Text("findings"), findingsHole, text)
}
