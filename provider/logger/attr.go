package logger

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/provider"
)

// list collects attributes, and leaves out empty and zero ones.
type list []slog.Attr

func (l *list) text(key, value string) { l.body(key, value, maxName) }

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
	l.text("replyId", redact.Foreign(r.ID))
	l.yes("cached", r.Cached)
	l.texts("left", r.Left)
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
		names[i] = cut(r.Calls[i].Name, maxName)
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
	l.texts("options", names)
	l.text("effort", string(o.Effort))
	l.texts("extra", keys(o.Extra))
	l.texts("headers", keys(o.Header))
}

// keys returns the first keys of a map, sorted.
func keys[V any](m map[string]V) []string {
	all := slices.Sorted(maps.Keys(m))
	all = all[:min(len(all), maxTools)]
	for i := range all {
		all[i] = cut(all[i], maxName)
	}
	return all
}

// texts adds a list of texts.
func (l *list) texts(key string, values []string) {
	if len(values) > 0 {
		*l = append(*l, slog.Any(key, values))
	}
}

// cut returns at most that many bytes of a text, followed by the number of bytes left out. What looks like a key is
// replaced before, because it could not be found once it is cut in two.
func cut(text string, limit int) string {
	text = redact.Replace(text, redact.Merge(redact.Likely(text)))
	if len(text) <= limit {
		return text
	}
	at := limit
	for at > max(0, limit-utf8.UTFMax) && !utf8.RuneStart(text[at]) {
		at--
	}
	return fmt.Sprintf("%s… [%d bytes more]", text[:at], len(text)-at)
}
