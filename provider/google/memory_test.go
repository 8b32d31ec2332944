package google_test

import (
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// Whatever an answer is made of, reading it takes little more than its bytes.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	const maxBody = 4 << 20
	const line, whole = 1<<20 - 1<<10, maxBody - 1<<10
	play := func(_ *testing.T, body string) provider.Provider {
		p, _ := played(body)
		p.MaxBody = maxBody
		return p
	}
	adaptertest.TakesLittleMemory(t, 6*maxBody, play, request(), map[string]adaptertest.Hostile{
		"candidates": {First: `data: {"candidates":[`, Part: `{},`, Last: "{}]}\n\n", Size: line, Want: provider.KindInvalidResponse},
		"parts": {
			First: `data: {"candidates":[{"content":{"parts":[`, Part: `{},`, Last: "{}]}}]}\n\n", Size: line, Want: provider.KindInvalidResponse,
		},
		"arguments": {
			First: `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"a":[`, Part: `[],`,
			Last: "[]]}}}]}}]}\n\n", Size: line, Want: provider.KindNetwork,
		},
		"details": {
			First: `data: {"usageMetadata":{"promptTokensDetails":[`, Part: `{},`, Last: "{}]}}\n\n", Size: line, Want: provider.KindInvalidResponse,
		},
		"model": {First: `{"name":"models/x","supportedActions":[`, Part: `"",`, Last: `""]}`, Size: whole, Check: true},
	})
}
