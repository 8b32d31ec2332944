package demo

import "fmt"

// signature stands at the end of a result, so that nobody takes it for one of a model.
const signature = "*A script has written this to show the program. No model has read the problem.*"

// result is what a script concludes of anything.
func (s *scene) result() string {
	return "1. **Begin small.** One whole that somebody can use, with clear borders between its parts.\n" +
		"2. **Put numbers to the promises.** The expected load, the slowest acceptable answer, the date on which one looks.\n" +
		"3. **Decide at one place who may do what,** and keep a trail of what was decided.\n" +
		"4. **Leave a way back.** Each step can be undone until the next one is taken."
}

// texts returns what there is to say in a field, or in each item of a list of that name. There is one at least.
func (s *scene) texts(field string) []string {
	switch field {
	case "solution":
		return []string{"## " + s.subject + "\n\n" + s.result() + "\n\n" + signature}
	case "output":
		return []string{s.work()}
	case "implementation":
		return []string{
			"Write the examples of the requirements first; they are the acceptance tests.",
			"Build the decision as plain functions, and put storage and network around them.",
			"Measure from the first day, and keep the figures beside the code.",
		}
	case "tradeoffs":
		return []string{
			"One process is easy to run, and has to be restarted to grow.",
			"An append-only record costs space, and pays it back when something has to be explained.",
		}
	case "recommendations":
		return []string{"Try it with one group first, for a time that is set beforehand.", "Settle who decides about a step back."}
	case "text":
		return []string{"It does what was asked for: " + s.subject, "It stays usable at the peak of the load", "Its cost is known beforehand"}
	case "note":
		return []string{"by the first step, which is a whole", "by bounds on every queue", "by figures that are kept from the first day"}
	case "openQuestions", "questions":
		return []string{s.lens.asks}
	case "disagreements":
		return []string{"how much has to be decided before the first step"}
	case "strengths":
		return []string{"answers the strongest objection", "says who pays and when", "keeps to the question"}[:2+s.variety%2]
	case "weaknesses":
		return []string{"gives no figure", "leaves the way back open"}
	case "reasoning", "reason":
		return []string{
			"The arguments meet at one point: how to begin without losing the way back. What was said about it is specific, and was answered.",
		}
	case "ending":
		return []string{""}
	case "keyArguments", "mainArguments":
		return []string{"Doing nothing is a decision too.", "A trial needs a measure by which it ends.", "Who pays first is easily named."}
	case "areasOfAgreement":
		return []string{"There has to be a way back.", "Figures are missing."}
	case "areasOfDisagreement":
		return []string{"Whether one begins before the figures are there."}
	case "criteria":
		return []string{
			"Both follow one line from the first turn to the last.", "Few sources are named on either side.",
			"Each takes up what the other has said.", "The last round brings little that is new.",
		}
	case "insights":
		return []string{"The question narrowed from whether to when."}
	case "recommendation", "suggestions":
		return []string{"Name the measure by which one would stop."}
	case "position":
		return []string{"It should be done, in small steps.", "It should wait until the numbers are there.", "It depends on who pays."}
	case "description":
		return []string{"Say what a good result has", "Write it", "Look for what is wrong with it"}
	case "summary":
		return []string{"Both sides want figures and a way back; they differ on whether to begin before there are any."}
	}
	return []string{fmt.Sprintf("On %s: begin small, measure, and keep a way back.", s.subject)}
}
