package debate

import (
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/provider"
)

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
		if c.counts == nil || len(c.counts) >= mostOpen {
			c.counts = make(map[countedText]int)
		}
		count = counter.Count(text)
		c.counts[key] = count
	}
	return count
}

// count returns the running sums of the messages' tokens in a vocabulary. It counts each message once.
func (v *view) count(counter token.Counter) []int {
	if v.sums == nil {
		v.sums = make(map[token.Counter][]int)
	}
	sums := v.sums[counter]
	if len(sums) == 0 {
		sums = append(sums, 0)
	}
	for i := len(sums) - 1; i < len(v.messages); i++ {
		m := &v.messages[i]
		sums = append(sums, sums[i]+messageCount(m, counter))
	}
	v.sums[counter] = sums
	return sums[:len(v.messages)+1]
}

// messageCount returns a message's tokens: the text is counted, and the rest is bounded as in messageBound.
func messageCount(m *provider.Message, counter token.Counter) int {
	return counter.Count(m.Text) + messageBound(m) - len(m.Text)
}
