package google

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/internal/toolschema"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// request writes a request. It fails with kind validation if a part that must be JSON is not, or
// if the API has no words for it.
func (p *Provider) request(req *provider.Request, t *wire.Terms) (*generateRequest, error) {
	if err := p.vet(req); err != nil {
		return nil, err
	}
	req, err := wire.Form{Beside: true, NoSystem: t.Leaves(wire.OptionSystem)}.Request(req)
	if err != nil {
		return nil, err
	}
	thinking, err := p.thinking(req)
	if err != nil {
		return nil, err
	}
	g := &generateRequest{
		Contents:       contents(req, p.owner()),
		SafetySettings: p.Safety,
		GenerationConfig: generationConfig{
			MaxOutputTokens: int32(min(max(req.MaxTokens, 0), math.MaxInt32)),
			ThinkingConfig:  thinking,
		},
	}
	if req.System != "" {
		g.SystemInstruction = &turn{Role: roleUser, Parts: []piece{{Text: req.System}}}
	}
	if req.Temperature != nil {
		t := float32(*req.Temperature)
		g.GenerationConfig.Temperature = &t
	}
	g.Tools = tools(req.Tools)
	g.set(req.Options)
	if req.Schema != nil && (len(g.Tools) == 0 || schemaBesideTools(req.Model)) && !t.Leaves(optionJSON) {
		schema, ok := lowerSchema(req.Schema.JSON)
		if !ok {
			return nil, wire.Unwritable("schema", "the schema is not a JSON schema")
		}
		g.GenerationConfig.ResponseMIMEType = "application/json"
		g.GenerationConfig.ResponseJSONSchema = schema
	}
	return g, nil
}

// tools writes the tools as one tool with all their functions, which is the API's form.
func tools(list []provider.Tool) []tool {
	if len(list) == 0 {
		return nil
	}
	functions := make([]functionDeclaration, len(list))
	for i, t := range list {
		functions[i] = functionDeclaration{Name: t.Name, Description: t.Description}
		if !argumentless(t.Parameters) {
			functions[i].Parameters = t.Parameters
		}
	}
	return []tool{{FunctionDeclarations: functions}}
}

// argumentless reports whether a schema is that of a tool without arguments. The API leaves the schema of such a tool unset, and has
// refused objects without properties.
func argumentless(schema json.RawMessage) bool {
	o, ok := toolschema.Parse(schema)
	more := o.Get("additionalProperties")
	return ok && string(o.Get("properties")) == "{}" && (more == nil || string(more) == "false")
}

// schemaBesideTools reports, by the name of a model, whether it accepts a schema next to tools. Models
// before Gemini 3 refuse such a request. For them the schema is left out; the engine validates the reply
// in any case.
func schemaBesideTools(model string) bool {
	name, ok := strings.CutPrefix(strings.TrimPrefix(model, "models/"), "gemini-")
	digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
	generation, err := strconv.Atoi(digits)
	return ok && err == nil && generation >= 3
}

// arguments reads the arguments of a call, an object. Numbers stay exactly as they are written.
func arguments(raw json.RawMessage) map[string]any {
	args := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	_ = decoder.Decode(&args) // wire.Form has made it valid
	return args
}
