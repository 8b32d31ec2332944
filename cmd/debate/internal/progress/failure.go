package progress

import (
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Failed says why a call of a model has failed, as a sentence without its full stop: what the vendor has answered, or that it could not
// be reached. at says where the vendor is, if a variable of the environment says so: " at URL (VARIABLE)". Without a model it is [Cause].
func Failed(err *flow.Error, model, at string) string {
	vendor, name, ok := flow.SplitModel(model)
	if vendor = Clean(vendor); err == nil || !ok || vendor == "" {
		return Cause(err)
	}
	code, words := answered(err)
	colon := ""
	if words != "" {
		colon = ": " + words
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
		last := words[strings.LastIndex(words, ": ")+1:]
		if strings.Contains(words, "dial ") || strings.Contains(words, "lookup ") {
			return vendor + at + " cannot be reached: " + strings.TrimSpace(last)
		}
		return "the connection to " + vendor + at + " was lost" + colon
	case provider.KindValidation:
		if strings.Contains(code, "model_not_found") || strings.HasPrefix(code, "404") {
			return vendor + at + " does not know the model " + Clean(name) + status(code)
		}
		return vendor + " refuses the request" + status(code) + colon
	default:
		return Cause(err)
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

// Add adds who has failed, and why.
func (g *Groups) Add(name, why string) {
	for i := range g.all {
		if known := &g.all[i]; known.why == why {
			if !slices.Contains(known.names, name) {
				known.names = append(known.names, name)
			}
			return
		}
	}
	g.all = append(g.all, group{why, []string{name}})
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
