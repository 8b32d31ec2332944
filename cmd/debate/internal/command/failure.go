package command

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// at says where a vendor is if a variable of the environment has moved it: " at URL (VARIABLE)".
func (p *program) at(vendor string) string {
	name := strings.ToUpper(strings.ReplaceAll(vendor, "-", "_")) + "_BASE_URL"
	place, err := url.Parse(p.get(name))
	if err != nil || place.Host == "" {
		return ""
	}
	return " at " + progress.Clean(place.Scheme+"://"+place.Host) + " (" + name + ")" // without a key that it may hold
}

// failedBecause says in a sentence why a conversation is in the error state: who has failed, and what the vendor has answered.
func (p *program) failedBecause(record *flow.Record) string {
	failure := record.Failure
	if failure == nil {
		return ""
	}
	if failure.Participant == "" {
		return progress.Cause(failure)
	}
	model := record.Participant(failure.Participant).Model
	vendor, _, _ := flow.SplitModel(model)
	return progress.Clean(called(record, failure.Participant)) + ": " + progress.Failed(failure, model, p.at(vendor))
}

// showMend says what helps a conversation in the error state: what is to be done beside it, and the commands. resume is the one that
// tries again.
func (p *program) showMend(record *flow.Record, resume string) {
	failure := record.Failure
	if failure == nil {
		p.warnf("%s tries again.", resume)
		return
	}
	vendor, _, _ := flow.SplitModel(record.Participant(failure.Participant).Model)
	field := ""
	if fields := failure.Amends(); len(fields) > 0 {
		field = fields[0]
	}
	who, model := strings.CutPrefix(field, "models.")
	switch {
	case failure.Kind == provider.KindAuthentication && variables(vendor) != "":
		p.warnf("Set %s anew, then %s tries again.", variables(vendor), resume)
	case model && another(failure.Kind):
		p.warnf("%s gives all another model; --model %s one.", p.tools.again("resume --model provider/model", shortID(record.ID)),
			progress.Quote(who+"=provider/model"))
	case field != "" && !model:
		does := "changes that"
		if strings.HasPrefix(field, "budget") {
			does = "raises the limit"
		} else if strings.Contains(strings.ToLower(field), "timeout") {
			does = "gives more time"
		}
		p.warnf("%s %s, and %s tries again.", progress.Command(amending(field, record.CutShort()), shortID(record.ID)), does, resume)
	case failure.Kind == provider.KindState, failure.Kind == provider.KindToolLimit, failure.Kind == provider.KindInvalidResponse:
		p.warnf("%s", failure.Hint())
		p.warnf("%s tries again.", resume)
	case model && (failure.Kind == provider.KindQuota || failure.Kind == provider.KindRateLimit):
		p.warnf("%s tries again; --model provider/model lets another model take over.", resume)
	default:
		p.warnf("%s tries again.", resume)
	}
}

// another reports whether only another model helps against a failure of this kind.
func another(kind provider.Kind) bool {
	switch kind {
	case provider.KindValidation, provider.KindContextOverflow, provider.KindContentFilter, provider.KindRefusal, provider.KindAuthentication:
		return true
	default:
		return false
	}
}

// amending returns the command amend with the flag that changes a field, and with the value that is known to be enough. cut is how the
// conversation was cut short.
func amending(field, cut string) string {
	value := ""
	if found := regexp.MustCompile(`raise it to about \$?([0-9.]*[0-9])`).FindStringSubmatch(strings.ReplaceAll(cut, ",", "")); found != nil {
		value = found[1]
	}
	switch {
	case field == "budget" || field == "budget.hard":
		return "amend --budget " + cmp.Or(value, "USD")
	case field == "unattended":
		return "amend --set unattended=false"
	case strings.HasPrefix(field, "budget.") && !strings.HasSuffix(field, "Time"):
		return "amend --set " + field + "=" + cmp.Or(value, "N")
	case strings.HasPrefix(field, "toolPolicy"):
		return "amend --set " + field + "=WORD"
	case field == "context" || field == "summarizer":
		return "amend --set " + field + "=NAME"
	default:
		return "amend --set " + progress.Quote(field+"=DURATION")
	}
}

// failed gives the failure of a conversation its exit code. A limit has ended it early, or a decision that nobody has taken. The store,
// or another writer, is no vendor. Whatever else stops a running conversation is a vendor's failure, or what has come of one.
func failed(err error) error {
	var failure *flow.Error
	if !errors.As(err, &failure) {
		return err
	}
	switch failure.Kind {
	case provider.KindCostLimit, provider.KindToolLimit, provider.KindState:
		return exit(exitEarly, err)
	case provider.KindStore, provider.KindConflict:
		return err
	default:
		return exit(exitProvider, err)
	}
}
