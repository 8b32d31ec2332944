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
		return s.proposal("\n\nWhat the critiques changed: " + s.lens.Gives + ".")
	case "critique":
		return s.critique()
	case "summary", "summarize":
		return "So far: I proposed " + s.lens.Title + ". The others asked for numbers and for an order of work; both are in my last version. " +
			"Still open is when " + s.lens.Risk + "."
	case "merge":
		return "## " + s.subject + "\n\nThe two proposals agree on more than they say. Together:\n\n" +
			bullets(s.lens.Steps) + "\n\nWhere they differ, the one that is easier to take back was kept."
	}
	return s.argument()
}

func (s *scene) proposal(end string) string {
	return fmt.Sprintf("## %s: %s\n\nWhat I ask for first is %s.\n\n%s\n\nThe risk that I see: %s.%s",
		s.subject, s.lens.Title, s.lens.Cares, bullets(s.lens.Steps), s.lens.Risk, end)
}

func (s *scene) critique() string {
	target := s.target
	if target == "" {
		target = "This proposal"
	}
	return s.pick(
		fmt.Sprintf("**Good:** %s says what comes first, and why.\n\n**Missing:** %s. As it stands, %s.\n\n**Suggested:** %s",
			target, s.lens.Cares, s.lens.Risk, s.lens.Steps[0]),
		fmt.Sprintf("**Good:** the parts of %s can be built one after the other.\n\n**Doubtful:** I do not find %s.\n\n**Suggested:** %s",
			target, s.lens.Cares, s.lens.Steps[1]),
		fmt.Sprintf("**Good:** %s can be taken back if it turns out wrong.\n\n**Risk:** %s.\n\n**Suggested:** %s",
			target, s.lens.Risk, s.lens.Steps[2]),
	)
}

// argument is a turn of a debate, by side and round. After the last one they begin again from the second.
func (s *scene) argument() string {
	if strings.Contains(s.last, "question") && s.side == "" {
		return "What would have to happen for you to change your mind on «" + s.subject + "»?"
	}
	said, known := s.script.Speeches[s.side]
	if !known {
		said = s.script.Speeches[""]
	}
	n := max(s.round, 1) - 1
	if n >= len(said) {
		n = 1 + (n-1)%(len(said)-1)
	}
	return s.about(said[n])
}

func bullets(all []string) string { return "- " + strings.Join(all, "\n- ") }
