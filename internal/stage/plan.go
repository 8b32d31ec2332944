package stage

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// openNames finds the speakers without a position in the schema of a search for positions.
var openNames = regexp.MustCompile(`"participant":\{[^}]*?"enum":(\[[^\]]*\])`)

// Placed adds to the answer of a search for positions for whom each is, in the order of the request. A position that says
// so itself stays as it is, and so does a text that is no such answer.
func Placed(req *provider.Request, answer string) string {
	var plan map[string]any
	var names []string
	found := openNames.FindSubmatch(req.Schema.JSON)
	if found == nil || json.Unmarshal(found[1], &names) != nil || json.Unmarshal([]byte(answer), &plan) != nil {
		return answer
	}
	positions, ok := plan["positions"].([]any)
	if !ok {
		return answer
	}
	for i, position := range positions {
		fields, ok := position.(map[string]any)
		if !ok {
			continue
		}
		name, _ := fields["participant"].(string)
		if name == "" {
			name = names[min(i, len(names)-1)]
			fields["participant"] = name
		}
		if side, _ := fields["side"].(string); side == "" {
			fields["side"] = sideOf(req, name)
		}
	}
	return JSON(plan)
}

// sideOf returns the side of a speaker that the instruction gives.
func sideOf(req *provider.Request, name string) string {
	for _, side := range []string{"for", "against", "neutral"} {
		if strings.Contains(req.Last.Text, "\n- "+name+" ("+side+")") {
			return side
		}
	}
	return "none"
}
