package wire

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Body writes v as JSON for a request, as it is: the markers of fences are full of <, which
// [json.Marshal] would escape.
func Body(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return body.Bytes(), err
}

// Batches yields texts in their order, in as few groups as hold so many texts and so many bytes at most;
// 0 bytes: as many as there are. A text that is longer than that is a group of its own.
func Batches(texts []string, most, size int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for len(texts) > 0 {
			n, sum := 0, 0
			for n < min(len(texts), most) {
				if sum += len(texts[n]); n > 0 && size > 0 && sum > size {
					break
				}
				n++
			}
			if n == 0 || !yield(texts[:n]) {
				return
			}
			texts = texts[n:]
		}
	}
}
