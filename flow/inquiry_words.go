package flow

import "github.com/agonist-dev/debate/internal/text"

// Meaning says in a few words what an option of an inquiry does, for those who choose. An option that the library does not have is
// returned as one line.
func (o Option) Meaning() string {
	switch o {
	case OptionRetry:
		return "try again now"
	case OptionWait:
		return "wait as long as the vendor asks, then try again"
	case OptionModel:
		return "let another model take over"
	case OptionStandIn:
		return "let the model that stands in answer this once"
	case OptionSummarize:
		return "summarize what is too long for the model"
	case OptionTruncate:
		return "leave out what is too long for the model"
	case OptionSkip:
		return "continue without this result"
	case OptionDrop:
		return "continue without whom it was asked of"
	case OptionEnd:
		return "end with what there is"
	case OptionContinue:
		return "continue beyond the cost warning"
	case OptionApprove:
		return "allow this one use"
	case OptionAlways:
		return "allow this use and all later ones of the tool"
	case OptionDeny:
		return "refuse it; the model reads the reason"
	case OptionAgain:
		return "make the use again: there may be a second effect"
	case OptionDone:
		return "it was done; the model reads what the tool has answered"
	case OptionTell:
		return "tell the model that nobody knows the outcome"
	default:
		return text.OneLine(string(o), 80)
	}
}
