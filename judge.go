package debate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// Judge is a judge that is not a model of this debate: a Go function, a service, a person. It is called for each
// assessment and each verdict. It is called again if its answer was not accepted, or if an attempt has failed;
// task.Attempt counts the attempts.
//
// The answer must be one JSON object as task.Schema describes, and is checked like a model's. Its types are:
//   - [Judgement], or [RubricJudgement] if the config has a rubric
//   - [FinalVerdict]
//   - [BallotAnswer]
//
// A nil list is null in JSON, which is not accepted. An empty list is [].
//
// Judge must return soon after ctx is done. It is called concurrently if several debates use it. Errors that are
// *provider.Error or *Error are retried by their kind. Others are final, but for those of a context or a connection; see
// flow.Classify.
type Judge interface {
	Judge(ctx context.Context, task JudgeTask) (json.RawMessage, error)
}

// JudgeTask is what a judge is asked. What it points to is shared and read only.
type JudgeTask struct {
	Debate  string        // the debate's id
	Call    string        // deterministic; with Attempt it is an idempotency key
	Attempt int           // from 1
	Kind    flow.CallKind // KindAssessment, KindVerdict, or KindBallot
	Topic   string
	Round   int // of an assessment: the round that is judged; otherwise the latest round
	Rounds  int // the largest number of rounds
	// Participants are those who take part, and those who left after they had spoken. Their models, and the settings of these,
	// are omitted. With neutral labels, their names are the labels, in Turns too, and instructions and metadata are omitted.
	Participants []Participant
	Turns        []*flow.Turn      // oldest first, as [flow.Record.Readable] returns them; their text is hostile
	Instruction  string            // what a model would be told, including the problems of a rejected answer
	Schema       json.RawMessage   // the JSON schema that the answer must match
	Labels       map[string]string // Config.Labels
}

// JudgeFunc is a [Judge] made of a function.
type JudgeFunc func(ctx context.Context, task JudgeTask) (json.RawMessage, error)

// Judge calls f.
func (f JudgeFunc) Judge(ctx context.Context, task JudgeTask) (json.RawMessage, error) {
	return f(ctx, task)
}

// judgeFunction is a judge as the engine calls it.
type judgeFunction struct{ Judge }

// Call implements [flow.Function].
func (j judgeFunction) Call(ctx context.Context, task any) (json.RawMessage, error) {
	own, err := flow.TaskOf[JudgeTask](task)
	if err != nil {
		return nil, err
	}
	return j.Judge.Judge(ctx, *own)
}

// Judgement is a judge's assessment of one round, in the JSON that a judge answers with.
type Judgement struct {
	ShouldContinue  bool              `json:"shouldContinue" jsonschema:"description=whether another round is worth having"`
	QualityScore    float64           `json:"qualityScore" jsonschema:"minimum=0,maximum=10,description=quality of this round as a whole"`
	Assessments     []ParticipantMark `json:"assessments" jsonschema:"description=every participant exactly once"`
	Flags           Flags             `json:"flags"`
	Reasoning       string            `json:"reasoning" jsonschema:"description=why you judge so"`
	Recommendations string            `json:"recommendations" jsonschema:"description=what the next round should bring"`
}

// ParticipantMark is a judge's assessment of one participant in one round.
type ParticipantMark struct {
	Participant string   `json:"participant" jsonschema:"enum=participant's name" redact:"-"`
	Strengths   []string `json:"strengths"`
	Weaknesses  []string `json:"weaknesses"`
	// Score is from 0 to 10: the judge's own, or the weighted total of Criteria, which the library computes.
	Score float64 `json:"score" jsonschema:"minimum=0,maximum=10"`
	// Criteria are the marks by criterion, if the config has a rubric.
	Criteria map[string]float64 `json:"criteria,omitempty" jsonschema:"-" redact:"keys"`
}

// RubricJudgement is a Judgement in the JSON that a judge with a rubric answers with. It has marks in place of
// scores. The library computes their totals.
type RubricJudgement struct {
	ShouldContinue  bool         `json:"shouldContinue" jsonschema:"description=whether another round is worth having"`
	QualityScore    float64      `json:"qualityScore" jsonschema:"minimum=0,maximum=10,description=quality of this round as a whole"`
	Assessments     []RubricMark `json:"assessments" jsonschema:"description=every participant exactly once"`
	Flags           Flags        `json:"flags"`
	Reasoning       string       `json:"reasoning" jsonschema:"description=why you judge so"`
	Recommendations string       `json:"recommendations" jsonschema:"description=what the next round should bring"`
}

// RubricMark is a judge's assessment of one participant by a rubric.
type RubricMark struct {
	Participant string             `json:"participant" jsonschema:"enum=participant's name" redact:"-"`
	Strengths   []string           `json:"strengths"`
	Weaknesses  []string           `json:"weaknesses"`
	Criteria    map[string]float64 `json:"criteria" jsonschema:"description=every criterion from 0 to 10" redact:"keys"`
}

// Flags are what a judge has noticed about a round.
type Flags struct {
	Repetitive         bool `json:"repetitive" jsonschema:"description=earlier arguments are repeated"`
	Drifting           bool `json:"drifting" jsonschema:"description=the discussion leaves the topic"`
	DiminishingReturns bool `json:"diminishingReturns" jsonschema:"description=little is gained by going on"`
	ConvergenceReached bool `json:"convergenceReached" jsonschema:"description=the positions have met or are fully clear"`
}

// FinalVerdict is a judge's verdict on the whole debate, in the JSON that a judge answers with.
type FinalVerdict struct {
	Summary             string             `json:"summary"`
	KeyPoints           []KeyPoints        `json:"keyPoints" jsonschema:"description=every participant exactly once"`
	AreasOfAgreement    []string           `json:"areasOfAgreement"`
	AreasOfDisagreement []string           `json:"areasOfDisagreement"`
	Winner              *Winner            `json:"winner" jsonschema:"nullable,description=null if nobody has won"`
	Scores              map[string]float64 `json:"scores" jsonschema:"description=0 to 100 for every participant by name" redact:"keys"`
	Criteria            map[string]string  `json:"criteria" jsonschema:"description=a finding for every criterion" redact:"keys"`
	QualityScore        float64            `json:"qualityScore" jsonschema:"minimum=0,maximum=100,description=quality of the debate as a whole"` //nolint:lll // a tag
	Insights            []string           `json:"insights"`
}

// KeyPoints are the main arguments of one participant.
type KeyPoints struct {
	Participant   string   `json:"participant" jsonschema:"enum=participant's name" redact:"-"`
	MainArguments []string `json:"mainArguments"`
}

// Winner names the participant who has won, and why.
type Winner struct {
	Participant string `json:"participant" jsonschema:"enum=participant's name" redact:"-"`
	Reasoning   string `json:"reasoning"`
}

// Assessment is an accepted assessment of one round.
type Assessment struct {
	flow.Spend
	Round int    `json:"round"`
	Judge string `json:"judge" redact:"-"`
	Judgement
}

// Verdict is an accepted verdict.
type Verdict struct {
	flow.Spend
	Judge string `json:"judge" redact:"-"`
	// Swapped reports that the judge was shown the participants in the other order.
	Swapped bool `json:"swapped,omitempty"`
	FinalVerdict
}

// checkJudgement finds what no schema can express: every contestant is assessed exactly once, and nobody else is.
func checkJudgement(r *flow.Record, j *Judgement) []string {
	d := of(r)
	names := make([]string, len(j.Assessments))
	for i := range j.Assessments {
		names[i] = j.Assessments[i].Participant
	}
	return append(exactly(d.inRound(), "assessments", names), blank("reasoning", j.Reasoning)...)
}

// checkMarks is checkJudgement with a rubric: every criterion is marked, and no other. It computes the totals.
func checkMarks(r *flow.Record, j *Judgement) []string {
	d := of(r)
	problems := checkJudgement(r, j)
	rubric := d.rubric()
	if rubric == nil {
		return append(problems, "criteria: there is no rubric")
	}
	for i := range j.Assessments {
		mark := &j.Assessments[i]
		at := fmt.Sprintf("assessments[%d].criteria", i)
		for _, c := range rubric.Criteria {
			switch value, ok := mark.Criteria[c.Name]; {
			case !ok:
				problems = append(problems, fmt.Sprintf("%s: %q is missing", at, c.Name))
			case value < 0 || value > 10:
				problems = append(problems, fmt.Sprintf("%s: the mark of %q is not between 0 and 10", at, c.Name))
			}
		}
		if len(mark.Criteria) > len(rubric.Criteria) {
			problems = append(problems, at+": something is marked that is no criterion")
		}
		mark.Score = rubric.Total(mark.Criteria)
	}
	return problems
}

func (d *Debate) rubric() *Rubric {
	if d.config.Judging == nil {
		return nil
	}
	return d.config.Judging.Rubric
}

// checkVerdict finds what no schema can express about a verdict.
func checkVerdict(r *flow.Record, v *FinalVerdict) []string {
	d := of(r)
	names := make([]string, len(v.KeyPoints))
	for i := range v.KeyPoints {
		names[i] = v.KeyPoints[i].Participant
	}
	contestants := d.Contestants()
	problems := exactly(contestants, "keyPoints", names)
	problems = append(problems, checkScores(contestants, v.Scores, 100)...)
	switch {
	case v.Winner == nil:
	case v.Winner.Participant == "":
		problems = append(problems, "winner: is no participant, by the exact name")
	default:
		problems = append(problems, d.checkWinner(contestants, v.Winner.Participant)...)
	}
	return append(problems, blank("summary", v.Summary)...)
}

// Contestants returns the participants whom a verdict is about: all but the chair. One who has left is judged by what it said
// before, or omitted if it said nothing.
func (d *Debate) Contestants() []Participant {
	return d.contestants(func(*flow.Turn) bool { return true })
}

// inRound returns the participants whom the assessment of the present round is about. Whoever has left is assessed only in
// the round in which they have spoken last.
func (d *Debate) inRound() []Participant {
	return d.contestants(func(t *flow.Turn) bool { return t.Round == d.Round })
}

// contestants returns the participants to judge. One who has left is included only if counts accepts one of their turns.
func (d *Debate) contestants(counts func(*flow.Turn) bool) []Participant {
	if len(d.Dropped()) == 0 && (d.format == nil || d.format.Chair == "") {
		return d.config.Participants
	}
	var out []Participant
	for _, p := range d.config.Participants {
		spoke := func(t *flow.Turn) bool { return t.Speaker == p.Name && counts(t) }
		if (d.format == nil || d.format.Judged(p.Side)) && (!d.IsDropped(p.Name) || slices.ContainsFunc(d.Turns, spoke)) {
			out = append(out, p)
		}
	}
	return out
}

func has(participants []Participant, name string) bool {
	return slices.ContainsFunc(participants, func(p Participant) bool { return p.Name == name })
}

// exactly reports names that are missing among the contestants, occur twice, or are unknown.
func exactly(contestants []Participant, field string, names []string) []string {
	var problems []string
	for i := range contestants {
		p, count := &contestants[i], 0
		for _, name := range names {
			if name == p.Name {
				count++
			}
		}
		switch {
		case count == 0:
			problems = append(problems, fmt.Sprintf("%s: %q is missing", field, p.Name))
		case count > 1:
			problems = append(problems, fmt.Sprintf("%s: %q occurs %d times", field, p.Name, count))
		}
	}
	for i, name := range names {
		if !has(contestants, name) {
			problems = append(problems, fmt.Sprintf("%s[%d]: the name is no participant's; write the names exactly as given", field, i))
		}
	}
	return problems
}

func blank(field, text string) []string {
	if strings.TrimSpace(text) == "" {
		return []string{field + ": is blank"}
	}
	return nil
}
