package command

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// located returns the variable that says where a vendor's server is; "": none does. A bare one may name a host alone.
func located(vendor string) (variable string, bare bool) {
	switch vendor {
	case "openai", "anthropic", "vllm", "lmstudio":
		return strings.ToUpper(vendor) + "_BASE_URL", false
	case "azure":
		return "AZURE_OPENAI_ENDPOINT", false
	case "ollama":
		return "OLLAMA_HOST", true
	case "snowflake":
		return "SNOWFLAKE_ACCOUNT", true
	default:
		return "", false
	}
}

// address returns where a vendor's server is if a variable says so, without a key or a password that it may hold, and the variable. The
// error says that it names no server, and does not show it: it may be a key, or have a password.
func (p *program) address(vendor string) (place, variable string, err error) {
	variable, bare := located(vendor)
	said := strings.TrimSpace(p.get(variable))
	if variable == "" || said == "" {
		return "", "", nil
	}
	if _, err := netip.ParseAddr(strings.Trim(said, "[]")); bare && err == nil {
		return said, variable, nil
	}
	scheme, rest, whole := strings.Cut(said, "://")
	if bare && !whole {
		scheme, rest = "http", said
	}
	server, err := url.Parse(scheme + "://" + rest)
	switch {
	case err == nil && server.Host != "" && bare && !whole:
		return progress.Clean(server.Host), variable, nil
	case err == nil && server.Host != "" && (scheme == "http" || scheme == "https"):
		return progress.Clean(scheme + "://" + server.Host), variable, nil
	}
	wants := "no http or https URL"
	if bare {
		wants = "neither a host nor an http or https URL"
	}
	return "", variable, exit(exitConfig, fmt.Errorf("%s: what it says is %s", variable, wants))
}

// at says where a vendor is if a variable of the environment says so: " at URL (VARIABLE)".
func (p *program) at(vendor string) string {
	place, variable, err := p.address(vendor)
	if err != nil || place == "" {
		return ""
	}
	return " at " + place + " (" + variable + ")"
}

// lacks says what makes a vendor usable whose variables are not set; "": it is unknown.
func lacks(vendor string) string {
	variable, _ := located(vendor)
	switch names := variables(vendor); names {
	case "":
		return ""
	case variable:
		return "needs an address: set " + names
	default:
		return "needs a key: set " + names
	}
}

// unable says what the vendors need that the actors of a config ask and that this program cannot use; "": it can use them all. now returns
// the model that has replaced those of an actor; "": none has.
func unable(engine *debate.Engine, config flow.Config, now func(actor string) string) string {
	var told []string
	for seat := range config.Seats() {
		models := []string{cmp.Or(now(seat.By), *seat.Model)}
		if seat.Fallbacks != nil && models[0] == *seat.Model {
			models = append(models, *seat.Fallbacks...)
		}
		for _, model := range models {
			vendor, _, _ := flow.SplitModel(model)
			need := lacks(vendor)
			if one := vendor + " " + need; need != "" && engine.Providers[vendor] == nil && !slices.Contains(told, one) {
				told = append(told, one)
			}
		}
	}
	return strings.Join(told, "; ")
}

// failures says which calls of a conversation have failed and wait for a decision, or for another try: a sentence for each cause, with all
// whose calls have failed for it, and the first failure of each.
func (p *program) failures(record *flow.Record) (because []string, first []*flow.Error) {
	var calls []string
	for i := range record.Inquiries {
		for _, about := range record.Inquiries[i].About {
			calls = append(calls, about.Call)
		}
	}
	if record.State == flow.StateError && record.Failure != nil {
		for i := range record.Failures {
			calls = append(calls, record.Failures[i].Call)
		}
		calls = append(calls, record.Failure.Op)
	}
	seen := make(map[string]bool)
	for i := range record.SkippedCalls {
		seen[record.SkippedCalls[i].Call] = true
	}
	var groups progress.Groups
	for _, call := range calls {
		failure := record.FailureOf(call)
		asked, _ := record.CallUsage(call)
		if failure == nil || seen[call] || record.IsDropped(asked.By) {
			continue
		}
		seen[call] = true
		if groups.Add(progress.Clean(called(record, asked.By)), progress.Failed(failure, asked.Model, p.at)) {
			first = append(first, failure)
		}
	}
	return groups.Take(), first
}

// failedBecause says why a conversation is in the error state: who has failed, and what the vendor has answered. A sentence for each cause.
func (p *program) failedBecause(record *flow.Record) []string {
	if record.Failure == nil {
		return nil
	}
	who := record.Participant(record.Failure.Participant)
	switch because, _ := p.failures(record); {
	case who.Name == "":
		return []string{progress.Cause(record.Failure)}
	case len(because) == 0:
		return []string{progress.Clean(called(record, who.Name)) + ": " + progress.Failed(record.Failure, who.Model, p.at)}
	default:
		return because
	}
}

// tellFailures tells what has failed, a line for each sentence.
func (p *program) tellFailures(because []string) {
	for _, one := range because {
		p.warnf("%s", progress.FailedLine(one))
	}
}

// showMend says what helps a conversation that a failure has stopped: what is to be done beside it, and the commands. resume is the one
// that tries again.
func (p *program) showMend(record *flow.Record, failure *flow.Error, resume string) {
	if failure == nil {
		p.warnf("%s tries again.", resume)
		return
	}
	vendor, _, _ := flow.SplitModel(record.Participant(failure.Participant).Model)
	field := amends(failure)
	who, model := strings.CutPrefix(field, "models.")
	switch {
	case failure.Overdue():
		p.warnf("%s asks %s again.", resume, progress.Clean(called(record, failure.Participant)))
	case failure.Kind == provider.KindAuthentication && variables(vendor) != "":
		p.warnf("Set %s anew, then %s tries again.", variables(vendor), resume)
	case model && another(failure.Kind):
		p.warnf("%s gives all another model, and --model %s one.", p.tools.again("resume --model provider/model", shortID(record.ID)),
			progress.Quote(who+"=provider/model"))
	case field != "" && !model:
		does := "changes that"
		if strings.HasPrefix(field, "budget") {
			does = "raises the limit"
		} else if strings.Contains(strings.ToLower(field), "timeout") {
			does = "gives more time"
		}
		p.warnf("%s %s, and %s tries again.", progress.Command(amending(field, record.CutShort()), shortID(record.ID)), does, resume)
	case failure.Kind == provider.KindState, failure.Kind == provider.KindToolLimit,
		failure.Kind == provider.KindInvalidResponse && (!model || failure.Capped):
		p.warnf("%s", failure.Hint())
		p.warnf("%s tries again.", resume)
	case failure.Kind == provider.KindInvalidResponse:
		p.warnf("%s tries again; --model %s lets another model take over.", resume, progress.Quote(who+"=provider/model"))
	case model && (failure.Kind == provider.KindQuota || failure.Kind == provider.KindRateLimit):
		p.warnf("%s tries again; --model provider/model lets another model take over.", resume)
	default:
		p.warnf("%s tries again.", resume)
	}
}

// another reports whether only another model helps against a failure of this kind.
func another(kind provider.Kind) bool {
	return slices.Contains([]provider.Kind{
		provider.KindValidation, provider.KindContextOverflow, provider.KindContentFilter, provider.KindRefusal, provider.KindAuthentication,
	}, kind)
}

// amends returns the likeliest field with whose change a retry can succeed; "": no amendment helps.
func amends(failure *flow.Error) string {
	if fields := failure.Amends(); len(fields) > 0 {
		return fields[0]
	}
	return ""
}

// amending returns the command amend with the flag that changes a field, by default the limit of the cost, and with the value that is known
// to be enough. cut is how the conversation was cut short.
func amending(field, cut string) string {
	value := ""
	if found := regexp.MustCompile(`raise it to about \$?([0-9.]*[0-9])`).FindStringSubmatch(strings.ReplaceAll(cut, ",", "")); found != nil {
		value = found[1]
	}
	switch {
	case field == "" || field == "budget" || field == "budget.hard":
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

// failed gives the failure of a conversation its exit code. A limit has ended it early, a person who has not answered, or a decision that
// nobody has taken. The store, or another writer, is no vendor. Whatever else stops a running conversation is a vendor's failure, or what
// has come of one.
func failed(err error) error {
	var failure *flow.Error
	if !errors.As(err, &failure) {
		return err
	}
	if failure.Overdue() { // of a person
		return exit(exitEarly, err)
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
