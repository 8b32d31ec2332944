package debate

import (
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/provider"
)

// countedText is a text that many requests hold, by a vocabulary.
type countedText struct {
	counter token.Counter
	text    string
}

// counted yields the tokens of a text that many requests hold, such as a system prompt: it is counted once
// and kept, as long as there are few of them.
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

// count yields the running sum of the messages' tokens in a model's vocabulary. Each is counted once
// and kept.
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

// messageCount is messageBound with the text counted.
func messageCount(m *provider.Message, counter token.Counter) int {
	return counter.Count(m.Text) + messageBound(m) - len(m.Text)
}
