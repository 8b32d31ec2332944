package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Subject returns what the file says the conversation is about; "": it says nothing.
func (s *Source) Subject() string {
	for _, key := range subjects() {
		if text := strings.TrimSpace(s.root.textAt(key)); text != "" {
			return text
		}
	}
	return ""
}

// Blank reports whether the file names what the conversation is about and says nothing of it, which is a mistake in it.
func (s *Source) Blank() bool {
	return s.Subject() == "" && slices.ContainsFunc(subjects(), func(key string) bool { return s.root.get(key) != nil })
}

// subjects are the keys that say in each flow what a conversation is about.
func subjects() []string { return []string{"problem", "topic", "task"} }

// meant returns the known model that a name without its vendor stands for: of a vendor that the engine has, if one of those has it; "":
// none.
func meant(name string, engine *debate.Engine) (whole string) {
	for known := range flow.KnownModels() {
		vendor, own, _ := flow.SplitModel(known)
		switch {
		case own != name:
		case engine.Providers[vendor] != nil:
			return known
		case whole == "" || len(known) < len(whole):
			whole = known
		}
	}
	return whole
}

// Settings are what a conversation is started with.
type Settings struct {
	Config flow.Config
	// Notes say which defaults apply because the file is absent or lacks a section, and what of the file has no effect.
	Notes []string
	// Agents are the files that an arbiter's agents were read from.
	Agents []string

	root *node
	cut  []string // the paths in the file that were not read, for mistakes
}

// draft is a config on its way from the file to the flow.
type draft struct {
	file     string
	flow     string
	root     *node
	notes    []string
	attached []attachment
	wrong    mistakes
	cut      []string
	agents   []string
}

// Load makes a config of what the file and the command line say. The error joins an [Error] for each mistake that can be
// seen without an engine. If it is about some fields only, the settings are returned too, so that Check can find the others.
// The source must not be used again.
func (s *Source) Load(w Wish) (*Settings, error) {
	d := &draft{file: s.File, root: s.root, wrong: s.wrong}
	if err := d.pickFlow(&w); err != nil {
		return nil, errors.Join(append(d.wrong, err)...)
	}
	if foreign(d.root) {
		if d.flow != deliberation.FlowName {
			d.wrong.addf(flag("flow"), "is %s, and %s describes a deliberation", d.flow, d.file)
			return nil, d.wrong.err()
		}
		d.translate((*translator).translate)
	}
	d.agentFolder(&w)
	chosen := flag("agents")
	if d.file == "" && d.flow == deliberation.FlowName { // who they are and how many rounds they have is what a file says
		chosen = w.usually(chosen)
	}
	if !d.sections(&w) || !d.choose(w.Agents, chosen) {
		return nil, d.wrong.err()
	}
	d.root.stand(&w.Usual)
	d.models(&w)
	d.flags(&w)
	promptsOf(d.root)
	d.attachments()
	d.material(&w)
	config := d.decode()
	if config != nil && w.Script != "" {
		config = d.play(config, w.Script)
	}
	if config != nil {
		d.attach(config)
	}
	return d.settings(config)
}

// settings returns what the draft has become; nil: the config is nothing that can be checked.
func (d *draft) settings(config flow.Config) (*Settings, error) {
	if config == nil {
		return nil, d.wrong.err()
	}
	return &Settings{Config: config, Notes: d.notes, Agents: d.agents, root: d.root, cut: d.cut}, d.wrong.err()
}

// pickFlow finds out which flow the config is of: by its key "flow", by --flow, or by the keys that only one flow has.
func (d *draft) pickFlow(w *Wish) error {
	if w.Flow != "" && !slices.Contains(Flows(), w.Flow) {
		return &Error{flag("flow"), unknownFlow(w.Flow)}
	}
	said := d.root.get("flow")
	switch {
	case said != nil && (said.form != formText || !slices.Contains(Flows(), said.value)):
		return &Error{said.Place, unknownFlow(said.value)}
	case said != nil && w.Flow != "" && w.Flow != said.value:
		return &Error{flag("flow"), fmt.Errorf("is %s, and %s says %s", w.Flow, said.Place, said.value)}
	case said != nil:
		d.flow = said.value
		d.root.remove("flow")
	case w.Flow != "":
		d.flow = w.Flow
	case d.root.get("participants") != nil || d.root.get("topic") != nil:
		d.flow = debate.FlowName
	case d.root.get("arbiter") != nil || d.root.get("task") != nil || d.root.get("agentDir") != nil || w.AgentDir != "":
		d.flow = arbiter.FlowName
	default:
		d.flow = deliberation.FlowName
	}
	return nil
}

// unknownFlow says which flows there are. An evaluation is one that is about the solution of another.
func unknownFlow(name string) error {
	if name == evaluation.FlowName {
		return errors.New("is evaluation: debate eval has the solution of a deliberation scored")
	}
	return flow.Unknown("flow", name, Flows()...)
}

// decode reads the finished tree. What the flow does not accept is cut out, and the rest is read again, so that the mistakes
// of one field hide no others.
func (d *draft) decode() flow.Config {
	for range mostReadings {
		config, err := decodeFlow(d.flow, d.root.json())
		if err == nil {
			return config
		}
		again := false
		for _, one := range each(err) {
			failure, ok := errors.AsType[*flow.Error](one)
			if !ok {
				d.wrong.addf(Place{File: d.file}, "%w", one)
				continue
			}
			mistake := failure.Err
			if found, _, _ := d.root.find(failure.Field); found.form == formText && ofFiles(failure.Field) {
				mistake = fmt.Errorf("%w; %s", mistake, fileGiven)
			}
			d.wrong = append(d.wrong, &Error{d.root.placeOf(failure.Field), mistake})
			again = d.drop(failure.Field) || again
		}
		if !again {
			return nil
		}
	}
	return nil
}

// play gives everybody the model that plays all others, so that the log says who has answered. A name that is no model's stays, for
// it is a mistake.
func (d *draft) play(config flow.Config, script string) flow.Config {
	for field, model := range flow.Models(config) {
		found, _, rest := d.root.find(field)
		if _, _, ok := flow.SplitModel(model); ok && rest == "" && found.form == formText {
			found.value = script
		}
	}
	return d.decode()
}

// mostReadings bounds how often a tree is read again.
const mostReadings = 50

// drop cuts a field out of the tree. An item of a list stays, for it gives the others their numbers.
func (d *draft) drop(field string) bool {
	found, parent, _ := d.root.find(field)
	if parent == nil || parent.form != formObject {
		return false
	}
	for i := range parent.members {
		if parent.members[i].value == found {
			parent.members = slices.Delete(parent.members, i, i+1)
			d.cut = append(d.cut, found.Path)
			return true
		}
	}
	return false
}

func decodeFlow(name string, data []byte) (flow.Config, error) {
	var c interface {
		flow.Config
		json.Unmarshaler
	}
	switch name {
	case debate.FlowName:
		c = new(debate.Config)
	case arbiter.FlowName:
		c = new(arbiter.Config)
	case evaluation.FlowName:
		c = new(evaluation.Config)
	default:
		c = new(deliberation.Config)
	}
	return c, c.UnmarshalJSON(data)
}

// Check lets the engine check the config. remedy says what a vendor lacks that the engine does not have; "": the vendor is
// unknown. vendors are those that it knows. The error joins an [Error] for each invalid field. What is no mistake of the config, such
// as a vendor that refuses a key, keeps its type.
func (s *Settings) Check(ctx context.Context, engine *debate.Engine, vendors []string, remedy func(vendor string) string) error {
	var wrong mistakes
	lacking := make(map[string]bool)  // fields
	models := make(map[string]string) // by their fields
	bare := withoutBytes(s.Config)
	for field, model := range flow.Models(s.Config) {
		models[field] = model
		vendor, _, ok := flow.SplitModel(model)
		at := s.root.placeOf(field)
		if !ok {
			if whole := meant(model, engine); whole != "" && !s.unread(at.Path) {
				lacking[field] = true
				wrong.addf(at, "%q is not \"provider/model\": did you mean %s?", model, whole)
			}
			continue
		}
		if engine.Providers[vendor] != nil {
			continue
		}
		lacking[field] = true
		if help := remedy(vendor); help != "" {
			wrong.addf(s.root.placeOf(field), "%s %w", model, lackError(help))
		} else {
			known := slices.AppendSeq(vendors, maps.Keys(engine.Providers))
			wrong.addf(s.root.placeOf(field), "%s: %w", model, flow.Unknown("vendor", vendor, known...))
		}
	}
	for _, one := range each(engine.Validate(ctx, s.Config)) {
		failure, ok := errors.AsType[*flow.Error](one)
		if !ok || failure.Kind != provider.KindValidation {
			wrong = append(wrong, one)
			continue
		}
		at, mistake := s.root.placeOf(failure.Field), failure.Err
		if lacking[failure.Field] || s.unread(at.Path) {
			continue
		}
		switch model := models[failure.Field]; {
		case bare[failure.Field]: // the engine names what a host program sets
			mistake = errors.New("has no path; " + fileGiven)
		case failure.Field == "quotes":
			mistake = fmt.Errorf("%w; %s", mistake, fileGiven)
		case model != "" && errors.Is(mistake, flow.ErrUnpriced):
			mistake = fmt.Errorf("has no known price, which a budget needs: --price %s=0.10/0.40 gives one, in USD for a million tokens "+
				"of input and output", model)
		}
		wrong = append(wrong, &Error{at, mistake})
	}
	return wrong.err()
}

// unread reports whether what stands at a path was cut out: it lacks only because of a mistake that was reported already.
func (s *Settings) unread(path string) bool {
	return slices.ContainsFunc(s.cut, func(cut string) bool {
		return strings.HasPrefix(path, cut) || strings.HasPrefix(cut, path) && path != ""
	})
}
