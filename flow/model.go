package flow

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/model"
	"github.com/agonist-dev/debate/provider"
)

// Model holds the prices and sizes of a model. Prices are per token. They are frozen when a conversation starts.
// The embedded table has the common models; Engine.Models replaces or adds rows.
type Model struct {
	Family    string `json:"family,omitempty" redact:"-"` // the maker's line; models of one family favour each other's answers
	Window    int    `json:"window,omitempty"`            // the window, in tokens; 0: unknown
	MaxOutput int    `json:"maxOutput,omitempty"`         // most output tokens of a reply; 0: unknown
	// OwnTemperature means that the model accepts no temperature, so that none is sent to it.
	OwnTemperature bool `json:"ownTemperature,omitempty"`
	// Reasoning means that the model thinks before it answers. Its thoughts count as output.
	Reasoning bool `json:"reasoning,omitempty"`
	// Unsupported are the abilities that the model is known to lack. A config that asks a model for one of them is refused. A request to
	// a model that takes over leaves out what needs them: options, the temperature, tools. A schema is then a part of the instruction.
	// The embedded table names what the vendor has no field for, and effort and thoughts of a model that does not reason.
	Unsupported []provider.Ability `json:"unsupported,omitempty" redact:"-"`
	// Vocabulary is the published vocabulary in which the vendor counts the model's tokens: "o200k_base" or "cl100k_base". Near a hard
	// limit, input is counted with it, except for files of text, which bytes bound. "", or any other: bytes bound the input. The engine
	// sets it where the provider vouches for the names of its models (provider.Voucher), and a row of Engine.Models may, for a server
	// that is known to run such a model.
	Vocabulary string `json:"vocabulary,omitempty" redact:"-"`
	// ImageTokens is the most input tokens of an image, or of a page of a PDF. 0: 5000, which is more than most models take.
	ImageTokens int `json:"imageTokens,omitempty"`
	// Priced means that the price is known. A known price may be zero.
	Priced bool  `json:"priced,omitempty"`
	Input  Money `json:"input,omitempty"`
	Output Money `json:"output,omitempty"`
	// CachedInput is the price of input that the vendor's cache had, CacheWrite of input that it stored. 0: the
	// price of Input.
	CachedInput Money `json:"cachedInput,omitempty"`
	CacheWrite  Money `json:"cacheWrite,omitempty"`
	// Thinking is the price of an output token spent on reasoning. 0: the price of Output.
	Thinking Money `json:"thinking,omitempty"`
	// InputLong and OutputLong are the prices in a request of more than 200,000 input tokens. 0: no other prices.
	InputLong  Money `json:"inputLong,omitempty"`
	OutputLong Money `json:"outputLong,omitempty"`
}

// longInput is the number of input tokens above which some vendors charge more for the whole request.
const longInput = 200_000

// Cost returns what a request of this usage costs.
func (m Model) Cost(u provider.Usage) Money {
	input, output := m.Input, m.Output
	if u.Input > longInput {
		input, output = max(input, m.InputLong), max(output, m.OutputLong)
	}
	plain := max(0, u.Input-u.CachedInput-u.CacheWrite)
	return input.times(plain).
		Plus(orElse(m.CachedInput, input).times(u.CachedInput)).
		Plus(orElse(m.CacheWrite, input).times(u.CacheWrite)).
		Plus(output.times(max(0, u.Output-u.Reasoning))).
		Plus(orElse(m.Thinking, output).times(min(u.Reasoning, u.Output)))
}

// orElse returns price, or otherwise if price is 0.
func orElse(price, otherwise Money) Money {
	if price == 0 {
		return otherwise
	}
	return price
}

// Bound returns the most that a request can cost, with all input tokens at the dearest rate and all allowed output
// tokens used.
func (m Model) Bound(input, output int) Money {
	dearest, out := max(m.Input, m.CachedInput, m.CacheWrite), max(m.Output, m.Thinking)
	if input > longInput {
		dearest, out = max(dearest, m.InputLong), max(out, m.OutputLong)
	}
	return dearest.times(input).Plus(out.times(output))
}

// Lacks reports whether the model is known to lack an ability.
func (m Model) Lacks(ability provider.Ability) bool {
	return slices.Contains(m.Unsupported, ability) || ability == provider.AbilityTemperature && m.OwnTemperature
}

// modelCannot returns why the model is known not to do what is asked of it. Every model reads the files: those that are text stand in the
// messages to models that read no files. nil: nothing is known against it.
func modelCannot(m Model, d Requirement, files []File) error {
	asks := d.Asks()
	for i := range files {
		if files[i].IsText() {
			continue
		}
		asks = append(asks, provider.MediaAbility(files[i].Type))
	}
	lacks := slices.DeleteFunc(asks, func(a provider.Ability) bool { return !m.Lacks(a) })
	if len(lacks) == 0 {
		return nil
	}
	slices.Sort(lacks)
	return fmt.Errorf("%w: %q", ErrUnsupported, slices.Compact(lacks))
}

// thoughtsOf returns how many tokens of output are kept for the thoughts of one reply, beside those of its text. The steps
// are those by which Gemini's compatible endpoint reads an effort: 1,024, 8,192 and 24,576 tokens for low (minimal here),
// medium and high. The others lie between and beyond.
func thoughtsOf(m Model, o *provider.Options) int {
	effort := provider.Effort("")
	if o = o.Without(m.Unsupported); o != nil {
		effort = o.Effort
	}
	if !m.Reasoning && effort == "" {
		return 0
	}
	switch effort {
	case provider.EffortNone:
		return 0
	case provider.EffortMinimal:
		return 1_024
	case provider.EffortLow:
		return 4_096
	case provider.EffortHigh:
		return 24_576
	case provider.EffortMax:
		return 32_768
	default:
		return 8_192
	}
}

// SplitModel splits "provider/model" at the first slash. ok reports whether both parts are there.
func SplitModel(name string) (host, id string, ok bool) {
	host, id, ok = strings.Cut(name, "/")
	return host, id, ok && host != "" && id != ""
}

// LookupModel returns a model of the embedded table, by its vendor and its ID there. false: the table does not have
// it. The Model then has only what the vendor's name and the ID tell. The caller must not write to its Unsupported.
func LookupModel(vendor, id string) (Model, bool) {
	row, ok := model.Lookup(vendor, id)
	if !ok { // a model that is newer than the table
		return Model{OwnTemperature: model.OwnTemperature(id), ImageTokens: model.ImageTokens(id), Unsupported: gaps[vendor]}, false
	}
	return modelOf(&row), true
}

// KnownModels yields the models of the embedded table, each under its name as "provider/model", in the order of the providers
// and then of the models. [LookupModel] finds a single one faster.
func KnownModels() iter.Seq2[string, Model] {
	return func(yield func(string, Model) bool) {
		for row := range model.All() {
			if !yield(row.Provider+"/"+row.Name, modelOf(&row)) {
				return
			}
		}
	}
}

// gaps are what vendors have no field for, whatever the model: see the packages of their adapters, which refuse to send it. Each list
// is sorted.
//
//nolint:gochecknoglobals // read only
var gaps = map[string][]provider.Ability{
	"anthropic": {provider.AbilitySeed, provider.AbilityVerbosity},
	"bedrock": {
		provider.AbilityEffort, provider.AbilityFile, provider.AbilityImage, provider.AbilityPDF, provider.AbilityReasoning,
		provider.AbilitySearch, provider.AbilitySeed, provider.AbilityVerbosity,
	},
	"deepseek": {
		provider.AbilityFile, provider.AbilityPDF, provider.AbilitySearch, provider.AbilitySeed, provider.AbilityServiceTier,
		provider.AbilityVerbosity,
	},
	"google":  {provider.AbilityVerbosity},
	"groq":    {provider.AbilityFile, provider.AbilityPDF, provider.AbilityVerbosity},
	"mistral": {provider.AbilityFile, provider.AbilitySearch, provider.AbilityServiceTier, provider.AbilityVerbosity},
	"ollama": {
		provider.AbilityFile, provider.AbilityPDF, provider.AbilitySearch, provider.AbilityServiceTier, provider.AbilityVerbosity,
	},
	"vertex": {provider.AbilityVerbosity},
	"xai":    {provider.AbilityFile, provider.AbilityPDF, provider.AbilitySearch, provider.AbilityVerbosity},
}

// unsupported returns what a model of the table lacks, sorted.
func unsupported(row *model.Row) []provider.Ability {
	lacks := gaps[row.Provider]
	if row.Reasoning {
		return lacks
	}
	lacks = slices.Concat(lacks, []provider.Ability{provider.AbilityEffort, provider.AbilityReasoning})
	slices.Sort(lacks)
	return slices.Compact(lacks)
}

// modelOf returns the model that a row of the table describes.
func modelOf(row *model.Row) Model {
	return Model{
		Family: row.Family, Window: row.Window, MaxOutput: row.MaxOutput, Priced: row.Priced,
		Reasoning: row.Reasoning, Unsupported: unsupported(row),
		OwnTemperature: model.OwnTemperature(row.Name), ImageTokens: model.ImageTokens(row.Name),
		Input: Money(row.Input), Output: Money(row.Output),
		CachedInput: Money(row.CachedInput), CacheWrite: Money(row.CacheWrite),
		InputLong: Money(row.InputAbove200k), OutputLong: Money(row.OutputAbove200k),
	}
}
