package debate

import (
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
)

// What judges and the audience are told and asked. What speakers are told is in prompts.go.

func (t *textWriter) judges() {
	j := t.Config.Judging
	if j == nil {
		return
	}
	for i := range j.Judges {
		people, names, chairs := t.shown(t.Orders[i])
		judge := prompt.Judge{
			Name: j.Judges[i].Name, Topic: t.hide(t.Config.Topic), Format: t.Format.Name, FormatGuidance: t.hide(t.guidance()),
			Participants: people, Chairs: chairs, Criteria: j.Criteria, Rubric: j.Rubric.prompted(), Rounds: t.Config.Rounds,
			NoWinner: t.Format.Decide == format.NoWinner, Fence: t.Fence,
		}
		text, err := t.Prompts.Judge(judge)
		t.put(textSystem.of(judge.Name), text, err)
		assess := prompt.Assess{
			Participants: names, Rubric: judge.Rubric, Rounds: t.planned(), Ends: string(t.Format.End), Judges: len(j.Judges),
		}
		text, err = t.Prompts.Assess(assess)
		t.put(textAssess.of(judge.Name), text, err)
		t.verdicts(textVerdict.of(judge.Name), names)
		if j.BothOrders {
			slices.Reverse(names)
			t.verdicts(textVerdict.of(judge.Name)+swappedSuffix, names)
		}
	}
	findings, err := t.Prompts.Findings(prompt.Findings{Items: []string{findingsHole}})
	t.put("findings", findings, err)
}

func (t *textWriter) verdicts(name string, names []string) {
	v := prompt.Verdict{
		Participants: names, Criteria: t.Config.Judging.criteria(), Rounds: t.planned(), NoWinner: t.Format.Decide == format.NoWinner,
	}
	text, err := t.Prompts.Verdict(v)
	t.put(name, text, err)
	v.Unfinished = true
	text, err = t.Prompts.Verdict(v)
	t.put(name+unfinishedSuffix, text, err)
}

// shown returns the participants as a judge is told about them, in the order drawn for the judge. If names are
// hidden, they stand under their labels. names are those of the contestants.
func (t *textWriter) shown(order []int) (people []prompt.Person, names, chairs []string) {
	all := t.people()
	for _, seat := range order {
		p := all[seat]
		if t.Labels != nil {
			p.Name = t.Labels[seat]
			p.Position = t.hide(p.Position)
		}
		people = append(people, p)
		if t.Format.Judged(t.Config.Participants[seat].Side) {
			names = append(names, p.Name)
		} else {
			chairs = append(chairs, p.Name)
		}
	}
	return people, names, chairs
}

// hide replaces names by labels, if judges read labels.
func (t *textWriter) hide(text string) string {
	if t.Labels == nil {
		return text
	}
	return flow.ReplaceNames(text, namesOf(t.Config.Participants), t.Labels)
}

func (t *textWriter) audience() {
	if t.Config.Audience == nil {
		return
	}
	for i := range t.Config.Audience.Members {
		m := &t.Config.Audience.Members[i]
		text, err := t.Prompts.Voter(prompt.Voter{
			Topic: t.Config.Topic, Name: m.Name, Persona: m.Persona, Format: t.Format.Name, FormatGuidance: t.guidance(),
			Participants: t.people(), Fence: t.Fence,
		})
		t.put(textSystem.of(m.Name), text, err)
	}
	for name, before := range map[string]bool{"ballot.before": true, "ballot.after": false} {
		text, err := t.Prompts.Ballot(prompt.Ballot{Before: before})
		t.put(name, text, err)
	}
}
