package flow

import "github.com/agonist-dev/debate/context/token"

// countedText is a text that many requests contain, with the vocabulary in which it is counted.
type countedText struct {
	counter token.Counter
	text    string
}

// counted returns the tokens of a text that many requests contain, such as a system prompt. It counts each text
// once, and keeps a bounded number of counts.
func (c *Core) counted(counter token.Counter, text string) int {
	key := countedText{counter, text}
	count, ok := c.counts[key]
	if !ok {
		if c.counts == nil || len(c.counts) >= maxTracked {
			c.counts = make(map[countedText]int)
		}
		count = counter.Count(text)
		c.counts[key] = count
	}
	return count
}
