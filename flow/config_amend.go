package flow

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Amendment changes the settings of a conversation that has started, in any state but the final ones. Fields that are nil stay as
// they are; an amendment that sets none is refused. It is a fact: Record.Settings returns the settings in force. Attempts in
// flight end under the settings under which they began; calls that wait are made at once.
//
// If something cannot be changed, the error joins one [*Error] of kind validation for each field, and nothing is changed. A model
// that is known to lack a required ability is refused with [ErrUnsupported].
type Amendment struct {
	// Budget replaces the budget with all its limits: change a copy of that of Record.Settings. A budget without limits removes all of
	// them. It does not bring rounds back that a soft limit has ended. It withdraws the inquiry about the cost warning: if the spend is at
	// Warn and Confirm is still set, that is asked anew, also if it was acknowledged. Raise Warn, or acknowledge again.
	Budget *Budget `json:"budget,omitempty"`
	// Models replaces the models of actors, by name: of participants, and of others that the config has a [Seat] for. What a person is
	// asked to do is taken back, and the model does it. The empty choice gives a person or a function its seat back that a model was given.
	Models map[string]ModelChoice `json:"models,omitempty" redact:"keys"`
	// Context, Summarizer and AutoSummary replace those of the settings. An empty Summarizer leaves summaries to each call's
	// own model, and with [NoSummarizer] nothing is summarised.
	Context     *string `json:"context,omitempty" redact:"-"`
	Summarizer  *string `json:"summarizer,omitempty" redact:"-"`
	AutoSummary *bool   `json:"autoSummary,omitempty"`
	// Retry, OnFailure, Unattended and Patience replace those of the settings. OnFailure replaces the rules of the config.
	// Each amendment applies Flow.Complete to the rules again. OnFailure and Unattended withdraw the open inquiries about
	// failures and the cost warning, and the rules decide again. Unattended and ToolPolicy withdraw the inquiries about uses of
	// tools.
	Retry      *RetryPolicy   `json:"retry,omitempty"`
	OnFailure  *[]FailureRule `json:"onFailure,omitempty"`
	Unattended *bool          `json:"unattended,omitempty"`
	Patience   *Duration      `json:"patience,omitempty"`
	// ToolPolicy replaces that of the settings.
	ToolPolicy *ToolPolicy `json:"toolPolicy,omitempty"`
	// RoundTimeout and TurnTimeout replace those of the settings. Timeouts are by kind of call, and replace what the flow sets for one
	// attempt at such a call.
	RoundTimeout *Duration             `json:"roundTimeout,omitempty"`
	TurnTimeout  *Duration             `json:"turnTimeout,omitempty"`
	Timeouts     map[CallKind]Duration `json:"timeouts,omitempty" redact:"keys"`
	// Rounds replaces the largest number of rounds. It cannot be less than the present round, and it is refused once the
	// conclusion has begun.
	Rounds *int `json:"rounds,omitempty"`
	// Person names the person who has asked for the amendment, as the host program knows them: one line of at most [MaxReason] bytes.
	Person string `json:"person,omitempty"`
	// Rows holds the rows of the named models. Of a model that the conversation has, only what it lacks counts. The engine sets it.
	Rows map[string]Model `json:"rows,omitempty" redact:"keys"`
}

// ModelChoice is a model with its fallbacks, each as "provider/model".
type ModelChoice struct {
	Model     string   `json:"model" redact:"-"`
	Fallbacks []string `json:"fallbacks,omitempty" redact:"-"`
}

// changesNothing reports whether the amendment changes nothing, whatever the settings are. Rows and Person only go with other fields.
func changesNothing(a *Amendment) bool {
	rest := *a
	rest.Rows, rest.Person = nil, ""
	if len(rest.Models) == 0 {
		rest.Models = nil
	}
	if len(rest.Timeouts) == 0 {
		rest.Timeouts = nil
	}
	return reflect.ValueOf(rest).IsZero()
}

// AmendedModels returns every model that the amendment names, in order, each once.
func AmendedModels(a *Amendment) []string {
	var out []string
	for _, to := range modelsNamed(a) {
		if !slices.Contains(out, to.model) {
			out = append(out, to.model)
		}
	}
	return out
}

// appointed is a model that an amendment names. by is the actor who asks it first; "": it only takes over.
type appointed struct{ model, by string }

// modelsNamed yields every model that the amendment names, with the field that names it.
func modelsNamed(a *Amendment) iter.Seq2[string, appointed] {
	return func(yield func(field string, to appointed) bool) {
		more := true
		add := func(name, field, by string) {
			more = more && (name == "" || yield(field, appointed{name, by}))
		}
		for actor, choice := range order.ByKey(a.Models) {
			field := "models." + text.OneLine(actor, 80)
			add(choice.Model, field, actor)
			for i, name := range choice.Fallbacks {
				add(name, field+".fallbacks["+strconv.Itoa(i)+"]", "")
			}
		}
		if a.Summarizer != nil && *a.Summarizer != NoSummarizer {
			add(*a.Summarizer, "summarizer", fieldname.Summarizer)
		}
		if a.OnFailure != nil {
			for i, rule := range *a.OnFailure {
				add(rule.Model, "onFailure["+strconv.Itoa(i)+"].model", "")
			}
		}
	}
}

// setting is a field of the settings that an amendment can replace.
type setting struct {
	apply func(a *Amendment, t *Settings)
	// lost reports whether an edit has changed the field from old, and another value is in force.
	lost func(old, edited, now *Settings) bool
	take func(a *Amendment, from *Settings) // sets the amendment's field
}

// settable are the settings that an amendment can replace, but for the rules for failures and the time-outs by kind. The latter no
// config has.
//
//nolint:gochecknoglobals // read only
var settable = []setting{
	amended(func(t *Settings) *string { return &t.Context }, func(a *Amendment) **string { return &a.Context }),
	amended(func(t *Settings) *string { return &t.Summarizer }, func(a *Amendment) **string { return &a.Summarizer }),
	amended(func(t *Settings) *bool { return &t.AutoSummary }, func(a *Amendment) **bool { return &a.AutoSummary }),
	amended(func(t *Settings) *Duration { return (*Duration)(&t.Patience) }, func(a *Amendment) **Duration { return &a.Patience }),
	amended(func(t *Settings) *Duration { return (*Duration)(&t.RoundTimeout) }, func(a *Amendment) **Duration { return &a.RoundTimeout }),
	amended(func(t *Settings) *Duration { return (*Duration)(&t.TurnTimeout) }, func(a *Amendment) **Duration { return &a.TurnTimeout }),
	amended(func(t *Settings) *int { return &t.Rounds }, func(a *Amendment) **int { return &a.Rounds }),
	amended(func(t *Settings) *ToolPolicy { return &t.ToolPolicy }, func(a *Amendment) **ToolPolicy { return &a.ToolPolicy }),
	replaced(func(t *Settings) **Budget { return &t.Budget }, func(a *Amendment) **Budget { return &a.Budget }, CloneValue[Budget]),
	replaced(func(t *Settings) **RetryPolicy { return &t.Retry }, func(a *Amendment) **RetryPolicy { return &a.Retry }, (*RetryPolicy).Clone),
}

// amended is the setting of a field that holds a value.
func amended[T any](of func(*Settings) *T, in func(*Amendment) **T) setting {
	return setting{
		apply: func(a *Amendment, t *Settings) { set(of(t), *in(a)) },
		lost:  func(old, edited, now *Settings) bool { return lost(*of(old), *of(edited), *of(now)) },
		take:  func(a *Amendment, from *Settings) { *in(a) = CloneValue(of(from)) },
	}
}

// replaced is the setting of a field that can be nil. An amendment says so by an empty value.
func replaced[T any](of func(*Settings) **T, in func(*Amendment) **T, clone func(*T) *T) setting {
	return setting{
		apply: func(a *Amendment, t *Settings) {
			if given := *in(a); given != nil {
				*of(t) = clone(given)
			}
		},
		lost: func(old, edited, now *Settings) bool { return lost(*of(old), *of(edited), *of(now)) },
		take: func(a *Amendment, from *Settings) { *in(a) = cmp.Or(clone(*of(from)), new(T)) },
	}
}

// lost reports whether a value was changed, and another one is in force.
func lost(old, edited, now any) bool {
	return !reflect.DeepEqual(old, edited) && !reflect.DeepEqual(edited, now)
}

// Overridden returns the amendment that gives a fork what an edit of the config has changed, where the copied part of the log takes it
// back. old and edited are the settings before and after the edit, and now are those in force. ok: there is something.
func Overridden(old, edited, now *Settings) (a *Amendment, ok bool) {
	a = new(Amendment)
	for i := range settable {
		if s := &settable[i]; s.lost(old, edited, now) {
			s.take(a, edited)
		}
	}
	policy := func(t *Settings) any { return []any{t.Unattended, t.OnFailure} }
	if lost(policy(old), policy(edited), policy(now)) {
		a.OnFailure, a.Unattended = &edited.OnFailure, &edited.Unattended
	}
	return a, !changesNothing(a)
}

// Settings returns settings as the amendment changes them. Nothing is checked, and the flow's own rules for failures are not added.
func (a *Amendment) Settings(t Settings) Settings {
	for i := range settable {
		settable[i].apply(a, &t)
	}
	if len(a.Timeouts) > 0 {
		t.Timeouts = maps.Clone(t.Timeouts)
		if t.Timeouts == nil {
			t.Timeouts = make(map[CallKind]Duration)
		}
		maps.Copy(t.Timeouts, a.Timeouts)
	}
	set(&t.Unattended, a.Unattended)
	set(&t.OnFailure, a.OnFailure)
	return t
}

// amendedSettings returns the settings as the amendment makes them. rules are the conversation's own rules for failures, which
// Flow.Complete completes anew: the default ones depend on the other settings.
func amendedSettings(a *Amendment, settings *Settings, rules []FailureRule, of *Flow) *Settings {
	t := *settings
	t.OnFailure = rules
	return of.Complete(a.Settings(t))
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// amend takes an amendment.
func (c *Core) amend(a *Amendment) error {
	r := c.record
	if r.start == nil || r.Final() {
		return &Error{Kind: provider.KindState, Op: "amend", Err: r.opposed("", fmt.Errorf("not possible in state %s", r.State))}
	}
	if changesNothing(a) {
		return &Error{Kind: provider.KindValidation, Op: "amend", Err: errors.New("is empty: set at least one field of the amendment")}
	}
	if err := cmp.Or(checkPerson("amend", a.Person), c.checkAmendment(a)); err != nil {
		return err
	}
	if err := c.emit(Event{Body: a}); err != nil {
		return err
	}
	return c.relieve(a.Models)
}

// relieve withdraws what persons are asked to perform whose seats were given to models, so that these are asked.
func (c *Core) relieve(models map[string]ModelChoice) error {
	for _, q := range slices.Clone(c.record.Inquiries) {
		if !q.performed() {
			continue
		}
		if in := c.record.calls[q.ID].intent; models[in.By].Model != "" {
			if err := c.emit(Event{Body: &Withdrawn{Call: in.Call, Kind: in.Kind, By: in.By, Round: in.Round}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// fewest says how many rounds there are at least, since some have begun.
func fewest(round int) string {
	if round < 2 {
		return "there is at least one"
	}
	return fmt.Sprintf("round %d has begun", round)
}

// checkAmendment reports what is wrong with an amendment.
func (c *Core) checkAmendment(a *Amendment) error {
	r := c.record
	var f Findings
	settings := amendedSettings(a, r.settings, r.rules, c.machine.flow)
	f.completed(settings)
	if a.OnFailure != nil {
		f.AtMost("onFailure", len(*a.OnFailure), mostRules)
		f.CallKinds(c.machine.flow, r.config, *a.OnFailure)
	}
	if a.Rounds != nil && *a.Rounds < max(1, r.Round) {
		f.Addf("rounds", "cannot be %d: %s", *a.Rounds, fewest(r.Round))
	}
	if a.Rounds != nil && r.work == StateCompleting {
		f.Addf("rounds", "cannot be changed: the conclusion has begun")
	}
	if a.Context != nil && c.plans[settings.Context] == nil {
		f.Addf("context", "%w", c.noManager(settings.Context))
	}
	if len(a.Models)+len(a.Timeouts)+len(a.Rows)+len(r.models) > maxTracked {
		f.Addf("models", "are more than %d", maxTracked)
		return errors.Join(f...)
	}
	for kind := range order.ByKey(a.Timeouts) {
		if own := c.machine.flow; own.Kinds != nil && !slices.Contains(own.callKinds(r.config), kind) {
			f.Addf("timeouts."+text.OneLine(string(kind), 40), "%w", Unknown("kind of call", kind, own.callKinds(r.config)...))
		}
	}
	c.checkNamed(&f, settings, a)
	if a.Budget != nil && settings.limited() {
		c.priced(&f, settings, a)
	}
	for name, choice := range order.ByKey(a.Models) {
		if choice.Model == "" && (len(choice.Fallbacks) > 0 || !r.mayReturn(name)) {
			f.Addf("models."+text.OneLine(name, 80), "names no model")
		}
	}
	f.Add(c.amendable(a)...)
	return errors.Join(f...)
}

// checkNamed reports the models of an amendment that cannot be asked.
func (c *Core) checkNamed(f *Findings, settings *Settings, a *Amendment) {
	r, files := c.record, c.record.Files()
	for field, to := range modelsNamed(a) {
		if f.about(field) {
			continue
		}
		var given *Model
		if row, ok := a.Rows[to.model]; ok {
			given = &row
		}
		err := cmp.Or(takesModel(*settings, to.model, cmp.Or(r.model(to.model), given)), c.unreachable(to.model))
		if err == nil {
			err = r.able(to.model, given, r.requirementOf(to.by), files)
		}
		if err != nil {
			f.Addf(field, "%w", err)
		}
	}
}

// unreachable returns why the runtime cannot ask a model, or nil if it can. The error is of a field that somebody has filled
// in: it is no [ErrMissing], which is about the conversation.
func (c *Core) unreachable(name string) error {
	if c.absent == nil {
		return nil
	}
	err := c.absent(Need{Model: name})
	if own, ok := errors.AsType[*Error](err); ok {
		err = own.Err
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q cannot be asked: %s", text.OneLine(name, 80), strings.TrimPrefix(err.Error(), ErrMissing.Error()+": "))
}

// priced reports the models that the rest of the conversation may ask, and that were frozen without a price. The models that
// the amendment names are checked by themselves.
func (c *Core) priced(f *Findings, settings *Settings, a *Amendment) {
	seen := AmendedModels(a)
	for _, n := range c.mayAsk(settings, a.Models) {
		if row := c.record.model(n.Model); row != nil && !row.Priced && !slices.Contains(seen, n.Model) {
			seen = append(seen, n.Model)
			f.Addf("budget", "limits the cost, and %q was frozen without a known price: choose another model, or limit calls or tokens",
				text.OneLine(n.Model, 80))
		}
	}
}

// amendable reports whom no model can be given, and what the flow cannot change.
func (c *Core) amendable(a *Amendment) []error {
	var f Findings
	var all, open []string // the actors, and those who can be given a model
	for s := range c.record.config.Seats() {
		all = append(all, s.By)
		if s.takesModel() {
			open = append(open, s.By)
		}
	}
	for name := range order.ByKey(a.Models) {
		switch {
		case slices.Contains(open, name):
		case slices.Contains(all, name):
			f.Addf("models", "%q is no model", name)
		default:
			f.Addf("models", "%w", Unknown("actor", name, open...))
		}
	}
	if check := c.machine.flow.Amend; check != nil {
		return append(f, check(c.record, a)...)
	}
	if a.Rounds != nil {
		f.Addf("rounds", "the flow %s has no number of rounds that could be changed", c.machine.flow.Name)
	}
	return f
}

// foldAmendment folds an amendment.
func (r *Record) foldAmendment(a *Amendment, of *Flow) error {
	if len(r.models)+len(a.Rows) > maxTracked || len(r.swaps)+len(a.Models) > maxTracked {
		return invalid("amended.models", "are more than %d", maxTracked)
	}
	if why := notReason(a.Person); why != "" {
		return invalid("amended.person", "%s", why)
	}
	settings := amendedSettings(a, r.settings, r.rules, of)
	if err := foldSettings(settings, "amended."); err != nil {
		return err
	}
	for name, row := range order.ByKey(a.Rows) {
		r.knows(name, row)
	}
	for _, name := range AmendedModels(a) {
		if r.model(name) == nil {
			return invalid("amended.models", "%q is not known", text.OneLine(name, 80))
		}
	}
	r.foldModels(a)
	r.settings = settings
	if a.Rounds != nil && r.work != StateCompleting {
		r.begunOf = settings.Rounds
	}
	set(&r.rules, a.OnFailure)
	if a.Budget != nil {
		if r.acked, r.raisedAt = false, 0; r.raises(a.Budget) {
			r.raisedAt = r.Seq + 1
		}
	}
	policy := a.OnFailure != nil || a.Unattended != nil
	uses := a.ToolPolicy != nil || a.Unattended != nil
	r.Inquiries = slices.DeleteFunc(r.Inquiries, func(q Inquiry) bool { // whoever decides now is found anew
		return policy && len(q.About) > 0 || uses && q.Use != nil || (policy || a.Budget != nil) && q.ID == InquiryCost
	})
	if a.Summarizer != nil {
		r.unsummed = nil
	}
	if a.Models != nil || a.Retry != nil || a.Patience != nil {
		r.foldRetriedNow()
	}
	return nil
}

// foldModels folds which models take over. A choice without a model gives the seat back.
func (r *Record) foldModels(a *Amendment) {
	for by, choice := range order.ByKey(a.Models) {
		if choice.Model == "" {
			r.swaps = slices.DeleteFunc(r.swaps, func(swap replacement) bool { return swap.by == by })
			continue
		}
		r.replace(replacement{by: by, model: choice.Model, fallbacks: choice.Fallbacks, all: true})
	}
	for _, call := range r.current {
		if choice, ok := a.Models[call.intent.By]; ok && call.status == callIdle && choice.Model != "" {
			call.afresh()
		}
	}
}

// raises reports whether a budget allows more of what the hard limit measures that was reached last.
func (r *Record) raises(b *Budget) bool {
	w, former := r.warning(WarnHard), r.hardened
	if w == nil || former == nil {
		return true
	}
	now, then := int64(b.Hard), int64(former.Hard)
	switch w.Limit {
	case limitHard + measureTokens:
		now, then = int64(b.HardTokens), int64(former.HardTokens)
	case limitHard + measureCalls:
		now, then = int64(b.HardCalls), int64(former.HardCalls)
	case limitHard + measureTime:
		now, then = int64(b.HardTime), int64(former.HardTime)
	case limitHard:
	default: // of an older log
		return true
	}
	return now == 0 || now > then
}

// timeoutOf returns how long one attempt at a call may take.
func timeoutOf(t Settings, call *Call) time.Duration {
	if d, ok := t.Timeouts[call.Kind]; ok {
		return time.Duration(d)
	}
	if call.Timeout > 0 {
		return call.Timeout
	}
	return t.TurnTimeout
}
