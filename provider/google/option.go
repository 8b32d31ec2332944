package google

import (
	"math"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// traits are what the name of a model says about its thinking.
//
// Source: the API's guide to thinking (2026).
type traits struct {
	steps       []string // of thinkingLevel; nil: the model takes a budget instead, or does not think
	least, most int32    // tokens of a budget
	off         bool     // thinking can be switched off
}

func (t *traits) thinks() bool { return t.steps != nil || t.most > 0 }

// traitsOf reads the name of a model. known is false if it says nothing; the traits are then those of new models.
func traitsOf(model string) (t traits, known bool) {
	name := strings.ToLower(strings.TrimPrefix(model, "models/"))
	levels := []string{"minimal", "low", "medium", "high"}
	version, ok := strings.CutPrefix(name, "gemini-")
	digits := version[:len(version)-len(strings.TrimLeft(version, "0123456789."))]
	generation, err := strconv.ParseFloat(strings.TrimSuffix(digits, "."), 64)
	if !ok || err != nil || strings.Contains(name, "-image") || strings.Contains(name, "-tts") {
		return traits{steps: levels}, false
	}
	switch {
	case generation < 2.5:
		return traits{}, true
	case generation < 3 && strings.Contains(name, "-lite"):
		return traits{least: 512, most: 24576, off: true}, true
	case generation < 3 && strings.Contains(name, "flash"):
		return traits{least: 1, most: 24576, off: true}, true
	case generation < 3:
		return traits{least: 128, most: 32768}, true
	case generation == 3 && strings.Contains(name, "pro"):
		return traits{steps: []string{"low", "high"}}, true
	case generation >= 4, strings.Contains(name, "pro"):
		return traits{steps: levels[1:]}, true
	default:
		return traits{steps: levels}, true
	}
}

// budgets are the tokens of thinking for each effort. Those from low to high are what the API's own compatibility with
// OpenAI maps the same words to.
//
//nolint:gochecknoglobals // read only
var budgets = map[provider.Effort]int32{
	provider.EffortMinimal: 512, provider.EffortLow: 1024, provider.EffortMedium: 8192, provider.EffortHigh: 24576,
	provider.EffortMax: math.MaxInt32,
}

// thinking returns how much the model is asked to think: as the options say, and otherwise as the provider says.
// Thoughts count against the limit of output, so a budget leaves a quarter of it to the reply.
func (p *Provider) thinking(req *provider.Request) (*Thinking, error) {
	o := req.Options
	if o == nil || o.Effort == "" && o.Reasoning != provider.ReasoningAsk {
		return p.Thinking, nil
	}
	config := &Thinking{}
	if p.Thinking != nil {
		*config = *p.Thinking
	}
	config.IncludeThoughts = config.IncludeThoughts || o.Reasoning == provider.ReasoningAsk
	if o.Effort == "" {
		return config, nil
	}
	t, known := traitsOf(req.Model)
	config.Level, config.Budget = "", nil
	switch {
	case o.Effort == provider.EffortNone && (t.off || !known):
		config.Budget, config.IncludeThoughts = new(int32(0)), false
	case o.Effort == provider.EffortNone:
		return nil, wire.Unwritable(string(provider.AbilityEffort), "the model "+wire.Clip(req.Model)+" always thinks")
	case t.steps != nil:
		step, _ := wire.Nearest(o.Effort, t.steps)
		config.Level = strings.ToUpper(step)
	default:
		budget := min(budgets[o.Effort], t.most)
		if req.MaxTokens > 0 {
			budget = int32(min(int64(budget), int64(req.MaxTokens)/4*3)) //nolint:gosec // at most what it was
		}
		config.Budget = new(max(budget, t.least))
	}
	return config, nil
}

// lacks returns what the API has no field for with a model.
func lacks(model string) []provider.Ability {
	lacking := []provider.Ability{provider.AbilityVerbosity}
	if t, _ := traitsOf(model); !t.thinks() {
		lacking = append(lacking, provider.AbilityEffort, provider.AbilityReasoning)
	}
	return lacking
}

// write returns the JSON of a request, with the fields that its config adds, or fails because the API has no words for
// it.
func (p *Provider) write(req *provider.Request, t *wire.Terms) ([]byte, error) {
	g, err := p.request(req, t)
	if err != nil {
		return nil, err
	}
	data, err := wire.Body(g)
	if err != nil {
		return nil, err
	}
	if req.Options == nil {
		return data, nil
	}
	// The adapter reads one candidate; the others would be paid too.
	return wire.Extend(data, req.Options.Extra, "model", "generationConfig.candidateCount")
}

// vet checks what does not depend on how a request is written.
func (p *Provider) vet(req *provider.Request) error {
	for part := range wire.Parts(req) {
		if !taken(part) {
			return wire.Untaken(part, "the Gemini API")
		}
	}
	if err := wire.Lacking(req, lacks(req.Model)...); err != nil || req.Options == nil {
		return err
	}
	o := req.Options
	if o.Seed != nil && (*o.Seed < math.MinInt32 || *o.Seed > math.MaxInt32) {
		return wire.Unwritable(string(provider.AbilitySeed), "the API takes a seed of 32 bits")
	}
	if o.Search && len(req.Tools) > 0 {
		return wire.Unwritable(string(provider.AbilitySearch), "the API does not search beside other tools")
	}
	return p.VetHeader(o.Header)
}

// set writes the options that are fields of their own.
func (g *generateRequest) set(o *provider.Options) {
	if o == nil {
		return
	}
	c := &g.GenerationConfig
	if o.TopP != nil {
		c.TopP = new(float32(*o.TopP))
	}
	if o.Seed != nil {
		c.Seed = new(int32(*o.Seed)) //nolint:gosec // vet has checked it
	}
	c.StopSequences = o.Stop
	g.ServiceTier = o.ServiceTier
	if o.Search {
		g.Tools = append(g.Tools, tool{GoogleSearch: &struct{}{}})
	}
}

// taken reports whether the API takes a part. Source: its guides to images, documents, audio and video (2026).
func taken(p *provider.Part) bool {
	media := wire.MediaType(p)
	switch media {
	case "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf", "application/json":
		return true
	}
	kind, name, _ := strings.Cut(media, "/")
	return name != "" && (kind == "text" || kind == "audio" || kind == "video")
}

// parts adds the parts of a message. They are the user's, whoever speaks: models make none.
func (c *conversation) parts(m *provider.Message) {
	for i := range m.Parts {
		p := &m.Parts[i]
		c.add(roleUser, piece{InlineData: &inlineData{MIMEType: wire.MediaType(p), Data: p.Data}})
	}
}
