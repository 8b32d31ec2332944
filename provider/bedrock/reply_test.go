package bedrock_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/bedrock"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// played is a provider whose server answers with these frames.
func played(t *testing.T, frames ...[]byte) *bedrock.Provider {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = w.Write(bytes.Join(frames, nil))
	})
}

// TestThoughts: signed thoughts go back to their model with the call that follows them, in the order in which they came.
// Unsigned ones are dropped, and none is a part of the text.
func TestThoughts(t *testing.T) {
	start := func(id string) []byte {
		return frame("contentBlockStart", `{"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"`+id+`","name":"lookup"}}}`)
	}
	stop := func(index string) []byte { return frame("contentBlockStop", `{"contentBlockIndex":`+index+`}`) }
	p := played(t, whole("tool_use",
		delta("0", `{"reasoningContent":{"text":"Which "}}`), delta("0", `{"reasoningContent":{"text":"word?"}}`),
		delta("0", `{"reasoningContent":{"signature":"Eu0C"}}`), stop("0"),
		delta("1", `{"reasoningContent":{"redactedContent":"RXRr"}}`), stop("1"),
		delta("2", `{"reasoningContent":{"text":"nobody signed this"}}`), stop("2"),
		start("a"), delta("3", `{"toolUse":{"input":"{}"}}`), stop("3"),
		start("b"), delta("3", `{"toolUse":{"input":"{}"}}`), stop("3"),
	))
	req := request("us." + claude)
	r := adaptertest.Answer(t, p, req)
	assert.Empty(t, r.Text)
	require.Len(t, r.Calls, 2)
	assert.JSONEq(t, `{"host":"example.com","model":"`+claude+`","kept":{"thoughts":[{"text":"Which word?","signature":"Eu0C"},{"redacted":"RXRr"}]}}`, string(r.Calls[0].Opaque))
	assert.Nil(t, r.Calls[1].Opaque)

	back, bodies, _ := recording(t)
	req.Messages = []provider.Message{{Speaker: "Ada", ToolCalls: r.Calls}}
	adaptertest.Answer(t, back, req)
	back.BaseURL = "http://another.example.com" // its vendor may be another
	adaptertest.Answer(t, back, req)
	for _, secret := range []string{"Which word?", "Eu0C", "RXRr"} {
		assert.Contains(t, (*bodies)[0], secret)
		assert.NotContains(t, (*bodies)[1], secret, "thoughts go back to their own server only")
	}
}

// TestSchemaByTool: the arguments of the tool that stands for a schema are the text, as they arrive.
func TestSchemaByTool(t *testing.T) {
	p := played(t, whole("tool_use",
		frame("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"a","name":"answer"}}}`),
		delta("0", `{"toolUse":{"input":"{\"score\":"}}`), delta("0", `{"toolUse":{"input":"7}"}}`),
	))
	req := request("us.amazon.nova-micro-v1:0")
	req.Schema = schema()
	var chunks []string
	r, err := p.Generate(t.Context(), req, func(c provider.Chunk) { chunks = append(chunks, c.Text) })
	require.NoError(t, err)
	assert.Equal(t, &provider.Response{Text: `{"score":7}`, Stop: provider.StopEnd, Usage: provider.Usage{Input: 20, Output: 9}}, r)
	assert.Equal(t, []string{`{"score":`, `7}`}, chunks)
}

// TestCharacters: a text is UTF-8, whatever the frame holds.
func TestCharacters(t *testing.T) {
	for _, odd := range []string{"\xff\xfe", "\xed\xa0\x80", `\ud83d`, `\u0000`} {
		r := adaptertest.Answer(t, played(t, whole("end_turn", delta("0", `{"text":"a`+odd+`b"}`))), request(claude))
		assert.True(t, utf8.ValidString(r.Text))
	}
}

// TestHostileFrames: a frame counts only whole, within MaxLine, and with the right checksums; what it holds takes little
// more memory than its bytes.
func TestHostileFrames(t *testing.T) {
	head := func(length, headers uint32) []byte {
		b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, length), headers)
		return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	}
	good := frame("messageStart", `{"role":"assistant"}`)
	wide := frame("contentBlockDelta", `{"delta":{"text":"`+strings.Repeat("x", 70<<10)+`"}}`)
	empty := append(head(16, 0), binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(head(16, 0)))...)
	ping := frame("ping", "{}")
	for name, tt := range map[string]struct {
		frames [][]byte
		want   provider.Kind
		code   string
	}{
		"longest":          {[][]byte{good, head(1<<32-1, 0)}, provider.KindInvalidResponse, "too_large"},
		"first is longest": {[][]byte{head(1<<31, 0)}, provider.KindInvalidResponse, "too_large"},
		"wide":             {[][]byte{good, wide}, provider.KindInvalidResponse, "too_large"},
		"headers beyond":   {[][]byte{good, append(head(20, 99), make([]byte, 8)...)}, provider.KindNetwork, "truncated"},
		"shortest":         {[][]byte{good, head(15, 0)}, provider.KindNetwork, "truncated"},
		"empty":            {[][]byte{good, empty, empty}, provider.KindNetwork, "truncated"},
		"nothing":          {nil, provider.KindNetwork, "truncated"},
		"endless pings":    {[][]byte{good, bytes.Repeat(ping, 5<<20/len(ping))}, provider.KindInvalidResponse, "too_large"},
		"endless nothing":  {[][]byte{good, bytes.Repeat(empty, 5<<20/len(empty))}, provider.KindInvalidResponse, "too_large"},
		"many headers": {[][]byte{good, bytes.Repeat(encode("{}", append([]string{"h", "v"},
			":message-type", "event")...), 1000)}, provider.KindNetwork, "truncated"},
		"deep": {[][]byte{good, frame("contentBlockDelta", strings.Repeat("[", 60_000))}, provider.KindInvalidResponse, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := played(t, tt.frames...)
			p.MaxLine, p.MaxBody = 64<<10, 4<<20
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ask(t, p, request(claude))
			runtime.ReadMemStats(&after)
			assert.Equal(t, tt.code, failure(t, err, tt.want).Code)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40*4<<20))
		})
	}
}

// TestToolsOfTheVendor: what Bedrock's own tools do is no call of ours.
func TestToolsOfTheVendor(t *testing.T) {
	p := played(t, whole("end_turn",
		frame("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"a","name":"nova_grounding","type":"server_tool_use"}}}`),
		delta("0", `{"toolUse":{"input":"{}"}}`),
		delta("1", `{"text":"Found."}`),
	))
	r := adaptertest.Answer(t, p, request(claude))
	assert.Equal(t, "Found.", r.Text)
	assert.Empty(t, r.Calls)
	_, err := json.Marshal(r)
	require.NoError(t, err)
}

// A character whose two halves come in two frames is one, in text and in arguments.
func TestHalvesOfACharacter(t *testing.T) {
	p := played(t, whole("tool_use",
		delta("0", `{"text":"Oaks \ud83c"}`), delta("0", `{"text":"\udf33 grow."}`),
		frame("contentBlockStart", `{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"a","name":"lookup"}}}`),
		delta("1", `{"toolUse":{"input":"{\"w\":\"\ud83c"}}`), delta("1", `{"toolUse":{"input":"\udf33\"}"}}`),
		frame("contentBlockStop", `{"contentBlockIndex":1}`),
	))
	r := adaptertest.Answer(t, p, request(claude))
	assert.Equal(t, "Oaks 🌳 grow.", r.Text)
	require.Len(t, r.Calls, 1)
	assert.JSONEq(t, `{"w":"🌳"}`, string(r.Calls[0].Arguments))
}
