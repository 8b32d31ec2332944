package docs_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
)

var _ = flag.Bool("update", false, "write the pages under docs/reference anew")

// head returns the words with which a page begins.
func head(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

func TestThePageOfConfigsIsThatOfTheTypes(t *testing.T) {
	p := configs(t)
	p.check("config.md")
	p.areWritten()
}

// configs describes the configs.
func configs(t *testing.T) *page {
	t.Helper()
	p := newPage(t, head(t, "config.md"))
	p.defaults = true
	roots := []struct {
		title  string
		config reflect.Type
	}{
		{"Debate", reflect.TypeFor[debate.Config]()},
		{"Format", reflect.TypeFor[format.Format]()},
		{"Deliberation", reflect.TypeFor[deliberation.Config]()},
		{"Arbiter", reflect.TypeFor[arbiter.Config]()},
	}
	for _, r := range roots {
		p.entitle(r.config, r.title)
	}
	for _, r := range roots {
		fmt.Fprintf(p, "\n## %s\n\n", r.title)
		p.list(p.structRows(r.config))
		p.rest(&p.open)
	}
	p.WriteString("\n## Shared by all\n")
	p.rest(&p.shared)
	return p
}

func TestThePageOfEventsIsThatOfTheTypes(t *testing.T) {
	p := newPage(t, head(t, "events.md"))
	for made, link := range configs(t).links {
		p.links[made] = strings.Replace(link, "(#", "(config.md#", 1)
	}
	for _, frozen := range []any{flow.Settings{}, flow.Views{}, flow.Model{}, flow.ToolInfo{}} {
		p.links[reflect.TypeOf(frozen)] = "JSON"
	}
	p.links[reflect.TypeFor[flow.Error]()] = "[Error](errors.md#the-json-of-an-error)"
	kinds := p.sources[module+"/flow"].consts["EventKind"]
	inOrder := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return cmp.Compare(kinds[a].order, kinds[b].order) })
	flows := []struct {
		flow   *debate.Flow
		folder string
	}{{debate.DebateFlow(), ""}, {deliberation.Flow(), "/deliberation"}, {arbiter.Flow(), "/arbiter"}}
	for _, kind := range inOrder {
		p.entitle(reflect.TypeOf(flow.NewBody(flow.EventKind(kind))).Elem(), kind)
	}
	for _, f := range flows {
		for _, body := range f.flow.Bodies {
			p.entitle(reflect.TypeOf(body).Elem(), string(body.EventKind()))
		}
	}
	group := ""
	for _, kind := range inOrder {
		said := kinds[kind]
		if said.group != group {
			group = said.group
			all := sentences(group)
			fmt.Fprintf(p, "\n## %s\n\n%s\n", strings.TrimSuffix(all[0], "."), strings.Join(all[1:], " "))
		}
		_, text, _ := strings.Cut(said.text, ": ")
		p.event(kind, text, flow.NewBody(flow.EventKind(kind)))
	}
	for _, f := range flows {
		fmt.Fprintf(p, "\n## The flow %q\n\n", f.flow.Name)
		var turns []string
		calls := p.sources[module+f.folder].consts["flow.CallKind"]
		for _, kind := range slices.SortedFunc(maps.Keys(calls), func(a, b string) int { return cmp.Compare(calls[a].order, calls[b].order) }) {
			text := "`" + kind + "`"
			if said := calls[kind].text; said != "" {
				text += " (" + said + ")"
			}
			turns = append(turns, text)
		}
		fmt.Fprintf(p, "Kinds of calls: %s.\n", strings.Join(turns, ", "))
		for _, body := range f.flow.Bodies {
			made := reflect.TypeOf(body).Elem()
			said := sentences(p.sources.of(t, made.PkgPath()).types[made.Name()])
			require.NotEmpty(t, said)
			p.event(string(body.EventKind()), strings.TrimPrefix(strings.TrimSuffix(said[0], "."), made.Name()+" is "), body)
		}
	}
	p.WriteString("\n## What events hold\n")
	for len(p.open)+len(p.shared) > 0 {
		p.rest(&p.shared)
		p.rest(&p.open)
	}
	p.check("events.md")
	p.areWritten()
}

// event describes a kind of events.
func (p *page) event(kind, text string, body flow.Body) {
	require.NotNil(p, body, kind)
	fmt.Fprintf(p, "\n### %s\n\n%s.\n", kind, strings.ToUpper(text[:1])+text[1:])
	if rows := p.structRows(reflect.TypeOf(body).Elem()); len(rows) > 0 {
		p.WriteString("\n")
		p.list(rows)
	}
}

// areWritten holds a page to the JSON: a struct all of whose fields are set writes the keys that the page lists.
func (p *page) areWritten() {
	for _, made := range p.described {
		v := reflect.New(made).Elem()
		fill(v, 3)
		data, err := json.Marshal(v.Addr().Interface())
		require.NoError(p, err, made.String())
		var got map[string]json.RawMessage
		require.NoError(p, json.Unmarshal(data, &got), made.String())
		assert.ElementsMatch(p, p.keys(made), slices.Collect(maps.Keys(got)), made.String())
	}
}

// keys returns the keys that the page lists for a struct.
func (p *page) keys(made reflect.Type) []string {
	var all []string
	silent := newPage(p.T, "")
	for _, r := range silent.structRows(made) {
		all = append(all, r.keys...)
	}
	for f := range made.Fields() {
		if f.Anonymous && f.Tag.Get("json") == "" {
			all = append(all, p.keys(f.Type)...)
		}
	}
	return all
}

// fill sets each field of a value to something that is not zero.
func fill(v reflect.Value, depth int) {
	switch {
	case depth == 0 || !v.CanSet():
		return
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte("1"))
		return
	case v.Type() == reflect.TypeFor[provider.Kind]():
		v.SetString(string(provider.KindNetwork))
		return
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
		return
	case v.Type() == reflect.TypeFor[flow.Value]():
		v.Set(reflect.ValueOf(flow.Value{JSON: []byte("1")}))
		return
	case v.Type() == reflect.TypeFor[error]():
		v.Set(reflect.ValueOf(os.ErrClosed))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth-1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, 1)
		fill(value, depth-1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth)
		}
	}
}

func TestThePageOfErrorsIsThatOfTheKinds(t *testing.T) {
	p := newPage(t, head(t, "errors.md"))
	said := p.sources[module+"/provider"].consts["Kind"]
	p.WriteString("| kind | means | `Retry` can help | remedy |\n|---|---|---|---|\n")
	for _, kind := range provider.Kinds() {
		failed := &flow.Error{Kind: kind}
		require.NotEmpty(t, said[string(kind)].text, kind)
		may := map[bool]string{true: "yes", false: "no"}[failed.Retryable()]
		fmt.Fprintf(p, "| `%s` | %s | %s | %s |\n", kind, said[string(kind)].text, may, strings.TrimSuffix(failed.Hint(), "."))
	}
	p.WriteString("\n## Errors to compare with errors.Is\n\n")
	for _, e := range p.sources[module+"/flow"].errors {
		fmt.Fprintf(p, "- `flow.%s`: %s\n", e.name, claim(strings.TrimPrefix(sentences(e.text)[0], e.name+" ")))
	}
	p.WriteString("\n## The JSON of an error\n\n")
	p.list(p.structRows(reflect.TypeFor[flow.Error]()))
	p.check("errors.md")
}

func TestThePageOfFormatsHasTheBuiltInOnes(t *testing.T) {
	p := newPage(t, head(t, "formats.md"))
	p.WriteString("| name | who | rounds | phases | ends | winner | stance | aim | asides |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, f := range format.Builtin() {
		least, most := f.Participants()
		who := span(least, most)
		for i, s := range f.Seats {
			if who += ", "; i == 0 {
				who += "of them "
			}
			who += span(s.Min, s.Max) + " " + cmp.Or(string(s.Side), "others")
		}
		if f.Chair != "" {
			who += "; the chair is " + string(f.Chair)
		}
		rounds := "`rounds`"
		if f.Rounds > 0 {
			rounds = fmt.Sprint(f.Rounds)
		}
		var phases []string
		for _, phase := range f.Phases {
			phases = append(phases, phase.Name)
		}
		fmt.Fprintf(p, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %d |\n", f.Name, who, rounds, strings.Join(slices.Compact(phases), ", "),
			f.End, cmp.Or(f.Decide, format.ByJudges), cmp.Or(f.Stance, format.Advocate), cmp.Or(f.Aim, format.ByArgument), f.Asides)
	}
	p.check("formats.md")
}

// span writes a range of numbers. most 0: there is no upper bound.
func span(least, most int) string {
	switch {
	case most == 0:
		return fmt.Sprintf("%d or more", least)
	case least == most:
		return fmt.Sprint(least)
	default:
		return fmt.Sprintf("%d–%d", least, most)
	}
}
