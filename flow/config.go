package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/secret"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// What a conversation is started with. Each flow has a type of configs, which its Decode returns; what all of them share is their
// Settings (config_settings). config_strict reads JSON from strangers, config_findings checks it and names every mistake by its
// field, config_seat says which models are asked and how, config_requirement checks what they are asked for, and config_amend changes
// settings on the way.

// learnConfig learns the type of the flow's configs.
func (m *Machine) learnConfig() error {
	config, err := m.flow.Decode([]byte("{}"))
	if err == nil && Unnamed(config) == nil {
		err = errors.New("it returns nil")
	}
	if err != nil {
		err = fmt.Errorf("its Decode cannot read {}, which shows the type of its configs: %w", err)
		return &Error{Kind: provider.KindValidation, Op: "flow " + m.flow.Name, Err: err}
	}
	m.config = reflect.TypeOf(Unnamed(config))
	return nil
}

// typed returns a config as one of the type of the flow's configs. The error is of kind validation; of names where a config of
// another type came from.
func (m *Machine) typed(config Config, of string) (Config, error) {
	config = Unnamed(config)
	if config == nil {
		return nil, configError("", fmt.Errorf("%s is nil", of))
	}
	v := reflect.ValueOf(config)
	switch t := v.Type(); {
	case t == m.config:
		return config, nil
	case m.config.Kind() == reflect.Pointer && t == m.config.Elem():
		p := reflect.New(t)
		p.Elem().Set(v)
		v = p
	case t.Kind() == reflect.Pointer && t.Elem() == m.config:
		v = v.Elem()
	}
	if own, ok := reflect.TypeAssert[Config](v); ok && v.Type() == m.config {
		return own, nil
	}
	return nil, configError("", fmt.Errorf("%s is a %T, but configs of flow %s are of type %s, which its Decode returns",
		of, config, m.flow.Name, m.config))
}

// ReadConfig returns the config that a log holds, from its Go value or else by Decode.
func (m *Machine) ReadConfig(v Value) (Config, error) {
	if config, ok := v.Go.(Config); ok {
		return m.typed(config, "the config")
	}
	return m.DecodeConfig(v.JSON)
}

// DecodeConfig reads a config from JSON. Unlike Flow.Decode, it never returns nil without an error.
func (m *Machine) DecodeConfig(data []byte) (Config, error) {
	config, err := m.flow.Decode(data)
	if err != nil {
		return nil, err
	}
	return m.typed(config, "what Decode has returned")
}

// Normalized returns a deep copy of a config, as a log holds it; see Flow.Normalize.
func (m *Machine) Normalized(config Config) (Config, error) {
	config, err := m.typed(config, "the config")
	if err != nil {
		return nil, err
	}
	if m.flow.Normalize == nil {
		data, err := json.Marshal(config)
		if err != nil {
			return nil, configError("", err)
		}
		return m.DecodeConfig(data)
	}
	if config, err = m.flow.Normalize(config); err != nil {
		return nil, err
	}
	return m.typed(config, "what Normalize has returned")
}

// longestTopic is how many bytes [TopicOf] returns at most.
const longestTopic = 200

// TopicOf returns the first line of a longer text as a topic: without the marks of a heading, and at most 200 bytes. If the
// line is blank, it returns otherwise. It does not validate the text: Flow.Check does.
func TopicOf(content, otherwise string) string {
	content = strings.ReplaceAll(strings.ToValidUTF8(content, ""), "\x00", "")
	line, _, _ := strings.Cut(strings.TrimSpace(content), "\n")
	line = strings.TrimSpace(strings.TrimLeft(line, "# "))
	if line == "" {
		line = otherwise
	}
	if len(line) <= longestTopic {
		return line
	}
	cut := line[:longestTopic]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return cut
}

// NeutralLabels returns neutral names for this many participants, by seat: "Speaker A", "Speaker B" and so on, in an
// order that is drawn from a seed. A flow that shows labels in place of names returns them in [Views].
func NeutralLabels(seed string, participants int) []string {
	out := make([]string, participants)
	for i, letter := range secret.Shuffled(seed, "labels", participants) {
		out[i] = text.LabelPrefix + text.Letters(letter)
	}
	return out
}

// ReplaceNames replaces each of the names, where it is a whole word, by the one at the same index in others. Both have
// the same length. It is for prompts, which are rendered before there is a record; see [Record.Hide].
func ReplaceNames(content string, names, others []string) string {
	return text.ReplaceWords(content, names, others)
}

// Shuffled returns the numbers below n in an order drawn from a seed for one use, such as "order 2". The order is
// the same in every process.
func Shuffled(seed, use string, n int) []int { return secret.Shuffled(seed, use, n) }

// Projection is what a flow keeps of a conversation for itself, beside the record: what it has read from the config, and
// what it computes from the events. A projection belongs to one [Record].
type Projection interface {
	// Fold takes an event after the record has folded it. An error means that the log is refused. It must be of
	// kind validation and name a field of the event's body.
	Fold(e *Event) error
}

// Projection returns what Flow.Open made, or nil.
func (r *Record) Projection() Projection { return r.projection }

// ProjectionOf returns what Flow.Open made for a record, if it is of type P. It returns false for nil, for a record of
// another flow, and if nothing has started.
func ProjectionOf[P Projection](r *Record) (p P, ok bool) {
	if r != nil {
		p, ok = r.projection.(P)
	}
	return p, ok
}

// Render renders the prompts of the flow, and those that every flow has.
func (f *Flow) Render(s Setup, views Views) (map[string]string, error) {
	texts := make(map[string]string)
	if f.Texts != nil {
		rendered, err := f.Texts(s)
		if err != nil {
			return nil, err
		}
		maps.Copy(texts, rendered)
	}
	if err := summaryTexts(texts, s, views); err != nil {
		return nil, err
	}
	if err := toolTexts(texts, s); err != nil {
		return nil, err
	}
	again, err := s.Prompts.Again(prompt.Again{Problems: []string{problemsMark}})
	texts[textAgain] = again
	return texts, err
}
