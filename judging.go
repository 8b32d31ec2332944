package debate

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// Judging says who judges, when, and by which criteria.
type Judging struct {
	// Judges are one judge, or a panel whose members judge without hearing each other.
	Judges []JudgeConfig `json:"judges"`
	// Quorum is how many judges must have given a verdict for the panel to decide: more than half of them if 0.
	// With fewer verdicts nobody wins, and the outcome says so in Degraded.
	Quorum int `json:"quorum,omitempty"`
	// Protocol says how the panel's verdicts become one: Majority if empty.
	Protocol Protocol `json:"protocol,omitempty" redact:"-"`
	// When says when judges are asked: EveryRound if empty.
	When When `json:"when,omitempty" redact:"-"`
	// Rubric makes the judges mark each participant by criterion. If it is nil, they give one score.
	Rubric *Rubric `json:"rubric,omitempty"`
	// Criteria replace the six default criteria. They apply if there is no rubric.
	Criteria []string `json:"criteria,omitempty" redact:"-"`
	// Aim is what the judges judge, such as [format.ByTruth]. If it is empty, the stances say it that the config gives in place of the
	// format's, if they agree, and otherwise the format.
	Aim format.Aim `json:"aim,omitempty" redact:"-"`
	// Instructions are added to the prompts of all judges, unchanged. They are trusted: do not fill them from a user's input.
	Instructions string `json:"instructions,omitempty"`
	// BothOrders asks each judge for two verdicts, with the participants in one order and in the other. If their
	// winners differ, the judge counts as seeing a tie. In the second verdict, the names and scores are listed in reverse, and so are
	// the speeches of those who spoke at once. Where speakers answer each other, the order of the speeches cannot be changed: a second
	// debate with the seats exchanged shows then whether the order mattered. In a format without a winner the second verdict decides
	// nothing, and costs as much as the first: leave it out.
	BothOrders bool `json:"bothOrders,omitempty"`
	// Anonymous shows the judges labels such as "Speaker A" in place of names, in the transcript too.
	Anonymous bool `json:"anonymous,omitempty"`
	// AllowSameFamily lets a model judge participants of its own family even if another judge could. Without it, such a
	// judge of a panel is recused, and no such model is asked as a fallback or in a person's place: if the person is late,
	// the rules for failures decide.
	AllowSameFamily bool `json:"allowSameFamily,omitempty"`
}

// When says when judges are asked.
type When string

// The times of judging. The verdict is given in both cases.
const (
	EveryRound When = "every-round"
	AtEnd      When = "at-end"
)

// Protocol says how the verdicts of a panel become one. See package vote.
type Protocol string

// The protocols. A judge counts but votes for nobody in these cases:
//   - the judge sees a tie, or nobody ahead
//   - the judge names another winner when the participants change places
const (
	Majority      Protocol = "majority"      // more than half of the judges
	Plurality     Protocol = "plurality"     // more than for any other
	Supermajority Protocol = "supermajority" // at least two thirds of the judges
	Unanimity     Protocol = "unanimity"     // all judges
	Borda         Protocol = "borda"         // ranks by the judges' scores, in points; less than 3 apart at the top is no ranking
)

// JudgeConfig names a judge: a model, a [Judge] registered on the engine, or a person.
type JudgeConfig struct {
	// Name is "judge" if empty, and "judge-2" and so on from the second judge of a panel.
	Name string `json:"name,omitempty" redact:"-"`
	// Model is "provider/model".
	Model string `json:"model,omitempty" redact:"-"`
	// Judge is a name in Engine.Judges. It stands in place of a model.
	Judge string `json:"judge,omitempty" redact:"-"`
	// Person asks a person of the host program through a [flow.Inquiry]. It stands in place of a model. Term bounds how long the person
	// has, and may name a model that stands in.
	Person bool `json:"person,omitempty"`
	flow.Term
	// Fallbacks are models that take over, in this order. A fallback takes over when the model before keeps
	// failing, or when two answers of it were not accepted.
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
	// Temperature is 0.2 if nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// MaxTokens limits the output of an answer, in tokens: the debate's limit if 0.
	MaxTokens int `json:"maxTokens,omitempty"`
	// Options are what its requests ask for beyond text, such as effort. nil: the vendor's defaults.
	Options *provider.Options `json:"options,omitempty"`
	// Instructions are added to what this judge is asked, unchanged, after those of Judging. They are trusted: do not fill them from a
	// user's input. They stand in the last message of a request, so that the judges of a panel share the text before it.
	Instructions string `json:"instructions,omitempty"`
}

func (j *JudgeConfig) seat(field string) flow.Seat {
	return flow.Seat{
		Field: field, By: j.Name, Model: &j.Model, Fallbacks: &j.Fallbacks, Temperature: &j.Temperature, MaxTokens: &j.MaxTokens,
		Options: &j.Options, Usual: defaultJudgeTemperature, Replaceable: true,
		Function: flow.NameField{Field: field + ".judge", Name: j.Judge}, Person: j.Person, Term: &j.Term,
		Anew: true,
	}
}

// Rubric is the list of criteria by which judges mark. The total is computed in code, never asked of a model.
type Rubric struct {
	Criteria []Criterion `json:"criteria"`
}

// Criterion is one line of a rubric, marked from 0 to 10.
type Criterion struct {
	Name string `json:"name" redact:"-"`
	// Weight is in percent. The weights of a rubric sum to 100.
	Weight float64 `json:"weight"`
	// Low and High say what 0 and 10 mean.
	Low  string `json:"low,omitempty"`
	High string `json:"high,omitempty"`
}

// Names of criteria that detectors read.
const (
	CriterionNovelty    = "novelty"
	CriterionEngagement = "engagement"
	CriterionRelevance  = "relevance"
)

// DefaultRubric returns a new copy of the built-in rubric.
func DefaultRubric() *Rubric {
	return &Rubric{Criteria: []Criterion{
		{"logical consistency", 20, "contradictory", "perfectly consistent"},
		{"evidence quality", 20, "none", "strong throughout"},
		{CriterionEngagement, 20, "ignores the others", "engages deeply, by name and point"},
		{CriterionNovelty, 15, "pure repetition", "all new insight"},
		{"persuasiveness", 15, "unclear, weak", "highly persuasive"},
		{CriterionRelevance, 10, "off topic", "directly on topic"},
	}}
}

// Total returns the weighted sum of marks by criterion. Marks and total are from 0 to 10.
func (r *Rubric) Total(marks map[string]float64) float64 {
	total := 0.0
	for i := range r.Criteria {
		total += r.Criteria[i].Weight * marks[r.Criteria[i].Name]
	}
	return total / 100
}

func (j *Judging) defaults(maxTokens int) {
	j.When = cmp.Or(j.When, EveryRound)
	j.Protocol = cmp.Or(j.Protocol, Majority)
	j.Quorum = cmp.Or(j.Quorum, len(j.Judges)/2+1)
	for i := range j.Judges {
		judge := &j.Judges[i]
		if name := "judge"; i == 0 {
			judge.Name = cmp.Or(judge.Name, name)
		} else {
			judge.Name = cmp.Or(judge.Name, name+"-"+strconv.Itoa(i+1))
		}
		judge.MaxTokens = cmp.Or(judge.MaxTokens, maxTokens)
	}
}

// clone returns a copy with a rubric, criteria and judges of its own. What the judges' fields refer to is shared.
func (j *Judging) clone() *Judging {
	d := flow.CloneValue(j)
	if d == nil {
		return nil
	}
	if d.Rubric = flow.CloneValue(j.Rubric); d.Rubric != nil {
		d.Rubric.Criteria = slices.Clone(d.Rubric.Criteria)
	}
	d.Criteria = slices.Clone(d.Criteria)
	d.Judges = slices.Clone(d.Judges)
	return d
}

// prompted returns the rubric as prompts need it.
func (r *Rubric) prompted() []prompt.Criterion {
	if r == nil {
		return nil
	}
	out := make([]prompt.Criterion, len(r.Criteria))
	for i, c := range r.Criteria {
		out[i] = prompt.Criterion(c)
	}
	return out
}

// criteria returns the names of the criteria.
func (j *Judging) criteria() []string {
	switch {
	case j.Rubric != nil:
		names := make([]string, len(j.Rubric.Criteria))
		for i := range names {
			names[i] = j.Rubric.Criteria[i].Name
		}
		return names
	case len(j.Criteria) > 0:
		return j.Criteria
	}
	return prompt.DefaultCriteria()
}
