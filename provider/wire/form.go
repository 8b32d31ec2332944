package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/toolschema"
	"github.com/agonist-dev/debate/provider"
)

const (
	plainID  = 40                         // bytes of the id of a call; OpenAI takes no more in chat completions
	toolName = 64                         // bytes of the name of a tool, at most vendors
	noResult = "The tool gave no result." // all protocols require a result for each call
	noText   = "(empty)"                  // some vendors refuse a blank result
	failed   = "The tool failed: "
	opening  = "(The conversation begins with your own words.)" // APIs and chat templates want a user's message first
)

// Form is the form in which a server takes a conversation. The zero Form is one that every server takes: use it unless the server's API
// describes another.
type Form struct {
	// ID returns the id under which a call is sent. n is 1 for the first call with an id, 2 for the second, and so on: ids of models
	// repeat themselves, and many vendors refuse the same id twice. For one id, ID returns another result for each n. nil: 1 to 40
	// letters, digits, '_' and '-', as [PlainID] makes them.
	ID func(id string, n int) string
	// Beside says that a message which holds results of tools may hold texts of the user beside them. Otherwise a text that would
	// follow results stands at the end of the last result: many chat templates refuse a user's message there.
	Beside bool
	// NoSystem puts the system prompt before the first text of the user, for models without a system role.
	NoSystem bool
}

// Request returns a copy of a request in this form. An adapter writes its messages one after the other, and then Last, if anything is left
// of it. [provider.Request.Own] tells whose a message is, and a result is written by [Told] where the API has no field for a failure. req
// is not changed, and the copy shares its Parts. In the copy:
//
//   - Each message of req.Self with tool calls is followed by their results, one for each, in their order, and by nothing else before
//     them. Calls and results of other speakers are left out, and so are results without a call.
//   - Names of tools that were called are valid, ids of calls are valid and differ, and arguments are objects.
//   - No text is blank, and none holds control characters. A message of which nothing is left is left out, and Last is then empty. A
//     message with a result has no text of its own.
//   - A text of the user that would follow results of tools is a part of the last result, unless Beside is set. Files, which no result
//     can hold, stand before the calls then, with their text.
//   - The first message is not the speaker's own: one of the user precedes it.
//   - The schemas of tools are lowered to what all vendors take.
//
// The error is a [*provider.Error] of kind validation with code "tool", and NotSent: the schema of a tool cannot be lowered.
func (f Form) Request(req *provider.Request) (*provider.Request, error) {
	tools, err := lowered(req.Tools)
	if err != nil {
		return nil, err
	}
	c := conversion{form: f, req: req, tools: tools, list: make([]provider.Message, 0, len(req.Messages)+1)}
	for i := range req.Messages {
		switch m := &req.Messages[i]; {
		case c.calls(m):
			c.call(*m, req.Messages[i+1:])
		default: // a result stands behind its call
			c.say(*m, req.Own(m))
		}
	}
	out := *req
	out.System, out.Tools, out.Last = printable(req.System), tools, provider.Message{}
	if blank(out.System) {
		out.System = ""
	}
	// The last message is the engine's, whoever its speaker is. It stays apart, because a cache does not keep it.
	before := len(c.list)
	last := req.Last
	last.ToolCalls, last.ToolResult = nil, nil
	c.say(last, false)
	if n := len(c.list) - 1; n == before && c.list[n].ToolResult == nil {
		out.Last, c.list = c.list[n], c.list[:n]
	}
	out.Messages = c.list
	if f.NoSystem {
		promptFirst(&out)
	}
	if len(out.Messages) > 0 && out.Own(&out.Messages[0]) && len(out.Messages[0].Parts) == 0 {
		out.Messages = slices.Insert(out.Messages, 0, provider.Message{Text: opening})
	}
	return &out, nil
}

// promptFirst puts the system prompt before the first text of the user.
func promptFirst(req *provider.Request) {
	system, first := req.System, &req.Last
	if req.System = ""; system == "" {
		return
	}
	if len(req.Messages) > 0 {
		first = &req.Messages[0]
		if req.Own(first) {
			req.Messages = slices.Insert(req.Messages, 0, provider.Message{Text: system})
			return
		}
	}
	if first.Text != "" {
		system += "\n\n" + first.Enclosed()
	}
	*first = provider.Message{Text: system, Parts: first.Parts}
}

// conversion collects the messages of a request in a form.
type conversion struct {
	form  Form
	req   *provider.Request
	tools []provider.Tool
	list  []provider.Message
	first int                           // where the calls begin whose results the list ends with
	taken map[*provider.ToolResult]bool // results that stand behind their calls
	ids   map[string]bool               // that are sent
	times map[string]int                // how often an id of a model has come
}

// calls reports whether a message holds tool calls of the speaker.
func (c *conversion) calls(m *provider.Message) bool {
	return len(m.ToolCalls) > 0 && c.req.Own(m)
}

// results reports whether the list ends with the result of a tool.
func (c *conversion) results() bool {
	return len(c.list) > 0 && c.list[len(c.list)-1].ToolResult != nil
}

// say adds the text and the files of a message.
func (c *conversion) say(m provider.Message, own bool) {
	m.ToolCalls, m.ToolResult = nil, nil
	if m.Text = printable(m.Text); blank(m.Text) {
		m.Text = ""
	}
	switch {
	case m.Text == "" && len(m.Parts) == 0:
	case c.form.Beside || own || !c.results():
		c.list = append(c.list, m)
	case len(m.Parts) > 0:
		c.list = slices.Insert(c.list, c.first, m)
		c.first++
	default:
		c.list[len(c.list)-1].ToolResult.Text += "\n\n" + m.Enclosed()
	}
}

// call adds a message in which the speaker calls tools, and the results. It looks for them in what follows, up to the speaker's next
// calls, because ids may repeat themselves.
func (c *conversion) call(m provider.Message, following []provider.Message) {
	if i := slices.IndexFunc(following, func(m provider.Message) bool { return c.calls(&m) }); i >= 0 {
		following = following[:i]
	}
	if m.Text = printable(m.Text); blank(m.Text) {
		m.Text = ""
	}
	m.ToolResult = nil
	calls := make([]provider.ToolCall, len(m.ToolCalls))
	results := make([]provider.Message, len(m.ToolCalls))
	for i, call := range m.ToolCalls {
		result := c.result(call.ID, following)
		result.ID = c.id(call.ID)
		call.ID, call.Name, call.Arguments = result.ID, c.toolName(call.Name), sentArguments(call.Arguments)
		calls[i], results[i] = call, provider.Message{Speaker: c.req.Self, ToolResult: result}
	}
	if m.ToolCalls = calls; !c.results() {
		c.first = len(c.list)
	}
	c.list = append(append(c.list, m), results...)
}

// result returns a copy of the result of a call. A result that is missing is made up; where an API marks failures, it is one.
func (c *conversion) result(id string, in []provider.Message) *provider.ToolResult {
	for i := range in {
		r := in[i].ToolResult
		if r == nil || r.ID != id || c.taken[r] || in[i].Speaker != "" && in[i].Speaker != c.req.Self {
			continue
		}
		if c.taken == nil {
			c.taken = make(map[*provider.ToolResult]bool)
		}
		c.taken[r] = true
		given := *r
		if given.Text = printable(given.Text); blank(given.Text) {
			given.Text = noText
		}
		return &given
	}
	return &provider.ToolResult{Text: noResult, Error: c.form.Beside}
}

// toolName returns the name under which a call is sent. That of a tool that is offered stays. A name that a model made up does not become
// one of these: its result, which says that there is no such tool, would speak of them.
func (c *conversion) toolName(name string) string {
	offered := func(name string) bool {
		return slices.ContainsFunc(c.tools, func(t provider.Tool) bool { return t.Name == name })
	}
	if offered(name) {
		return name
	}
	made := ToolName(name)
	for n := 2; offered(made); n++ {
		made = PlainID(toolName, "")(ToolName(name), n)
	}
	return made
}

// id returns the id under which a call is sent.
func (c *conversion) id(id string) string {
	if c.ids == nil {
		c.ids, c.times = make(map[string]bool), make(map[string]int)
	}
	if c.form.ID == nil {
		c.form.ID = PlainID(plainID, "")
	}
	for {
		c.times[id]++
		if made := c.form.ID(id, c.times[id]); !c.ids[made] {
			c.ids[made] = true
			return made
		}
	}
}

// PlainID returns a [Form.ID] that makes ids of at most so many bytes: letters, digits, '_', '-', and the characters in more. Ids of that
// form stay, and others keep as much as they can.
func PlainID(most int, more string) func(id string, n int) string {
	return func(id string, n int) string {
		if id = valid(id, more); id == "" {
			id = "call"
		}
		suffix := ""
		if n > 1 {
			suffix = "_" + strconv.Itoa(n)
		}
		return id[:min(len(id), most-len(suffix))] + suffix
	}
}

// ToolName returns a name of a tool that every vendor takes: 1 to 64 letters, digits, '_' and '-', of which the first is a letter or
// '_'. Models make names up, and a vendor that checks them refuses all further requests with such a call.
func ToolName(name string) string {
	name = valid(name, "")
	if name == "" || !strings.ContainsRune(letters+"_", rune(name[0])) {
		name = "_" + name
	}
	return name[:min(len(name), toolName)]
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// valid replaces all characters but letters, digits, '_', '-' and those in more by '_'.
func valid(s, more string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters+"0123456789_-"+more, r) {
			return r
		}
		return '_'
	}, s)
}

// Told returns the text of a result for a protocol that has no field which says that a tool has failed.
func Told(r *provider.ToolResult) string {
	if r.Error {
		return failed + r.Text
	}
	return r.Text
}

// lowered returns the tools as all vendors take them.
func lowered(list []provider.Tool) ([]provider.Tool, error) {
	var out []provider.Tool // nil, so that none are sent if there are none
	for _, t := range list {
		parameters, err := toolschema.Lower(t.Parameters)
		if err != nil {
			return nil, Unwritable("tool", "the tool "+Clip(t.Name)+" cannot be offered: "+Clip(err.Error()))
		}
		t.Description, t.Parameters = printable(t.Description), parameters
		out = append(out, t)
	}
	return out, nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// control reports whether a character controls something. Tabs and line breaks are text.
func control(c rune) bool { return unicode.IsControl(c) && c != '\t' && c != '\n' && c != '\r' }

// printing leaves control characters out: vendors and the databases of gateways refuse some of them.
func printing(c rune) rune {
	if control(c) {
		return -1
	}
	return c
}

func printable(s string) string { return strings.Map(printing, s) }

// sentArguments returns the arguments of a call as vendors take them: an object, without control characters in its texts. Anything else
// becomes an object without fields. Half of a surrogate pair, which servers in Python cannot write, becomes U+FFFD.
func sentArguments(raw json.RawMessage) json.RawMessage {
	data := bytes.TrimSpace(bytes.Map(printing, raw))
	if len(data) == 0 || data[0] != '{' || !json.Valid(data) {
		return json.RawMessage("{}")
	}
	if bytes.IndexByte(data, '\\') < 0 {
		return data
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		take, put := sentEscape(data)
		out, data = append(out, put...), data[take:]
	}
	return out
}

// sentEscape returns what becomes of the next byte, or the next escape, of valid JSON, and how many bytes it has.
func sentEscape(data []byte) (take int, put []byte) {
	switch {
	case data[0] != '\\':
		return 1, data[:1]
	case data[1] == 'b' || data[1] == 'f':
		return 2, nil
	case data[1] != 'u':
		return 2, data[:2]
	}
	c := hex4(data)
	switch {
	case control(c):
		return escape, nil
	case !utf16.IsSurrogate(c):
		return escape, data[:escape]
	case len(data) > 2*escape && data[escape] == '\\' && data[escape+1] == 'u' && utf16.DecodeRune(c, hex4(data[escape:])) != utf8.RuneError:
		return 2 * escape, data[:2*escape]
	}
	return escape, []byte(`\ufffd`)
}

// hex4 returns the number in an escape such as \u00e4 at the beginning of valid JSON.
func hex4(data []byte) rune {
	n, _ := strconv.ParseUint(string(data[2:6]), 16, 16) // it is valid
	return rune(n)
}
