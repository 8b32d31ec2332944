package deliberation

// MarshalJSON writes the record's JSON, then what the methods of the deliberation return: the contributions with the roles of their
// authors, the summaries as historySummaries, clarifications, evaluations, votes with the scores that they give, the solutions after
// which it went on as earlier, and the solution with its author and the lines of Degraded. What a round has brought has its number. The
// JSON cannot be read back.
func (d *Deliberation) MarshalJSON() ([]byte, error) {
	var own struct {
		Contributions    []Contribution `json:"contributions,omitempty"`
		HistorySummaries []Summary      `json:"historySummaries,omitempty"`
		Clarifications   []Asked        `json:"clarifications,omitempty"`
		Evaluations      []Evaluation   `json:"evaluations,omitempty"`
		Votes            []Ballot       `json:"votes,omitempty"`
		Scores           []Score        `json:"scores,omitempty"`
		Earlier          []Concluded    `json:"earlier,omitempty"`
		Solution         *Solution      `json:"solution,omitempty"`
		By               string         `json:"by,omitempty"`
		Degraded         []string       `json:"degraded,omitempty"`
	}
	own.Contributions, own.HistorySummaries = d.Contributions(), d.Summaries()
	own.Clarifications, own.Evaluations = d.Clarifications(), d.Evaluations()
	if votes, scores := d.Votes(); len(votes) > 0 {
		own.Votes, own.Scores = votes, scores
	}
	own.Earlier = d.Earlier
	own.Solution, own.By, _ = d.Solution()
	own.Degraded = d.Degraded()
	return d.MarshalWith(own)
}
