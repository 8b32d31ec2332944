package debate

// Shapes of answers, against whose schemas they are checked. They are wider than what is sent to models, which differs from call to call:
// what the fields of a call demand beyond a shape, the checks of the answer verify. Exported types say what the log holds.

// judgementShape is that of an assessment: with a score for each participant or, with a rubric, with marks.
type judgementShape struct {
	Assessments     []markShape `json:"assessments"`
	Reasoning       string      `json:"reasoning"`
	Ending          string      `json:"ending,omitempty"`
	Flags           flagsShape  `json:"flags"`
	QualityScore    float64     `json:"qualityScore" jsonschema:"minimum=0,maximum=10"`
	ShouldContinue  bool        `json:"shouldContinue"`
	Recommendations string      `json:"recommendations,omitempty"`
}

type markShape struct {
	Participant string             `json:"participant" redact:"-"`
	Strengths   []string           `json:"strengths"`
	Weaknesses  []string           `json:"weaknesses"`
	Score       float64            `json:"score,omitempty" jsonschema:"minimum=0,maximum=10"`
	Criteria    map[string]float64 `json:"criteria,omitempty" redact:"keys"`
}

// flagsShape has two flags that are not asked for in the first rounds.
type flagsShape struct {
	Repetitive         bool `json:"repetitive"`
	Drifting           bool `json:"drifting"`
	DiminishingReturns bool `json:"diminishingReturns,omitempty"`
	ConvergenceReached bool `json:"convergenceReached,omitempty"`
}

// talkShape is that of a verdict in a format without a winner. A judge in Go writes a winner that is null, and scores.
type talkShape struct {
	Summary             string             `json:"summary"`
	KeyPoints           []KeyPoints        `json:"keyPoints"`
	AreasOfAgreement    []string           `json:"areasOfAgreement"`
	AreasOfDisagreement []string           `json:"areasOfDisagreement"`
	Winner              *Winner            `json:"winner,omitempty" jsonschema:"nullable"`
	Scores              map[string]float64 `json:"scores,omitempty" redact:"keys"`
	Criteria            map[string]string  `json:"criteria" redact:"keys"`
	QualityScore        float64            `json:"qualityScore" jsonschema:"minimum=0,maximum=100"`
	Insights            []string           `json:"insights"`
}

// personVerdictShape is that of a person's verdict. Without a winner it has no scores.
type personVerdictShape struct {
	Reasoning    string             `json:"reasoning"`
	Scores       map[string]float64 `json:"scores,omitempty" redact:"keys"`
	QualityScore float64            `json:"qualityScore" jsonschema:"minimum=0,maximum=100"`
	Winner       string             `json:"winner,omitempty" redact:"-"`
}
