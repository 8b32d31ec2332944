package anthropic

import sdk "github.com/anthropics/anthropic-sdk-go"

const (
	maxMarks = 4 // the vendor's limit
	// stride is the distance between marks in the conversation. The vendor looks for an earlier mark in
	// the 20 blocks up to each mark.
	stride = 18
)

// mark sets the marks up to which the vendor's cache keeps the request. view is the number of blocks of
// the conversation without the instruction. The next request repeats these blocks, and everything before
// them.
func (p *Provider) mark(w *sdk.MessageNewParams, view int) {
	sign := sdk.NewCacheControlEphemeralParam()
	if p.LongCache {
		sign.TTL = sdk.CacheControlEphemeralTTLTTL1h
	}
	switch { // tools come before the system prompt, and are cached with it
	case len(w.System) > 0:
		w.System[len(w.System)-1].CacheControl = sign
	case len(w.Tools) > 0:
		*w.Tools[len(w.Tools)-1].GetCacheControl() = sign
	}
	var places []*sdk.CacheControlEphemeralParam
	for i := range w.Messages {
		for j := range w.Messages[i].Content {
			places = append(places, w.Messages[i].Content[j].GetCacheControl())
		}
	}
	for range maxMarks - 1 {
		at := view - 1
		for at >= 0 && places[at] == nil { // thoughts cannot be marked
			at--
		}
		if at < 0 {
			return
		}
		*places[at] = sign
		view = at + 1 - stride
	}
}
