package bedrock

import "slices"

const (
	maxMarks = 4 // the vendor's limit
	// stride is the distance between marks in the conversation. The vendor looks for an earlier mark in
	// the 20 blocks up to each mark.
	stride = 18
)

// mark sets the marks up to which the vendor's cache keeps the request: after the system prompt, with
// which the tools are kept, and in the conversation. view is the number of its blocks without the
// instruction. The next request repeats these blocks, and everything before them.
func (w *converse) mark(view int) {
	point := content{CachePoint: &cachePoint{Type: "default"}}
	if len(w.System) > 0 {
		w.System = append(w.System, point)
	}
	var after []int
	for range maxMarks - 1 {
		if view <= 0 {
			break
		}
		after = append(after, view-1)
		view -= stride
	}
	slices.Reverse(after)
	at := 0 // the number of the block
	for i := range w.Messages {
		var blocks []content
		for _, block := range w.Messages[i].Content {
			blocks = append(blocks, block)
			// A mark that would follow a thought comes after the next block.
			if len(after) > 0 && at >= after[0] && block.Reasoning == nil {
				blocks, after = append(blocks, point), after[1:]
			}
			at++
		}
		w.Messages[i].Content = blocks
	}
}
