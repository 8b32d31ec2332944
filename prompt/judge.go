package prompt

// DefaultCriteria yields the names of what a judge weighs if nothing else is asked for. The slice is
// the caller's own.
func DefaultCriteria() []string {
	return []string{
		"logical consistency",
		"evidence",
		"engagement",
		"novelty",
		"clarity and persuasiveness",
		"relevance",
	}
}

// Judge is what a judge is told for the whole debate. Empty fields are left out of the text.
type Judge struct {
	Name           string
	Topic          string
	Format         string
	FormatGuidance string
	Participants   []Person    // in the order in which this judge is shown them
	Chairs         []string    // names of those who lead the talk and are not judged
	Criteria       []string    // each with its scale, if it has one; nil: DefaultCriteria
	Rubric         []Criterion // scored criteria, which take the place of Criteria; nil: none
	NoWinner       bool        // the format has none
	Rounds         int         // planned; 0: open
	Fence          string      // the word of the markers around participants' words; "": "word" stands for it
}

// Judge yields the system prompt of a judge. It is constant over a debate, so that prompt caches
// hit. An error comes only from a replaced template.
func (s *Set) Judge(j Judge) (string, error) {
	return s.render("judge", j.clean())
}

func (j Judge) clean() Judge {
	j.Name = entry(j.Name)
	j.Topic = block(j.Topic)
	j.Format = entry(j.Format)
	j.FormatGuidance = block(j.FormatGuidance)
	j.Participants = people(j.Participants)
	j.Chairs = entries(j.Chairs)
	j.Rubric = criteria(j.Rubric)
	switch {
	case len(j.Rubric) > 0:
		// A template that knows of Criteria alone lists what is scored all the same.
		j.Criteria = make([]string, len(j.Rubric))
		for i, c := range j.Rubric {
			j.Criteria[i] = c.String()
		}
	case len(j.Criteria) == 0:
		j.Criteria = DefaultCriteria()
	default:
		j.Criteria = lines(j.Criteria)
	}
	j.Fence = fence(j.Fence)
	return j
}

// Assess is what a judge is asked after a round.
type Assess struct {
	Participants []string    // names, as they must be given back
	Rubric       []Criterion // criteria to score for each participant; nil: one score for each
	Rounds       int         // planned; 0: open
	Advisory     bool        // the format fixes the rounds, and the judge's shouldContinue ends nothing
}

// Round is what {{.Round}} yields in a template: the placeholder.
func (Assess) Round() string { return Round }

// Assess yields the instruction before the assessment of a round, rendered once per debate and
// judge: [Fill] puts the round in. It describes each field of the assessment's JSON. An error comes
// only from a replaced template.
func (s *Set) Assess(a Assess) (string, error) {
	a.Participants = lines(a.Participants)
	a.Rubric = criteria(a.Rubric)
	return s.render("assess", a)
}

// Verdict is what a judge is asked at the end.
type Verdict struct {
	Participants []string // names, as they must be given back
	Criteria     []string // names, as they must be given back; nil: DefaultCriteria
	Rounds       int      // planned; 0: open
	Unfinished   bool     // the last round was cut short
	NoWinner     bool     // the format has none
}

// Round is what {{.Round}} yields in a template: the placeholder.
func (Verdict) Round() string { return Round }

// Verdict yields the instruction before the final verdict: [Fill] puts in the last round that was
// held, if only in part. It describes each field of the verdict's JSON. An error comes only from a
// replaced template.
func (s *Set) Verdict(v Verdict) (string, error) {
	if len(v.Criteria) == 0 {
		v.Criteria = DefaultCriteria()
	}
	v.Participants = lines(v.Participants)
	v.Criteria = lines(v.Criteria)
	return s.render("verdict", v)
}

// Again is what a model is told about an answer that was not accepted.
type Again struct {
	Problems []string // what is wrong, one line each, in the engine's own words but for short, escaped extracts
}

// Again yields what follows the instruction of a call that is made again because its structured
// answer was not accepted. Its problems are known only then, so it is executed for each such call.
// An error comes only from a replaced template.
func (s *Set) Again(a Again) (string, error) {
	a.Problems = lines(a.Problems)
	return s.render("again", a)
}
