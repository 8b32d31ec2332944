package storetest_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
)

// rewrite makes of each text in an event another one.
func rewrite(e *flow.Event, edit func(text string) string) {
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			return edit(v)
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = walk(v[key])
			}
		}
		return v
	}
	data, _ := json.Marshal(e)
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var v any
	_ = decoder.Decode(&v)
	data, _ = json.Marshal(walk(v))
	var out flow.Event
	if json.Unmarshal(data, &out) == nil {
		*e = out
	}
}

func eventDefects() []defect {
	reads := func(edit func(e *flow.Event)) func(s *spoiled) { return func(s *spoiled) { s.events(edit) } }
	texts := func(edit func(text string) string) func(s *spoiled) {
		return reads(func(e *flow.Event) { rewrite(e, edit) })
	}
	return []defect{
		{"keeps no bodies", []string{"event/every*", "event/long*", "event/numbers"}, "not what was appended", reads(func(e *flow.Event) {
			e.Body = bodyOf(e.Kind())
		})},
		{"keeps no kinds of others", []string{"event/kinds of*"}, "not what was appended", reads(func(e *flow.Event) {
			if body.As[flow.Foreign](*e) != nil {
				e.Body = &flow.RetriedNow{}
			}
		})},
		{"keeps no kinds", []string{"event/every*"}, "kind-retriedNow", reads(func(e *flow.Event) { e.Body = &flow.Foreign{JSON: json.RawMessage("{}")} })},
		{"knows the kinds of an older release", []string{"event/every*"}, "kind-opened", reads(func(e *flow.Event) {
			if e.Kind() == flow.EventOpened {
				e.Body = &flow.Opened{}
			}
		})},
		{"ends a text at NUL", []string{"event/hostile*"}, "NUL", texts(func(text string) string { text, _, _ = strings.Cut(text, "\x00"); return text })},
		{"knows one kind of line", []string{"event/hostile*"}, "lines", texts(func(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") })},
		{"reads a line of its own", []string{"event/hostile*"}, "seq", texts(func(text string) string {
			if strings.Contains(text, `{"seq":`) {
				return ""
			}
			return text
		})},
		{"has three bytes for a character", []string{"event/hostile*"}, "emoji", texts(func(text string) string { return strings.ReplaceAll(text, "\U0010ffff", "?") })},
		{"has 64 KiB for a line", []string{"event/long*"}, "not what was appended", reads(func(e *flow.Event) {
			if body.As[flow.Turn](*e) != nil && len(body.As[flow.Turn](*e).Text) > 64<<10-50 {
				turn := *body.As[flow.Turn](*e)
				turn.Text = turn.Text[:64<<10-50]
				e.Body = &turn
			}
		})},
		{"reads JSON into maps", []string{"event/JSON*"}, "not what was appended", reads(func(e *flow.Event) {
			if body.As[flow.Sent](*e) != nil {
				var v any
				_ = json.Unmarshal(body.As[flow.Sent](*e).Payload, &v)
				data, _ := json.Marshal(v)
				e.Body = &flow.Sent{Trigger: body.As[flow.Sent](*e).Trigger, Payload: data}
			}
		})},
		{"has microseconds", []string{"event/times", "event/every*"}, "not what was appended", reads(func(e *flow.Event) { e.At = e.At.Truncate(time.Microsecond) })},
		{"has one zone", []string{"event/times"}, "not what was appended", reads(func(e *flow.Event) { e.At = e.At.UTC() })},
		{"has the zone of its machine", []string{"event/times"}, "was in UTC", reads(func(e *flow.Event) { e.At = e.At.In(time.FixedZone("here", 0)) })},
		{"numbers are floats", []string{"event/numbers"}, "not what was appended", reads(func(e *flow.Event) {
			if body.As[flow.Charge](*e) != nil {
				spend := *body.As[flow.Charge](*e)
				spend.Took = time.Duration(float64(spend.Took))
				e.Body = &spend
			}
		})},
	}
}
