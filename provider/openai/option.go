package openai

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/wire"
)

// Vet checks whether a request can be written, as Generate does before it sends it. As long as it is unknown which API
// a server has, a request must be one for either, except that a stop or a seed decides for Chat Completions.
func (p *Provider) Vet(req *provider.Request) error {
	switch {
	case p.API == Auto && p.mayChat():
		_, err := p.either(req)
		return err
	case p.mayChat():
		return p.chat().Vet(req)
	case p.API != Auto && p.API != Responses:
		return unknownAPI(p.API)
	}
	w, err := p.write(req, nil)
	if err == nil {
		_, err = json.Marshal(w)
	}
	if _, ok := errors.AsType[*provider.Error](err); err != nil && !ok {
		return wire.Unwritable("request", "the request cannot be written as JSON")
	}
	return err
}

// Abilities tells what a model can do: what its name says, and what the API has words for. It asks nobody. Of a server
// other than OpenAI's and Azure, only the API is known.
func (p *Provider) Abilities(ctx context.Context, model string) (provider.Abilities, error) {
	if p.mayChat() {
		return p.chat().Abilities(ctx, model)
	}
	return p.abilities(model), nil
}

// either checks a request for a server of which it may be unknown which API it has. chat reports that only Chat
// Completions has words for it: it has stops and seeds.
func (p *Provider) either(req *provider.Request) (chat bool, err error) {
	if err := p.chat().Vet(req); err != nil || p.found.known() == ChatCompletions {
		return true, err
	}
	_, err = p.write(req, nil)
	if e, ok := errors.AsType[*provider.Error](err); ok && (e.Code == string(provider.AbilityStop) || e.Code == string(provider.AbilitySeed)) {
		return true, nil
	}
	return false, err
}

// mayChat reports whether requests go to Chat Completions, or may go there.
func (p *Provider) mayChat() bool {
	return p.API == ChatCompletions || p.API == Auto && !p.own() && p.found.known() != Responses
}

func (p *Provider) abilities(model string) provider.Abilities {
	has := provider.Abilities{provider.AbilityStop: false, provider.AbilitySeed: false, provider.AbilityServiceTier: true}
	if !p.genuine() {
		delete(has, provider.AbilityServiceTier)
		return has
	}
	name := ownName(model)
	generation, point, numbered := generation(name)
	steps, known := openaicompat.OpenAIEfforts(model)
	if !known && !numbered {
		return has
	}
	thinks := reasons(model)
	has[provider.AbilityEffort] = len(steps) > 0
	has[provider.AbilityReasoning] = thinks
	has[provider.AbilityVerbosity] = generation >= 5
	if _, off := wire.Nearest(provider.EffortNone, steps); thinks && !off { // the others take them while they do not think
		has[provider.AbilityTemperature], has[provider.AbilityTopP] = false, false
	}
	older := generation == 3 || generation == 4 && point == 0 && !strings.HasPrefix(name, "gpt-4o")
	is := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(name, n) })
	}
	blind := generation == 3 || name == "gpt-4" || is("gpt-4-0", "gpt-oss", "o1-mini", "o1-preview", "o3-mini")
	has[provider.AbilitySearch] = !older && !is("o1", "o3-mini", "gpt-4.1-nano", "gpt-oss")
	has[provider.AbilityImage], has[provider.AbilityPDF] = !blind, !blind
	return has
}

// effort returns the step for an effort. A model whose name says nothing gets the steps that most servers have.
func effort(req *provider.Request) (shared.ReasoningEffort, error) {
	asked := req.Options.Effort
	if asked == "" {
		return "", nil
	}
	steps, known := openaicompat.OpenAIEfforts(req.Model)
	if !known {
		steps = []string{"none", "low", "medium", "high"}
	}
	step, ok := wire.Nearest(asked, steps)
	if !ok {
		return "", wire.Unwritable("effort", "the model "+wire.Clip(req.Model)+" has no reasoning effort "+string(asked))
	}
	return shared.ReasoningEffort(step), nil
}

// ownName returns the name of a model without what fine-tuning and routers add, in lower case.
func ownName(model string) string {
	name := strings.ToLower(strings.TrimPrefix(model, "ft:"))
	return name[strings.LastIndexByte(name, '/')+1:]
}

// generation returns the numbers in the name of a GPT model: 5 and 1 of "gpt-5.1-codex".
func generation(name string) (major, minor int, ok bool) {
	after, ok := strings.CutPrefix(name, "gpt-")
	if major = leading(after); !ok || major == 0 {
		return 0, 0, false
	}
	_, after, _ = strings.Cut(after, ".")
	if strings.HasPrefix(strings.TrimLeft(name[len("gpt-"):], "0123456789"), ".") {
		minor = leading(after)
	}
	return major, minor, true
}

// ownHeaders are those that the SDK writes.
//
//nolint:gochecknoglobals // read only
var ownHeaders = []string{
	"X-Stainless-Lang", "X-Stainless-Package-Version", "X-Stainless-Os", "X-Stainless-Arch", "X-Stainless-Runtime",
	"X-Stainless-Runtime-Version", "X-Stainless-Retry-Count", "X-Stainless-Timeout",
}

// write writes a request, or fails because the API has no words for it.
func (p *Provider) write(req *provider.Request, t *wire.Terms) (responses.ResponseNewParams, error) {
	if err := p.vet(req); err != nil {
		return responses.ResponseNewParams{}, err
	}
	req, err := form(req, t)
	if err != nil {
		return responses.ResponseNewParams{}, err
	}
	w := newRequest(req, p.owner(req.Model), t)
	if req.Options == nil {
		return w, nil
	}
	o := req.Options
	step, err := effort(req)
	if err != nil {
		return w, err
	}
	w.Reasoning.Effort = step
	if o.Reasoning == provider.ReasoningAsk {
		w.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
	if o.TopP != nil {
		w.TopP = param.NewOpt(*o.TopP)
	}
	w.ServiceTier = responses.ResponseNewParamsServiceTier(o.ServiceTier)
	w.Text.Verbosity = responses.ResponseTextConfigVerbosity(o.Verbosity)
	if len(o.Extra) == 0 {
		return w, nil
	}
	data, err := json.Marshal(w)
	if err != nil {
		return w, wire.Unwritable("request", "the request cannot be written as JSON")
	}
	if data, err = wire.Extend(data, o.Extra, "stream", "background"); err != nil {
		return w, err
	}
	return param.Override[responses.ResponseNewParams](json.RawMessage(data)), nil
}

// vet checks what does not depend on how a request is written.
func (p *Provider) vet(req *provider.Request) error {
	for part := range wire.Parts(req) {
		if !taken(part) {
			return wire.Untaken(part, "OpenAI")
		}
	}
	if err := wire.Lacking(req, p.abilities(req.Model)); err != nil || req.Options == nil {
		return err
	}
	return p.VetHeader(req.Options.Header, ownHeaders...)
}

// search returns the vendor's own search, if the request asks for it.
func search(req *provider.Request) []responses.ToolUnionParam {
	if req.Options == nil || !req.Options.Search {
		return nil
	}
	return []responses.ToolUnionParam{{OfWebSearch: &responses.WebSearchToolParam{Type: responses.WebSearchToolTypeWebSearch}}}
}
