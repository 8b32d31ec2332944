package flow

import (
	"github.com/agonist-dev/debate/provider"
)

// What Intent.Left names of options that are written for one vendor.
const (
	leftExtra  provider.Ability = "extra"
	leftHeader provider.Ability = "header"
)

// keepHome leaves the fields of a vendor's own and the headers out of an attempt at another provider than that of the seat:
// they are written for that one. Providers of one account count as one.
func (r *Record) keepHome(call *Call, intent *Intent) {
	o := intent.Options
	if o == nil || len(o.Extra)+len(o.Header) == 0 || r.atHome(call, intent.Model) {
		return
	}
	if len(o.Extra) > 0 {
		intent.Left = append(intent.Left, leftExtra)
	}
	if len(o.Header) > 0 {
		intent.Left = append(intent.Left, leftHeader)
	}
	intent.Options = o.Portable()
}

// atHome reports whether a model is asked at the provider for which the options of a call are written: that of the model
// which the config names beside them.
func (r *Record) atHome(call *Call, model string) bool {
	same := func(other string) bool {
		a, _, _ := SplitModel(model)
		b, _, _ := SplitModel(other)
		return r.accountOf(a) == r.accountOf(b)
	}
	found := false
	for _, d := range Demands(r.Config()) {
		if d.Options != call.Options {
			continue
		}
		if found = true; same(d.Model) {
			return true
		}
	}
	return !found && same(call.Model)
}
