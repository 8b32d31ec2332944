package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Parlour is a [provider.Provider]. Its Endpoint supplies what every vendor needs. Its models call no
// tools.
type Parlour struct{ wire.Endpoint }

// New returns a Parlour for a server. Common error codes are known already; the vendor's own are added
// here.
func New(url, key string) *Parlour {
	return &Parlour{wire.Endpoint{
		BaseURL: url, Key: provider.StaticKey(key), Kinds: map[string]provider.Kind{"off_limits": provider.KindContentFilter},
	}}
}

// Generate asks for one reply and reads it. Retrying is the engine's task.
func (p *Parlour) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	// Blank texts and control characters are left out. Calls and results of tools are not sent, so no text may stand in them.
	req, err := wire.Form{Beside: true}.Request(req)
	if err != nil {
		return nil, err
	}
	turns := []map[string]any{}
	for role, text := range req.Chat() {
		if role != provider.RoleSystem {
			turns = append(turns, map[string]any{"role": role, "text": text})
		}
	}
	q := map[string]any{"model": req.Model, "system": req.System, "turns": turns, "limit": req.MaxTokens, "temperature": req.Temperature}
	if req.Schema != nil {
		q["schema"] = req.Schema.JSON
	}
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	body, err := json.Marshal(q)
	if err != nil {
		return nil, x.Answered(err) // nothing was sent
	}
	if err := x.Send(http.MethodPost, "v1/speak", body); err != nil {
		return nil, err
	}
	r := x.NewReply(emit)
	r.Heed(req.Options)
	return read(x, r)
}

// read reads the lines of the answer. Only a line with an end makes the reply complete.
func read(x *wire.Exchange, r *wire.Reply) (*provider.Response, error) {
	ends := map[string]provider.StopReason{
		"stop": provider.StopEnd, "length": provider.StopLength, "filter": provider.StopFilter, "refusal": provider.StopRefusal,
	}
	for lines := x.Lines(); r.Stop == ""; {
		data, err := lines.Next()
		if err != nil {
			return r.Failed(x.Cut(err))
		}
		var line struct {
			Text       wire.Text
			End, Model string
			Usage      struct{ In, Out int }
			Error      json.RawMessage
		}
		if err := x.Decode(data, &line); err != nil {
			return r.Failed(err)
		}
		r.Usage, r.Model = provider.Usage{Input: max(0, line.Usage.In), Output: max(0, line.Usage.Out)}, line.Model
		if wire.Present(line.Error) {
			r.Settled = true // a failure's usage is final
			return r.Failed(x.Fault(data))
		}
		r.Say(string(line.Text))
		if r.Stop = ends[line.End]; r.Stop == "" && line.End != "" {
			return r.Failed(x.Invalid("end", "the reply ended in a way that nobody knows: "+line.End))
		}
	}
	return r.Done() // a blank reply is none
}
