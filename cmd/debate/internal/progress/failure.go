package progress

import (
	"errors"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Failed says why a call of a model has failed, as a sentence without its full stop: what the vendor has answered, or that it could not
// be reached. where says where a vendor is, if a variable of the environment says so: " at URL (VARIABLE)"; nil: none does. Without a model
// it is [Cause].
func Failed(err *flow.Error, model string, where func(vendor string) string) string {
	vendor, name, ok := flow.SplitModel(model)
	if err == nil || !ok || Clean(vendor) == "" {
		return Cause(err)
	}
	at := ""
	if where != nil {
		at = where(vendor)
	}
	vendor = Clean(vendor)
	code, words := answered(err)
	colon := ""
	if words != "" {
		colon = ": " + words
	}
	if strings.Contains(words, "BaseURL") { // a setting of host programs
		words = strings.NewReplacer(" below BaseURL", "", "BaseURL", "its address").Replace(words)
		return vendor + at + " does not answer as the API does" + status(code) + ": " + words
	}
	switch err.Kind {
	case provider.KindAuthentication:
		if code != "" {
			colon = ""
		}
		return vendor + at + " refuses the key" + status(code) + colon
	case provider.KindRateLimit:
		return vendor + " limits the rate" + status(code) + colon
	case provider.KindQuota:
		return "the quota at " + vendor + " is used up" + status(code) + colon
	case provider.KindAPI:
		return vendor + at + " has failed" + status(code) + colon
	case provider.KindTimeout:
		return vendor + at + " has sent no reply in time"
	case provider.KindContextOverflow:
		return "this is too long for " + Clean(name) + " of " + vendor
	case provider.KindContentFilter:
		return "the filter of " + vendor + " has refused this" + colon
	case provider.KindRefusal:
		return Clean(name) + " of " + vendor + " has declined" + colon
	case provider.KindInvalidResponse:
		return "the answer of " + Clean(name) + " of " + vendor + " cannot be used" + colon
	case provider.KindNetwork:
		return unconnected(vendor, at, words)
	case provider.KindValidation:
		if strings.Contains(code, "model_not_found") || strings.HasPrefix(code, "404") {
			return vendor + at + " does not know the model " + Clean(name) + status(code)
		}
		return vendor + " refuses the request" + status(code) + colon
	default:
		return Cause(err)
	}
}

// unconnected says of a failed connection whether there was one. at is "" or where the vendor is.
func unconnected(vendor, at, words string) string {
	switch {
	case strings.Contains(words, "dial "), strings.Contains(words, "lookup "):
		if server, ok := strings.CutPrefix(words, "cannot reach "); ok && at == "" {
			server, _, _ = strings.Cut(server, ": ")
			at = " at " + server
		}
		return vendor + at + " cannot be reached: " + strings.TrimSpace(words[strings.LastIndex(words, ": ")+1:])
	case strings.HasSuffix(words, "the answer ended before the reply was complete"):
		return "the answer of " + vendor + at + " ended before it was complete"
	case words == "":
		return "the connection to " + vendor + at + " was lost"
	default:
		return "the connection to " + vendor + at + " was lost: " + words
	}
}

// Asks returns on one line what an inquiry asks. Of calls that have failed it says who has failed, by the names that name returns, and why.
// model is the one that the first of them has asked; where is as in [Failed].
func Asks(q *flow.Inquiry, name func(id string) string, model string, where func(vendor string) string) string {
	if q.Failure == nil || len(q.About) == 0 {
		return Clean(q.Question)
	}
	var failed Groups
	why := Failed(q.Failure, model, where)
	for _, call := range q.About {
		failed.Add(name(call.By), why)
	}
	return failed.Take()[0]
}

// Told returns the text of an error for people. Of a refusal of the library, the field and what is wrong with it are left, without the
// names that the library has for its kind and for the operation.
func Told(err error) string {
	text := err.Error()
	for _, refusal := range refusals(err) {
		plain := (&flow.Error{Field: refusal.Field, Err: refusal.Err}).Error()
		text = strings.Replace(text, refusal.Error(), strings.TrimPrefix(plain, "debate: "), 1)
	}
	return text
}

// refusals returns the refusals in an error, each before those in it.
func refusals(err error) (all []*flow.Error) {
	switch wrapping := err.(type) { //nolint:errorlint // each error in it is looked at
	case nil:
		return nil
	case *flow.Error:
		if kind := wrapping.Kind; wrapping.Err != nil && (kind == provider.KindValidation || kind == provider.KindState) {
			all = append(all, wrapping)
		}
		return append(all, refusals(wrapping.Err)...)
	case interface{ Unwrap() []error }:
		for _, one := range wrapping.Unwrap() {
			all = append(all, refusals(one)...)
		}
		return all
	default:
		return refusals(errors.Unwrap(err))
	}
}

func status(code string) string {
	if code == "" {
		return ""
	}
	return " (" + code + ")"
}

// answered returns the status and code of a vendor's answer, such as "404 model_not_found", and its words.
func answered(err *flow.Error) (code, words string) {
	if err.Err == nil {
		return "", ""
	}
	words = strings.TrimPrefix(Clean((&flow.Error{Err: err.Err}).Error()), "debate: ")
	rest, ok := strings.CutPrefix(words, "status ")
	if !ok {
		return "", Shorten(words, 300)
	}
	code, words, _ = strings.Cut(rest, ": ")
	return Shorten(strings.ReplaceAll(code, ",", ""), 60), Shorten(words, 300)
}

// Groups collects failures, so that one line tells those of the same cause. The zero value has none.
type Groups struct{ all []group }

type group struct {
	why   string
	names []string
}

// Add adds who has failed, and why. It reports whether nobody has failed for that cause before.
func (g *Groups) Add(name, why string) bool {
	for i := range g.all {
		if known := &g.all[i]; known.why == why {
			if !slices.Contains(known.names, name) {
				known.names = append(known.names, name)
			}
			return false
		}
	}
	g.all = append(g.all, group{why, []string{name}})
	return true
}

// Take returns a text for each cause, "Ada, Ben: why", and forgets them.
func (g *Groups) Take() []string {
	out := make([]string, len(g.all))
	for i, each := range g.all {
		out[i] = strings.Join(each.names, ", ") + ": " + each.why
	}
	g.all = nil
	return out
}

// late is a person who has not answered in time, until it is known what follows.
type late struct {
	call, inquiry string // the inquiry that decides about the call; "": none yet
	name          string
}

// Failures tells who has failed for good, in a line for each cause, once it is known what follows from that. The zero value is ready.
type Failures struct {
	groups Groups
	late   []late
	why    string // what has stopped the conversation, until that is told: calls in flight may fail for the same cause
	told   bool   // who has failed was told since the last call
}

// Take takes an event that the course has folded, and returns what is to be told now. where is as in [Failed].
func (f *Failures) Take(c *Course, body flow.Body, where func(vendor string) string) (lines []string) {
	switch body.(type) {
	case *flow.Chunk, *flow.Failure: // of calls that were in flight
	default:
		lines = f.stopped()
	}
	switch body := body.(type) {
	case *flow.Failure:
		switch {
		case !body.Final || body.Void:
		case body.Error.Overdue(): // a person, who has not failed
			f.late = append(f.late, late{call: body.Call, name: c.Name(body.By)})
		default:
			f.groups.Add(c.Name(body.By), Failed(body.Error, body.Model, where))
		}
	case *flow.Inquiry:
		f.decides(body)
	case *flow.Intent:
		f.told = false
	case *flow.Answer:
		if line := f.replaced(body); line != "" {
			lines = append(lines, line)
		} else {
			lines = append(lines, f.tell()...)
		}
	case *flow.Dropped, *flow.Skipped:
		lines = append(lines, f.tell()...)
	case *flow.Transition:
		switch {
		case body.On == flow.TriggerOverdue: // what follows comes next
		case body.To == flow.StateAwaitingInput: // the questions tell it
			f.Forget()
		case body.To == flow.StateError && (body.Failure == nil || body.Failure.Kind != provider.KindCostLimit):
			f.why = c.Evidence
		default: // of a limit, the program says which
			lines = append(lines, f.tell()...)
		}
	}
	if f.why != "" && c.Settled() {
		lines = append(lines, f.stopped()...)
	}
	return lines
}

// Rest returns what is to be told when no event follows.
func (f *Failures) Rest() []string { return append(f.stopped(), f.tell()...) }

// Forget forgets who has failed, because a person has read it elsewhere.
func (f *Failures) Forget() {
	f.groups.Take()
	f.late = nil
}

// decides takes an inquiry, which may decide what follows for those who are late.
func (f *Failures) decides(q *flow.Inquiry) {
	for i := range f.late {
		if slices.ContainsFunc(q.About, func(each flow.FailedCall) bool { return each.Call == f.late[i].call }) {
			f.late[i].inquiry = q.ID
		}
	}
}

// replaced says for which persons, who have not answered in time, a model stands in; "": the answer is about something else.
func (f *Failures) replaced(a *flow.Answer) string {
	var names []string
	f.late = slices.DeleteFunc(f.late, func(l late) bool {
		replaced := a.Option == flow.OptionStandIn && l.inquiry == a.Inquiry
		if replaced {
			names = append(names, l.name)
		}
		return replaced
	})
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + ": no answer in time; a model stands in, this once."
}

// stopped tells which failures have stopped the conversation, once.
func (f *Failures) stopped() []string {
	why := f.why
	if f.why = ""; why == "" {
		return nil
	}
	lines := f.tell()
	if !f.told {
		f.told = true
		lines = append(lines, FailedLine(why))
	}
	return lines
}

func (f *Failures) tell() []string {
	var lines []string
	for _, l := range f.late {
		lines = append(lines, l.name+": no answer in time.")
	}
	f.late = nil
	for _, why := range f.groups.Take() {
		f.told = true
		lines = append(lines, FailedLine(why))
	}
	return lines
}

// FailedLine returns the line that tells a failure.
func FailedLine(why string) string { return "Failed: " + strings.TrimSuffix(why, ".") + "." }
