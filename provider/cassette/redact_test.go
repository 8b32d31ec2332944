package cassette_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
)

// forms are the ways in which a secret has been seen to come back.
func forms(secret string) map[string]string {
	quoted, _ := json.Marshal(secret)
	inner := string(quoted[1 : len(quoted)-1])
	twice, _ := json.Marshal(inner)
	out := map[string]string{
		"as it is": secret, "JSON": inner, "JSON in JSON": string(twice[1 : len(twice)-1]), "JSON with slashes": strings.ReplaceAll(inner, "/", `\/`),
		"query": url.QueryEscape(secret), "path": url.PathEscape(secret),
	}
	out["small hexadecimal"] = regexp.MustCompile(`%..`).ReplaceAllStringFunc(out["query"], strings.ToLower)
	for i, user := range []string{"", "u:", "me:"} {
		out[fmt.Sprint("base64 ", i)] = base64.StdEncoding.EncodeToString([]byte(user + secret + ";"))
		out[fmt.Sprint("base64 for URLs ", i)] = base64.URLEncoding.EncodeToString([]byte(user + secret + "\n"))
	}
	return out
}

// core returns the part of a form that tells the secret: base64 shares its first and last characters with
// what stands around it.
func core(name, form string) string {
	if strings.HasPrefix(name, "base64") {
		return form[6 : len(form)-6]
	}
	return form
}

// outcomes are all places in which a provider can show a text.
func outcomes(text string) map[string]answer {
	calls := []provider.ToolCall{{ID: text, Name: text, Arguments: []byte(`{"a":"` + text + `"}`), Opaque: []byte(text)}}
	half := len(text) / 2
	out := map[string]answer{
		"reply":            said("It is ", text, ", no less."),
		"divided":          said("It is "+text[:half], text[half:]+"."),
		"every byte":       said(strings.Split("It is "+text+".", "")...),
		"calls":            {response: &provider.Response{Calls: calls}},
		"fields":           {response: &provider.Response{Stop: provider.StopReason(text), Model: text}},
		"unwatched":        {response: &provider.Response{Text: text}},
		"other chunks":     {chunks: []string{text}, response: &provider.Response{Text: "x"}},
		"another error":    {err: errors.New("GET https://x?key=" + text)},
		"wrapped":          {err: fmt.Errorf("%s: %w", text, &provider.Error{Message: text})},
		"broken off":       {chunks: []string{text}, response: &provider.Response{Text: text}, err: &provider.Error{Message: text}},
		"cause":            {err: &provider.Error{Err: errors.New(text)}},
		"cause's cause":    {err: &provider.Error{Err: fmt.Errorf("a: %w", fmt.Errorf("b: %s", text))}},
		"fields of errors": {err: &provider.Error{Code: text, RequestID: text}},
	}
	for _, kind := range []provider.Kind{
		provider.KindNetwork, provider.KindRateLimit, provider.KindQuota, provider.KindAPI, provider.KindTimeout,
		provider.KindContextOverflow, provider.KindAuthentication, provider.KindContentFilter, provider.KindRefusal,
		provider.KindInvalidResponse, provider.KindValidation, provider.KindCanceled, provider.KindCostLimit, provider.KindState,
		provider.KindConflict, provider.Kind(text),
	} {
		out["error "+string(kind)] = answer{err: &provider.Error{
			Kind: kind, Status: 400, Message: "Incorrect key: " + text + ".", RetryAfter: time.Second,
		}}
	}
	return out
}

// telling is a request that shows a text everywhere.
func telling(text string) *provider.Request {
	calls := []provider.ToolCall{{ID: text, Name: text, Arguments: []byte(text), Opaque: []byte(`{"a":"` + text + `"}`)}}
	return &provider.Request{
		ID: text, Model: text, System: text, Self: text,
		Messages: []provider.Message{{Speaker: text, Text: text, ToolCalls: calls, ToolResult: &provider.ToolResult{ID: text, Text: text}}},
		Last:     provider.Message{Text: "a\n" + text},
		Schema:   &provider.Schema{Name: text, JSON: []byte(`{"a":"` + text + `"}`)},
		Tools:    []provider.Tool{{Name: text, Description: text, Parameters: []byte(text)}},
		Labels:   map[string]string{text: text},
	}
}

// The canary is in no byte of any file, whatever a provider does with it.
func TestCanary(t *testing.T) {
	longform.Lone(t)
	secrets := []string{`pa<ss>"wörd"/&+=?` + "\n" + `\end of it`, "plainbutsecret"}
	known := map[string]string{
		"sk": "sk-canary5f1d7a0c93be", "sk-ant": "sk-ant-api03-Canary_5f1d-7a0c93be", "sk-proj": "sk-proj-canaryCANARYcanary",
		"AIza": "AIzaSyCanary5f1d7a0c93be_-canarycanary", "gsk": "gsk_canaryCANARY5f1d7a0c93be", "xai": "xai-canary5f1d7a0c93becanary",
	}
	bearers := map[string]string{}
	for name, header := range map[string]string{
		"Bearer": "Authorization: Bearer %s", "bearer": "bearer  %s", "in a URL": "auth=Bearer%%20%s&x", "plus": "BEARER+%s",
	} {
		bearers[name] = fmt.Sprintf(header, "aB3.canary~5f1d7a0c93be==")
	}
	tests := map[string]struct {
		texts map[string]string
		core  func(name, text string) string
	}{
		"a secret":      {forms(secrets[0]), core},
		"a long secret": {forms(secrets[1]), core},
		"keys":          {known, func(_, key string) string { return key[6:] }},
		"tokens":        {bearers, func(string, string) string { return "canary" }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.Join(slices.Collect(maps.Values(test.texts)), " ~ ")
			clean := func(what string) {
				t.Helper()
				for name, form := range test.texts {
					assert.Equal(t, -1, strings.Index(what, test.core(name, form)), name) // a failure shows no file
				}
			}
			tape, file := recording(t, cassette.Options{Secrets: secrets, Labels: true})
			for _, a := range outcomes(text) {
				v := saying(a)
				v.VendorName = text
				p := tape.Wrap("v "+text, v)
				alike(t, a, ask(p, telling(text))) // who asks now sees the answer as it is
				require.NoError(t, p.(provider.Checker).Check(t.Context(), text))
			}
			require.NoError(t, tape.Close())
			raw := contents(t, file)
			clean(raw)
			var decoded any // what JSON's own escapes could hide
			require.NoError(t, json.Unmarshal([]byte(raw), &decoded))
			clean(fmt.Sprint(decoded))
			assert.Equal(t, len(outcomes(text)), strings.Count(raw, `"request"`))
			assert.Positive(t, strings.Count(raw, "[redacted] ~ "))

			p := open(t, file, cassette.Options{Secrets: secrets}).Wrap("v "+text, nil)
			for range outcomes(text) {
				if err := ask(p, telling(text)).err; err != nil {
					clean(err.Error())
					assert.NotContains(t, err.Error(), cassette.CodeUnseen, "a request is found again")
				}
			}
			clean(unseen(t, ask(p, &provider.Request{ID: text, Self: text}).err))
		})
	}
}

func TestWhatIsNoKey(t *testing.T) {
	for _, text := range []string{
		"a task-oriented-and-risk-averse-approach", "sk-short1", "xai-is-a-name", "the bearer of bad news internationalizes", "Bearer", "AIza",
		"Bearers AbstractionIsNoToken1", "gsk_0123", "Bearer of 42",
	} {
		tape, file := recording(t, cassette.Options{Secrets: []string{""}})
		ask(tape.Wrap("v", saying(said(text))), &provider.Request{})
		assert.Equal(t, text, ask(open(t, file, cassette.Options{}).Wrap("v", nil), &provider.Request{}).response.Text)
	}
}

// A replay says what the file says.
func TestReplayIsRedacted(t *testing.T) {
	tape, file := recording(t, cassette.Options{Secrets: []string{"hunter2", "unter22"}})
	ask(tape.Wrap("v", saying(said("Is it hun", "ter2", "2? No: hunter2", "hunter2."))), &provider.Request{})
	got := ask(open(t, file, cassette.Options{}).Wrap("v", nil), &provider.Request{})
	assert.Equal(t, []string{"Is it [redacted]", "", "? No: [redacted]", "[redacted]."}, got.chunks)
	assert.Equal(t, strings.Join(got.chunks, ""), got.response.Text)
}

// A hostile reply does not take long. If time grew with its square, it would be hours, and the tests' time would be over first.
func TestManyLookalikes(t *testing.T) {
	for _, part := range []string{"sk-", "sk-1", "Bearer+", "Bearer ", "gsk_AIza"} {
		text := strings.Repeat(part, 400_000)
		tape, _ := recording(t, cassette.Options{})
		ask(tape.Wrap("v", saying(said(text))), &provider.Request{})
	}
}
