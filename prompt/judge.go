package prompt

// DefaultCriteria returns the names of the criteria that a judge uses by default. The slice belongs to
// the caller.
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

// Judge holds the values of a judge's system prompt. Empty fields leave no trace in the text.
type Judge struct {
	Name           string // of the only judge; "" in a panel, whose judges share their prompt
	Topic          string
	Format         string
	FormatGuidance string
	Participants   []Person    // in the order in which they are shown
	Chairs         []string    // names of those who lead the talk and are not judged; the embedded template shows them among Participants
	Criteria       []string    // each with its scale, if it has one; nil: DefaultCriteria
	Rubric         []Criterion // scored criteria; Criteria lists them too, as texts with their scales. nil: none
	NoWinner       bool        // the format has no winner
	Sources        bool        // somebody in the debate can look something up: by a search, by tools or in files
	Closing        bool        // there are closing turns
	Aim            string      // what is judged: "argument", "truth" or "understanding"; "": "argument"
	Roles          []string    // what the format asks of whom, one line each
	Instructions   string      // the host program's own, after all others
	Language       string      // in which the judge writes; "": that of the topic
	Rounds         int         // planned; 0: open
	Fence          string      // the fence word around participants' texts; "": "word" stands for it
}

// Judge returns the system prompt of a judge. It is constant over a debate, so that prompt caches hit. It
// fails only if a replaced template fails.
func (s *Set) Judge(j Judge) (string, error) {
	return s.render("judge", j.clean())
}

func (j Judge) clean() Judge {
	j.Name = entry(j.Name)
	j.Topic = quoted(j.Topic)
	j.Format = entry(j.Format)
	j.FormatGuidance = block(j.FormatGuidance)
	j.Participants = people(j.Participants)
	j.Chairs = entries(j.Chairs)
	j.Aim = entry(j.Aim)
	j.Roles = entries(j.Roles)
	j.Instructions = block(j.Instructions)
	j.Language = entry(j.Language)
	j.Rubric = criteria(j.Rubric)
	switch {
	case len(j.Rubric) > 0:
		// A replaced template that knows only Criteria still lists what is scored.
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

// Aim returns the part "aim" alone, for judges who read no system prompt. It fails only if a replaced part fails.
func (s *Set) Aim(j Judge) (string, error) {
	return s.render(partAim, j.clean())
}

// Assess holds the values of the instruction to assess a round.
type Assess struct {
	Participants []string    // names of all who are judged in the debate; Fields has those who have spoken in the round
	Rubric       []Criterion // criteria to score for each participant; nil: one score for each
	Rounds       Planned     // 0: open
	// Ends says what ends the debate before its last round: "judge" (shouldContinue), "convergence" (the flags
	// convergenceReached and diminishingReturns) or "rounds" (nothing that a judge answers). "": "judge".
	Ends   string
	Judges int    // on the panel; above 1, most of them decide
	First  bool   // it is the first round, so that there is nothing to measure it against
	Fields string // what the answer holds, as [Fields] writes it
}

// Round returns the placeholder; templates use it as {{.Round}}.
func (Assess) Round() string { return Round }

// Assess returns the instruction to assess a round. It is rendered once per debate; [Fill] inserts the round and the number of rounds,
// and [FillNames] those who are judged in it. It fails only if a replaced template fails.
func (s *Set) Assess(a Assess) (string, error) {
	a.Participants = lines(a.Participants)
	a.Rubric = criteria(a.Rubric)
	return s.render("assess", a)
}

// Verdict holds the values of the instruction for the final verdict.
type Verdict struct {
	Participants []string // names, as the judge must return them
	Criteria     []string // names, as the judge must return them; nil: DefaultCriteria
	Rounds       Planned  // 0: open
	Unfinished   bool     // the last round was cut short
	NoWinner     bool     // the format has no winner
	Fields       string   // what the answer holds, as [Fields] writes it
}

// Round returns the placeholder; templates use it as {{.Round}}.
func (Verdict) Round() string { return Round }

// Verdict returns the instruction for the final verdict. [Fill] inserts the last round that was held, even if only in part, and the
// number of rounds, and [FillNames] those who are judged. It fails only if a replaced template fails.
func (s *Set) Verdict(v Verdict) (string, error) {
	if len(v.Criteria) == 0 {
		v.Criteria = DefaultCriteria()
	}
	v.Participants = lines(v.Participants)
	v.Criteria = lines(v.Criteria)
	return s.render("verdict", v)
}

// Again holds the values of the instruction after an answer that was not accepted.
type Again struct {
	Problems []string // what is wrong, one line each, in the engine's own words except for short, escaped extracts
}

// Again returns the addition to the instruction when a call is repeated because its structured answer was
// not accepted. The problems are known only then, so it is rendered for each such call. It fails only if
// a replaced template fails.
func (s *Set) Again(a Again) (string, error) {
	a.Problems = lines(a.Problems)
	return s.render("again", a)
}
