package debate

import "fmt"

// What a debate does about failures.

// mostShrinks limits how often an unattended debate makes one context smaller before it gives up. Each assumed
// window is three quarters of the one before, so eight steps make it a tenth.
const mostShrinks = 8

// droppable reports whether a participant whose call has failed for good may be dropped. It may if the debate can
// continue without it, or if one round is complete, so that there is something to judge. Otherwise the failure ends
// the debate.
func droppable(r *Record, name string) bool {
	d := of(r)
	if contestants := d.Contestants(); len(contestants) == 1 && contestants[0].Name == name {
		return false // a verdict needs at least one contestant
	}
	return d.Round > 1 || !d.fewWithout(name)
}

func failingSpeaker(d *Debate, name string) OnFail {
	return OnFail{Ask: askSpeaker, Drop: droppable(d.Record, name)}
}

func askSpeaker(r *Record, failure *Error) Question {
	d := of(r)
	switch failure.Kind {
	case KindAuthentication:
		options, without := []Option{OptionRetry, OptionModel}, ""
		if droppable(d.Record, failure.Participant) {
			options, without = append(options, OptionDrop), " go on without,"
		}
		if u := d.Terms().Unattended; u != nil && u.Authentication == OptionDrop {
			return Question{} // treated as any other failure
		}
		return Question{
			Text: fmt.Sprintf("The provider refuses the key behind %s. Renew it and retry, name another model,%s or end.",
				failure.Participant, without),
			Options: append(options, OptionEnd), Default: OptionEnd,
		}
	case KindContextOverflow:
		return askShrink(d, failure)
	default:
		return Question{}
	}
}

// askShrink offers to make a context smaller.
func askShrink(d *Debate, failure *Error) Question {
	var options []Option
	var option Option
	if d.Terms().Unattended != nil {
		option = d.Terms().Unattended.Context
	}
	if d.config.Summarizer != "" {
		options = append(options, OptionSummarize)
	}
	options = append(options, OptionTruncate, OptionModel, OptionEnd)
	if option == "" || option == OptionSummarize && d.config.Summarizer == "" {
		option = options[0]
	}
	if before, ok := d.Shrinking(failure.Participant); ok && d.Terms().Unattended != nil && option != OptionEnd {
		inVain := before.Option == OptionTruncate && d.Unsent(failure.Participant)
		if inVain || before.Times >= mostShrinks {
			return Question{}
		}
		if before.Times > 0 {
			option = OptionTruncate // the summary was still too large
		}
	}
	return Question{
		Text: fmt.Sprintf("The conversation no longer fits the model of %s. Summarise it, leave out old turns, name another model, or end.",
			failure.Participant),
		Options: options, Default: option,
	}
}

// failingJudge asks what to do about a judge who has failed for good. A panel that keeps its quorum continues
// without asking.
func failingJudge(r *Record, failure *Error) Question {
	d := of(r)
	if failure.Kind == KindContextOverflow {
		if q := askShrink(d, failure); len(q.Options) > 0 {
			q.EndDrops = true
			return q
		}
	}
	if left := len(d.Judges()) - 1; left >= 1 && left >= d.quorum() {
		return Question{}
	}
	choice := OptionWithout
	if u := d.Terms().Unattended; u != nil && u.Judge != "" {
		choice = u.Judge
	}
	return Question{
		Text:    fmt.Sprintf("The judge %s has failed: %s. Name another model, retry, go on without, or end.", failure.Participant, failure.Kind),
		Options: []Option{OptionModel, OptionRetry, OptionWithout, OptionEnd}, Default: choice, EndDrops: true,
	}
}
