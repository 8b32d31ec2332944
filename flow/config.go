package flow

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/agonist-dev/debate/provider"
)

// The functions of a flow get configs of one type: the one that its Decode returns.

// learnConfig learns the type of the flow's configs.
func (m *Machine) learnConfig() error {
	config, err := m.flow.Decode([]byte("{}"))
	if err == nil && Unnamed(config) == nil {
		err = errors.New("it returns none")
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
		return nil, configError("", fmt.Errorf("%s is none", of))
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
	return nil, configError("", fmt.Errorf("%s is a %T, and no config of flow %s, whose configs are of type %s, which its Decode returns",
		of, config, m.flow.Name, m.config))
}

// ReadConfig returns the config that a log holds, from its Go value or else by Decode.
func (m *Machine) ReadConfig(v Value) (Config, error) {
	if config, ok := v.Go.(Config); ok {
		return m.typed(config, "the config")
	}
	return m.DecodeConfig(v.JSON)
}

// DecodeConfig reads a config from JSON. Other than Flow.Decode, it never returns nil without an error.
func (m *Machine) DecodeConfig(data []byte) (Config, error) {
	config, err := m.flow.Decode(data)
	if err != nil {
		return nil, err
	}
	return m.typed(config, "what Decode has returned")
}

// Settled returns a deep copy of a config, as a log holds it; see Flow.Settle.
func (m *Machine) Settled(config Config) (Config, error) {
	config, err := m.typed(config, "the config")
	if err != nil {
		return nil, err
	}
	if m.flow.Settle == nil {
		data, err := json.Marshal(config)
		if err != nil {
			return nil, configError("", err)
		}
		return m.DecodeConfig(data)
	}
	if config, err = m.flow.Settle(config); err != nil {
		return nil, err
	}
	return m.typed(config, "what Settle has returned")
}
