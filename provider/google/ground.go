package google

import (
	"encoding/json"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const (
	maxGrounds = 1 << 10 // of one reply
	leastFound = 8       // bytes of a passage that is looked for where the vendor does not say it is
)

// grounding is what the vendor's search has found, and for which passages.
type grounding struct {
	Chunks wire.List[struct {
		Web struct {
			URI   string `json:"uri"`
			Title string `json:"title"`
		} `json:"web"`
	}] `json:"groundingChunks"`
	Supports wire.List[struct {
		Segment segment               `json:"segment"`
		Chunks  wire.List[wire.Count] `json:"groundingChunkIndices"`
	}] `json:"groundingSupports"`
}

// segment is a passage of the reply, in bytes of a part.
type segment struct {
	Part  wire.Count `json:"partIndex"`
	Start wire.Count `json:"startIndex"`
	End   wire.Count `json:"endIndex"`
	Text  string     `json:"text"`
}

// ground is a source and the passage for which it was found.
type ground struct {
	provider.Citation

	passage segment
}

// found notes the sources in an event. The passages are found once the text is complete.
// What cannot be read names no source, and does not spoil the reply.
func (r *reply) found(data json.RawMessage) {
	var g grounding
	if !r.searched || !wire.Present(data) || json.Unmarshal(data, &g) != nil {
		return
	}
	named := make([]bool, len(g.Chunks))
	add := func(chunk int, passage segment) {
		if len(r.grounds) < maxGrounds && chunk < len(g.Chunks) {
			web := &g.Chunks[chunk].Web
			r.grounds = append(r.grounds, ground{provider.Citation{URL: web.URI, Title: web.Title}, passage})
			named[chunk] = true
		}
	}
	for i := range g.Supports {
		for _, chunk := range g.Supports[i].Chunks {
			add(int(chunk), g.Supports[i].Segment)
		}
	}
	for i := range g.Chunks {
		if !named[i] { // found, but for no passage
			add(i, segment{})
		}
	}
}

// cite adds the sources to the reply.
func (r *reply) cite() {
	text := wire.Joined(r.said.String())
	for _, g := range r.grounds {
		g.Start, g.End = g.passage.in(text)
		r.Cite(g.Citation)
	}
}

// in returns the place of a passage in the whole text; zeros if that is unknown. The vendor counts in the parts of a
// reply, which a stream divides in another way, and often leaves the index of the part out (googleapis/python-genai
// #961). So the place counts only if the passage stands there; otherwise the passage is looked for.
func (s *segment) in(text string) (start, end int) {
	start, end = int(s.Start), int(s.End)
	switch {
	case s.Text == "" && s.Part == 0:
		return start, end
	case s.Text == "":
		return 0, 0
	case end <= len(text) && start <= end && text[start:end] == s.Text:
		return start, end
	}
	at := strings.Index(text, s.Text)
	if len(s.Text) < leastFound || at < 0 || strings.LastIndex(text, s.Text) != at {
		return 0, 0
	}
	return at, at + len(s.Text)
}
