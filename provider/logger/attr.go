package logger

import (
	"fmt"
	"log/slog"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
)

// list gathers attributes, and leaves out what says nothing.
type list []slog.Attr

func (l *list) text(key, value string) { l.body(key, value, mostName) }

func (l *list) body(key, value string, most int) {
	if value != "" {
		*l = append(*l, slog.String(key, cut(value, most)))
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

// reply adds what a response tells beside its text.
func (l *list) reply(req *provider.Request, r *provider.Response) {
	l.text("stop", string(r.Stop))
	if r.Model != req.Model {
		l.text("answeredBy", r.Model)
	}
	l.yes("cached", r.Cached)
	usage := list{}
	usage.number("input", r.Usage.Input)
	usage.number("cachedInput", r.Usage.CachedInput)
	usage.number("cacheWrite", r.Usage.CacheWrite)
	usage.number("output", r.Usage.Output)
	usage.number("reasoning", r.Usage.Reasoning)
	l.group("usage", usage)
	if len(r.Calls) == 0 {
		return
	}
	names := make([]string, min(len(r.Calls), mostTools))
	for i := range names {
		names[i] = cut(r.Calls[i].Name, mostName)
	}
	l.group("tools", list{slog.Int("calls", len(r.Calls)), slog.Any("names", names)})
}

// texts adds those of a list.
func (l *list) texts(key string, values []string) {
	if len(values) > 0 {
		*l = append(*l, slog.Any(key, values))
	}
}

// cut yields at most so many bytes of a text, and says how many it left out.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	at := most
	for at > max(0, most-utf8.UTFMax) && !utf8.RuneStart(text[at]) {
		at--
	}
	return fmt.Sprintf("%s… [%d bytes more]", text[:at], len(text)-at)
}
