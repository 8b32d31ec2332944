package cassette_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
)

func TestWhatMakesARequest(t *testing.T) {
	tests := []struct {
		differs string // "": it is the same
		change  func(r *provider.Request)
	}{
		{"", func(r *provider.Request) { r.ID = "other" }},
		{"", func(r *provider.Request) { r.Labels = nil }},
		{`model: recorded "m", asked "n"`, func(r *provider.Request) { r.Model = "n" }},
		{`self: recorded "Ada", asked "Ben"`, func(r *provider.Request) { r.Self = "Ben" }},
		{`maxTokens: recorded "99", asked "0"`, func(r *provider.Request) { r.MaxTokens = 0 }},
		{`temperature: recorded "0.7", asked "0"`, func(r *provider.Request) { r.Temperature = new(0.0) }},
		{"temperature, which is not asked", func(r *provider.Request) { r.Temperature = nil }},
		{"system, line 2", func(r *provider.Request) { r.System = strings.Replace(r.System, "Their", "All", 1) }},
		{"messages[0].text, line 1", func(r *provider.Request) { r.Messages[0].Text = "Another." }},
		{`messages[1].speaker: recorded "Ben", asked "Cyd"`, func(r *provider.Request) { r.Messages[1].Speaker = "Cyd" }},
		{`messages[1].label: recorded "", asked "round 9"`, func(r *provider.Request) { r.Messages[1].Label = "round 9" }},
		{`messages[1].fence: recorded "⟦fence 1⟧", asked ""`, func(r *provider.Request) { r.Messages[1].Fence = "" }},
		{"messages[1].text, line 3", func(r *provider.Request) { r.Messages[1].Text = "No & <never>.\n\nElse" }},
		{"messages[2].toolCalls[0].opaque, which is not asked", func(r *provider.Request) { r.Messages[2].ToolCalls[0].Opaque = nil }},
		{`messages[3].toolResult.error: recorded "true", asked "false"`, func(r *provider.Request) { r.Messages[3].ToolResult.Error = false }},
		{"messages[3].speaker, which is not asked", func(r *provider.Request) { r.Messages = r.Messages[:3] }},
		{"messages[4].speaker, which is not recorded", func(r *provider.Request) { r.Messages = append(r.Messages, provider.Message{Text: "more"}) }},
		{"messages[0].parts[0].type, which is not recorded", func(r *provider.Request) { r.Messages[0].Parts = []provider.Part{{Data: []byte("a")}} }},
		{"last.text, line 1", func(r *provider.Request) { r.Last.Text = "Stop." }},
		{"schema.name, which is not asked", func(r *provider.Request) { r.Schema = nil }},
		{"schema.json, line 1", func(r *provider.Request) { r.Schema.JSON = []byte(`{}`) }},
		{"tools[0].name, line 1", func(r *provider.Request) { r.Tools[0].Name = "see" }},
		{"tools[0].name, which is not asked", func(r *provider.Request) { r.Tools = nil }},
	}
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("yes"))), full(fence))
	for _, test := range tests {
		req := full(fence)
		test.change(req)
		got := ask(open(t, file, cassette.Options{}).Wrap("v", nil), req)
		if test.differs == "" {
			assert.NoError(t, got.err)
			continue
		}
		message := unseen(t, got.err)
		assert.Contains(t, message, `"d/r2.ada/1", differs first in `+test.differs)
		assert.NotContains(t, message, "never", "no text is shown")
	}
}

func TestTheNearestRequest(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	p := tape.Wrap("v", saying(said("yes")))
	for i, text := range []string{"one", "two", "three"} {
		ask(p, &provider.Request{ID: fmt.Sprint("d/", i), Self: "Ada", Messages: []provider.Message{{Text: text}}, Last: provider.Message{Text: "Go."}})
	}
	p = open(t, file, cassette.Options{}).Wrap("v", nil)
	req := &provider.Request{ID: "e/1", Self: "Ada", Messages: []provider.Message{{Text: "two"}}, Last: provider.Message{Text: "Stop."}}
	assert.Contains(t, unseen(t, ask(p, req).err), `the nearest, "d/1", differs first in last.text`)
	req.Messages[0].Text, req.Last.Text, req.ID = "four", "Go.", "d/2"
	assert.Contains(t, unseen(t, ask(p, req).err), `the nearest, "d/2", differs first in messages[0].text`)
	other := open(t, file, cassette.Options{}).Wrap("w", nil)
	assert.Contains(t, unseen(t, ask(other, req).err), "none of this provider")
}

// TestEachFieldMakesARequest changes one field of a request after the other, those of its messages, tools, schema and options
// included. A field that the contract gets later is among them.
func TestEachFieldMakesARequest(t *testing.T) {
	var change func(path string, v reflect.Value, done func(path string))
	change = func(path string, v reflect.Value, done func(path string)) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		switch v.Kind() {
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			change(path, v.Elem(), done)
		case reflect.Struct:
			for i := range v.NumField() {
				change(path+"."+v.Type().Field(i).Name, v.Field(i), done)
			}
		case reflect.Slice:
			if v.Type().Elem().Kind() == reflect.Uint8 {
				v.SetBytes([]byte(`{"changed":true}`))
				done(path)
				break
			}
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			change(path+"[]", v.Index(0), done)
			done(path)
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf("changed"), reflect.New(v.Type().Elem()).Elem())
			done(path)
		case reflect.String:
			v.SetString("changed")
			done(path)
		case reflect.Bool:
			v.SetBool(true)
			done(path)
		case reflect.Int, reflect.Int64:
			v.SetInt(7)
			done(path)
		case reflect.Float64:
			v.SetFloat(0.7)
			done(path)
		default:
			assert.Fail(t, "a field of a kind that is unknown here", path)
		}
		v.Set(old)
	}
	tape, file := recording(t, cassette.Options{})
	p := tape.Wrap("v", serial())
	req := &provider.Request{}
	same := map[string]string{".ID": "1", ".Labels": "1"} // as the empty request
	hashes := []string{".Messages[].Parts[].Hash", ".Last.Parts[].Hash"}
	all := map[string]string{}
	ask(p, req)
	change("", reflect.ValueOf(req).Elem(), func(path string) {
		if same[path] == "" && !slices.Contains(hashes, path) {
			all[path] = ask(p, req).response.Text
		}
	})
	require.NoError(t, tape.Close())
	assert.Greater(t, len(all), 40)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	change("", reflect.ValueOf(req).Elem(), func(path string) {
		tape, err := cassette.Load(data, cassette.Options{})
		require.NoError(t, err)
		got := ask(tape.Wrap("v", nil), req)
		require.NoError(t, got.err, path)
		if !slices.Contains(hashes, path) {
			assert.Equal(t, all[path]+same[path], got.response.Text, "%s does not count", path)
		}
	})
}
