package deliberation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/deliberation"
)

func TestTopologies(t *testing.T) {
	for name, test := range map[string]struct {
		topology deliberation.Topology
		broken   []string
		want     []string
	}{
		"all": {deliberation.Topology{}, nil, []string{
			"ada.ben", "ada.cyd", "ada.dan", "ben.ada", "ben.cyd", "ben.dan", "cyd.ada", "cyd.ben", "cyd.dan", "dan.ada", "dan.ben", "dan.cyd",
		}},
		"ring":          {deliberation.Topology{Kind: "ring"}, nil, []string{"ada.ben", "ben.cyd", "cyd.dan", "dan.ada"}},
		"ring with gap": {deliberation.Topology{Kind: "ring"}, []string{"r1.propose.cyd"}, []string{"ada.ben", "ben.dan", "cyd.dan", "dan.ada"}},
		"nearest 1":     {deliberation.Topology{Kind: "nearest", K: 1}, nil, []string{"ada.ben", "ben.cyd", "cyd.dan", "dan.ada"}},
		"nearest 2": {deliberation.Topology{Kind: "nearest", K: 2}, nil, []string{
			"ada.ben", "ada.dan", "ben.ada", "ben.cyd", "cyd.ben", "cyd.dan", "dan.ada", "dan.cyd",
		}},
		"nearest 3": {deliberation.Topology{Kind: "nearest", K: 3}, []string{"r1.propose.dan"}, []string{
			"ada.ben", "ada.cyd", "ben.ada", "ben.cyd", "cyd.ada", "cyd.ben", "dan.ada", "dan.ben", "dan.cyd",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			config.Agents = append(config.Agents, deliberation.Agent{ID: "dan", Model: "test/agent"})
			config.Rounds, config.Topology = 1, test.topology
			engine, _ := engineFor(broken(test.broken...))
			var got []string
			for _, call := range calls(play(t, engine, config)) {
				if pair, ok := strings.CutPrefix(call, "r1.critique."); ok {
					got = append(got, pair)
				}
			}
			slices.Sort(got)
			assert.Equal(t, test.want, got)
		})
	}
}
