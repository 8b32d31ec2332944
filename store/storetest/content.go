package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

func eventChecks() []check {
	return []check{
		{"event/every kind", eventKinds},
		{"event/kinds of a flow's own", eventOwn},
		{"event/hostile texts", eventTexts},
		{"event/long texts", eventLong},
		{"event/JSON within", eventRaw},
		{"event/times", eventTimes},
		{"event/numbers", eventNumbers},
	}
}

// kinds returns an event of each kind that every flow has and that is stored, with every field set.
func kinds() []flow.Event {
	f := &filler{}
	events := []flow.Event{
		{Body: full[flow.Start](f)},
		{Body: full[flow.Transition](f)},
		{Body: full[flow.Round](f)},
		{Body: full[flow.Intent](f)},
		{Body: full[flow.Turn](f)},
		{Body: full[flow.Summarized](f)},
		{Body: full[flow.Rejection](f)},
		{Body: full[flow.Failure](f)},
		{Body: full[flow.Charge](f)},
		{Body: full[flow.Late](f)},
		{Body: full[flow.Dropped](f)},
		{Body: full[flow.Warning](f)},
		{Body: full[flow.Skipped](f)},
		{Body: full[flow.RetriedNow](f)},
		{Body: full[flow.Redacted](f)},
		{Body: full[flow.Withdrawn](f)},
		{Body: full[flow.Continued](f)},
		{Body: full[flow.Amendment](f)},
		{Body: full[flow.Inquiry](f)},
		{Body: full[flow.Questions](f)},
		{Body: full[flow.Answer](f)},
		{Body: full[flow.Sent](f)},
		{Body: full[flow.Note](f)},
		{Body: full[flow.Opened](f)},
		{Body: full[flow.ToolCalls](f)},
		{Body: full[flow.ToolResult](f)},
	}
	return after(0, events...)
}

// filler sets every field to a different value.
type filler struct{ n int64 }

func full[T any](f *filler) *T {
	var v T
	f.fill(reflect.ValueOf(&v).Elem(), 0)
	return &v
}

// deep bounds the recursion into types that contain themselves.
const deep = 8

func (f *filler) fill(v reflect.Value, depth int) {
	f.n++
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = moment(f.n)
		return
	case *json.RawMessage:
		*p = fmt.Appendf(nil, `{"n":%d}`, f.n)
		return
	case *error:
		*p = fmt.Errorf("cause %d", f.n)
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", f.n))
	case reflect.Int, reflect.Int64:
		v.SetInt(f.n * int64(time.Second))
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 1/float64(3))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		if depth < deep {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if depth < deep {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			f.fill(v.Index(0), depth+1)
			f.fill(v.Index(1), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, depth+1)
		f.fill(value, depth+1)
		v.SetMapIndex(key, value)
	}
}

// eventKinds stores each event between two others.
func eventKinds(x *exam) {
	handles := x.handles(2)
	for _, e := range kinds() {
		x.kept(handles[0], handles[1], "kind-"+string(e.Kind()), said("neighbour"), e, said("neighbour"))
	}
}

// own is a body that only one flow knows.
type own struct {
	Text string  `json:"text"`
	Mark float64 `json:"mark"`
}

// EventKind implements flow.Body.
func (*own) EventKind() flow.EventKind { return "own" }

// eventOwn stores events of kinds that no store knows: one that a flow has made, and one that was read
// without the flow. Both come back with the same kind and JSON.
func eventOwn(x *exam) {
	handles := x.handles(2)
	x.kept(handles[0], handles[1], "made", said("neighbour"), flow.Event{Body: &own{"a\n<b>", 0.1}}, said("neighbour"))
	x.kept(handles[0], handles[1], "foreign", said("neighbour"),
		flow.Event{Body: &flow.Foreign{Kind: "own", JSON: json.RawMessage(`{"text":"a\n","mark":0.10,"more":[null]}`)}},
		flow.Event{Body: &flow.Foreign{Kind: "Own kind/2", JSON: json.RawMessage(`[]`)}},
		said("neighbour"),
	)
}

// kept appends events to a new conversation through one handle, first in one commit, then one by one. It
// requires that another handle reads the same.
func (x *exam) kept(writer, reader store.Store, id string, events ...flow.Event) {
	x.Helper()
	n := int64(len(events))
	all := after(0, append(append([]flow.Event(nil), events...), events...)...)
	x.append(writer, id, 0, "w", all[:n])
	for i := n; i < 2*n; i++ {
		x.append(writer, id, i, "w", all[i:i+1])
	}
	x.log(reader, id, 0, all)
	x.log(writer, id, n, all[n:])
}

// texts are examples of what people, models and attackers write.
func texts() map[string]string {
	return map[string]string{
		"empty":            "",
		"blank":            " \t ",
		"quotes":           `"double" 'single' ` + "`back`" + ` \ \\ \" \' \n`,
		"lines":            "one\ntwo\r\nthree\rfour\n\n\n",
		"ends in a line":   "end\n",
		"NUL":              "a\x00b\x00",
		"controls":         "\x01\x02\x07\x08\x0b\x0c\x1b[31m\x1f\x7f",
		"invalid UTF-8":    "\xff\xfe\xc3\x28 \xed\xa0\x80 \xf0\x9f\x98 end\xc3",
		"separators":       "line\u2028paragraph\u2029next\u0085mark\ufeff",
		"emoji":            "👩‍👩‍👧‍👦 🇪🇺 🙂 e\u0301 \U0010ffff \ufffd",
		"scripts":          "Ärzte Straße Σοφός Москва 東京 שלום مرحبا हिन्दी",
		"directions":       "\u202egnp.exe\u202c \u200bzero\u200dwidth",
		"HTML":             "<script>alert('&amp;')</script> &lt; <!-- -->",
		"JSON":             `{"seq":1,"at":"2026-01-01T00:00:00Z","kind":"ack"}`,
		"a line of JSON":   "x\n" + `{"seq":2,"at":"2026-01-01T00:00:00Z","kind":"ack"}` + "\ny",
		"a line with sums": "\n00000000 {\"seq\":2}\ncrc32:deadbeef 2 {}\n\x1e{}\n---\n",
		"SQL":              `'); DROP TABLE events; --`,
		"placeholders":     "$1 $2 ? ?1 :id @id %s %d %(id)s {{.}} ${x}",
		"COPY":             "\\.\n\\N\t\\x00",
		"patterns":         `100% _ \% \_ [a-z]* .*`,
		"escapes":          `\u0000 \ud800 \xff &#0; %00`,
		"numbers":          "9223372036854775808 -0 1e999 NaN",
		"null":             "null",
	}
}

// eventTexts stores each text in every field that can hold a text, between neighbours that must not
// change.
func eventTexts(x *exam) {
	handles := x.handles(2)
	number := 0
	for name, text := range texts() {
		number++
		start := started(flow.Settings{Topic: text, Labels: map[string]string{"key " + text: text}})
		start.Body.(*flow.Start).Texts = map[string]string{text: text} //nolint:forcetypeassert // started makes one
		x.kept(handles[0], handles[1], fmt.Sprint("text-", number),
			said("neighbour"), start, said(text), said("neighbour"),
			flow.Event{Body: &flow.Answer{Inquiry: text, Text: text}},
			flow.Event{Body: &flow.Transition{To: flow.State(text), Evidence: text}},
			flow.Event{Body: &flow.Rejection{By: text, Text: text, Problems: []string{text, text}}},
			flow.Event{Body: &flow.Failure{By: text, Error: &flow.Error{Err: errors.New(text)}}},
			said("neighbour"),
		)
		if x.Failed() {
			x.Fatalf("this was the text %q: %s", name, brief(text))
		}
	}
	if n := len(x.list(handles[1], store.Filter{})); n != number {
		x.Errorf("of %d conversations with hostile texts List yields %d", number, n)
	}
}

func eventLong(x *exam) {
	handles := x.handles(2)
	length := longText()
	for i, part := range []string{"x", "words \"\\\r\nÄ🙂\x00\xff"} {
		text := strings.Repeat(part, length/len(part)+1)[:length]
		x.kept(handles[0], handles[1], fmt.Sprint("long-", i), said("neighbour"), said(text), said("neighbour"))
	}
	// Buffers have round sizes.
	var sizes []flow.Event
	for _, size := range []int{4 << 10, 32 << 10, 64 << 10} {
		for d := -200; d <= 0; d += sizesApart() {
			sizes = append(sizes, said(strings.Repeat("y", size+d)))
		}
	}
	x.append(handles[0], "sizes", 0, "w", after(0, sizes...))
	x.log(handles[1], "sizes", 0, sizes)
}

// eventRaw stores JSON that is not from a Go value: an answer of a model, or the data of another flow.
func eventRaw(x *exam) {
	handles := x.handles(2)
	for i, data := range []string{
		`null`, `0`, `""`, `[]`, `{}`, `{"b":1,"a":2}`, `{"a":1,"a":2}`, `{"a":1,"A":2}`, `12345678901234567890123`, `1e400`, `1.0`,
		`-0`, `0.10`, `1E+2`, `"\ud800"`, `"\udc00\ud800"`, `"\u0000"`, `"\u0041\/"`, `"\u2028"`, `{"":{"\u0000":null}}`,
		strings.Repeat("[", 500) + strings.Repeat("]", 500),
	} {
		raw := json.RawMessage(data)
		turn := said("text")
		turn.Body.(*flow.Turn).Data = raw //nolint:forcetypeassert // said makes one
		x.kept(handles[0], handles[1], fmt.Sprint("raw-", i), turn,
			flow.Event{Body: &flow.Sent{Trigger: "own", Payload: raw}},
			flow.Event{Body: &flow.Inquiry{ID: "i", Schema: raw}},
			flow.Event{Body: &flow.Foreign{Kind: "own", JSON: raw}},
		)
		if x.Failed() {
			x.Fatalf("this was the JSON %s", brief(data))
		}
	}
}

// times are far apart, close together, and in other time zones.
func times() []time.Time {
	return []time.Time{
		{},
		time.Date(1, time.January, 1, 0, 0, 0, 1, time.UTC),
		time.Date(1582, time.October, 10, 0, 0, 0, 0, time.UTC),
		time.Date(1969, time.December, 31, 23, 59, 59, 999_999_999, time.UTC),
		time.Unix(0, 0).UTC(),
		time.Unix(0, 1).UTC(),
		time.Date(2026, time.February, 28, 23, 59, 59, 123_456_789, time.UTC),
		time.Date(2026, time.March, 4, 5, 6, 7, 100_000_000, time.UTC),
		time.Date(2026, time.March, 4, 5, 6, 7, 8, time.FixedZone("", 5*3600+45*60)),
		time.Date(2026, time.March, 4, 5, 6, 7, 8, time.FixedZone("", -11*3600)),
		time.Date(9999, time.December, 31, 23, 59, 59, 999_999_999, time.UTC),
	}
}

func eventTimes(x *exam) {
	handles := x.handles(2)
	var events []flow.Event
	for i, at := range times() {
		events = append(events, flow.Event{
			Seq: int64(i) + 1, At: at, Body: &flow.Failure{By: "Ada", RetryAt: at},
		})
	}
	x.append(handles[0], "a", 0, "w", events)
	x.log(handles[1], "a", 0, events)
	for i, e := range x.read(handles[1], "a", 0) {
		if i < len(events) && events[i].At.Location() == time.UTC && e.At.Location() != time.UTC {
			x.Errorf("event %d comes back in the zone %v, and its time was in UTC", e.Seq, e.At.Location())
		}
	}
}

func eventNumbers(x *exam) {
	handles := x.handles(2)
	var events []flow.Event
	round := 0
	for _, n := range []int64{0, 1, -1, 1 << 31, 1<<53 - 1, 1<<53 + 1, math.MaxInt64, math.MinInt64} {
		round = int(n)
		events = append(events,
			flow.Event{Body: &flow.Charge{Spend: flow.Spend{
				Cost: flow.Money(n), Took: time.Duration(n), Attempt: round, Usage: provider.Usage{Input: round, Output: round},
			}}},
			flow.Event{Body: &flow.Round{N: round, Of: round}},
		)
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 0.1, 1.0 / 3, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e21, 1e-7} {
		events = append(events, flow.Event{Body: &flow.Intent{By: "j", Temperature: &v}})
	}
	x.kept(handles[0], handles[1], "a", events...)
	infos := x.list(handles[1], store.Filter{})
	if len(infos) != 1 {
		x.Fatalf("List yields %d conversations, want 1", len(infos))
	}
	if infos[0].Round != round {
		x.Errorf("the last round is %d, List has %d", round, infos[0].Round)
	}
}
