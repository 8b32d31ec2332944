package anthropic

const (
	maxMarks = 4 // the vendor's limit
	// stride is the distance between marks in the conversation. The vendor looks for an earlier mark in
	// the 20 blocks up to each mark.
	stride = 18
)

// mark sets the marks up to which the vendor's cache keeps the request, whose messages are the turns. view is the number of blocks of
// the conversation without the instruction. The next request repeats these blocks, and everything before
// them.
func (p *Provider) mark(w *request, turns []turn, view int) {
	sign := &cacheMark{Type: "ephemeral"}
	if p.LongCache {
		sign.TTL = "1h"
	}
	switch { // tools come before the system prompt, and are cached with it
	case len(w.System) > 0:
		w.System[len(w.System)-1].CacheControl = sign
	case len(w.Tools) > 0:
		w.Tools[len(w.Tools)-1].CacheControl = sign
	}
	var blocks []*content
	for _, t := range turns {
		for i := range t.Content {
			blocks = append(blocks, &t.Content[i])
		}
	}
	for range maxMarks - 1 {
		at := view - 1
		for at >= 0 && (blocks[at].Type == typeThinking || blocks[at].Type == typeRedacted) { // thoughts cannot be marked
			at--
		}
		if at < 0 {
			return
		}
		blocks[at].CacheControl = sign
		view = at + 1 - stride
	}
}
