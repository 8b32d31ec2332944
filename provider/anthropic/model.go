package anthropic

import (
	"strconv"
	"strings"
)

// traits are what the name of a model says about it.
//
// Sources: Anthropic's guides to effort, to adaptive and to extended thinking, and its notes on the models from Claude
// 3.7 to 5.5 (2026).
type traits struct {
	adaptive bool     // it decides itself how much to think
	budget   bool     // it takes a budget of tokens for thinking, and does not think without one
	steps    []string // of output_config.effort
	off      string   // the type of thinking that switches it off; "": none does
}

// traitsOf reads the name of a model. known is false if it says nothing; the traits are then those of new models.
func traitsOf(model string) (t traits, known bool) {
	line, version, known := split(model)
	efforts := []string{"low", "medium", "high", "xhigh", "max"}
	switch {
	case !known:
		return traits{adaptive: true, steps: efforts, off: "disabled"}, false
	case version < 37:
		return traits{}, true
	case version < 46:
		t = traits{budget: true}
		if line == "opus" && version == 45 {
			t.steps = efforts[:3]
		}
		return t, true
	case version == 46:
		return traits{adaptive: true, steps: []string{"low", "medium", "high", "max"}, off: "disabled"}, true
	}
	t = traits{adaptive: true, steps: efforts, off: "disabled"}
	switch {
	case line == "fable", line == "mythos", line == "opus" && version >= 50:
		t.off = ""
	case line == "sonnet" && version >= 55:
		t.off = "between_tools"
	}
	return t, true
}

// split returns the line of a model and its version, ten times: "opus" and 45 of "claude-opus-4-5-20251101".
func split(model string) (line string, version int, ok bool) {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]) // a router puts the maker before the name
	_, name, ok = strings.Cut(name, "claude-")
	if !ok {
		return "", 0, false
	}
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	numbers := 0
	for word := range strings.SplitSeq(strings.ReplaceAll(name, ".", "-"), "-") {
		n, err := strconv.Atoi(word)
		switch {
		case err != nil && line == "":
			line = word
		case err == nil && n < 100 && numbers < 2:
			version = version*10 + n
			numbers++
		}
	}
	if numbers == 1 {
		version *= 10
	}
	if line == "mythos" && numbers == 0 { // "claude-mythos-preview"
		version = 50
	}
	return line, version, line != "" && version > 0
}
