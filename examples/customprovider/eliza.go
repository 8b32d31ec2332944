package main

import "strings"

// eliza is the model. Its replies depend on the question alone.
func eliza(ask *Ask) string {
	before := ask.Turns[:max(0, len(ask.Turns)-1)] // the last turn is the present instruction
	if ask.Model == "patient" {
		complaints := []string{
			"I think that my words fall into a well.", "I know that you only turn round what I say.", "I am sure that nobody is there.",
		}
		return complaints[len(before)/2%len(complaints)]
	}
	heard := "I have nothing to say."
	if len(before) > 0 {
		heard = unfenced(before[len(before)-1].Text)
	}
	turn := strings.NewReplacer("I am", "you are", "I ", "you ", "my ", "your ", "you ", "I ", ".", "")
	return "Why do you say that " + turn.Replace(heard) + "?"
}

// unfenced removes the markers around the words of other speakers.
func unfenced(text string) string {
	var inside []string
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, "<<<") {
			inside = append(inside, line)
		}
	}
	return strings.Join(inside, " ")
}
