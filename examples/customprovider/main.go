// Command customprovider debates through an adapter of its own, to a vendor that nobody knows. The adapter is all above main: copy that.
//
//	go run ./examples/customprovider
//
// The vendor runs in this program: no network and no key is needed. main_test.go shows that the adapter stands what can happen to it.
//
// It prints:
//
//	Eliza: Why do you say that you have nothing to say?
//	Carl: I think that my words fall into a well.
//	Eliza: Why do you say that you think that your words fall into a well?
//	Carl: I am sure that nobody is there.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// Parlour is a [provider.Provider]. Its Endpoint supplies what every vendor needs: keys, bounds, streams that are cut, common errors.
type Parlour struct{ wire.Endpoint }

// New returns a Parlour for a server. Common error codes are known already; the vendor's own are added here.
func New(url, key string) *Parlour {
	kinds := map[string]provider.Kind{"off_limits": provider.KindContentFilter}
	return &Parlour{wire.Endpoint{BaseURL: url, Key: provider.StaticKey(key), Kinds: kinds}}
}

// write writes a request. Each part of it is sent, or refused: an option that vanishes in silence is missed by nobody.
func (p *Parlour) write(req *provider.Request) ([]byte, error) {
	err := wire.Lacking(req, provider.AbilityEffort, provider.AbilityTopP, provider.AbilityStop, provider.AbilitySeed,
		provider.AbilityServiceTier, provider.AbilityVerbosity, provider.AbilitySearch, provider.AbilityReasoning,
		provider.AbilityTools, provider.AbilityImage, provider.AbilityPDF, provider.AbilityFile)
	if err != nil {
		return nil, err
	}
	req, err = wire.Form{Beside: true}.Request(req) // results of tools are not sent, so no text may stand in them
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
	body, err := wire.Body(q)
	if o := req.Options; o != nil && err == nil {
		if err = p.VetHeader(o.Header); err == nil {
			body, err = wire.Extend(body, o.Extra, "schema")
		}
	}
	return body, err
}

// Generate asks for one reply and reads it, line by line. Retrying is the engine's task.
func (p *Parlour) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	body, err := p.write(req)
	if err != nil {
		return nil, err
	}
	x, err := p.Open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	x.AddHeader(req.Options)
	if err := x.Send(http.MethodPost, "v1/speak", body); err != nil {
		return nil, err
	}
	r := x.NewReply(emit)
	r.Heed(req.Options)
	ends := map[string]provider.StopReason{"stop": provider.StopEnd, "filter": provider.StopFilter}
	for lines := x.Lines(); r.Stop == ""; { // only a line with an end makes the reply complete
		data, err := lines.Next()
		if err != nil {
			return r.Failed(x.Cut(err))
		}
		var line struct {
			Text       wire.Text
			End, Model string
			Usage      *struct{ In, Out wire.Count }
			Error      json.RawMessage
		}
		if err := x.Decode(data, &line); err != nil {
			return r.Failed(err)
		}
		if u := line.Usage; u != nil {
			r.Usage, r.Model = provider.Usage{Input: int(u.In), Output: int(u.Out)}, line.Model
		}
		if wire.Present(line.Error) {
			r.Settled = true // a failure's usage is final
			return r.Failed(x.Fault(data))
		}
		r.Say(string(line.Text))
		if r.Stop = ends[line.End]; r.Stop == "" && line.End != "" { // its words decide
			if r.Stop, err = x.Ending("end", line.End); err != nil {
				return r.Failed(err)
			}
		}
	}
	return r.Done() // a blank reply is none
}

func main() {
	vendor := httptest.NewServer(http.HandlerFunc(speak))
	defer vendor.Close()
	engine := &debate.Engine{Providers: map[string]debate.Provider{"parlour": New(vendor.URL, "a-calling-card")}}
	config := debate.Config{
		Topic: "Can a program listen?", Rounds: 2,
		Participants: []debate.Participant{{Name: "Eliza", Model: "parlour/doctor"}, {Name: "Carl", Model: "parlour/patient"}},
	}
	for event, err := range engine.Run(context.Background(), config) {
		if err != nil {
			log.Fatal(err)
		}
		if turn, ok := event.Body.(*debate.Turn); ok {
			fmt.Printf("%s: %s\n", turn.Speaker, turn.Text)
		}
	}
}

// speak is the vendor. It says what it has not heard yet, in lines of JSON.
func speak(w http.ResponseWriter, r *http.Request) {
	heard, _ := io.ReadAll(r.Body)
	for _, text := range []string{
		"Why do you say that you have nothing to say?", "I think that my words fall into a well.",
		"Why do you say that you think that your words fall into a well?", "I am sure that nobody is there.",
	} {
		if !bytes.Contains(heard, []byte(text)) {
			fmt.Fprintf(w, "{\"text\":%q}\n", text)
			break
		}
	}
	fmt.Fprintln(w, `{"end":"stop","model":"doctor","usage":{"in":10,"out":10}}`)
}
