package demo

import (
	"fmt"
	"strings"
)

// speech returns what is said where no answer in JSON is wanted.
func (s *scene) speech() string {
	switch s.kind {
	case "propose":
		return s.proposal("")
	case "refine":
		return s.proposal("\n\nWhat the critiques changed: " + s.lens.gives + ".")
	case "critique":
		return s.critique()
	case "summary", "summarize":
		return "So far: I proposed " + s.lens.title + ". The others asked for numbers and for an order of work; both are in my last version. " +
			"Still open is when " + s.lens.risk + "."
	case "merge":
		return "## " + s.subject + "\n\nThe two proposals agree on more than they say. Together:\n\n" +
			bullets(s.lens.steps) + "\n\nWhere they differ, the one that is easier to take back was kept."
	}
	return s.argument()
}

func (s *scene) proposal(end string) string {
	return fmt.Sprintf("## %s: %s\n\nWhat I ask for first is %s.\n\n%s\n\nThe risk that I see: %s.%s",
		s.subject, s.lens.title, s.lens.cares, bullets(s.lens.steps), s.lens.risk, end)
}

func (s *scene) critique() string {
	target := s.target
	if target == "" {
		target = "This proposal"
	}
	return s.pick(
		fmt.Sprintf("**Good:** %s says what comes first, and why.\n\n**Missing:** %s. As it stands, %s.\n\n**Suggested:** %s",
			target, s.lens.cares, s.lens.risk, s.lens.steps[0]),
		fmt.Sprintf("**Good:** the parts of %s can be built one after the other.\n\n**Doubtful:** I do not find %s.\n\n**Suggested:** %s",
			target, s.lens.cares, s.lens.steps[1]),
		fmt.Sprintf("**Good:** %s can be taken back if it turns out wrong.\n\n**Risk:** %s.\n\n**Suggested:** %s",
			target, s.lens.risk, s.lens.steps[2]),
	)
}

// argument is a turn of a debate, by side and round.
func (s *scene) argument() string {
	subject := "«" + s.subject + "»"
	switch {
	case strings.Contains(s.last, "question") && s.side == "":
		return "What would have to happen for you to change your mind on " + subject + "?"
	case s.side == "for":
		return s.turn(
			"I am for it, and I begin with those whom it concerns. "+subject+" is asked because the present state costs something every day, and "+
				"that cost falls on people who did not choose it. Doing nothing is a decision too; it is only the one that nobody signs.",
			"My opponent asks for certainty first. But the certainty we want comes from trying: a limited start, a date on which we look, "+
				"and a way back. What has been done elsewhere in small steps was corrected in small steps; what was put off was done in haste later.",
			"Grant that the costs come first and the gains later. That is what an investment is. The question is who carries them meanwhile, "+
				"and that can be settled fairly: those who gain most pay first, and nobody is left without a choice in between.",
			"What remains between us is small. We both want a way back, and we both want numbers. Then let us begin where we can get them.",
		)
	case s.side == "against":
		return s.turn(
			"I am against it, not because the aim is wrong but because of the way. "+subject+" sounds like one decision, and is a hundred. Each "+
				"of them has someone who pays for it, and so far we have heard only of those who gain.",
			"A limited start, says the other side. But what begins as a trial has never been ended for having failed: by then there are offices, "+
				"contracts and habits. Show me the measure by which you would stop, and I will listen.",
			"The fairness that was promised is the hardest part, and it was given one sentence. Those who pay first are easily named; those who "+
				"pay last are only found out when it is done.",
			"I keep one thing from this debate: we need the numbers before the decision and not after it. That is an argument for waiting, and "+
				"for measuring while we wait.",
		)
	}
	return s.turn(
		"Before we take sides on "+subject+", let us see what hangs on it: who gains, who pays, and which of the two can be undone.",
		"I hear two fears that are the same fear: that what is decided cannot be taken back. So the strongest proposal has a way back.",
		"Between the two, a measure would help more than another argument. Name one that both sides would accept, and the rest follows.",
		"What has been said leaves a narrow question, and that is progress: not whether, but where to begin and when to look.",
	)
}

// turn returns the text of a round; after the last one they begin again from the second.
func (s *scene) turn(texts ...string) string {
	n := max(s.round, 1) - 1
	if n >= len(texts) {
		n = 1 + (n-1)%(len(texts)-1)
	}
	return texts[n]
}

func bullets(all []string) string { return "- " + strings.Join(all, "\n- ") }
