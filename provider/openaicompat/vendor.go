package openaicompat

import (
	"regexp"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// dialects are the dialects of the presets, by their vendors' names. Sources: the vendors' references of their chat
// completions and their guides to reasoning and search, 2026; of Ollama and vLLM, their code.
//
//nolint:gochecknoglobals // read only
var dialects = map[string]func(model string) Dialect{
	"openai":     OpenAIDialect,
	"azure":      azureDialect,
	"openrouter": openRouterDialect,
	"mistral":    mistralDialect,
	"groq":       groqDialect,
	"deepseek":   deepSeekDialect,
	"xai":        xaiDialect,
	"moonshot":   moonshotDialect,
	"gemini":     geminiDialect,
	"snowflake":  snowflakeDialect,
	"ollama":     ollamaDialect,
	"vllm":       localDialect,
	"lmstudio":   localDialect,
}

// OpenAIDialect is the dialect of OpenAI's Chat Completions. It shows no thoughts, and has a web search only in models
// that are made for it.
func OpenAIDialect(model string) Dialect {
	d := Dialect{Unsupported: []provider.Ability{provider.AbilityReasoning}}
	if strings.Contains(strings.ToLower(model), "-search") {
		d.Search = `{"web_search_options":{}}`
	}
	d.Efforts, _ = OpenAIEfforts(model)
	return d
}

// generation matches the numbers in the name of a GPT model that reasons.
var generation = regexp.MustCompile(`^gpt-([5-9])(?:\.(\d))?(?:-|$)`)

// OpenAIEfforts returns the reasoning efforts of a model of OpenAI: none if it does not reason. known is false if its
// name says nothing.
//
// Source: OpenAI's guide to reasoning and its pages on the models (2026), and refusals of the API that list the
// supported values.
func OpenAIEfforts(model string) (steps []string, known bool) {
	name := strings.ToLower(strings.TrimPrefix(model, "ft:"))
	name = name[strings.LastIndexByte(name, '/')+1:]
	all := strings.Fields("none minimal low medium high xhigh max")
	has := func(word string) bool { return strings.Contains(name, word) }
	found := generation.FindStringSubmatch(name)
	switch {
	case strings.HasPrefix(name, "gpt-3"), strings.HasPrefix(name, "gpt-4"), strings.HasPrefix(name, "chatgpt"),
		strings.HasPrefix(name, "o1-mini"), strings.HasPrefix(name, "o1-preview"):
		return []string{}, true
	case len(name) > 1 && name[0] == 'o' && name[1] >= '1' && name[1] <= '9',
		strings.HasPrefix(name, "gpt-oss"), strings.HasPrefix(name, "codex"):
		return all[2:5], true
	case found == nil:
		return nil, false
	}
	first, minor := found[1] == "5" && found[2] == "", found[2]
	switch {
	case has("-chat") && first:
		return []string{}, true
	case has("-chat"):
		return strings.Fields("medium"), true
	case has("-pro") && first:
		return strings.Fields("high"), true
	case has("-pro"):
		return all[3:6], true
	case has("-codex-max"), has("-codex") && found[1] == "5" && minor > "1":
		return all[2:6], true
	case has("-codex"):
		return all[2:5], true
	case first:
		return all[1:5], true
	case found[1] == "5" && minor == "1":
		return strings.Fields("none low medium high"), true
	case found[1] == "5" && minor < "6":
		return strings.Fields("none low medium high xhigh"), true
	default:
		return strings.Fields("none low medium high xhigh max"), true
	}
}

func azureDialect(model string) Dialect {
	d := OpenAIDialect(model)
	d.Search = "" // models are deployments there, and none of them searches
	return d
}

func openRouterDialect(string) Dialect {
	return Dialect{
		Names:     map[provider.Ability]string{provider.AbilityEffort: "reasoning.effort"},
		Efforts:   strings.Fields("none minimal low medium high xhigh"),
		Reasoning: `{"reasoning":{"enabled":true}}`,
		Search:    `{"plugins":[{"id":"web"}]}`,
	}
}

func mistralDialect(string) Dialect {
	return Dialect{
		Names:       map[provider.Ability]string{provider.AbilitySeed: "random_seed"},
		Efforts:     strings.Fields("none high"),
		DocumentURL: true,
		Unsupported: []provider.Ability{provider.AbilityServiceTier, provider.AbilityVerbosity},
	}
}

// groqDialect: its systems named compound search by themselves, and OpenAI's open models with a tool. Each family has
// its own efforts.
func groqDialect(model string) Dialect {
	d := Dialect{
		Unsupported: []provider.Ability{provider.AbilityVerbosity, provider.AbilityPDF},
	}
	switch {
	case strings.Contains(model, "compound"):
		d.Search = "{}" // it searches by itself
		d.Unsupported = append(d.Unsupported, provider.AbilityEffort)
	case strings.Contains(model, "gpt-oss"):
		d.SearchTool, d.Efforts = "browser_search", strings.Fields("low medium high")
		d.Reasoning = `{"include_reasoning":true}`
		d.Unsupported = append(d.Unsupported, provider.AbilityImage)
	case strings.Contains(model, "qwen3"):
		d.Efforts, d.Think = strings.Fields("none"), `{"reasoning_effort":"default"}`
		d.Reasoning = `{"reasoning_format":"parsed"}`
	case strings.Contains(model, "llama"), strings.Contains(model, "gemma"):
		d.Unsupported = append(d.Unsupported, provider.AbilityEffort, provider.AbilityReasoning)
	default:
		d.Reasoning = `{"reasoning_format":"parsed"}`
	}
	return d
}

func deepSeekDialect(model string) Dialect {
	d := Dialect{
		Efforts:     strings.Fields("low medium high xhigh max"),
		Think:       `{"thinking":{"type":"enabled"}}`,
		NoThink:     `{"thinking":{"type":"disabled"}}`,
		Reasoning:   `{"thinking":{"type":"enabled"}}`,
		Unsupported: []provider.Ability{provider.AbilitySeed, provider.AbilityServiceTier, provider.AbilityVerbosity, provider.AbilityPDF},
	}
	if !strings.Contains(model, "vision") {
		d.Unsupported = append(d.Unsupported, provider.AbilityImage)
	}
	return d
}

// silentGrok matches the models of xAI that refuse each effort.
var silentGrok = regexp.MustCompile(`^grok-4(-\d{4}|-fast.*|\.20(-\d{4})?-(non-)?reasoning|)$`)

// xaiDialect: the search in chat completions has ended; only the vendor's Responses API searches.
func xaiDialect(model string) Dialect {
	d := Dialect{
		Efforts:     strings.Fields("none low medium high"),
		Unsupported: []provider.Ability{provider.AbilityVerbosity, provider.AbilityPDF},
	}
	switch {
	case strings.HasPrefix(model, "grok-3-mini"):
		d.Efforts = strings.Fields("low high")
		d.Unsupported = append(d.Unsupported, provider.AbilityStop, provider.AbilityImage)
	case silentGrok.MatchString(model):
		d.Unsupported = append(d.Unsupported, provider.AbilityEffort)
	}
	return d
}

func moonshotDialect(string) Dialect {
	return Dialect{
		Efforts:     []string{}, // thinking is on or off
		Think:       `{"thinking":{"type":"enabled"}}`,
		NoThink:     `{"thinking":{"type":"disabled"}}`,
		Reasoning:   `{"thinking":{"type":"enabled"}}`,
		Unsupported: []provider.Ability{provider.AbilityServiceTier, provider.AbilityVerbosity, provider.AbilityPDF},
	}
}

// geminiDialect: the compatible endpoint shows thoughts only instead of taking an effort.
func geminiDialect(string) Dialect {
	return Dialect{
		Efforts:     strings.Fields("none minimal low medium high"),
		Unsupported: []provider.Ability{provider.AbilityServiceTier, provider.AbilityVerbosity, provider.AbilityReasoning, provider.AbilityPDF},
	}
}

func snowflakeDialect(string) Dialect {
	return Dialect{Unsupported: []provider.Ability{provider.AbilityServiceTier, provider.AbilityVerbosity, provider.AbilityPDF}}
}

// ollamaDialect: a field that the server does not know is ignored, so it counts as lacking.
func ollamaDialect(model string) Dialect {
	d := localDialect(model)
	d.Efforts = strings.Fields("none minimal low medium high xhigh max")
	d.Always = `{"truncate":false}`
	return d
}

// localDialect is that of servers for open models.
func localDialect(string) Dialect {
	return Dialect{
		Unsupported: []provider.Ability{provider.AbilityServiceTier, provider.AbilityVerbosity, provider.AbilityPDF},
	}
}
