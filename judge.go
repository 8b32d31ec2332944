package debate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// Judge is a judge that is not a model of this debate: a Go function, a service, a person. It is called for each
// assessment and each verdict. It is called again if its answer was not accepted, or if an attempt has failed;
// task.Attempt counts the attempts.
//
// The answer must be one JSON object as task.Schema describes, and is checked like a model's. Its types are:
//   - [Judgement]: with a rubric it has Criteria, from which the scores are computed
//   - [FinalVerdict]: where sides win ([Debate.BySides]), its Winner has a Side and no Participant
//   - [BallotAnswer]
//
// An assessment is about task.Judged: those who have spoken in the round. A Judgement that would end the debate gives the reason as its
// Ending. A nil list is null in JSON, which is not accepted. An empty list is [].
//
// Judge must return soon after ctx is done. It is called concurrently if several debates use it. Errors that are
// *provider.Error or *Error are retried by their kind. Others are final, but for those of a context or a connection; see
// flow.Classify.
type Judge interface {
	Judge(ctx context.Context, task JudgeTask) (json.RawMessage, error)
}

// JudgeTask is what a judge is asked. What it points to is shared and read only.
type JudgeTask struct {
	Debate   string        // the debate's id
	Call     string        // deterministic; with Attempt it is an idempotency key
	Attempt  int           // from 1
	Kind     flow.CallKind // KindAssessment, KindVerdict, KindBallot, or KindFloor
	Topic    string
	Language string     // in which the answer is to be written: Config.Language; "": that of Topic
	Aim      format.Aim // what is judged, such as [format.ByTruth]; "": [format.ByArgument]. A ballot has none
	Round    int        // of an assessment: the round that is judged; otherwise the latest round
	Rounds   int        // the largest number of rounds
	// Participants are those who take part, and those who left after they had spoken. Their models, and the settings of these,
	// are omitted. With neutral labels, their names are the labels, in Turns too, and instructions and metadata are omitted.
	Participants []Participant
	// Judged are the names of those whom the answer must judge, each once, in the order in which they are shown: of an assessment the
	// contestants who have spoken in the round, of a verdict those who have spoken at all. They are among Participants. A voter judges
	// nobody.
	Judged []string
	Turns  []*flow.Turn // oldest first, as [flow.Record.Readable] returns them; their text is hostile
	// Notes are what was said in between by those who take no part, oldest first, as [flow.Record.ReadableNotes] returns them. Their text is
	// hostile. A turn of the kind KindAside whose call is "r2.aside.1.Ben" answers the first of them. Where a debate was reopened, the note
	// that tells the earlier verdict has for judges and voters only what is asked.
	Notes []*flow.Note
	// Choices are the names of those who may have the floor, of whom a [FloorAnswer] names one. nil: the call is no KindFloor.
	Choices []string
	// Instruction is what a model would be told in its last message, what is judged or what a vote means, the language, the host's
	// instructions, and what is wrong with a rejected answer.
	Instruction string
	Schema      json.RawMessage   // the JSON schema that the answer must match
	Labels      map[string]string // Config.Labels
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

// Judgement is a judge's assessment of one round, as logs hold it. Models answer with the same fields in another order, reasons first.
type Judgement struct {
	ShouldContinue bool              `json:"shouldContinue"`
	QualityScore   float64           `json:"qualityScore"` // of the round as a whole, from 0 to 10
	Assessments    []ParticipantMark `json:"assessments"`  // of everybody who has spoken in the round, each once
	Flags          Flags             `json:"flags"`
	Reasoning      string            `json:"reasoning"`
	// Ending says why the debate should end now. It must not be blank if the answer would end the debate: if the judge does not wish to
	// continue before the last round, or if a flag is set that ends a debate of this format.
	Ending string `json:"ending,omitempty"`
	// Recommendations are no longer asked for: nobody read them but the reader of an export. Older logs have them.
	Recommendations string `json:"recommendations"`
}

// ParticipantMark is a judge's assessment of one participant in one round.
type ParticipantMark struct {
	Participant string   `json:"participant" redact:"-"`
	Strengths   []string `json:"strengths"`
	Weaknesses  []string `json:"weaknesses"`
	// Score is from 0 to 10: the judge's own, or the weighted total of Criteria, which the library computes.
	Score float64 `json:"score"`
	// Criteria are the marks by criterion, if the config has a rubric.
	Criteria map[string]float64 `json:"criteria,omitempty" redact:"keys"`
}

// Flags are what a judge has noticed about a round. Judges are asked for ConvergenceReached from the second round on and for
// DiminishingReturns from the third. Before, these two count for nothing.
type Flags struct {
	Repetitive         bool `json:"repetitive"`         // most of the round had been said before
	Drifting           bool `json:"drifting"`           // most of the round is not about the topic
	DiminishingReturns bool `json:"diminishingReturns"` // each of the last two rounds brought less than the round before it
	ConvergenceReached bool `json:"convergenceReached"` // all give the same answer, or agree that they will not agree, and on what
}

// FinalVerdict is a judge's verdict on the whole debate, as logs hold it. Models answer with the same fields in another order, reasons
// first. In a format without a winner they are asked neither for one nor for scores.
type FinalVerdict struct {
	Summary             string             `json:"summary"`
	KeyPoints           []KeyPoints        `json:"keyPoints"` // of every contestant who has spoken, each once
	AreasOfAgreement    []string           `json:"areasOfAgreement"`
	AreasOfDisagreement []string           `json:"areasOfDisagreement"`
	Winner              *Winner            `json:"winner" jsonschema:"nullable"` // nil if nobody has won
	Scores              map[string]float64 `json:"scores" redact:"keys"`         // of the same, from 0 to 100, by name
	Criteria            map[string]string  `json:"criteria" redact:"keys"`       // a finding for every criterion
	QualityScore        float64            `json:"qualityScore" jsonschema:"minimum=0,maximum=100"`
	Insights            []string           `json:"insights"`
}

// KeyPoints are the main arguments of one participant.
type KeyPoints struct {
	Participant   string   `json:"participant" redact:"-"`
	MainArguments []string `json:"mainArguments"`
}

// Winner names who has won, and why: a participant or, where sides win ([Debate.BySides]), a side. See [Debate.PartyOf].
type Winner struct {
	Participant string      `json:"participant,omitempty" redact:"-"`
	Side        format.Side `json:"side,omitempty" redact:"-"`
	Reasoning   string      `json:"reasoning"`
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

// checkJudgement finds what no schema can express about an assessment: everybody who has spoken in the round is assessed exactly once, and
// nobody else is. It computes the totals of a rubric's marks.
func checkJudgement(r *flow.Record, j *answeredJudgement) []string {
	d := of(r)
	names := make([]string, len(j.Assessments))
	for i := range j.Assessments {
		names[i] = j.Assessments[i].Participant
	}
	problems := d.exactly(d.roundContest(), "assessments", names)
	given, _ := j.tree["assessments"].([]any)
	for i := range given {
		problems = append(problems, d.checkMark(i, &j.Assessments[i], objectOf(given[i]))...)
	}
	problems = append(problems, blank("reasoning", j.Reasoning)...)
	noticed := objectOf(j.tree["flags"])
	for i := range flags {
		if flag := &flags[i]; d.asked.notices(flag, d.Round) && !noticed.has(flag.name) {
			problems = append(problems, fmt.Sprintf("flags: %q is missing", flag.name))
		}
	}
	if !hasText(j.Ending) && d.wouldEnd(&j.Judgement) && d.asked.ending(d.Round) != "" {
		problems = append(problems, "ending: is blank, but the answer would end the debate: say why it should end")
	}
	return problems
}

// checkMark finds what is wrong with the marks of the i-th participant: a score is missing, or a rubric's criterion, or something else is
// marked. With a rubric it computes the score, and ignores a given one.
func (d *Debate) checkMark(i int, mark *ParticipantMark, given object) []string {
	rubric := d.rubric()
	switch {
	case rubric == nil && given.has("criteria"):
		return []string{fmt.Sprintf("assessments[%d].criteria: there is no rubric", i)}
	case rubric == nil && !given.has("score"):
		return []string{fmt.Sprintf("assessments[%d]: \"score\" is missing", i)}
	case rubric == nil:
		return nil
	}
	at := fmt.Sprintf("assessments[%d].criteria", i)
	var problems []string
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
	return problems
}

// wouldEnd reports whether a judge who answers this about the present round wishes to end the debate by it. After the last round there is
// nothing to end by a wish, but a debate that has converged says so in its last round too.
func (d *Debate) wouldEnd(j *Judgement) bool {
	switch d.format.End {
	case format.EndByRounds:
		return false
	case format.EndByConvergence:
		noticed := d.counted(d.Round, j.Flags)
		return noticed.ConvergenceReached || noticed.DiminishingReturns
	default:
		return !j.ShouldContinue && d.Round < d.rounds()
	}
}

func (d *Debate) rubric() *Rubric {
	if d.config.Judging == nil {
		return nil
	}
	return d.config.Judging.Rubric
}

// checkVerdict finds what no schema can express about a verdict. In a format without a winner it removes scores.
func checkVerdict(r *flow.Record, v *FinalVerdict) []string {
	d := of(r)
	names := make([]string, len(v.KeyPoints))
	for i := range v.KeyPoints {
		names[i] = v.KeyPoints[i].Participant
	}
	contest := d.contest()
	problems := d.exactly(contest, "keyPoints", names)
	if d.winnerless() {
		v.Scores = map[string]float64{}
	} else {
		problems = append(problems, d.checkScores(contest, v.Scores, 100)...)
	}
	if v.Winner != nil {
		problems = append(problems, d.checkNamed(contest, v.Winner)...)
	}
	return append(problems, blank("summary", v.Summary)...)
}

// winnerless reports whether judges are asked for no winner, and for no scores of the whole debate.
func (d *Debate) winnerless() bool { return d.format.Decide == format.NoWinner }

// noWinner is the problem of a winner where there is none.
const noWinner = "winner: is not null, but this format has no winner"

// checkNamed finds a winner that cannot be one. Where sides win, it removes the name of a participant beside the side.
func (d *Debate) checkNamed(c contest, w *Winner) []string {
	switch {
	case d.format.Decide == format.NoWinner:
		return []string{noWinner}
	case c.sides != nil && w.Side == "":
		return []string{`winner: a side wins this debate, not a participant: name it as "side"`}
	case c.sides != nil:
		w.Participant = ""
	case w.Side != "":
		return []string{`winner: a participant wins this debate, not a side: name it as "participant"`}
	case w.Participant == "":
		return []string{"winner: is no participant, by the exact name"}
	}
	return d.checkWinner(c, c.of(w))
}

// checkWinner finds a party that cannot win. "": nobody has won.
func (d *Debate) checkWinner(c contest, party string) []string {
	switch {
	case party == "":
		return nil
	case d.format.Decide == format.NoWinner:
		return []string{noWinner}
	case !slices.Contains(c.parties(), party) && c.sides != nil:
		return []string{"winner: is none of the sides that can win: " + strings.Join(c.parties(), ", ")}
	case !slices.Contains(c.parties(), party):
		return []string{"winner: is no participant, by the exact name"}
	case !d.canWin(c, party):
		return []string{"winner: has left the debate, and cannot win"}
	default:
		return nil
	}
}

// checkScores finds people without a score, and scores that are out of bounds or somebody else's.
func (d *Debate) checkScores(c contest, scores map[string]float64, most float64) []string {
	var problems []string
	for i := range c.judged {
		name := c.judged[i].Name
		score, ok := scores[name]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("scores: %q is missing", name))
		case score < 0 || score > most:
			problems = append(problems, fmt.Sprintf("scores: the score of %q is not between 0 and %g", name, most))
		}
	}
	if len(scores) <= len(c.judged) {
		return problems
	}
	for _, p := range d.Contestants() {
		if _, ok := scores[p.Name]; ok && !has(c.judged, p.Name) {
			problems = append(problems, fmt.Sprintf("scores: %q has not spoken in round %d", p.Name, d.Round))
		}
	}
	return append(problems, "scores: somebody is scored who is not to be judged")
}

func has(participants []Participant, name string) bool {
	for i := range participants {
		if participants[i].Name == name {
			return true
		}
	}
	return false
}

// exactly reports names that are missing among those who are judged, occur twice, are silent in the round that is judged, or are unknown.
func (d *Debate) exactly(c contest, field string, names []string) []string {
	var problems []string
	for i := range c.judged {
		p, count := &c.judged[i], 0
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
		switch {
		case has(c.judged, name):
		case has(d.Contestants(), name):
			problems = append(problems, fmt.Sprintf("%s[%d]: %q has not spoken in round %d", field, i, name, d.Round))
		default:
			problems = append(problems, fmt.Sprintf("%s[%d]: the name is no participant's; write the names exactly as given", field, i))
		}
	}
	return problems
}

// blank finds a text of which a reader sees nothing.
func blank(field, content string) []string {
	if !hasText(content) {
		return []string{field + ": is blank"}
	}
	return nil
}

// hasText reports whether a reader sees anything of what a judge wrote: spaces, characters without a width and fillers are nothing.
func hasText(content string) bool {
	const brailleBlank = '\u2800'
	return strings.ContainsFunc(content, func(r rune) bool {
		return unicode.IsPrint(r) && !unicode.IsSpace(r) && r != brailleBlank && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	})
}
