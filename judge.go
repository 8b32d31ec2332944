package debate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Judge is a judge that is not a model of this debate: a Go function, a service, a person. It is
// asked once per assessment and verdict, and its answer is checked like a model's: it must be one
// JSON object as task.Schema describes.
//
// Judge must return soon after ctx is done, and is called from several goroutines at once if several
// debates use it. Errors that are *provider.Error or *Error are retried by their kind, all others
// as api_error.
type Judge interface {
	Judge(ctx context.Context, task JudgeTask) (json.RawMessage, error)
}

// JudgeFunc is a Judge made of a function.
type JudgeFunc func(ctx context.Context, task JudgeTask) (json.RawMessage, error)

// Judge calls f.
func (f JudgeFunc) Judge(ctx context.Context, task JudgeTask) (json.RawMessage, error) {
	return f(ctx, task)
}

// JudgeTask is what a judge is asked. What it points to is shared: read only.
type JudgeTask struct {
	Debate       string
	Call         string   // deterministic: an idempotency key together with Attempt
	Attempt      int      // from 1
	Kind         CallKind // KindAssessment or KindVerdict
	Topic        string
	Round        int
	Rounds       int
	Participants []Participant
	Turns        []*Turn // that everybody can read, oldest first; their text is hostile
	Instruction  string  // what a model would be told, problems of a rejected answer included
	Schema       json.RawMessage
	Labels       map[string]string
}

// Judgement is a judge's view of one round, in the JSON that a judge answers with.
type Judgement struct {
	ShouldContinue  bool              `json:"shouldContinue" jsonschema:"description=whether another round is worth having"`
	QualityScore    float64           `json:"qualityScore" jsonschema:"minimum=0,maximum=10,description=quality of this round as a whole"`
	Assessments     []ParticipantMark `json:"assessments" jsonschema:"description=every participant exactly once"`
	Flags           Flags             `json:"flags"`
	Reasoning       string            `json:"reasoning" jsonschema:"description=why you judge so"`
	Recommendations string            `json:"recommendations" jsonschema:"description=what the next round should bring"`
}

// ParticipantMark is a judge's view of one participant in one round.
type ParticipantMark struct {
	Participant string   `json:"participant" jsonschema:"enum=participant's name"`
	Strengths   []string `json:"strengths"`
	Weaknesses  []string `json:"weaknesses"`
	Score       float64  `json:"score" jsonschema:"minimum=0,maximum=10"`
}

// Flags are what a judge has noticed about a round.
type Flags struct {
	Repetitive         bool `json:"repetitive" jsonschema:"description=earlier arguments are repeated"`
	Drifting           bool `json:"drifting" jsonschema:"description=the discussion leaves the topic"`
	DiminishingReturns bool `json:"diminishingReturns" jsonschema:"description=little is gained by going on"`
	ConvergenceReached bool `json:"convergenceReached" jsonschema:"description=the positions have met or are fully clear"`
}

// FinalVerdict is a judge's view of the whole debate, in the JSON that a judge answers with.
type FinalVerdict struct {
	Summary             string             `json:"summary"`
	KeyPoints           []KeyPoints        `json:"keyPoints" jsonschema:"description=every participant exactly once"`
	AreasOfAgreement    []string           `json:"areasOfAgreement"`
	AreasOfDisagreement []string           `json:"areasOfDisagreement"`
	Winner              *Winner            `json:"winner" jsonschema:"nullable,description=null if nobody has won"`
	Scores              map[string]float64 `json:"scores" jsonschema:"description=0 to 100 for every participant by name"`
	Criteria            map[string]string  `json:"criteria" jsonschema:"description=a finding for every criterion"`
	QualityScore        float64            `json:"qualityScore" jsonschema:"minimum=0,maximum=100,description=quality of the debate as a whole"` //nolint:lll // a tag
	Insights            []string           `json:"insights"`
}

// KeyPoints are the main arguments of one participant.
type KeyPoints struct {
	Participant   string   `json:"participant" jsonschema:"enum=participant's name"`
	MainArguments []string `json:"mainArguments"`
}

// Winner is who has won, and why.
type Winner struct {
	Participant string `json:"participant" jsonschema:"enum=participant's name"`
	Reasoning   string `json:"reasoning"`
}

// Assessment is an accepted assessment of one round.
type Assessment struct {
	Spend
	Round int    `json:"round"`
	Judge string `json:"judge"`
	Judgement
}

// Verdict is an accepted verdict.
type Verdict struct {
	Spend
	Judge string `json:"judge"`
	FinalVerdict
}

// checkJudgement finds what no schema can say: every active participant is assessed exactly once,
// and nobody else is.
func checkJudgement(r *Record, j *Judgement) []string {
	names := make([]string, len(j.Assessments))
	for i := range j.Assessments {
		names[i] = j.Assessments[i].Participant
	}
	return append(exactly(r, "assessments", names), blank("reasoning", j.Reasoning)...)
}

// checkVerdict finds what no schema can say of a verdict.
func checkVerdict(r *Record, v *FinalVerdict) []string {
	names := make([]string, len(v.KeyPoints))
	for i := range v.KeyPoints {
		names[i] = v.KeyPoints[i].Participant
	}
	problems := exactly(r, "keyPoints", names)
	for _, p := range r.Active() {
		score, ok := v.Scores[p.Name]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("scores: %q is missing", p.Name))
		case score < 0 || score > 100:
			problems = append(problems, fmt.Sprintf("scores: the score of %q is not between 0 and 100", p.Name))
		}
	}
	if len(v.Scores) > len(r.Active()) {
		problems = append(problems, "scores: somebody is scored who is no participant")
	}
	if v.Winner != nil && !r.isActive(v.Winner.Participant) {
		problems = append(problems, "winner: is no participant, by the exact name")
	}
	return append(problems, blank("summary", v.Summary)...)
}

// exactly compares names with the participants: each once, no other.
func exactly(r *Record, field string, names []string) []string {
	var problems []string
	for _, p := range r.Active() {
		count := 0
		for _, name := range names {
			if name == p.Name {
				count++
			}
		}
		switch {
		case count == 0:
			problems = append(problems, fmt.Sprintf("%s: %q is missing", field, p.Name))
		case count > 1:
			problems = append(problems, fmt.Sprintf("%s: %q stands there %d times", field, p.Name, count))
		}
	}
	for i, name := range names {
		if !r.isActive(name) {
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

// task makes what a judge from outside is asked.
func (r *Record) task(ready *prepared, intent *Intent) *JudgeTask {
	return &JudgeTask{
		Debate: r.ID, Call: intent.Call, Attempt: intent.Attempt, Kind: intent.Kind, Topic: r.config.Topic,
		Round: r.Round, Rounds: r.config.Rounds, Participants: r.Active(), Turns: r.readable(),
		Instruction: ready.last, Schema: wireJSON(ready.wire), Labels: r.config.Labels,
	}
}

// readable yields the turns that are not hidden, in the order of rounds and slots: that in which
// simultaneous replies happened to arrive is not shown to anybody.
func (r *Record) readable() []*Turn {
	if r.config.Mode == Sequential && len(r.hidden) == 0 {
		return slices.Clip(r.Turns)
	}
	var turns []*Turn
	for i := range r.Turns {
		if !r.hides(i) {
			turns = append(turns, r.Turns[i])
		}
	}
	slices.SortStableFunc(turns, func(a, b *Turn) int { return cmp.Or(a.Round-b.Round, a.Slot-b.Slot) })
	return turns
}

func (r *Record) hides(turn int) bool {
	return slices.Contains(r.hidden, turn)
}
