package model

import (
	"strconv"
	"strings"
)

// What the name of a model tells, by whatever host it is offered.

// OwnTemperature reports whether the vendor is known to refuse a temperature for a model: OpenAI for its reasoning
// models, Anthropic since Claude Opus 4.7, Moonshot since Kimi K2.5. A model that is missed here costs one refused
// request, which is free: the adapter then leaves the temperature out.
//
// Sources: OpenAI's answers for gpt-5 to gpt-5.4 and the gpt-5.x-chat models quoted in public issue threads, the
// table models.dev (July 2026), Anthropic's notes on Opus 4.7 and Sonnet 5, Moonshot's guide to K2.5 and K2.6.
func OwnTemperature(id string) bool {
	name := strings.ToLower(strings.TrimPrefix(id, "ft:"))   // "ft:o4-mini:…": a fine-tuned model
	name = name[strings.LastIndexByte(name, '/')+1:]         // "openai/gpt-5": a router puts the maker before the name
	if _, after, ok := strings.Cut(name, "anthropic."); ok { // "us.anthropic.claude-opus-4-7-v1:0": Bedrock
		name = after
	}
	name, _, _ = strings.Cut(name, "@") // "claude-opus-4-7@default": Vertex AI
	name, _, _ = strings.Cut(name, ":")
	if claude, ok := strings.CutPrefix(name, "claude-"); ok {
		line, version, numbered := strings.Cut(claude, "-")
		if !numbered || line < "a" { // older names put the version first
			return false
		}
		major, minor := versionOf(strings.Replace(version, "-", ".", 1))
		return major > 4 || major == 4 && line == "opus" && minor >= 7
	}
	if version, ok := strings.CutPrefix(name, "kimi-k"); ok {
		major, minor := versionOf(version)
		return major == 2 && minor >= 5
	}
	if version, ok := strings.CutPrefix(name, "gpt-"); ok {
		major, minor := versionOf(version)
		switch {
		case strings.Contains(version, "-instant"), strings.Contains(version, "-oss"):
			return false
		case strings.Contains(version, "-chat"):
			return major == 5 && minor > 0 // gpt-5-chat does not think; the later ones do
		}
		return major >= 5
	}
	version, ok := strings.CutPrefix(name, "o")
	major, _ := versionOf(version)
	return ok && major > 0 || strings.HasPrefix(name, "codex-")
}

// versionOf returns the two numbers that a version begins with, as in "5.1-chat". A missing number is 0, and so is
// one of more than two digits, which is a date.
func versionOf(s string) (major, minor int) {
	number := func() int {
		end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(s)
		}
		digits := s[:end]
		s = s[end:]
		n, err := strconv.Atoi(digits)
		if err != nil || len(digits) > 2 {
			return 0
		}
		return n
	}
	major = number()
	if rest, ok := strings.CutPrefix(s, "."); ok {
		s = rest
		minor = number()
	}
	return major, minor
}

// ImageTokens returns the most tokens that an image takes if a model is known to take more than others: GPT-4o mini takes
// 2,833 and 5,667 for each of at most 8 tiles.
func ImageTokens(id string) int {
	if strings.Contains(id, "gpt-4o-mini") {
		return 2833 + 8*5667
	}
	return 0
}
