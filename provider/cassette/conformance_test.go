package cassette_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A provider that is recorded does what the contract asks, and nothing of its key is left behind.
func TestConformance(t *testing.T) {
	providertest.Run(t, func(t *testing.T, s providertest.Scenario) provider.Provider {
		t.Helper()
		file := filepath.Join(t.TempDir(), "tape.json")
		tape, err := cassette.Open(file, cassette.Options{Mode: cassette.Record, Secrets: []string{s.Key}})
		require.NoError(t, err)
		t.Cleanup(func() {
			assert.NoError(t, tape.Close())
			assert.NotContains(t, contents(t, file), s.Key)
		})
		return tape.Wrap("v", &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
			if s.Sent != nil {
				s.Sent(sent(req))
			}
			return play(s)
		}})
	})
}

// play is what a scenario says.
func play(s providertest.Scenario) scripted.Reply {
	reply := scripted.Reply{
		Text: strings.Join(s.Reply, ""), Chunks: len(s.Reply), Hold: s.Hold, Stop: s.Stop, Calls: s.Calls, Usage: s.Usage,
		Model: s.Model, AfterChunks: len(s.Reply),
	}
	switch {
	case s.Fail != "":
		reply.Err = &provider.Error{Kind: s.Fail, RetryAfter: s.RetryAfter}
	case s.Cut:
		reply.Err = &provider.Error{Kind: provider.KindNetwork, Code: "truncated"}
	}
	return reply
}

func sent(req *provider.Request) providertest.Sent {
	s := providertest.Sent{
		Model: req.Model, System: req.System, MaxTokens: req.MaxTokens, Temperature: req.Temperature, Schema: req.Schema != nil,
	}
	for role, text := range req.Chat() {
		if role != provider.RoleSystem {
			s.Turns = append(s.Turns, providertest.Turn{Role: role, Text: text})
		}
	}
	for _, tool := range req.Tools {
		s.Tools = append(s.Tools, tool.Name)
	}
	return s
}
