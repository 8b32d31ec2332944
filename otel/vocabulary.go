package otel

import "sync"

// maxWords bounds the values of one attribute of the metrics, because each makes a time series.
const maxWords = 64

// vocabulary holds the values that one attribute of the metrics has had. The first ones keep their names.
// When it is full, later ones are "_OTHER", so no config can create time series without end. It is safe
// for concurrent use.
type vocabulary struct {
	mu    sync.Mutex
	words map[string]struct{}
}

func (v *vocabulary) word(text string) string {
	text = clean(text)
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.words[text]; known {
		return text
	}
	if len(v.words) >= maxWords {
		return otherValue
	}
	if v.words == nil {
		v.words = make(map[string]struct{})
	}
	v.words[text] = struct{}{}
	return text
}
