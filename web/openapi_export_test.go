package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// object is JSON.
type object = map[string]any

// describer describes operations, and the types of their bodies.
type describer struct {
	schemas object                  // by their names
	types   map[string]reflect.Type // that have these names
	said    map[string]string       // what the sources say of the fields of this package's types, by "type.Field"
}

// OpenAPI returns the description of the API as the table and the types have it. Clients are generated from it, so that it keeps to what
// generators know: enum in place of const, minimum in place of exclusiveMinimum, a mapping for each discriminator, and one answer of all
// operations for whatever goes wrong.
func OpenAPI() ([]byte, error) {
	said, err := comments()
	if err != nil {
		return nil, err
	}
	d := &describer{said: said, types: map[string]reflect.Type{}, schemas: object{}}
	d.own("Config", reflect.TypeFor[flow.Config](), object{
		"type": "object", "additionalProperties": true,
		"description": "a config of a flow, which may have more properties: the operation flows has the schemas",
		"properties": object{
			"flow":  object{"type": "string", "description": "the name of the flow; without it, a debate is held"},
			"id":    object{"type": "string", "description": "of the conversation, best a UUID of version 7; without it, the server draws one"},
			"topic": object{"type": "string"},
		},
	})
	d.own("Raw", nil, object{
		"type": "object", "additionalProperties": true, "description": "JSON that clients hand on as it is, such as a log",
	})
	d.own("Event", reflect.TypeFor[flow.Event](), object{
		"type": "object", "required": []string{"seq", "at", "kind", "body"},
		"properties": object{
			"seq":  object{"type": "integer", "format": "int64", "description": "numbers the facts from 1"},
			"at":   object{"type": "string", "format": "date-time"},
			"kind": object{"type": "string", "description": "what has happened; flows have kinds of their own"},
			"body": object{},
		},
	})
	d.own("Failure", reflect.TypeFor[flow.Error](), object{
		"type": "object",
		"properties": object{
			"kind": object{"type": "string"}, "message": object{"type": "string"}, "hint": object{"type": "string"},
			"retryable": object{"type": "boolean"}, "op": object{"type": "string"}, "field": object{"type": "string"},
			"participant": object{"type": "string"}, "round": object{"type": "integer"}, "attempt": object{"type": "integer"},
			"retryAfter": object{"type": "number", "format": "double", "description": "seconds"}, "window": object{"type": "integer"},
			"capped": object{"type": "boolean"}, "at": object{"type": "string", "format": "date-time"},
		},
	})
	paths := object{}
	for _, op := range operations() {
		at, ok := paths["/"+op.path].(object)
		if !ok {
			at = object{}
			paths["/"+op.path] = at
		}
		at[strings.ToLower(op.method)] = d.operation(&op)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err = e.Encode(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Conversations", "version": "1",
			"description": "Amounts are USD. An answer to a GET may have an ETag, and is 304 to a request that has it in If-None-Match.",
		},
		"servers": []object{{"url": "."}},
		"paths":   paths,
		"components": object{
			"responses": object{"Refused": object{
				"description": "why the request is refused (RFC 9457)",
				"content":     object{"application/problem+json": object{"schema": d.schemaOf(reflect.TypeFor[problem]())}},
			}},
			"schemas": d.schemas,
		},
	})
	return out.Bytes(), err
}

// comments returns what the sources of this package say of the fields of its types.
func comments() (map[string]string, error) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		return nil, err
	}
	all, plain := map[string]string{}, strings.NewReplacer("[", "", "]", "", "nil:", "missing:", `"":`, "missing:")
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if made, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range made.Fields.List {
					text := strings.Join(strings.Fields(cmp.Or(f.Doc.Text(), f.Comment.Text())), " ")
					for _, name := range f.Names {
						all[spec.Name.Name+"."+name.Name] = plain.Replace(text)
					}
				}
			}
			return false
		})
	}
	return all, nil
}

// operation describes a row of the table.
func (d *describer) operation(op *operation) object {
	var about []string
	for _, p := range op.query {
		if strings.HasSuffix(p.name, ".") {
			about = append(about, fmt.Sprintf("A parameter %sNAME=VALUE: %s.", p.name, p.about))
		}
	}
	var refused []string
	for _, status := range op.errors {
		refused = append(refused, strconv.Itoa(status))
	}
	if len(refused) > 0 {
		about = append(about, "Beside the statuses of all operations, it can be refused with "+strings.Join(refused, ", ")+".")
	}
	out := object{"operationId": op.id, "summary": op.summary, "x-right": op.action, "responses": d.responses(op)}
	if len(about) > 0 {
		out["description"] = strings.Join(about, " ")
	}
	if all := parametersOf(op); len(all) > 0 {
		out["parameters"] = all
	}
	if op.method == post {
		out["requestBody"] = object{"required": true, "content": object{"application/json": media(d.body(op), examples()[op.id].in)}}
	}
	return out
}

// raw is the schema of JSON that clients hand on as it is, such as a log.
func raw() object { return object{"$ref": "#/components/schemas/Raw"} }

// body describes the body of a request.
func (d *describer) body(op *operation) object {
	switch {
	case op.in != nil:
		return d.schemaOf(reflect.TypeOf(op.in))
	case op.limit > 0: // a log
		return raw()
	default:
		return d.schemaOf(reflect.TypeFor[flow.Config]())
	}
}

// media describes a body, with an example if there is one.
func media(schema object, example string) object {
	out := object{"schema": schema}
	if example != "" {
		out["example"] = json.RawMessage(example)
	}
	return out
}

// parametersOf describes what an address takes.
func parametersOf(op *operation) (all []object) {
	for _, name := range regexp.MustCompile(`{(\w+)}`).FindAllStringSubmatch(op.path, -1) {
		all = append(all, object{"name": name[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, p := range op.query {
		schema := object{"type": cmp.Or(p.kind, "string")}
		if p.kind == whole {
			schema["format"], schema["minimum"] = "int64", 0
		}
		if p.most > 0 {
			schema["maximum"] = p.most
		}
		if p.many {
			schema = object{"type": "array", "items": schema}
		}
		if !strings.HasSuffix(p.name, ".") { // no generator knows the beginning of a name
			all = append(all, object{"name": p.name, "in": "query", "description": p.about, "schema": schema})
		}
	}
	if slices.Contains(op.media, "text/event-stream") {
		all = append(all, object{
			"name": "Last-Event-ID", "in": "header", "description": "the number of an event: the stream begins behind it",
			"schema": object{"type": "integer", "format": "int64", "minimum": 0},
		})
	}
	return all
}

// responses describes the answers of an operation.
func (d *describer) responses(op *operation) object {
	content := object{}
	if op.out != nil {
		content["application/json"] = media(d.schemaOf(reflect.TypeOf(op.out)), examples()[op.id].out)
	}
	for _, kind := range op.media {
		kind, _, _ = strings.Cut(kind, ";")
		schema := object{"type": "string", "format": "binary"}
		if kind == "application/json" {
			schema = raw()
		}
		content[kind] = object{"schema": schema}
	}
	out := object{"default": object{"$ref": "#/components/responses/Refused"}}
	for _, status := range []int{op.status, op.also} {
		one := object{"description": strings.ToLower(http.StatusText(status))}
		if status != http.StatusNoContent {
			one["content"] = content
		}
		if status > 0 {
			out[strconv.Itoa(status)] = one
		}
	}
	return out
}

// own sets the schema of a type whose JSON is not that of its fields.
func (d *describer) own(name string, t reflect.Type, schema object) {
	d.types[name], d.schemas[name] = t, schema
}

// schemaOf describes a type.
func (d *describer) schemaOf(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[flow.Duration]():
		return object{"type": "string"}
	case reflect.TypeFor[flow.Money]():
		return object{"type": "number", "format": "double"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	for name, own := range d.types {
		if own == t {
			return object{"$ref": "#/components/schemas/" + name}
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schemaOf(t.Elem())
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "format": "byte"}
		}
		return object{"type": "array", "items": d.schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schemaOf(t.Elem())}
	case reflect.Struct:
		return d.component(t)
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number", "format": "double"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Interface:
		return object{}
	default:
		return object{"type": "integer"}
	}
}

// component describes a struct.
func (d *describer) component(t reflect.Type) object {
	name := capital(t.Name())
	if d.types[name] != nil {
		name = capital(path.Base(t.PkgPath())) + name
	}
	schema := object{"type": "object"}
	d.own(name, t, schema)
	properties, required := object{}, map[string]bool{}
	d.fields(t, properties, required, false)
	schema["properties"] = properties
	maps.DeleteFunc(required, func(_ string, is bool) bool { return !is })
	if len(required) > 0 {
		schema["required"] = slices.Sorted(maps.Keys(required))
	}
	return object{"$ref": "#/components/schemas/" + name}
}

func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// fields describes the fields of a struct, and then those of the structs in it that they do not hide. loose: none need be there.
func (d *describer) fields(t reflect.Type, properties object, required map[string]bool, loose bool) {
	var inner []reflect.StructField
	for f := range t.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		written := f.Tag.Get("json") == "-" && f.Type == reflect.TypeFor[time.Duration]() // by a shadow of the struct, as text
		switch {
		case f.Anonymous && key == "":
			inner = append(inner, f)
			continue
		case written:
			key, options = strings.ToLower(f.Name[:1])+f.Name[1:], "omitempty"
		case key == "-" || !f.IsExported():
			continue
		}
		if t == reflect.TypeFor[flow.Amendment]() && (key == "person" || key == "rows") { // the server sets them
			continue
		}
		if properties[key] != nil {
			continue
		}
		schema := object{"type": "string"}
		if !written {
			schema = d.schemaOf(f.Type)
		}
		if text := d.said[t.Name()+"."+f.Name]; text != "" && t.PkgPath() == reflect.TypeFor[operation]().PkgPath() && schema["$ref"] == nil {
			schema["description"] = text
		}
		properties[key], required[key] = schema, !loose && !strings.Contains(options, "omit")
	}
	for _, f := range inner {
		if f.Type.Kind() == reflect.Pointer {
			d.fields(f.Type.Elem(), properties, required, true)
		} else {
			d.fields(f.Type, properties, required, loose)
		}
	}
}

// example is a body as a client sends it, and the answer.
type example struct{ in, out string }

// examples are those of the operations, by their ids.
func examples() map[string]example {
	const (
		id     = `0199c1f0-5b7a-7c3e-9d51-3f1c5b0a7e21`
		config = `{"flow":"debate","id":"` + id + `","topic":"Should cities ban cars?","rounds":2,"participants":[
			{"name":"Ada","side":"for","model":"openai/gpt-4.1-mini"},{"name":"Ben","side":"against","model":"openai/gpt-4.1-mini"}],
			"judging":{"judges":[{"model":"openai/gpt-4.1"}]},"budget":{"hard":0.5}}`
		begun  = `{"id":"` + id + `","state":"initializing","seq":2}`
		stands = `{"id":"` + id + `","state":"awaitingResponses","seq":17}`
		why    = `{"reason":"Lunch."}`
		item   = `{"id":"` + id + `","flow":"debate","format":"freeForm","state":"awaitingInput","topic":"Should cities ban cars?","round":2,
			"seq":17,"startedAt":"2026-01-31T12:00:00Z","lastAt":"2026-01-31T12:03:00Z","asks":1,"askedAt":"2026-01-31T12:03:00Z"`
		asked = `{"id":"r2.rebuttal.Pat","kind":"rebuttal","to":"Pat","question":"It is your turn.","max":16000,
			"reads":[{"speaker":"Ada","label":"round 1, opening","text":"Streets are for people.","turn":0,"note":-1}]}`
	)
	return map[string]example{
		"start":    {config, begun},
		"validate": {config, `{"config":` + config + `}`},
		"estimate": {config, `{"config":` + config + `,"estimate":{"cost":0.12,"tokens":90000,"calls":5,"typical":0.02,"typicalTokens":9000,
			"whole":0.05,"wholeTokens":30000,"models":[{"name":"openai/gpt-4.1","usage":{"input":2000,"output":400},"cost":0.02,"requests":1}],
			"firstRound":0.04,"steps":[{"round":1,"kind":"opening","by":"Ada","model":"openai/gpt-4.1-mini","together":1}]},"remains":3.8}`},
		"import": {`{"version":1,"id":"` + id + `","events":[]}`, begun},
		"list":   {out: `{"conversations":[` + item + `,"spent":0.0124,"limit":0.5}]}`},
		"sum":    {out: `{"sum":{"count":4,"spent":0.8,"atMost":0.01,"left":0.4},"most":1.21,"quota":5,"remains":3.79}`},
		"inbox":  {out: `{"questions":[{"conversation":` + item + `},"question":` + asked + `}]}`},
		"read": {out: `{"record":{"state":"awaitingInput","round":2},"legal":["pause","stop","cancel","amend","say","fork","exportHTML"],
			"questions":[` + asked + `],"limit":0.5}`},
		"events": {out: `{"events":[{"seq":3,"at":"2026-01-31T12:00:00Z","kind":"round","body":{"round":1}}],"last":17,"next":3}`},
		"pause":  {`{"reason":"Lunch.","drain":true}`, stands},
		"resume": {why, stands}, "stop": {why, stands}, "cancel": {why, stands}, "retry": {why, stands},
		"amend":  {`{"budget":{"soft":0.8,"hard":1},"models":{"Ada":{"model":"openai/gpt-4.1"}},"rounds":4}`, stands},
		"send":   {`{"trigger":"noted","payload":{"text":"Mind the time."}}`, stands},
		"say":    {`{"as":"A listener","to":["Ada"],"text":"What of the buses?","ask":"Ada"}`, stands[:len(stands)-1] + `,"note":"n-1"}`},
		"answer": {`{"text":"Roads have been for carts before.","files":[{"name":"cart.png","type":"image/png","data":"iVBORw0KGgo="}]}`, stands},
		"fork":   {`{"seq":12,"config":{"rounds":3}}`, begun},
		"reopen": {`{"rounds":1,"ask":"What would change your mind?","to":"Ada","budget":{"hard":1}}`, begun},
	}
}
