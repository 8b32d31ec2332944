package refuse

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Zeros refuses what a config in JSON says to be 0 where 0 stands for a default, for it would not be what it
// says. In Go a field that is 0 is one that was not set.
func Zeros(data []byte) error {
	var read any
	if err := json.Unmarshal(data, &read); err != nil {
		return &flow.Error{Kind: provider.KindValidation, Op: "read config", Err: err}
	}
	var f flow.Findings
	zeros(&f, "", "", read)
	return errors.Join(f...)
}

// zeros looks for them in what stands under a key.
func zeros(f *flow.Findings, at, key string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range slices.Sorted(maps.Keys(v)) {
			switch inner {
			case "budget", "retry", "unattended", "labels", "metadata": // those of every flow
			default:
				zeros(f, strings.TrimPrefix(at+"."+inner, "."), inner, v[inner])
			}
		}
	case []any:
		for i := range v {
			zeros(f, fmt.Sprintf("%s[%d]", at, i), key, v[i])
		}
	case float64:
		if v == 0 && (slices.Contains(numbersWithDefaults(), key) || strings.HasSuffix(at, "summaries.threshold")) {
			f.Addf(at, "is 0: leave it out to have the default")
		}
	case string:
		if d, err := time.ParseDuration(v); err == nil && d == 0 && (key == "turnTimeout" || key == "judgeTimeout") {
			f.Addf(at, "is 0: leave it out to have the default")
		}
	}
}

// numbersWithDefaults are the keys of numbers that must not be 0.
func numbersWithDefaults() []string {
	return []string{"rounds", "toolCalls", "maxTokens", "reserve", "maxLength", "iterations", "questions", "k"}
}
