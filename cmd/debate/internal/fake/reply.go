package fake

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/agonist-dev/debate/context/token"
)

// reply is what a call is answered.
type reply struct {
	text  string
	fault Fault
	tool  string // the tool that is asked for
	with  string // its arguments

	input, output int // the tokens that are reported
}

// reply returns the answer to a call under a rule.
func (s *Server) reply(call *Call, rule *Rule) *reply {
	said := &reply{text: rule.Text, fault: rule.Fault, tool: rule.Tool, with: rule.Arguments}
	switch {
	case said.text != "" || said.tool != "":
	case said.fault == FaultRefusal:
		said.text = "I cannot help with that."
	case call.schema != nil:
		data, err := json.Marshal(value(call.schema, call.schema, call.Name))
		if err == nil {
			said.text = string(data)
		}
	case s.Text != "":
		said.text = s.Text
	default:
		said.text = "What " + call.Name + " says."
	}
	said.input, said.output = tokens(call.Body), tokens(said.text)
	if s.Counts {
		said.count(call)
	}
	return said
}

// count counts tokens as OpenAI does, and cuts an answer that is longer than it may be.
func (r *reply) count(call *Call) {
	const least = 2 // bytes of a token, of texts that tests have
	counter := token.ForModel(call.Model)
	r.input, r.output = texts(counter, call.read), counter.Count(r.text)
	if call.most > 0 && r.output > call.most {
		r.text = strings.ToValidUTF8(r.text[:min(len(r.text), least*call.most)], "")
		r.output, r.fault = call.most, FaultLength
	}
}

// texts counts the tokens of the texts in a part of a request. A schema is not among them.
func texts(counter token.Counter, part any) (sum int) {
	const message = 4 // tokens that stand around a text
	switch part := part.(type) {
	case string:
		return counter.Count(part) + message
	case []any:
		for _, one := range part {
			sum += texts(counter, one)
		}
	case map[string]any:
		sum = texts(counter, part["text"]) + texts(counter, part["content"])
	}
	return sum
}

// value returns a value that matches a schema. Texts name the call and the field; numbers are 80 if that is possible, and 8 in a judge's
// assessment, whose scale ends at 10.
func value(root, schema any, field string) any {
	node, _ := schema.(map[string]any)
	if place, ok := node["$ref"].(string); ok {
		return value(root, lookUp(root, place), field)
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if all, ok := node[word].([]any); ok && len(all) > 0 {
			return value(root, all[0], field)
		}
	}
	if all, ok := node["enum"].([]any); ok && len(all) > 0 {
		return all[0]
	}
	if only, ok := node["const"]; ok {
		return only
	}
	switch kind(node) {
	case "object":
		out := make(map[string]any)
		properties, _ := node["properties"].(map[string]any)
		for name, property := range properties {
			out[name] = value(root, property, field+"."+name)
		}
		return out
	case "array":
		least, _ := node["minItems"].(float64)
		out := make([]any, max(int(least), 1))
		for i := range out {
			out[i] = value(root, node["items"], field)
		}
		return out
	case "integer", "number":
		lowest, _ := node["minimum"].(float64)
		highest, bounded := node["maximum"].(float64)
		switch {
		case bounded:
		case strings.Contains(field, ".assessment."):
			highest = 8
		default:
			highest = 80
		}
		return max(lowest, min(highest, 80))
	case "boolean":
		return true
	case "null":
		return nil
	default:
		return "What stands in " + field + "."
	}
}

// kind returns the type of a schema: the first of several.
func kind(node map[string]any) string {
	if all, ok := node["type"].([]any); ok && len(all) > 0 {
		name, _ := all[0].(string)
		return name
	}
	name, _ := node["type"].(string)
	return name
}

// lookUp returns the schema at a place such as "#/$defs/Requirement".
func lookUp(root any, place string) any {
	for name := range strings.SplitSeq(strings.TrimPrefix(place, "#/"), "/") {
		node, _ := root.(map[string]any)
		root = node[name]
	}
	return root
}

// failure is an answer with another status than 200.
type failure struct {
	status        int
	code, message string
	retryAfter    string // in seconds; empty: none
}

func (f failure) write(w http.ResponseWriter) {
	if f.retryAfter != "" {
		w.Header().Set("Retry-After", f.retryAfter)
	}
	if f.message == "" {
		f.message = http.StatusText(f.status)
	}
	if f.code == "" {
		f.code = map[int]string{
			http.StatusUnauthorized: "invalid_api_key", http.StatusTooManyRequests: "rate_limit_exceeded",
		}[f.status]
	}
	write(w, f.status, `{"error":{"message":`+quote(f.message)+`,"type":"error","code":`+quote(f.code)+`}}`)
}
