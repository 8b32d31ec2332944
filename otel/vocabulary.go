package otel

import "sync"

// mostWords bounds the values of one attribute of the metrics: each makes a time series.
const mostWords = 64

// vocabulary is the values that one attribute of the metrics has had. The first ones keep their names; what
// comes when it is full is "_OTHER", so that no config can make time series without end. It is safe for
// concurrent use.
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
	if len(v.words) >= mostWords {
		return otherValue
	}
	if v.words == nil {
		v.words = make(map[string]struct{})
	}
	v.words[text] = struct{}{}
	return text
}
