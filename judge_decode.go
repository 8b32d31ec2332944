package debate

// The two answers of a judge are read from the tree that was validated, so that their text is parsed once. The
// schema guarantees every type. What is missing nevertheless stays zero, and the checks that follow find it.

// object is a JSON object of a validated tree.
type object map[string]any

func judgementOf(tree any) *Judgement {
	o := objectOf(tree)
	flags := objectOf(o["flags"])
	j := &Judgement{
		ShouldContinue: o.truth("shouldContinue"), QualityScore: o.number("qualityScore"),
		Reasoning: o.text("reasoning"), Recommendations: o.text("recommendations"),
		Flags: Flags{
			Repetitive: flags.truth("repetitive"), Drifting: flags.truth("drifting"),
			DiminishingReturns: flags.truth("diminishingReturns"), ConvergenceReached: flags.truth("convergenceReached"),
		},
	}
	list, _ := o["assessments"].([]any)
	j.Assessments = make([]ParticipantMark, len(list))
	for i := range list {
		mark := objectOf(list[i])
		j.Assessments[i] = ParticipantMark{
			Participant: mark.text("participant"), Strengths: mark.texts("strengths"), Weaknesses: mark.texts("weaknesses"),
			Score: mark.number("score"), Criteria: mark.numbers("criteria"),
		}
	}
	return j
}

func verdictOf(tree any) *FinalVerdict {
	o := objectOf(tree)
	v := &FinalVerdict{
		Summary: o.text("summary"), AreasOfAgreement: o.texts("areasOfAgreement"), AreasOfDisagreement: o.texts("areasOfDisagreement"),
		QualityScore: o.number("qualityScore"), Insights: o.texts("insights"),
		Scores: make(map[string]float64), Criteria: make(map[string]string),
	}
	list, _ := o["keyPoints"].([]any)
	v.KeyPoints = make([]KeyPoints, len(list))
	for i := range list {
		points := objectOf(list[i])
		v.KeyPoints[i] = KeyPoints{Participant: points.text("participant"), MainArguments: points.texts("mainArguments")}
	}
	if winner := objectOf(o["winner"]); winner != nil {
		v.Winner = &Winner{Participant: winner.text("participant"), Reasoning: winner.text("reasoning")}
	}
	for name := range objectOf(o["scores"]) {
		v.Scores[name] = objectOf(o["scores"]).number(name)
	}
	for name := range objectOf(o["criteria"]) {
		v.Criteria[name] = objectOf(o["criteria"]).text(name)
	}
	return v
}

func objectOf(v any) object {
	o, _ := v.(map[string]any)
	return o
}

func (o object) text(key string) string {
	s, _ := o[key].(string)
	return s
}

func (o object) number(key string) float64 {
	n, _ := o[key].(float64)
	return n
}

func (o object) truth(key string) bool {
	b, _ := o[key].(bool)
	return b
}

func (o object) texts(key string) []string {
	list, _ := o[key].([]any)
	out := make([]string, len(list))
	for i := range list {
		out[i], _ = list[i].(string)
	}
	return out
}

// numbers returns an object of numbers, or nil if there is none.
func (o object) numbers(key string) map[string]float64 {
	inner := objectOf(o[key])
	if inner == nil {
		return nil
	}
	out := make(map[string]float64, len(inner))
	for name := range inner {
		out[name] = inner.number(name)
	}
	return out
}
