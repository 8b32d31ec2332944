package logger

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// list collects attributes, and leaves out empty and zero ones.
type list []slog.Attr

// text adds a name, a code or an id.
func (l *list) text(key, value string) {
	if value != "" {
		*l = append(*l, slog.String(key, named(value)))
	}
}

// body adds a text that may have several lines.
func (l *list) body(key, value string, limit int) {
	if value != "" {
		*l = append(*l, slog.String(key, cut(value, limit)))
	}
}

func (l *list) number(key string, value int) {
	if value != 0 {
		*l = append(*l, slog.Int(key, value))
	}
}

func (l *list) yes(key string, value bool) {
	if value {
		*l = append(*l, slog.Bool(key, true))
	}
}

func (l *list) group(key string, members list) {
	if len(members) > 0 {
		*l = append(*l, slog.Attr{Key: key, Value: slog.GroupValue(members...)})
	}
}

// reply adds the attributes of a response, without its text.
func (l *list) reply(req *provider.Request, r *provider.Response) {
	l.text("stop", string(r.Stop))
	if r.Model != req.Model {
		l.text("answeredBy", r.Model)
	}
	l.text("replyId", foreign(r.ID))
	l.yes("cached", r.Cached)
	l.yes("partial", r.Partial)
	l.names("left", r.Left)
	usage := list{}
	usage.number("input", r.Usage.Input)
	usage.number("cachedInput", r.Usage.CachedInput)
	usage.number("cacheWrite", r.Usage.CacheWrite)
	usage.number("output", r.Usage.Output)
	usage.number("reasoning", r.Usage.Reasoning)
	l.group("usage", usage)
	if r.Cost != nil {
		*l = append(*l, slog.Float64("cost", *r.Cost))
	}
	l.number("citations", len(r.Citations))
	if len(r.Calls) == 0 {
		return
	}
	names := make([]string, min(len(r.Calls), maxTools))
	for i := range names {
		names[i] = named(r.Calls[i].Name)
	}
	l.group("tools", list{slog.Int("calls", len(r.Calls)), slog.Any("names", names)})
}

// asked adds what a request asks for beyond its text: the names of the options, of further fields and of headers, and the
// number of its files. Their values are texts.
func (l *list) asked(req *provider.Request) {
	files := len(req.Last.Parts)
	for i := range req.Messages {
		files += len(req.Messages[i].Parts)
	}
	l.number("files", files)
	o := req.Options
	if o == nil {
		return
	}
	var names []string
	for _, ability := range o.Asks() {
		names = append(names, string(ability))
	}
	if o.Reasoning == provider.ReasoningHide {
		names = append(names, "reasoning hide")
	}
	l.names("options", names)
	l.text("effort", string(o.Effort))
	l.names("extra", keys(o.Extra))
	l.names("headers", keys(o.Header))
}

// keys returns the first keys of a map, sorted.
func keys[V any](m map[string]V) []string {
	all := slices.Sorted(maps.Keys(m))
	return all[:min(len(all), maxTools)]
}

// names adds a list of names.
func (l *list) names(key string, values []string) {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = named(value)
	}
	l.texts(key, out)
}

// texts adds a list of texts.
func (l *list) texts(key string, values []string) {
	if len(values) > 0 {
		*l = append(*l, slog.Any(key, values))
	}
}

// foreign returns a text of a vendor without credentials. What could control a terminal goes first: it is never shown, and may stand
// in a key or in the name of a header.
func foreign(said string) string { return redact.Foreign(text.Shown(said)) }

// named returns a name as a part of a line: vendors and models choose many of them, and not every handler quotes a value.
func named(name string) string {
	name = cut(name, maxName)
	return text.OneLine(name, len(name))
}

// cut returns at most that many bytes of a text, followed by the number of bytes left out, and without what could control a
// terminal: that goes first, since it could stand in a key. What looks like a key is replaced then, because it could not be found
// once it is cut in two.
func cut(body string, limit int) string {
	body = text.Shown(body)
	body = redact.Replace(body, redact.Merge(redact.Likely(body)))
	if len(body) <= limit {
		return body
	}
	at := limit
	for at > max(0, limit-utf8.UTFMax) && !utf8.RuneStart(body[at]) {
		at--
	}
	return fmt.Sprintf("%s… [%d bytes more]", body[:at], len(body)-at)
}
