package fake

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/internal/toolschema"
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
func value(root, n *toolschema.Node, field string) any {
	switch n = n.Plain(root); {
	case n == nil:
		return "What stands in " + field + "."
	case len(n.Enum) > 0:
		return n.Enum[0]
	case n.Const != nil:
		return n.Const
	}
	switch n.Kind() {
	case "object":
		out := make(map[string]any)
		for name, property := range n.Properties {
			out[name] = value(root, property, field+"."+name)
		}
		return out
	case "array":
		out := make([]any, max(n.MinItems, 1))
		for i := range out {
			out[i] = value(root, n.Items, field)
		}
		return out
	case "integer", "number":
		highest := 80.0
		switch {
		case n.Maximum != nil:
			highest = min(*n.Maximum, 80)
		case strings.Contains(field, ".assessment."):
			highest = 8
		}
		return max(n.Minimum, highest)
	case "boolean":
		return true
	case "null":
		return nil
	default:
		return "What stands in " + field + "."
	}
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
			http.StatusUnauthorized: "invalid_api_key", http.StatusNotFound: "model_not_found",
			http.StatusTooManyRequests: "rate_limit_exceeded",
		}[f.status]
	}
	write(w, f.status, `{"error":{"message":`+quote(f.message)+`,"type":"error","code":`+quote(f.code)+`}}`)
}
