package debate

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// What a debate does about failures.

// mostShrinks limits how often an unattended debate makes one context smaller before it gives up. Each assumed
// window is three quarters of the one before, so eight steps make it a tenth.
const mostShrinks = 8

// droppable reports whether a participant whose call has failed for good may be dropped. It may if the debate can
// continue without it, or if one round is complete, so that there is something to judge. Otherwise the failure ends
// the debate.
func droppable(r *flow.Record, name string) bool {
	d := of(r)
	if contestants := d.Contestants(); len(contestants) == 1 && contestants[0].Name == name {
		return false // a verdict needs at least one contestant
	}
	return d.Round > 1 || !d.fewWithout(name)
}

func failingSpeaker(d *Debate, name string) flow.OnFail {
	return flow.OnFail{Ask: askSpeaker, Drop: droppable(d.Record, name)}
}

func askSpeaker(r *flow.Record, failure *flow.Error) flow.Question {
	d := of(r)
	switch failure.Kind {
	case provider.KindAuthentication:
		options, without := []flow.Option{flow.OptionRetry, flow.OptionModel}, ""
		if droppable(d.Record, failure.Participant) {
			options, without = append(options, flow.OptionDrop), " go on without,"
		}
		if u := d.Terms().Unattended; u != nil && u.Authentication == flow.OptionDrop {
			return flow.Question{} // treated as any other failure
		}
		return flow.Question{
			Text: fmt.Sprintf("The provider refuses the key behind %s. Renew it and retry, name another model,%s or end.",
				failure.Participant, without),
			Options: append(options, flow.OptionEnd), Default: flow.OptionEnd,
		}
	case provider.KindContextOverflow:
		return askShrink(d, failure)
	default:
		return flow.Question{}
	}
}

// askShrink offers to make a context smaller.
func askShrink(d *Debate, failure *flow.Error) flow.Question {
	var options []flow.Option
	var option flow.Option
	if d.Terms().Unattended != nil {
		option = d.Terms().Unattended.Context
	}
	if d.config.Summarizer != "" {
		options = append(options, flow.OptionSummarize)
	}
	options = append(options, flow.OptionTruncate, flow.OptionModel, flow.OptionEnd)
	if option == "" || option == flow.OptionSummarize && d.config.Summarizer == "" {
		option = options[0]
	}
	if before, ok := d.Shrinking(failure.Participant); ok && d.Terms().Unattended != nil && option != flow.OptionEnd {
		inVain := before.Option == flow.OptionTruncate && d.Unsent(failure.Participant)
		if inVain || before.Times >= mostShrinks {
			return flow.Question{}
		}
		if before.Times > 0 {
			option = flow.OptionTruncate // the summary was still too large
		}
	}
	return flow.Question{
		Text: fmt.Sprintf("The conversation no longer fits the model of %s. Summarise it, leave out old turns, name another model, or end.",
			failure.Participant),
		Options: options, Default: option,
	}
}

// failingJudge asks what to do about a judge who has failed for good. A panel that keeps its quorum continues
// without asking.
func failingJudge(r *flow.Record, failure *flow.Error) flow.Question {
	d := of(r)
	if failure.Kind == provider.KindContextOverflow {
		if q := askShrink(d, failure); len(q.Options) > 0 {
			q.EndDrops = true
			return q
		}
	}
	if left := len(d.Judges()) - 1; left >= 1 && left >= d.quorum() {
		return flow.Question{}
	}
	choice := flow.OptionWithout
	if u := d.Terms().Unattended; u != nil && u.Judge != "" {
		choice = u.Judge
	}
	return flow.Question{
		Text: fmt.Sprintf("%s has failed: %s. Name another model, retry, go on without, or end.",
			theJudge(d, failure.Participant), failure.Kind),
		Options: []flow.Option{flow.OptionModel, flow.OptionRetry, flow.OptionWithout, flow.OptionEnd}, Default: choice, EndDrops: true,
	}
}

// theJudge returns how a judge is called in a question: by name if there are several.
func theJudge(d *Debate, name string) string {
	if len(d.config.Judging.Judges) == 1 {
		return "The judge"
	}
	return "The judge " + name
}
