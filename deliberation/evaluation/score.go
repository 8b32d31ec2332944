package evaluation

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// Criterion is a criterion by which a solution is judged.
type Criterion string

// The criteria, and the judgement of the whole.
const (
	CriterionFunction        Criterion = "functionalCompleteness"
	CriterionPerformance     Criterion = "performanceScalability"
	CriterionSecurity        Criterion = "security"
	CriterionMaintainability Criterion = "maintainabilityEvolvability"
	CriterionCompliance      Criterion = "regulatoryCompliance"
	CriterionTestability     Criterion = "testability"
	CriterionRequirements    Criterion = "requirementsFulfilment"
	CriterionOverall         Criterion = "overall"
)

// The ends of the scale.
const (
	LowestScore  = 1
	HighestScore = 10
)

// criterion is one with what evaluators and readers are told of it.
type criterion struct {
	Key         Criterion
	Title, Asks string
	mark        func(*Marks) Mark
}

// criteria returns the criteria in their order; the whole is not among them.
func criteria() []criterion {
	return []criterion{
		{
			CriterionFunction, "Functional completeness", "Does it say how everything that was asked for is done, with nothing left to guess?",
			func(m *Marks) Mark { return m.FunctionalCompleteness },
		},
		{
			CriterionPerformance, "Performance and scalability", "Does it hold under the load that the problem implies, and grow with it?",
			func(m *Marks) Mark { return m.PerformanceScalability },
		},
		{
			CriterionSecurity, "Security", "Does it say what is worth protecting, who may do what, and how the likely attacks fail?",
			func(m *Marks) Mark { return m.Security },
		},
		{
			CriterionMaintainability, "Maintainability and evolvability", "Can others understand it, run it, and change it at a fair price?",
			func(m *Marks) Mark { return m.MaintainabilityEvolvability },
		},
		{
			CriterionCompliance, "Regulatory compliance", "Does it meet the laws and rules that apply to such data and such a business?",
			func(m *Marks) Mark { return m.RegulatoryCompliance },
		},
		{
			CriterionTestability, "Testability", "Can each claim be checked, and each part be run on its own?",
			func(m *Marks) Mark { return m.Testability },
		},
		{
			CriterionRequirements, "Fulfilment of requirements", "Of the requirements, one by one, how many are met, and are the major ones?",
			func(m *Marks) Mark { return m.RequirementsFulfilment },
		},
	}
}

func overall() criterion {
	return criterion{CriterionOverall, "Overall", "", func(m *Marks) Mark { return m.Overall }}
}

// Mark is one evaluator's score by one criterion.
type Mark struct {
	Reasoning string  `json:"reasoning" jsonschema:"description=what the score rests on"`
	Score     float64 `json:"score" jsonschema:"minimum=1,maximum=10"`
}

// Marks is the answer of an evaluator: a mark by each criterion, and one for the whole.
type Marks struct {
	FunctionalCompleteness      Mark `json:"functionalCompleteness"`
	PerformanceScalability      Mark `json:"performanceScalability"`
	Security                    Mark `json:"security"`
	MaintainabilityEvolvability Mark `json:"maintainabilityEvolvability"`
	RegulatoryCompliance        Mark `json:"regulatoryCompliance"`
	Testability                 Mark `json:"testability"`
	RequirementsFulfilment      Mark `json:"requirementsFulfilment"`
	Overall                     Mark `json:"overall"`
}

// Report is the result of an evaluation.
type Report struct {
	Asked    int `json:"asked"`    // evaluators
	Answered int `json:"answered"` // of those, with a valid answer
	// Criteria are the seven criteria, in their order. Overall is the evaluators' judgement of the whole. It is not an
	// average of the criteria.
	Criteria []Rating `json:"criteria"`
	Overall  Rating   `json:"overall"`
}

// Rating says how a solution was judged by one criterion.
type Rating struct {
	Criterion Criterion `json:"criterion"`
	Title     string    `json:"title"`
	// Opinions has one entry for each evaluator, in the order of the config.
	Opinions []Opinion `json:"opinions"`
	// Spread is computed from the scores that exist; nil if there is none.
	Spread *Spread `json:"spread"`
}

// Opinion is the score of one evaluator, or the reason why there is none.
type Opinion struct {
	Evaluator string `json:"evaluator"`
	// Value is from LowestScore to HighestScore. If it is nil, there is no score, and Gap says why.
	Value     *float64 `json:"score"`
	Reasoning string   `json:"reasoning,omitempty"` // the evaluator's words
	Gap       string   `json:"gap,omitempty"`
}

// Spread is the average of scores, and how far the scores differ.
type Spread struct {
	Of   int     `json:"of"`   // how many scores, at least 1
	Mean float64 `json:"mean"` // their arithmetic mean
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// Deviation is the standard deviation of these scores: the square root of the mean squared difference from Mean. It
	// is 0 for a single score.
	Deviation float64 `json:"deviation"`
}

// Scores is an evaluation for reading: the [flow.Record] that every flow has, and the answers of the evaluators. It is
// read only, under the rules of its Record.
type Scores struct {
	*flow.Record

	config  *Config
	answers map[string]*flow.Turn // the first of each evaluator
}

// Of returns the scores of a record. It returns false if the record is of another flow, or if nothing has
// started.
func Of(r *flow.Record) (*Scores, bool) { return flow.ProjectionOf[*Scores](r) }

// of is Of for the flow itself, which is only asked about its own records.
func of(r *flow.Record) *Scores {
	if s, ok := Of(r); ok {
		return s
	}
	return &Scores{Record: r, config: &Config{}}
}

// open makes the projection of a record.
func open(r *flow.Record, _ *flow.Start) (flow.Projection, error) {
	return &Scores{Record: r, config: r.Config().(*Config), answers: make(map[string]*flow.Turn)}, nil
}

// Config returns the normalized config, with every default and every prompt written out, but without an ID. It is read
// only.
func (s *Scores) Config() *Config { return s.config }

// Fold implements [flow.Projection].
func (s *Scores) Fold(e *flow.Event) error {
	if t, ok := e.Body.(*flow.Turn); ok && t.Kind == KindScore && s.answers[t.Speaker] == nil {
		s.answers[t.Speaker] = t
	}
	return nil
}

// MarshalJSON writes the record's JSON, then the report, and the lines of Degraded. It cannot be read back.
func (s *Scores) MarshalJSON() ([]byte, error) {
	return s.MarshalWith(struct {
		Report   Report   `json:"report"`
		Degraded []string `json:"degraded,omitempty"`
	}{s.Report(), s.Degraded()})
}

// Report returns the result of the evaluation so far. An evaluator without a valid answer is a gap in every criterion,
// and counts in no average.
func (s *Scores) Report() Report {
	var report Report
	sheets := make([]sheet, 0, len(s.config.Evaluators))
	for i := range s.config.Evaluators {
		a := s.sheet(s.config.Evaluators[i].ID)
		sheets = append(sheets, a)
		report.Asked++
		if a.marks != nil {
			report.Answered++
		}
	}
	for _, c := range criteria() {
		report.Criteria = append(report.Criteria, c.rating(sheets))
	}
	report.Overall = overall().rating(sheets)
	return report
}

// sheet is an evaluator's answer, or why there is none.
type sheet struct {
	evaluator string
	marks     *Marks
	gap       string
}

// without says that there is no answer.
func (a *sheet) without() string { return a.evaluator + ": " + a.gap }

func (s *Scores) sheet(evaluator string) sheet {
	if t := s.answers[evaluator]; t != nil {
		marks := &Marks{}
		if err := json.Unmarshal(t.Data, marks); err != nil || !marks.valid() { // the engine has checked: a log was changed since
			return sheet{evaluator: evaluator, gap: "the stored answer is not valid"}
		}
		return sheet{evaluator: evaluator, marks: marks}
	}
	a := sheet{evaluator: evaluator}
	switch rejection := lastRejection(s.Record, evaluator); {
	case !s.Failed(scoreID(evaluator)):
		a.gap = "has not answered"
	case rejection == nil || len(rejection.Problems) == 0:
		a.gap = "no answer: the call has failed for good"
	default:
		a.gap = "no valid answer: " + rejection.Problems[0]
		if n := len(rejection.Problems) - 1; n > 0 {
			a.gap += fmt.Sprintf("; and %d more", n)
		}
	}
	return a
}

// lastRejection returns an evaluator's last answer that was not accepted; nil: there is none.
func lastRejection(r *flow.Record, evaluator string) *flow.Rejection {
	for i := len(r.Rejections) - 1; i >= 0; i-- {
		if r.Rejections[i].By == evaluator {
			return &r.Rejections[i]
		}
	}
	return nil
}

func (m *Marks) valid() bool {
	for _, c := range append(criteria(), overall()) {
		if s := c.mark(m).Score; math.IsNaN(s) || s < LowestScore || s > HighestScore {
			return false
		}
	}
	return true
}

// rating gathers the answers by one criterion.
func (c criterion) rating(sheets []sheet) Rating {
	out := Rating{Criterion: c.Key, Title: c.Title}
	var values []float64
	for _, a := range sheets {
		opinion := Opinion{Evaluator: a.evaluator, Gap: a.gap}
		if a.marks != nil {
			mark := c.mark(a.marks)
			opinion.Value, opinion.Reasoning = &mark.Score, mark.Reasoning
			values = append(values, mark.Score)
		}
		out.Opinions = append(out.Opinions, opinion)
	}
	out.Spread = spreadOf(values)
	return out
}

func spreadOf(values []float64) *Spread {
	if len(values) == 0 {
		return nil
	}
	s := &Spread{Of: len(values), Min: values[0], Max: values[0]}
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum, s.Min, s.Max = sum+v, min(s.Min, v), max(s.Max, v)
	}
	s.Mean = min(s.Max, max(s.Min, sum/float64(s.Of))) // rounding must not lead out of the scores
	for _, v := range values {
		squares += (v - s.Mean) * (v - s.Mean)
	}
	s.Deviation = math.Sqrt(squares / float64(s.Of))
	return s
}

// Degraded lists where the evaluation fell short of its config, one line each: what the record of any conversation lists, see
// [flow.Record.Degraded], and once it is over, which evaluators have given no valid answer.
//
// It is empty if nothing was missing. Its JSON has the same, under "degraded".
func (s *Scores) Degraded() []string {
	out := s.Record.Degraded(owes, nil)
	if !s.Final() {
		return out
	}
	for i := range s.config.Evaluators {
		a := s.sheet(s.config.Evaluators[i].ID)
		if line := a.without(); a.gap != "" && !slices.Contains(out, line) { // a warning says so
			out = append(out, line)
		}
	}
	return out
}
