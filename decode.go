package debate

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/internal/text"
)

// DecodeConfig reads a config of any registered flow from JSON, strictly. The key "flow" names the flow; without it
// the config is that of a debate. All other keys are the fields of the flow's config.
//
// The error joins one *[flow.Error] of kind validation for each problem, with the path of the field.
func (e *Engine) DecodeConfig(data []byte) (flow.Config, error) {
	l, err := e.freeze()
	if err != nil {
		return nil, err
	}
	wrong := func(field string, err error) error {
		return errors.Join(&flow.Error{Kind: flow.KindValidation, Op: "read config", Field: field, Err: err})
	}
	tree, err := strictjson.Decode(string(data), strictjson.Limits{Bytes: MaxSnapshot, Depth: 100, Path: 200, Exact: true})
	if err != nil {
		return nil, wrong("", err)
	}
	if _, ok := tree.(map[string]any); !ok {
		return nil, wrong("", fmt.Errorf("the JSON is %s, not an object", flow.KindOfJSON(data)))
	}
	fields := make(map[string]json.RawMessage)
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, wrong("", err)
	}
	name := FlowName
	if given, ok := fields["flow"]; ok {
		if err := json.Unmarshal(given, &name); err != nil {
			return nil, wrong("flow", fmt.Errorf("is %s, not a text", flow.KindOfJSON(given)))
		}
		delete(fields, "flow")
	}
	m := l.machines[name]
	if m == nil || m.Flow().Decode == nil {
		return nil, wrong("flow", fmt.Errorf("no flow %q is registered that reads configs", text.OneLine(name, 40)))
	}
	own, err := json.Marshal(fields)
	if err != nil {
		return nil, wrong("", err)
	}
	config, err := m.Flow().Decode(own)
	if err != nil {
		return nil, err
	}
	if config.Flow() != name {
		config = flow.Named(name, config)
	}
	return config, nil
}
