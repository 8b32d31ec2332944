package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Limits bound what [Strict] lets a config ask for. A cap that is 0 is none.
type Limits struct {
	Cost         flow.Money // of one conversation
	Tokens       int        // input and output
	Calls        int
	Rounds       int
	Participants int
	// Models are those that may be asked, as "provider/model". Those of presets may be, too. If neither names any, all may.
	Models []string
	// Tools are those that may be used although they change something. Those that are read-only, and those of presets, may be used anyway.
	Tools []string
	// Prompts lets a config bring texts that models obey as instructions: templates, formats, roles and instructions of its own.
	Prompts bool
	// URLs lets a config name files that Engine.Fetch reads.
	URLs bool
	// Vendor lets a config set what only its vendor understands, or what changes the price of a request beyond the table: extra fields,
	// headers, a class of service, and the vendor's own search.
	Vendor bool
	// Imports lets logs from elsewhere be stored: see [Imported].
	Imports bool
}

// Strict returns a policy for people who are not trusted. A budget above the limits is lowered to them, and a missing one is added. It
// refuses everything else that goes beyond the limits, files of the server (promptFile), and a toolPolicy that approves uses of tools. What
// a preset says may be said by every config, and the words of a conversation may stay in its forks. A toolPolicy that approves belongs to
// what it was said for: that of a preset may stand in a config with no other tools than the preset's, and that of a conversation in a fork
// of which only the id, the budget and the rounds differ. The engine decodes the configs. Strict knows no flow: it walks through the JSON
// of any.
func Strict(e *debate.Engine, l Limits, presets ...Preset) Policy {
	s := &strict{engine: e, limits: l, said: make(map[string]bool), tools: slices.Clone(l.Tools), models: slices.Clone(l.Models)}
	for _, preset := range presets {
		s.learn(preset.Config)
	}
	return func(r *http.Request, _ string, c flow.Config) (flow.Config, error) {
		switch c := c.(type) {
		case *Amended:
			return c, s.checkChange(&c.Change)
		case *Imported:
			return c, s.checkImport(c)
		}
		said, approves := s.said, s.approvedFor(c)
		if r != nil {
			if parent, ok := r.Context().Value(parentKey{}).(flow.Config); ok {
				said = maps.Clone(said)
				learnWords(said, parent)
				if sameWork(parent, c) {
					approves = anyPolicy
				}
			}
		}
		return s.admit(c, said, approves)
	}
}

// parentKey is the key under which the context of a request has the config of the conversation that is forked.
type parentKey struct{}

// strict is a policy.
type strict struct {
	engine *debate.Engine
	limits Limits
	said   map[string]bool // what presets say that is refused elsewhere, by its key and its JSON
	tools  []string
	models []string
	// approved are the policies for tools of presets, each by its key and its JSON, with the tools for which the preset has it.
	approved []approval
}

// approval is a policy for tools, and what it is for.
type approval struct {
	saying string
	tools  []string
}

// keyToolPolicy is the key of a policy for tools.
const keyToolPolicy = "toolPolicy"

// anyPolicy lets every policy for tools be said.
func anyPolicy(string) bool { return true }

// approvedFor returns which policies for tools a config may have, because a preset has them for all of its tools.
func (s *strict) approvedFor(c flow.Config) func(policy string) bool {
	tools := c.Settings().Tools
	return func(policy string) bool {
		return slices.ContainsFunc(s.approved, func(a approval) bool {
			return a.saying == policy && !slices.ContainsFunc(tools, func(name string) bool { return !slices.Contains(a.tools, name) })
		})
	}
}

// sameWork reports whether a fork is told nothing else than the conversation that it is forked from.
func sameWork(parent, fork flow.Config) bool {
	var told [2][]byte
	for i, config := range []flow.Config{parent, fork} {
		data, err := flow.EncodeConfig(config)
		if err != nil {
			return false // it is refused where it is used
		}
		fields, err := fieldsOf(data)
		if err != nil {
			return false
		}
		for _, key := range []string{"flow", "id", "budget", "rounds"} { // no fork is of another flow
			delete(fields, key)
		}
		if told[i], err = json.Marshal(fields); err != nil {
			return false
		}
	}
	return bytes.Equal(told[0], told[1])
}

// learn lets configs say what a preset says.
func (s *strict) learn(preset json.RawMessage) {
	config, err := s.engine.DecodeConfig(preset)
	if err != nil {
		return // New has refused it
	}
	learnWords(s.said, config)
	tools := config.Settings().Tools
	s.tools = append(s.tools, tools...)
	if data, err := flow.EncodeConfig(config); err == nil {
		fields, _ := fieldsOf(data) // it was written just now
		walk("", fields, func(_, key string, _ map[string]any, value any) {
			if key == keyToolPolicy {
				s.approved = append(s.approved, approval{saying(key, value), tools})
			}
		})
	}
	for _, name := range flow.Models(config) {
		if name != "" && !slices.Contains(s.models, name) {
			s.models = append(s.models, name)
		}
	}
}

// learnWords adds what a config says.
func learnWords(said map[string]bool, config flow.Config) {
	data, err := flow.EncodeConfig(config)
	if err != nil {
		return // it is refused where it is used
	}
	fields, _ := fieldsOf(data) // it was written just now
	walk("", fields, func(_, key string, _ map[string]any, value any) { said[saying(key, value)] = true })
}

// saying identifies a field and its value.
func saying(key string, value any) string {
	data, _ := json.Marshal(value) //nolint:errchkjson // it was read from JSON
	return key + "=" + string(data)
}

// walk yields the fields of a JSON object that are set, at any depth, with their places. What a host program alone reads is left out.
func walk(at string, value any, see func(at, key string, object map[string]any, value any)) {
	switch value := value.(type) {
	case []any:
		for i, one := range value {
			walk(at+"["+strconv.Itoa(i)+"]", one, see)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if one := value[key]; isSet(one) && key != "labels" && key != "metadata" {
				path := text.OneLine(key, 80)
				if at != "" {
					path = at + "." + path
				}
				see(path, key, value, one)
				walk(path, one, see)
			}
		}
	}
}

// isSet reports whether a JSON value says something.
func isSet(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case string:
		return value != ""
	case bool:
		return value
	case []any:
		return len(value) > 0
	case map[string]any:
		return len(value) > 0
	default:
		return true
	}
}

// admit returns the config that is used in place of the given one. said is what may be said although it is refused elsewhere, and approves
// tells which policies for tools may.
func (s *strict) admit(c flow.Config, said map[string]bool, approves func(policy string) bool) (flow.Config, error) {
	data, err := flow.EncodeConfig(c)
	if err != nil {
		return nil, err
	}
	fields, err := fieldsOf(data)
	if err != nil {
		return nil, err
	}
	var f flow.Findings
	walk("", fields, func(at, key string, object map[string]any, value any) {
		why := s.refuses(key, object, value)
		if why == nil {
			return
		}
		known := said[saying(key, value)]
		if key == keyToolPolicy {
			known = approves(saying(key, value))
		}
		if !known {
			f.Addf(at, "%w", why)
		}
	})
	s.checkSize(&f, c)
	budget, lowered := s.lower(c.Settings().Budget)
	if err := errors.Join(f...); err != nil || !lowered {
		return c, err
	}
	return edited(s.engine, c, func(fields map[string]any) { fields["budget"] = budget })
}

// checkSize refuses models, tools and numbers beyond the limits.
func (s *strict) checkSize(f *flow.Findings, c flow.Config) {
	for field, name := range flow.Models(c) {
		s.checkModel(f, field, name)
	}
	settings := c.Settings()
	s.checkTools(f, &settings)
	s.checkRounds(f, settings.Rounds)
	if n, most := len(settings.Participants), s.limits.Participants; most > 0 && n > most {
		f.Addf("participants", "%w", tooMany(n, most))
	}
}

// checkImport refuses a log from elsewhere that goes beyond the limits, or approves uses of tools. Its other words stay: whoever may import
// is trusted to write them.
func (s *strict) checkImport(i *Imported) error {
	if !s.limits.Imports {
		return &flow.Error{Kind: provider.KindValidation, Op: opImport, Err: errors.New("logs from elsewhere are not accepted here")}
	}
	var f flow.Findings
	s.checkSize(&f, i.Config)
	settings := i.Settings()
	s.checkToolPolicy(&f, &settings.ToolPolicy)
	if _, lowered := s.lower(settings.Budget); lowered {
		f.Addf("budget", "%w", s.beyond())
	}
	return errors.Join(f...)
}

// checkToolPolicy refuses a policy that approves uses of tools.
func (s *strict) checkToolPolicy(f *flow.Findings, p *flow.ToolPolicy) {
	if why := unapproved(string(p.Approval), string(p.Unknown)); why != nil {
		f.Addf(keyToolPolicy, "%w", why)
	}
}

// beyond refuses a budget.
func (s *strict) beyond() error {
	return flow.WithMend(errors.New("goes beyond what is allowed here"), "keep within "+s.caps())
}

// checkChange refuses a change that goes beyond the limits. What it leaves as it is was admitted before.
func (s *strict) checkChange(a *flow.Amendment) error {
	var f flow.Findings
	for _, name := range flow.AmendedModels(a) {
		s.checkModel(&f, "models", name)
	}
	if a.ToolPolicy != nil {
		s.checkToolPolicy(&f, a.ToolPolicy)
	}
	if a.Rounds != nil {
		s.checkRounds(&f, *a.Rounds)
	}
	if a.Budget != nil {
		if _, lowered := s.lower(a.Budget); lowered {
			f.Addf("budget", "%w", s.beyond())
		}
	}
	return errors.Join(f...)
}

// refuses returns why a field is refused; nil: it is not.
func (s *strict) refuses(key string, object map[string]any, value any) error {
	switch key {
	case "promptFile":
		return flow.WithMend(errors.New("names a file of the server"), "give its text as prompt")
	case keyToolPolicy:
		policy, _ := value.(map[string]any)
		approval, _ := policy["approval"].(string)
		unknown, _ := policy["unknown"].(string)
		return unapproved(approval, unknown)
	case "prompts", "prompt", "instructions", "customFormat", "roles":
		if !s.limits.Prompts {
			return flow.WithMend(errors.New("holds words that models obey, which is not allowed here"), "leave it out")
		}
	case "url":
		if !s.limits.URLs && !isSet(object["hash"]) { // what has a hash is not fetched
			return flow.WithMend(errors.New("is not fetched here"), "give the bytes as data")
		}
	case "header", "extra", "search", "serviceTier":
		if !s.limits.Vendor {
			return flow.WithMend(errors.New("is not allowed here"), "leave it out")
		}
	}
	return nil
}

// unapproved returns why a policy for tools is refused; nil: it is not.
func unapproved(approval, unknown string) error {
	if approval != string(flow.OptionApprove) && unknown != string(flow.OptionAgain) {
		return nil
	}
	return flow.WithMend(errors.New("lets tools be used without the approval of a person"), "leave it out")
}

// checkModel refuses a model that is not allowed.
func (s *strict) checkModel(f *flow.Findings, field, name string) {
	if len(s.models) > 0 && name != "" && !slices.Contains(s.models, name) {
		f.Addf(field, "%w", text.Absent("model", "allowed here", name, s.models...))
	}
}

// checkRounds refuses too many rounds.
func (s *strict) checkRounds(f *flow.Findings, n int) {
	if most := s.limits.Rounds; most > 0 && (n <= 0 || n > most) {
		f.Addf("rounds", "%w", tooMany(n, most))
	}
}

// checkTools refuses tools that change something. Those that the engine does not have, it refuses itself; in a log from elsewhere each use
// of them needs approval, should they come.
func (s *strict) checkTools(f *flow.Findings, t *flow.Settings) {
	for i, name := range t.Tools[:min(len(t.Tools), flow.MaxTools)] {
		if tool := s.engine.Tools[name]; tool != nil && !tool.Describe().ReadOnly && !slices.Contains(s.tools, name) {
			err := fmt.Errorf("the tool %q changes something, which is not allowed here", text.OneLine(name, 80))
			f.Addf("tools["+strconv.Itoa(i)+"]", "%w", flow.WithMend(err, "leave it out"))
		}
	}
}

// tooMany refuses a number.
func tooMany(n, most int) error {
	if n <= 0 {
		return flow.WithMend(errors.New("is missing"), "give a number of at most "+strconv.Itoa(most))
	}
	return fmt.Errorf("there are %d: at most %d are allowed here", n, most)
}

// lower returns a budget within the limits, and whether it differs from the given one. With a hard limit comes a soft one, so that the
// conversation concludes.
func (s *strict) lower(given *flow.Budget) (b flow.Budget, lowered bool) {
	if given != nil {
		b = *given
	}
	before := b
	b.Hard, b.Soft = capped(b.Hard, b.Soft, s.limits.Cost)
	b.HardTokens, b.SoftTokens = capped(b.HardTokens, b.SoftTokens, s.limits.Tokens)
	b.HardCalls, b.SoftCalls = capped(b.HardCalls, b.SoftCalls, s.limits.Calls)
	return b, b != before
}

// capped returns a hard limit of at most most, and a soft one that is not above it.
func capped[T flow.Money | int](hard, soft, most T) (T, T) {
	if most <= 0 || hard > 0 && hard <= most {
		return hard, soft
	}
	if soft <= 0 || soft > most {
		soft = most
	}
	return most, soft
}

// caps says how much one conversation may use.
func (s *strict) caps() string {
	out := ""
	add := func(what string, set bool) {
		if set && out != "" {
			out += ", "
		}
		if set {
			out += what
		}
	}
	add(s.limits.Cost.Rounded(), s.limits.Cost > 0)
	add(strconv.Itoa(s.limits.Tokens)+" tokens", s.limits.Tokens > 0)
	add(strconv.Itoa(s.limits.Calls)+" calls", s.limits.Calls > 0)
	return out
}
