package providertest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/wire"
)

// asked is a model whose vendor has a body and headers. A test spoils one thing.
type asked struct {
	*model

	deafTo    string // an option that is dropped
	overwrite bool   // extra fields replace what the adapter writes
	anyHeader bool
	lateParts bool // after the text
	noParts   bool // dropped
}

func (a *asked) write(req *provider.Request) (json.RawMessage, http.Header, error) {
	fields := map[string]any{"model": req.Model, "stream": true, "limit": req.MaxTokens}
	var content []any
	add := func(m *provider.Message) {
		for i := range m.Parts {
			if !a.noParts {
				content = append(content, wire.DataURL(&m.Parts[i]))
			}
		}
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		if !a.lateParts {
			add(m)
		}
		content = append(content, m.Text)
		if m.ToolResult != nil {
			content = append(content, m.ToolResult.Text)
		}
		if a.lateParts {
			add(m)
		}
		for _, p := range m.Parts {
			if p.Ability() == provider.AbilityFile {
				return nil, nil, wire.Untaken(&p, "the vendor")
			}
		}
	}
	if req.Last.Text != "" {
		content = append(content, req.Last.Text)
	}
	fields["content"] = content
	for _, t := range req.Tools {
		fields["tool "+t.Name] = true
	}
	o := req.Options
	if o == nil {
		o = &provider.Options{}
	}
	if o.Seed != nil {
		return nil, nil, wire.Unwritable("seed", "the vendor has no seed")
	}
	for _, ability := range o.Asks() {
		if string(ability) != a.deafTo {
			fields[string(ability)] = true
		}
	}
	body, err := wire.Body(fields)
	if err != nil {
		return nil, nil, err
	}
	if a.overwrite {
		for name, value := range o.Extra {
			fields[name] = value
		}
		body, err = wire.Body(fields)
	} else if a.deafTo != "extra" {
		body, err = wire.Extend(body, o.Extra)
	}
	header := http.Header{}
	for name, value := range o.Header {
		if a.deafTo != "header" {
			header.Set(name, value)
		}
	}
	if err == nil && !a.anyHeader {
		err = (&wire.Endpoint{}).VetHeader(o.Header)
	}
	return body, header, err
}

// asking returns the suite's connection to a provider that tells bodies, thoughts and sources.
func asking(spoil func(*asked), reply func(s providertest.Scenario, hide bool, r *provider.Response, emit func(provider.Chunk))) providertest.Connect {
	return func(t *testing.T, s providertest.Scenario) provider.Provider {
		t.Helper()
		a := &asked{model: &model{s: s, quit: t.Context().Done()}}
		if spoil != nil {
			spoil(a)
		}
		return &speaking{a, reply}
	}
}

type speaking struct {
	*asked

	say func(s providertest.Scenario, hide bool, r *provider.Response, emit func(provider.Chunk))
}

func (p *speaking) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	req, err := wire.Form{}.Request(req)
	if err != nil {
		return nil, err
	}
	body, header, err := p.write(req)
	if err != nil {
		return nil, err
	}
	m := *p.model
	m.sent = func(s *providertest.Sent) { s.Body, s.Header = body, header }
	r, err := m.Generate(ctx, req, emit)
	if err == nil && p.say != nil {
		p.say(p.s, req.Options != nil && req.Options.Reasoning == provider.ReasoningHide, r, emit)
	}
	return r, err
}

func honest(s providertest.Scenario, hide bool, r *provider.Response, emit func(provider.Chunk)) {
	if r.Reasoning = strings.Join(s.Thoughts, ""); hide || r.Reasoning == "" {
		r.Reasoning = ""
	} else {
		emit(provider.Chunk{Text: r.Reasoning, Reasoning: true})
	}
	for _, c := range s.Citations {
		if strings.HasPrefix(c.URL, "https://") {
			r.Citations = append(r.Citations, c)
		}
	}
}

func TestAProviderWithOptionsPasses(t *testing.T) {
	providertest.Run(t, asking(nil, honest))
}

// Each demand on options is one that a provider can fail.
func TestABadProviderOfOptionsFails(t *testing.T) {
	for _, tt := range []struct {
		name, of string
		spoil    func(*asked)
		say      func(s providertest.Scenario, hide bool, r *provider.Response, emit func(provider.Chunk))
		want     string
	}{
		{"drops the effort", "options", func(a *asked) { a.deafTo = "effort" }, honest, "the option effort was dropped"},
		{"drops top_p", "options", func(a *asked) { a.deafTo = "topP" }, honest, "the option topP was dropped"},
		{"drops extra fields", "extra fields", func(a *asked) { a.deafTo = "extra" }, honest, "the extra field was dropped"},
		{"lets extra fields overwrite", "extra fields", func(a *asked) { a.overwrite = true }, honest, "an extra field overwrites model"},
		{"drops headers", "headers", func(a *asked) { a.deafTo = "header" }, honest, "the header was dropped"},
		{"sends secrets", "headers", func(a *asked) { a.anyHeader = true }, honest, "the header Authorization of a config was sent"},
		{"parts after the text", "parts", func(a *asked) { a.lateParts = true }, honest, "is not between the text before it and its own"},
		{"drops parts", "parts", func(a *asked) { a.noParts = true }, honest, "is not between"},
		{"mixes thoughts in", "reasoning apart", nil, func(_ providertest.Scenario, _ bool, r *provider.Response, emit func(provider.Chunk)) {
			emit(provider.Chunk{Text: "Hm."})
			r.Text += "Hm."
		}, "the text beside thoughts is"},
		{"loses thoughts", "reasoning apart", nil, func(_ providertest.Scenario, _ bool, r *provider.Response, emit func(provider.Chunk)) {
			r.Reasoning = "Hm."
			emit(provider.Chunk{Text: "Hm.", Reasoning: true})
		}, "the thoughts are"},
		{"hides nothing", "reasoning apart", nil, func(s providertest.Scenario, _ bool, r *provider.Response, emit func(provider.Chunk)) {
			honest(s, false, r, emit)
		}, "are to be hidden"},
		{"shows any URL", "citations", nil, func(s providertest.Scenario, _ bool, r *provider.Response, _ func(provider.Chunk)) {
			r.Citations = s.Citations
		}, "a source has the URL javascript:"},
		{"moves places", "citations", nil, func(s providertest.Scenario, _ bool, r *provider.Response, _ func(provider.Chunk)) {
			r.Citations = []provider.Citation{s.Citations[0]}
			r.Citations[0].End--
		}, "source 0 is"},
		{"places beyond the end", "citations", nil, func(s providertest.Scenario, _ bool, r *provider.Response, _ func(provider.Chunk)) {
			r.Citations = []provider.Citation{s.Citations[0], {URL: "https://x.test", Start: 1, End: 999}}
		}, "is at 1 to 999"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			faults := providertest.Examine(t, tt.of, asking(tt.spoil, tt.say))
			require.NotEmpty(t, faults, "the suite noticed nothing")
			assert.Contains(t, strings.Join(faults, "\n"), tt.want)
		})
	}
}
