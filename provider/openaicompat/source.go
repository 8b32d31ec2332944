package openaicompat

import (
	"encoding/json"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const maxSources = 256 // of one message

// sources are the fields in which servers name the sources of a reply. One that has an unknown form is ignored: the
// reply is good without it.
type sources struct {
	Annotations json.RawMessage `json:"annotations"`    // OpenAI, OpenRouter: with places
	Citations   json.RawMessage `json:"citations"`      // xAI, Perplexity: URLs
	Results     json.RawMessage `json:"search_results"` // Perplexity: titles and URLs
	Executed    json.RawMessage `json:"executed_tools"` // Groq
}

// found is a source as servers name it.
type found struct {
	URL     json.RawMessage `json:"url"`
	Title   json.RawMessage `json:"title"`
	Content json.RawMessage `json:"content"`
	Snippet json.RawMessage `json:"snippet"`
	Start   json.RawMessage `json:"start_index"`
	End     json.RawMessage `json:"end_index"`
}

func (f *found) citation() provider.Citation {
	c := provider.Citation{URL: said(f.URL), Title: said(f.Title), Quote: said(f.Content), Start: index(f.Start), End: index(f.End)}
	if c.Quote == "" {
		c.Quote = said(f.Snippet)
	}
	return c
}

// index reads the place of a character, -1 for anything else.
func index(data json.RawMessage) int {
	var f float64
	if len(data) == 0 || json.Unmarshal(data, &f) != nil || f != f || f < 0 || f > 1<<31 {
		return -1
	}
	return int(f)
}

// cite adds the sources that a message or an answer names.
func (r *reply) cite(s *sources) {
	var notes []struct {
		Type string `json:"type"`
		URL  found  `json:"url_citation"`
		found
	}
	if list(s.Annotations, &notes) {
		for i := range notes {
			n := &notes[i]
			if n.Type != "url_citation" {
				continue
			}
			if n.URL.URL == nil {
				n.URL = n.found
			}
			r.CiteCharacters(n.URL.citation(), 0)
		}
	}
	var results []found
	if list(s.Results, &results) {
		for i := range results {
			r.Cite(results[i].citation())
		}
	}
	var urls []json.RawMessage
	if len(results) == 0 && list(s.Citations, &urls) {
		for _, url := range urls {
			f := found{URL: url}
			if len(url) > 0 && url[0] == '{' && json.Unmarshal(url, &f) != nil {
				continue
			}
			r.Cite(f.citation())
		}
	}
	r.executed(s.Executed)
}

// executed adds what Groq's own searches have found.
func (r *reply) executed(data json.RawMessage) {
	var tools []struct {
		Search struct {
			Results json.RawMessage `json:"results"`
		} `json:"search_results"`
		Pages json.RawMessage `json:"browser_results"`
	}
	if !list(data, &tools) {
		return
	}
	for i := range tools {
		for _, data := range []json.RawMessage{tools[i].Search.Results, tools[i].Pages} {
			var results []found
			if list(data, &results) {
				for k := range results {
					r.Cite(results[k].citation())
				}
			}
		}
	}
}

// list decodes a list of sources. It reports whether there is one that is not too long.
func list(data json.RawMessage, to any) bool {
	return wire.Present(data) && data[0] == '[' && !wire.Longer(data, maxSources) && json.Unmarshal(data, to) == nil
}
