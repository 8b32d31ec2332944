package anthropic_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// piece is a block of a prompt, in the order in which the vendor reads them.
type piece struct {
	bytes  string // with its role, without its mark
	marked bool
}

// pieces takes a request's body apart: tools, system prompt, messages.
func pieces(t *testing.T, body []byte) []piece {
	t.Helper()
	var sent struct {
		Tools    []map[string]json.RawMessage
		System   []map[string]json.RawMessage
		Messages []struct {
			Role    string
			Content []map[string]json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(body, &sent))
	var list []piece
	add := func(role string, blocks []map[string]json.RawMessage) {
		for _, b := range blocks {
			_, marked := b["cache_control"]
			delete(b, "cache_control")
			data, err := json.Marshal(b)
			require.NoError(t, err)
			list = append(list, piece{role + " " + string(data), marked})
		}
	}
	add("tool", sent.Tools)
	add("system", sent.System)
	for _, m := range sent.Messages {
		add(m.Role, m.Content)
	}
	return list
}

// vendorCache acts as the vendor's: it writes the prompt up to each mark, and looks for what it has in the
// twenty blocks up to each mark.
type vendorCache map[string]bool

// serve returns how many pieces are read from the cache.
func (c vendorCache) serve(list []piece) (read int) {
	prefix := make([]string, len(list)+1)
	for i, p := range list {
		prefix[i+1] = prefix[i] + "\x00" + p.bytes
	}
	for i, p := range list {
		for at := i; p.marked && at >= 0 && at > i-20; at-- {
			if c[prefix[at+1]] {
				read = max(read, at+1)
				break
			}
		}
	}
	for i, p := range list {
		if p.marked {
			c[prefix[i+1]] = true
		}
	}
	return read
}

// A transcript grows between the calls of a speaker. Each request begins with the bytes up to the last
// mark of the one before, and reads all of them from the cache.
func TestGrowingTranscriptsAreReadFromTheCache(t *testing.T) {
	for seed := range longform.Or[uint64](40, 8) {
		random := rand.New(rand.NewPCG(seed, 7))
		p, bodies := recording(t)
		cache := vendorCache{}
		req := request()
		if random.IntN(4) == 0 {
			req.System = ""
		}
		if random.IntN(2) == 0 {
			req.Tools = []provider.Tool{{Name: "lookup"}}
		}
		var kept []piece // the last request up to its last mark
		for turn := range 12 {
			for n := random.IntN(54); n > 0; n-- {
				req.Messages = append(req.Messages, provider.Message{
					Speaker: []string{"Ada", "Ben", "Cy", ""}[random.IntN(4)], Text: fmt.Sprint("word ", random.Uint64()),
					Fence: []string{"", "f7Qx"}[random.IntN(2)],
				})
			}
			req.Last = provider.Message{Text: fmt.Sprint("Turn ", turn)}
			adaptertest.Answer(t, p, req)
			list := pieces(t, (*bodies)[len(*bodies)-1])
			require.GreaterOrEqual(t, len(list), len(kept))
			last, marks := 0, 0
			for i := range list {
				if i < len(kept) {
					require.Equal(t, kept[i].bytes, list[i].bytes, "seed %d, turn %d: the beginning stays as it is", seed, turn)
				}
				if list[i].marked {
					last, marks = i+1, marks+1
				}
			}
			require.LessOrEqual(t, marks, 4)
			require.GreaterOrEqual(t, cache.serve(list), len(kept), "seed %d, turn %d", seed, turn)
			if len(req.Messages) > 0 {
				require.Equal(t, len(list)-1, last, "all but the instruction is kept")
			}
			kept = list[:last]
		}
	}
}

// Thoughts take no mark: it goes before them.
func TestMarksSpareThoughts(t *testing.T) {
	p, bodies := recording(t)
	req := request()
	for i := range 30 {
		req.Messages = append(req.Messages, provider.Message{Speaker: "Ada", ToolCalls: []provider.ToolCall{{
			ID: fmt.Sprint("t", i), Name: "lookup", Opaque: json.RawMessage(`{"host":"example.com","kept":{"blocks":[{"thinking":"Hm.","signature":"s"},{"redacted":"d"}]}}`),
		}}})
	}
	for n := range req.Messages {
		part := *req
		part.Messages = req.Messages[:n]
		adaptertest.Answer(t, p, &part)
		for _, one := range pieces(t, (*bodies)[n]) {
			assert.False(t, one.marked && strings.Contains(one.bytes, "thinking"), one.bytes)
		}
	}
}
