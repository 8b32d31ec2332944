package wire

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Body encodes v as JSON for a request, without escaping. [json.Marshal] would escape every < in the
// markers of fences. It fails with [Unwritable], code "request".
func Body(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, Unwritable("request", "the request cannot be written as JSON: "+Clip(err.Error()))
	}
	return body.Bytes(), nil
}

// Batches yields texts in order, in as few groups as possible. A group holds at most maxTexts texts
// and maxBytes bytes; 0 bytes means no limit. A text that is longer than maxBytes is a group of its own.
func Batches(texts []string, maxTexts, maxBytes int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for len(texts) > 0 {
			n, sum := 0, 0
			for n < min(len(texts), maxTexts) {
				if sum += len(texts[n]); n > 0 && maxBytes > 0 && sum > maxBytes {
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
